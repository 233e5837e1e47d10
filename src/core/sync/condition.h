// Condition variable for ULTs and roots, with any of the mutexes. Nobody is woken without a notification, but
// another may have changed what was waited for before the mutex is held again: waiters loop.
//
// The caller of wait() stands in the queue before it releases the mutex, so a notification in between is
// not lost, and nothing needs to be counted. The word says whether somebody may be queued; it is written
// under the queue's lock only. Whoever notifies because of what it did under the mutex sees it without
// further ado, through the mutex: without waiters a notification is one load.
//
// Two units that hand a turn to and fro leave a mutex that the other locks at once. So a unit that waits leaves a plain
// mutex locked at first (Unsettled::locked), and says on its own stack which one it will want (Stack::relocks). It is
// off its stack, and what comes next on that worker is known, when it is settled: if that is a unit that is about to
// lock the same mutex, it has it now, which its `relocks` being gone says; else the mutex is unlocked there and then.
// `relocks` is set only while its unit is in wait(), and nobody looks at it but who runs on that worker. Where somebody
// waits for the mutex in turn, nothing is handed on: else two units could keep it to themselves for ever.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "core/parking_lot.h"
#include "core/scheduler.h"
#include "core/sync/mutex.h"

namespace weft::core {

class Condition {
 public:
  /// The caller holds `mutex`, and holds it again on return. False: the deadline has passed.
  template <class M>
  bool wait_until(M& mutex, std::uint64_t deadline) {
    if (deadline == never) {
      wait(mutex);
      return true;
    }
    struct Held : Departure {
      M* mutex;
      bool released = false;
    } held;
    held.mutex = &mutex;
    held.leave = [](Departure& departure) {
      auto& self = static_cast<Held&>(departure);
      self.released = true;
      self.mutex->unlock();
    };
    const bool woken = queue_and_leave(held, deadline);
    if (!held.released) {  // the deadline had passed before: who changes what is waited for has its turn all the same
      mutex.unlock();
      yield();
    }
    mutex.lock();
    return woken;
  }
  /// M::plain(): the Mutex that it is, if it is nothing else.
  template <class M>
  void wait(M& mutex) {
    Stack* stack = nullptr;
    const auto leave_locked = [&mutex, &stack](Worker& worker, const Unit& unit) {
      Mutex* plain = mutex.plain();
      if (plain == nullptr || !plain->held_and_not_awaited()) return false;
      stack = unit.stack;
      stack->relocks = plain;
      worker.unsettled.locked = plain;
      return true;
    };
    Worker& worker = worker_here();
    Bucket& queue = bucket_of(strict_key(this));
    queue.lock_for_short();
    queued_.store(1, std::memory_order_relaxed);
    park_in(queue, strict_key(this), worker, leave_locked, [&mutex] { mutex.unlock(); });
    const bool handed_on = stack != nullptr && std::exchange(stack->relocks, nullptr) == nullptr;
    if (!handed_on) mutex.lock();
  }
  /// Whether somebody waits.
  bool awaited() const;
  void notify_one() {
    if (queued_.load(std::memory_order_relaxed) != 0) notify_one_slow();
  }
  void notify_all() {
    if (queued_.load(std::memory_order_relaxed) != 0) notify_all_slow();
  }

 private:
  // What a waiter does once it stands in the queue: it releases the mutex.
  struct Departure {
    void (*leave)(Departure&) = nullptr;
    std::atomic<std::uint32_t>* queued = nullptr;
  };
  bool queue_and_leave(Departure& departure, std::uint64_t deadline);
  void notify_one_slow();
  void notify_all_slow();
  std::atomic<std::uint32_t> queued_{0};
};

}  // namespace weft::core
