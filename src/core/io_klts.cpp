// Where there is no io_uring: KLTs that make the system calls, each one at a time.
//
// There is a KLT for every request that is being served, for one may wait for what only another brings; they stay for
// later ones. If no further one can be had, requests wait for their turn, and a line says so.
//
// No request is left: the number of those that wait in the list and of KLTs that sleep are changed under one lock, and
// a KLT is made when there are more of the former. A KLT sleeps on `wakes`, which it has read under the lock.
//
// A deadline: the KLT polls the file first. What is ready then may be gone when it comes to it, taken by another, or
// have no room for all that is written; a read or a write is therefore tried without waiting, and again until the
// deadline. A file on a disk is always ready, and waited for; so is a device that is no terminal, which nobody can ask
// not to wait. accept() cannot be: it may come back late where others accept from the same socket.
#include <atomic>
#include <cerrno>
#include <utility>

#include "base/layout.h"
#include "base/panic.h"
#include "core/io_request.h"
#include "core/own_klt.h"
#include "core/preempt.h"
#include "core/scheduler.h"
#include "core/spinlock.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/io.h"

namespace weft::core {
namespace {

struct alignas(base::cache_line) Pool {
  Spinlock lock;
  IoRequest* oldest = nullptr;
  IoRequest* newest = nullptr;
  unsigned waiting = 0;  // requests in the list
  unsigned asleep = 0;   // KLTs
  unsigned made = 0;
  std::atomic<std::uint32_t> wakes{0};

  void put(IoRequest& request) {
    request.next = nullptr;
    (newest != nullptr ? newest->next : oldest) = &request;
    newest = &request;
    ++waiting;
  }

  void remove(const IoRequest& request) {
    IoRequest* before = nullptr;
    for (IoRequest* one = oldest; one != &request; one = one->next) before = one;
    (before != nullptr ? before->next : oldest) = request.next;
    if (newest == &request) newest = before;
    --waiting;
  }

  IoRequest* take_all() {
    IoRequest* all = oldest;
    oldest = newest = nullptr;
    waiting = 0;
    return all;
  }

