// Input and output for units.
//
// A unit first tries without waiting (RWF_NOWAIT, a poll that looks once): what is ready costs the system call and
// nothing else. To read and to write it tries once more after units that are ready on its worker have run. What is not
// ready then becomes a request, and the unit suspends, like any that waits; whoever serves the
// request resumes it. So a worker that finds nothing sleeps as ever, on its own word, and is woken as by any unit that
// becomes ready. Nobody polls, but for room in the queue of a Unix socket that listens (connect()), and where poll(2)
// says that a file is ready which then is not (wait_for_another_try()).
//
// Served by one io_uring of the process's, asked and read by one KLT of weft's (io_ring.cpp), which exists once
// somebody has waited. Why one ring and one KLT, and not a ring for each worker: docs/design/io.md. Where the kernel
// has no ring for us, or the program has closed what the ring needs, by KLTs that wait in system calls (io_klts.cpp);
// WEFT_IO=klts wants these.
//
// In a forked child there is neither, and a first wait starts anew.
#include "core/io.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <pthread.h>
#include <utility>

#include "base/environment.h"
#include "base/panic.h"
#include "core/io_request.h"
#include "core/own_klt.h"
#include "core/preempt.h"
#include "core/scheduler.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/io.h"
#include "os/klt.h"

namespace weft::core {
namespace {

// ---------------------------------------------------------------- who serves

enum State : std::uint32_t { not_started, starting, by_ring, by_klts, failed };
std::atomic<std::uint32_t> state{not_started};

enum Wish : int { io_uring, klts };

void reset_in_child() {
  reset_io_ring();
  reset_io_klts();
  state.store(not_started, std::memory_order_relaxed);
}

// Not by who is about to start it. (Bug: a child that another thread forked in between waited for ever for who starts.)
// And before the rest of the core (fork.cpp).
[[gnu::constructor(1000)]] void watch_forks() { pthread_atfork(nullptr, nullptr, reset_in_child); }

void tell(State now) {
  state.store(now, std::memory_order_release);  // partner: the acquire in io_server()
  os::futex_wake(state, INT32_MAX);
}

void* open_and_serve(void* wish) {
  const bool opened = os::ring_open();
  if (!opened && *static_cast<int*>(wish) == io_uring && std::getenv("WEFT_IO") != nullptr)
    base::warn("WEFT_IO=io_uring: the kernel has none for this process; kernel threads wait instead");
  tell(opened ? by_ring : by_klts);  // *wish is gone
  if (opened) serve_by_ring();
  os::note_klt_end();
  return nullptr;
}

void start_serving() {
  int wish = io_uring;
  base::read_variable("WEFT_IO", "io_uring or klts", "io_uring", [&wish](base::ValueReader& value) {
    return base::read_one_of(value, {"io_uring", "klts"}, wish);
  });
  const HeldOff held;
  if (wish == klts) {
    tell(by_klts);
    return;
  }
  constexpr std::size_t stack_bytes = 64U << 10U;
  if (start_own_klt(open_and_serve, &wish, stack_bytes, os::Signals::none) != 0) {
    tell(failed);
    return;
  }
  while (state.load(std::memory_order_acquire) == starting) os::futex_wait(state, starting);
}

// Whoever asks it from now on would have to be served by others.
void give_up_ring() {
  std::uint32_t now = by_ring;
  if (state.compare_exchange_strong(now, by_klts, std::memory_order_relaxed) && std::getenv("WEFT_IO") != nullptr)
    base::warn("WEFT_IO=io_uring: the program has closed a file that it needs; kernel threads wait from now on");
}

}  // namespace

IoServer io_server() {
  for (;;) {
    std::uint32_t now = state.load(std::memory_order_acquire);
    if (now == by_ring) return IoServer::ring;
    if (now == by_klts) return IoServer::klts;
    if (now == failed) {  // there may be threads again
      state.compare_exchange_strong(now, not_started, std::memory_order_relaxed);
      return IoServer::none;
    }
    if (now == starting)
      os::futex_wait(state, starting);
    else if (state.compare_exchange_strong(now, starting, std::memory_order_relaxed))
      start_serving();
  }
}

void finish(IoRequest& request) {
  Unit* unit = request.unit;
  unit->next = nullptr;
  resume_all(unit);  // which needs no worker
}

void refuse(IoRequest& request) {
  request.refused = true;
  finish(request);
}

namespace {

// ---------------------------------------------------------------- waiting

constexpr std::uint64_t at_once = 0;

// False: nobody serves it.
bool serve(IoRequest& request) {
  const IoServer server = io_server();
  if (server == IoServer::none) return false;
  request.unit = &this_unit();
  prepare_suspend(*request.unit);
  if (server == IoServer::ring && !request.by_klts) {
    if (!ask_ring(request)) give_up_ring();
  } else if (!ask_klts(request)) {
    cancel_suspend(*request.unit);
    return false;
  }
  suspend();
  return !request.refused;
}

IoResult failed_with(long answer) { return {static_cast<int>(-answer), 0}; }
IoResult done(long answer) { return {0, static_cast<std::size_t>(answer)}; }
constexpr IoResult too_late{IoResult::timed_out, 0};
constexpr IoResult not_served{IoResult::no_klt, 0};

// Of many files poll(2) tells by their numbers, too; of one that is known it is another matter.
// `waited`: the first look found none ready.
IoResult poll_files(pollfd* files, std::size_t count, const os::FileIdentity& identity_of_one, std::uint64_t deadline,
                    bool& waited) {
  IoToken* tokens = nullptr;
  bool by_klts = false;
  for (;;) {
    IoRequest request;
    request.kind = IoKind::poll;
    request.identity = identity_of_one;
    long ready = os::poll_files(files, count, 0);
    // What it cannot read nobody else can. (Bug: one file at an address that faults ended the process.)
    if (count == 1 && ready != -EFAULT) {
      request.file = files->fd;
      if (has_lost_its_file(request)) ready = request.result;
    }
    const bool waits = ready == -EINTR || (ready == 0 && deadline != at_once);
    if (waits) {
      waited = true;
      if (count > 1 && tokens == nullptr) {
        tokens = static_cast<IoToken*>(std::calloc(count, sizeof(IoToken)));
        if (tokens == nullptr) return {IoResult::no_memory};
      }
      request.files = files;
      request.file_count = count;
      request.of_files = tokens;
      request.deadline = deadline;
      request.by_klts = by_klts;
      if (!serve(request)) {
        std::free(tokens);
        return not_served;
      }
      if (request.timed_out) deadline = at_once;  // the last look says what there is
      // EBADF: one was closed meanwhile, of which the next look says POLLNVAL.
      if (request.result >= 0 || request.result == -EINTR || request.result == -ECANCELED || request.result == -EBADF)
        continue;
      // The ring takes no file that tells nobody when it is ready (/dev/null, one on a disk): poll(2) waits for others
      // then, and for the deadline.
      if (request.result == -EINVAL && !by_klts) {
        by_klts = true;
        continue;
      }
      ready = request.result;
    }
    std::free(tokens);
    return ready < 0 ? failed_with(ready) : done(ready);
  }
}

// What an operation has seen of its file so far, beside that it says EAGAIN.
struct Seen {
  // Nothing more comes to the socket: shut down (POLLRDHUP). One for datagrams, or a Unix socket that listens, is ready
  // from then on, and goes on saying EAGAIN if it has O_NONBLOCK. What says so after this has been seen is empty.
  bool end = false;
  // What poll(2) says of it is not so: an eventfd without room for the number, a terminal for what it makes of a byte.
  // Or others have been quicker, so at first it is only tried again.
  bool ready = false;
  Pauses pauses;
};

IoResult end_of(IoKind kind) { return kind == IoKind::accept ? failed_with(-EINVAL) : done(0); }

bool is_ready(int file, short events, Seen& seen) {
  pollfd one{file, events, 0};
  if (os::poll_files(&one, 1, 0) == 0) return false;
  seen.end = says_end(one);
  return true;
}

// `error` is 0 when it is ready.
IoResult wait_until_ready(const IoRequest& request, pollfd& file, bool& waited) {
  const IoResult result = poll_files(&file, 1, request.identity, request.deadline, waited);
  return result.error == 0 && result.count == 0 ? too_late : result;
}

// `error` is 0 when there is time for another look.
IoResult pause(Pauses& pauses, std::uint64_t deadline) {
  const std::uint64_t now = os::now_ns();
  if (now >= deadline) return too_late;
  if (!serves_deadlines()) return not_served;
  sleep_until(pauses.end_of_next(now, deadline));
  return done(0);
}

// After EAGAIN. `error` is 0 when it is worth another try.
IoResult wait_for_another_try(const IoRequest& request, short events, Seen& seen) {
  pollfd file{request.file, events, 0};
  bool waited = false;
  const IoResult ready = wait_until_ready(request, file, waited);
  if (ready.error != 0) return ready;
  seen.end = says_end(file);
  const bool was_ready = std::exchange(seen.ready, !waited);
  if (!waited && was_ready && !seen.end) return pause(seen.pauses, request.deadline);
  if (waited) seen.pauses.begin_anew();
  return ready;
}

// What the kernel says to the request, without EINTR; EAGAIN only after the file has become ready since.
IoResult ask(IoRequest& request, short events, Seen& seen) {
  const bool may_wait = request.deadline != at_once;
  if (!may_wait) {
    if (!is_ready(request.file, events, seen)) return too_late;
    // Another may take what there is before this comes to it.
    constexpr std::uint64_t soon_ns = 10ULL * 1000 * 1000;
    request.deadline = os::now_ns() + soon_ns;
  }
  if (seen.end) request.deadline = never;  // nobody is made to wait there, and the ring's answer takes a moment
  do {
    request.result = 0;
    request.timed_out = false;
    request.over = false;
    if (!serve(request)) return not_served;
  } while (!request.timed_out && request.result == -EINTR);
  if (request.timed_out) return too_late;
  if (request.result == -EAGAIN) {
    if (seen.end) return end_of(request.kind);
    if (!may_wait) return too_late;
    if (const IoResult ready = wait_for_another_try(request, events, seen); ready.error != 0) return ready;
  }
  return request.result < 0 ? failed_with(request.result) : done(request.result);
}

bool shall_wait(long answer) { return answer == -EAGAIN || os::cannot_tell(answer); }

// What an operation is about. While others run it may be closed, and its number be given to another file.
struct File {
  int number;
  os::FileIdentity identity{};  // once others may have run

