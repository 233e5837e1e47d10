// The ring's KLT: takes requests, asks the kernel, and resumes units when it answers.
//
// Requests come by a list that anybody pushes to and this KLT takes as a whole. No wake-up is lost: it announces that
// it sleeps (`asleep`) and then looks at the list once more; who pushes looks at `asleep` afterwards. All four are
// sequentially consistent, so one of the two sees the other. Of many who push, the one that takes `asleep` back wakes.
//
// A wake-up that fails is not lost either. The program may have closed what it takes (os/ring.cpp), and the KLT may
// sleep on; what it has asked for is served nevertheless. Then whoever would have woken it says again that it sleeps
// and takes the list itself, in the order of the KLT and for the same reason: who has pushed before is taken with it,
// and who pushes later finds the KLT asleep, fails to wake it, and comes here as well. The KLT may wake up meanwhile,
// and then each takes what the other has not: each request is in one list. What is taken here is served by KLTs.
//
// A request asks for one thing, or for some of which the first ends it: its deadline, or one of several files that are
// polled. When the first is there the others are cancelled, and the unit is resumed when all have come back: until then
// the kernel may write to its memory.
#include <atomic>

#include "base/layout.h"
#include "core/io_request.h"
#include "core/scheduler.h"

namespace weft::core {
namespace {

struct alignas(base::cache_line) Asked {
  std::atomic<IoRequest*> newest{nullptr};
  std::atomic<bool> asleep{false};
};
Asked asked;

void* expect(IoRequest& request, IoToken& token) {
  token.request = &request;
  token.done = false;
  ++request.pending;
  return &token;
}

void begin_polling(IoRequest& request) {
  for (std::size_t index = 0; index < request.file_count; ++index) {
    const pollfd& file = request.files[index];
    IoToken& token = request.of_files != nullptr ? request.of_files[index] : request.own;
    token.done = true;
    if (file.fd >= 0) os::ring_poll(file.fd, file.events, expect(request, token));
  }
}

void begin(IoRequest& request) {
  switch (request.kind) {
    case IoKind::read:
      os::ring_read(request.file, request.address, request.size, expect(request, request.own));
      break;
    case IoKind::write:
      os::ring_write(request.file, request.address, request.size, expect(request, request.own));
      break;
    case IoKind::accept:
      os::ring_accept(request.file, static_cast<sockaddr*>(request.address), request.address_size, request.flags,
                      expect(request, request.own));
      break;
    case IoKind::connect:
      os::ring_connect(request.file, static_cast<const sockaddr*>(request.address),
                       static_cast<socklen_t>(request.size), expect(request, request.own));
      break;
    case IoKind::poll:
      begin_polling(request);
      break;
  }
  request.of_deadline.done = true;
  if (request.deadline == never) return;
  request.time = os::ring_time(request.deadline);
  os::ring_timeout(&request.time, expect(request, request.of_deadline));
}

void cancel_unless_done(IoToken& token) {
  if (!token.done) os::ring_cancel(&token);
}

void cancel_the_rest(IoRequest& request) {
  cancel_unless_done(request.of_deadline);
  if (request.of_files == nullptr) {
    cancel_unless_done(request.own);
    return;
  }
  for (std::size_t index = 0; index < request.file_count; ++index) cancel_unless_done(request.of_files[index]);
}

// The unit, when all has come back; else nullptr.
Unit* note(IoToken& token, int result) {
  IoRequest& request = *token.request;
  token.done = true;
  token.result = result;
  --request.pending;
  if (!request.over) {
    request.over = true;
    request.timed_out = &token == &request.of_deadline;
    if (request.pending != 0) cancel_the_rest(request);
  }
  // Whatever it has come to counts, though its time be over.
  const bool was_cancelled = result == -ECANCELED || result == -EINTR;
  if (&token != &request.of_deadline && !(request.timed_out && was_cancelled)) {
    request.timed_out = false;
    if (request.result == 0 || !was_cancelled) request.result = result;
  }
  return request.pending == 0 ? request.unit : nullptr;
}

// The oldest first.
IoRequest* take_asked() {
  IoRequest* newest = asked.newest.exchange(nullptr, std::memory_order_seq_cst);
  IoRequest* oldest = nullptr;
  while (newest != nullptr) {
    IoRequest* request = newest;
    newest = request->next;
    request->next = oldest;
    oldest = request;
  }
  return oldest;
}

void begin_what_is_asked() {
  for (IoRequest* request = take_asked(); request != nullptr;) {
    IoRequest* next = request->next;
    if (has_lost_its_file(*request))
      finish(*request);
    else
      begin(*request);
    request = next;
  }
}

// In place of the KLT, which nobody can wake; see the head.
void hand_over_to_klts() {
  asked.asleep.store(true, std::memory_order_seq_cst);
  for (IoRequest* request = take_asked(); request != nullptr;) {
    IoRequest* next = request->next;
    if (!ask_klts(*request)) refuse(*request);
    request = next;
  }
}

}  // namespace

void serve_by_ring() {
  constexpr unsigned at_once = 256;
  static os::RingResult results[at_once];
  for (;;) {
    begin_what_is_asked();
    asked.asleep.store(true, std::memory_order_seq_cst);
    if (asked.newest.load(std::memory_order_seq_cst) != nullptr) {
      asked.asleep.store(false, std::memory_order_relaxed);
      continue;
    }
    const unsigned count = os::ring_wait(results, at_once);
    asked.asleep.store(false, std::memory_order_relaxed);
    Unit* served = nullptr;
    Unit** end = &served;
    for (unsigned index = 0; index < count; ++index) {
      Unit* unit = note(*static_cast<IoToken*>(results[index].token), results[index].result);
      if (unit == nullptr) continue;
      *end = unit;
      end = &unit->next;
    }
    *end = nullptr;
    if (served != nullptr) resume_all(served);  // which needs no worker
  }
}

bool ask_ring(IoRequest& request) {
  IoRequest* newest = asked.newest.load(std::memory_order_relaxed);
  do {
    request.next = newest;
  } while (!asked.newest.compare_exchange_weak(newest, &request, std::memory_order_seq_cst, std::memory_order_relaxed));
  // The request may be gone from here on, but not its unit's worker, which is the caller's.
  if (!asked.asleep.load(std::memory_order_seq_cst) || !asked.asleep.exchange(false, std::memory_order_seq_cst) ||
      os::ring_wake()) [[likely]]
    return true;
  hand_over_to_klts();
  return false;
}

void reset_io_ring() {
  os::ring_abandon();
  asked.newest.store(nullptr, std::memory_order_relaxed);
  asked.asleep.store(false, std::memory_order_relaxed);
}

}  // namespace weft::core
