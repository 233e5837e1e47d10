#include "os/ring.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <liburing.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/system_call.h"
#include "base/panic.h"
#include "os/clock.h"

namespace weft::os {
namespace {

constexpr unsigned places = 256;              // for what is asked for
constexpr unsigned places_of_results = 4096;  // the kernel keeps what there is beyond these (IORING_FEAT_NODROP)

io_uring ring;
int waker = -1;
std::uint64_t wakes = 0;  // what is read from the waker

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
  base::panic("io_uring does not work any more: %s (has the program closed files that are not its own?)",
              strerrordesc_np(-answer));
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
  ask(of_waker, [](io_uring_sqe* place) { io_uring_prep_read(place, waker, &wakes, sizeof wakes, 0); });
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
  waker = eventfd(0, EFD_CLOEXEC);
  if (waker < 0) return false;
  if (open_with(IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN) || open_with(0)) {
    if (knows_what_is_needed()) {
      listen_to_waker();
      return true;
    }
    io_uring_queue_exit(&ring);
  }
  close(waker);
  waker = -1;
  return false;
}

void ring_abandon() {
  if (waker < 0) return;
  io_uring_queue_exit(&ring);
  close(waker);
  waker = -1;
  kept_count = 0;
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

void ring_wake() {
  const std::uint64_t one = 1;
  arch::system_call(SYS_write, waker, reinterpret_cast<long>(&one), sizeof one);
}

}  // namespace weft::os
