// The program may close any descriptor at any time (closefrom(3)), and the number is then that of a file of its own. So
// the ring's KLT knows what it uses by places of its own: the ring is registered with that KLT, the end of the waker
// that is read with the ring, and neither has a number any more. The end that others write to has one, for want of
// another way to wake who sleeps in io_uring_enter(2) (futexes only from Linux 6.7 on, and a signal's handler is the
// program's to replace). It is a socket, for two reasons. A socket has a cookie, which no other ever has while the
// system runs: whoever wakes asks for it first, and learns that the number is another file's now. And a wake-up is a
// message of no bytes, which does nothing to any file but a socket that keeps messages apart: such a one, opened by
// another thread between the two calls, is all that could ever see something of it.
#include "os/ring.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <liburing.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "arch/system_call.h"
#include "base/panic.h"
#include "os/clock.h"

namespace weft::os {
namespace {

constexpr unsigned places = 256;              // for what is asked for
constexpr unsigned places_of_results = 4096;  // the kernel keeps what there is beyond these (IORING_FEAT_NODROP)

io_uring ring;
int waker = -1;  // its end for others; the other one is the ring's only registered file
std::uint64_t cookie_of_waker = 0;
char no_bytes;  // where they are read to

// Tokens of the ring's own; those of others are addresses of objects.
void* const of_nobody = nullptr;
void* const of_waker = &waker;

// What came while the kernel took no more, because it had results to get rid of first.
RingResult* kept = nullptr;
unsigned kept_count = 0;
unsigned kept_room = 0;

bool knows_what_is_needed() {
  io_uring_probe* probe = io_uring_get_probe_ring(&ring);
  if (probe == nullptr) return false;
  bool all = (ring.features & IORING_FEAT_NODROP) != 0;
  for (const int operation : {IORING_OP_READ, IORING_OP_WRITE, IORING_OP_ACCEPT, IORING_OP_CONNECT, IORING_OP_POLL_ADD,
                              IORING_OP_TIMEOUT, IORING_OP_ASYNC_CANCEL})
    all = all && io_uring_opcode_supported(probe, operation) != 0;
  io_uring_free_probe(probe);
  return all;
}

// What the kernel has to do for us it does when we wait, and not whenever it comes to it (Linux 6.1).
bool open_with(unsigned flags) {
  io_uring_params parameters{};
  parameters.flags = flags | IORING_SETUP_CQSIZE;
  parameters.cq_entries = places_of_results;
  return io_uring_queue_init_params(places, &ring, &parameters) == 0;
}

void keep(RingResult result) {
  if (kept_count == kept_room) {
    kept_room = kept_room == 0 ? 256 : kept_room * 2;
    auto larger = static_cast<RingResult*>(std::realloc(kept, kept_room * sizeof(RingResult)));
    if (larger == nullptr) base::panic("no memory for what the kernel has read and written");
    kept = larger;
  }
  kept[kept_count++] = result;
}

// Takes the next result. False: there is none.
bool take(RingResult& result) {
  io_uring_cqe* entry = nullptr;
  if (io_uring_peek_cqe(&ring, &entry) != 0) return false;
  result = {io_uring_cqe_get_data(entry), entry->res};
  io_uring_cqe_seen(&ring, entry);
  return true;
}

void check(int answer) {
  if (answer >= 0 || answer == -EINTR || answer == -EAGAIN || answer == -EBUSY || answer == -ETIME) return;
  base::panic("io_uring does not work any more: %s", strerrordesc_np(-answer));
}

io_uring_sqe& next_place(void* token) {
  io_uring_sqe* place = io_uring_get_sqe(&ring);
  while (place == nullptr) {
    const int answer = io_uring_submit(&ring);
    check(answer);
    RingResult result{};
    if (answer < 0)
      while (take(result)) keep(result);
    place = io_uring_get_sqe(&ring);
  }
  io_uring_sqe_set_data(place, token);
  return *place;
}

// liburing's preparing functions set the token back.
template <class Prepare>
void ask(void* token, Prepare prepare) {
  io_uring_sqe& place = next_place(token);
  prepare(&place);
  io_uring_sqe_set_data(&place, token);
}

constexpr std::uint64_t current_position = UINT64_MAX;

void listen_to_waker() {
  ask(of_waker, [](io_uring_sqe* place) {
    constexpr int first_registered = 0;
    io_uring_prep_read(place, first_registered, &no_bytes, sizeof no_bytes, current_position);
    place->flags |= IOSQE_FIXED_FILE;
  });
}

// False: it is no socket, or no file at all.
bool read_cookie(int file, std::uint64_t& cookie) {
  socklen_t size = sizeof cookie;
  return arch::system_call(SYS_getsockopt, file, SOL_SOCKET, SO_COOKIE, reinterpret_cast<long>(&cookie),
                           reinterpret_cast<long>(&size)) == 0;
}

bool has_waker() {
  std::uint64_t cookie = 0;
  return waker >= 0 && read_cookie(waker, cookie) && cookie == cookie_of_waker;
}

// Registers the ring (Linux 5.18) and the end of the waker that it reads. False: they cannot be had without numbers.
bool register_with_klt(int end_to_read) {
  if (io_uring_register_files(&ring, &end_to_read, 1) != 0 || io_uring_register_ring_fd(&ring) != 1) return false;
  close(std::exchange(ring.ring_fd, -1));
  return true;
}

bool open_and_register(int end_to_read) {
  if (!open_with(IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN) && !open_with(0)) return false;
  if (knows_what_is_needed() && register_with_klt(end_to_read)) return true;
  io_uring_queue_exit(&ring);
  return false;
}

}  // namespace

RingTime ring_time(std::uint64_t deadline_ns) {
  const timespec time = to_timespec(deadline_ns);
  RingTime result{};
  result.tv_sec = time.tv_sec;
  result.tv_nsec = time.tv_nsec;
  return result;
}

bool ring_open() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
  const bool opened = read_cookie(ends[0], cookie_of_waker) && open_and_register(ends[1]);
  close(ends[1]);
  if (opened) {
    waker = ends[0];
    listen_to_waker();
  } else {
    close(ends[0]);
  }
  return opened;
}

