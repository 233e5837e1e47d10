// Condition variable for ULTs and roots, with any of the mutexes. Nobody is woken without a notification, but
// another may have changed what was waited for before the mutex is held again: waiters loop.
//
// The caller of wait() stands in the queue before it releases the mutex, so a notification in between is
// not lost, and nothing needs to be counted. The word says whether somebody may be queued; it is written
// under the queue's lock only. Whoever notifies because of what it did under the mutex sees it without
// further ado, through the mutex: without waiters a notification is one load.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/parking_lot.h"

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
    if (held.released) mutex.lock();
    return woken;
  }
  template <class M>
  void wait(M& mutex) {
    const auto announce = [this](Waiters&) {
      queued_.store(1, std::memory_order_relaxed);
      return true;
    };
    const auto leave_quickly = [&mutex]() -> bool {
      (void)mutex;
      if constexpr (requires { mutex.unlock_if_not_awaited(); })
        return mutex.unlock_if_not_awaited();
      else
        return false;  // to unlock it may need another queue's lock
    };
    (void)park_if(strict_key(this), announce, leave_quickly, [&mutex] { mutex.unlock(); });
    mutex.lock();
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