  IoRequest* take() {
    IoRequest* request = oldest;
    if (request == nullptr) return nullptr;
    oldest = request->next;
    if (oldest == nullptr) newest = nullptr;
    --waiting;
    return request;
  }
};
Pool pool;
std::atomic<bool> told{false};

// ---------------------------------------------------------------- system calls that wait, with a limit

bool is_over(std::uint64_t deadline) { return deadline != never && os::now_ns() >= deadline; }

// 1: it is ready; 0: the deadline has passed; or a negative errno value.
long wait_for_file(pollfd& file, std::uint64_t deadline) {
  for (;;) {
    const long ready = os::poll_files(&file, 1, deadline);
    if (ready != -EINTR) return ready;
  }
}

long wait_for_file(int file, short events, std::uint64_t deadline) {
  pollfd one{file, events, 0};
  return wait_for_file(one, deadline);
}

template <class Call>
long uninterrupted(Call call) {
  for (;;)
    if (const long answer = call(); answer != -EINTR) return answer;
}

// It has been said to be ready, and was not. Then that is not so (an eventfd without room for the number), or another
// has been quicker, who comes first the next time too.
void pause_if_ready(pollfd& file, Pauses& pauses, std::uint64_t deadline) {
  if (os::poll_files(&file, 1, 0) == 1)
    os::poll_files(nullptr, 0, pauses.end_of_next(os::now_ns(), deadline));
  else
    pauses.begin_anew();
}

// now() does not wait, nor does by_kind(); later() does.
template <class Now, class ByKind, class Later>
void transfer(IoRequest& request, short events, Now now, ByKind by_kind, Later later) {
  if (request.deadline == never) {
    request.result = uninterrupted(later);
    return;
  }
  Pauses pauses;
  for (unsigned tries = 0;; ++tries) {
    pollfd file{request.file, events, 0};
    if (tries > 1) pause_if_ready(file, pauses, request.deadline);
    const long ready = wait_for_file(file, request.deadline);
    request.timed_out = ready == 0;
    request.result = ready;
    if (ready <= 0 || has_lost_its_file(request)) return;
    request.result = uninterrupted(now);
    if (os::cannot_tell(request.result)) request.result = uninterrupted(by_kind);
    // (Bug: a write that a disk has to make room for was tried again and again, even when its time was over.)
    const bool is_for_disk = request.result == -EAGAIN && os::lies_on_disk(request.file);
    if (is_for_disk || os::cannot_tell(request.result)) request.result = uninterrupted(later);
    if (request.result == -EAGAIN && says_end(file)) request.result = 0;
    if (request.result != -EAGAIN) return;
    request.timed_out = is_over(request.deadline);
    if (request.timed_out) return;
  }
}

void connect_in_time(IoRequest& request) {
  auto address = static_cast<const sockaddr*>(request.address);
  const auto size = static_cast<socklen_t>(request.size);
  if (request.deadline == never) {
    request.result = os::connect_socket(request.file, address, size);
    return;
  }
  const bool was_nonblocking = os::is_nonblocking(request.file) == 1;
  if (!was_nonblocking) os::set_nonblocking(request.file, true);
  request.result = os::connect_socket(request.file, address, size);
  if (request.result == -EINPROGRESS) {
    const long ready = wait_for_file(request.file, POLLOUT, request.deadline);
    request.timed_out = ready == 0;
    request.result = ready;
    // O_NONBLOCK stays set then: the number is that of another file, which must not be touched, and there is no way to
    // the socket. Only who has it by another number too sees that (dup(2), fork(2)).
    if (has_lost_its_file(request)) return;
    if (ready > 0) request.result = os::outcome_of_connecting(request.file);
  }
  if (!was_nonblocking) os::set_nonblocking(request.file, false);
}

void accept_in_time(IoRequest& request) {
  if (request.deadline != never) {
    const long ready = wait_for_file(request.file, POLLIN, request.deadline);
    request.timed_out = ready == 0;
    request.result = ready;
    if (ready <= 0 || has_lost_its_file(request)) return;
  }
  request.result = uninterrupted([&request] {
    return os::accept_connection(request.file, static_cast<sockaddr*>(request.address), request.address_size,
                                 request.flags);
  });
}

void make_call(IoRequest& request) {
  if (has_lost_its_file(request)) return;
  switch (request.kind) {
    case IoKind::read:
      transfer(
          request, to_read, [&request] { return os::read_now(request.file, request.address, request.size); },
          [&request] { return os::read_by_kind_now(request.file, request.address, request.size); },
          [&request] { return os::read_file(request.file, request.address, request.size); });
      break;
    case IoKind::write:
      transfer(
          request, POLLOUT, [&request] { return os::write_now(request.file, request.address, request.size); },
          [&request] { return os::write_by_kind_now(request.file, request.address, request.size); },
          [&request] { return os::write_file(request.file, request.address, request.size); });
      break;
    case IoKind::accept:
      accept_in_time(request);
      break;
    case IoKind::connect:
      connect_in_time(request);
      break;
    case IoKind::poll:
      request.result =
          uninterrupted([&request] { return os::poll_files(request.files, request.file_count, request.deadline); });
      request.timed_out = request.result == 0;
      break;
  }
}

// ---------------------------------------------------------------- KLTs

IoRequest& next_request() {
  for (;;) {
    pool.lock.lock();
    IoRequest* request = pool.take();
    const std::uint32_t seen = pool.wakes.load(std::memory_order_relaxed);
    if (request == nullptr) ++pool.asleep;
    pool.lock.unlock();
    if (request != nullptr) return *request;
    os::futex_wait(pool.wakes, seen);
    SpinGuard guard(pool.lock);
    --pool.asleep;
  }
}

void* serve(void*) {
  for (;;) {
    IoRequest& request = next_request();
    make_call(request);
    finish(request);
  }
}

bool make_klt() {
  const HeldOff held;
  constexpr std::size_t stack_bytes = 64U << 10U;
  return start_own_klt(serve, nullptr, stack_bytes, os::Signals::none) == 0;
}

}  // namespace

bool ask_klts(IoRequest& request) {
  pool.lock.lock();
  pool.put(request);
  pool.wakes.fetch_add(1, std::memory_order_relaxed);
  const bool wanted = pool.waiting > pool.asleep;
  const bool may = pool.made < preemption_settings.most_klts;
  if (wanted && may) ++pool.made;
  pool.lock.unlock();
  os::futex_wake(pool.wakes, 1);
  if (!wanted || (may && make_klt())) return true;
  // From here on the request may be gone, unless there is nobody who could have served it. That is for the one to say
  // whose KLT has been refused and who finds no other, made or about to be: its own is in the list then. Whoever might
  // not make one has relied on others; if these are refused, they refuse its request with all that are left. (Bug: it
  // took its request out of the list once more.)
  bool there = true;
  IoRequest* left = nullptr;  // by others, who relied on the KLT that has just been refused
  if (may) {
    SpinGuard guard(pool.lock);
    --pool.made;
    there = pool.made != 0;
    if (!there) {
      pool.remove(request);
      left = pool.take_all();
    }
  }
  while (left != nullptr) refuse(*std::exchange(left, left->next));
  if (there && !told.exchange(true, std::memory_order_relaxed))
    base::warn(
        "no further thread can be had (WEFT_MAX_KLTS=%u, ulimit -u, pids.max, vm.max_map_count): input and output of "
        "some units wait "
        "for that of others",
        preemption_settings.most_klts);
  return there;
}

void reset_io_klts() {
  pool.lock.unlock();
  pool.oldest = pool.newest = nullptr;
  pool.waiting = pool.asleep = pool.made = 0;
  told.store(false, std::memory_order_relaxed);
}

}  // namespace weft::core