void ring_abandon() {
  if (waker < 0) return;
  io_uring_queue_exit(&ring);
  if (has_waker()) close(waker);
  waker = -1;
  kept = nullptr;  // the KLT may have been about to replace it (Bug: what that had freed was written to)
  kept_count = kept_room = 0;
}

void ring_read(int file, void* to, std::size_t size, void* token) {
  ask(token,
      [=](io_uring_sqe* place) { io_uring_prep_read(place, file, to, static_cast<unsigned>(size), current_position); });
}

void ring_write(int file, const void* from, std::size_t size, void* token) {
  ask(token, [=](io_uring_sqe* place) {
    io_uring_prep_write(place, file, from, static_cast<unsigned>(size), current_position);
  });
}

void ring_accept(int socket, sockaddr* address, socklen_t* size, int flags, void* token) {
  ask(token, [=](io_uring_sqe* place) { io_uring_prep_accept(place, socket, address, size, flags); });
}

void ring_connect(int socket, const sockaddr* address, socklen_t size, void* token) {
  ask(token, [=](io_uring_sqe* place) { io_uring_prep_connect(place, socket, address, size); });
}

void ring_poll(int file, short events, void* token) {
  const auto mask = static_cast<unsigned>(static_cast<unsigned short>(events));
  ask(token, [=](io_uring_sqe* place) { io_uring_prep_poll_add(place, file, mask); });
}

void ring_timeout(RingTime* deadline, void* token) {
  ask(token, [=](io_uring_sqe* place) { io_uring_prep_timeout(place, deadline, 0, IORING_TIMEOUT_ABS); });
}

void ring_cancel(void* target) {
  ask(of_nobody, [=](io_uring_sqe* place) { io_uring_prep_cancel(place, target, 0); });
}

unsigned ring_wait(RingResult* results, unsigned most) {
  unsigned count = 0;
  const auto deliver = [&](const RingResult& result) {
    if (result.token == of_waker)
      listen_to_waker();
    else if (result.token != of_nobody)
      results[count++] = result;
  };
  const bool some_kept = kept_count != 0;  // the waker's perhaps: then there is something to look at
  while (kept_count != 0 && count < most) deliver(kept[--kept_count]);
  check(some_kept ? io_uring_submit(&ring) : io_uring_submit_and_wait(&ring, 1));
  RingResult result{};
  while (count < most && take(result)) deliver(result);
  return count;
}

bool ring_wake() {
  if (!has_waker()) return false;
  const long answer = arch::system_call(SYS_sendto, waker, 0, 0, MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0);
  return answer >= 0 || answer == -EAGAIN;  // there are so many that one more has no room
}

}  // namespace weft::os