  explicit File(int its_number) : number(its_number) {}
  void remember() {
    if (identity == os::FileIdentity{}) identity = os::identity_of(number);
  }
  IoRequest request(IoKind kind, std::uint64_t deadline) {
    remember();
    IoRequest request;
    request.kind = kind;
    request.file = number;
    request.identity = identity;
    request.deadline = deadline;
    return request;
  }
};

// Units that are ready here may well bring what the caller would wait for; then nobody has to be asked. Once for each
// operation. False: there are none, or it has been done.
class OthersFirst {
 public:
  explicit OthersFirst(std::uint64_t deadline) : may_(deadline != at_once) {}
  bool ran(long answer, File& file) {
    const bool run = may_ && answer == -EAGAIN && has_local_work(worker_here());
    may_ = false;
    if (run) {
      file.remember();
      yield();
    }
    return run;
  }

 private:
  bool may_;
};

// All of it is written; read is what there is, but a file on a disk up to its end.
IoResult transfer(IoKind kind, int number, char* memory, std::size_t size, std::uint64_t deadline) {
  if (size > os::most_transferred) size = os::most_transferred;
  const bool reads = kind == IoKind::read;
  File file(number);
  OthersFirst others(deadline);
  Seen seen;
  std::size_t count = 0;
  for (;;) {
    char* at = memory + count;
    const std::size_t left = size - count;
    long answer = -EBADF;
    if (is_still(number, file.identity))
      answer = reads ? os::read_now(number, at, left) : os::write_now(number, at, left);
    if (answer == -EINTR || others.ran(answer, file)) continue;
    IoResult result = answer >= 0 ? done(answer) : failed_with(answer);
    if (shall_wait(answer)) {
      IoRequest request = file.request(kind, deadline);
      request.address = at;
      request.size = left;
      request.by_klts = os::cannot_tell(answer) && os::is_device(number);
      // Some are written to in small parts, which ends with the time even if there is always room for another.
      if (request.by_klts && count != 0 && os::now_ns() >= deadline) return {0, count};
      result = ask(request, reads ? to_read : POLLOUT, seen);
      if (result.error == EAGAIN) continue;
    }
    count += result.count;
    const bool goes_on = result.error == 0 && result.count != 0 && count < size && (!reads || os::lies_on_disk(number));
    if (!goes_on) return count != 0 ? IoResult{0, count} : result;
  }
}

}  // namespace

IoResult read(int file, void* to, std::size_t size, std::uint64_t deadline) {
  return transfer(IoKind::read, file, static_cast<char*>(to), size, deadline);
}

IoResult write(int file, const void* from, std::size_t size, std::uint64_t deadline) {
  return transfer(IoKind::write, file, static_cast<char*>(const_cast<void*>(from)), size, deadline);
}

IoResult accept(int socket, sockaddr* address, socklen_t* size, int flags, std::uint64_t deadline) {
  if (socket < 0) return failed_with(-EBADF);  // poll(2) passes over it (Bug: the time was over, again and again)
  const socklen_t room = size != nullptr ? *size : 0;
  File file(socket);
  Seen seen;
  for (;;) {
    IoRequest request = file.request(IoKind::accept, deadline);
    request.flags = flags;
    request.address = address;
    request.address_size = size;
    const IoResult result = ask(request, to_read, seen);
    if (result.error != EAGAIN) return result;
    if (size != nullptr) *size = room;
  }
}

namespace {

// EAGAIN: a Unix socket that does not wait by itself, and whoever listens has no room for one more.
IoResult try_to_connect(File& file, const sockaddr* address, socklen_t size, std::uint64_t deadline) {
  IoRequest request = file.request(IoKind::connect, deadline);
  request.address = const_cast<sockaddr*>(address);
  request.size = size;
  // The kernel would wait for room on a thread of the ring's, and a cancellation that comes as it begins is lost.
  request.by_klts = deadline != never && os::is_unix_socket(file.number);
  if (!serve(request)) return not_served;
  // Begun, and going on without us.
  if (!request.timed_out && (request.result == -EINPROGRESS || request.result == -EINTR)) {
    pollfd polled{file.number, POLLOUT, 0};
    bool waited = false;
    if (const IoResult ready = wait_until_ready(request, polled, waited); ready.error != 0) return ready;
    if (!has_lost_its_file(request)) request.result = os::outcome_of_connecting(file.number);
  }
  if (request.timed_out) return too_late;
  return request.result < 0 ? failed_with(request.result) : done(0);
}

}  // namespace

// The kernel tells nobody when there is room again, poll(2) neither: so this looks, ever more seldom.
IoResult connect(int socket, const sockaddr* address, socklen_t size, std::uint64_t deadline) {
  Pauses pauses;
  File file(socket);
  for (;;) {
    const IoResult result = try_to_connect(file, address, size, deadline);
    if (result.error != EAGAIN) return result;
    if (const IoResult paused = pause(pauses, deadline); paused.error != 0) return paused;
  }
}

IoResult poll(pollfd* files, std::size_t count, std::uint64_t deadline) {
  bool waited = false;
  return poll_files(files, count, {}, deadline, waited);
}

}  // namespace weft::core
