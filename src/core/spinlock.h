// A lock for a few instructions; where something has to be made, for the allocation of that, too. Two are held for
// longer: that of a queue in which a unit parks, across its switch, until its worker has it off its stack
// (core/parking_lot.h, core/sync/barrier.cpp): what that worker runs until then takes no lock of a queue, and calls
// nothing of the program's. And the one at the entrance of the runtime, while it ends.
#pragma once

#include <atomic>

#include "arch/cpu.h"
#include "os/futex.h"

namespace weft::core {

/// For a few instructions of another KLT. That may have been descheduled by the kernel: after a while it gets the CPU.
template <class Condition>
void wait_while(Condition condition) {
  for (unsigned round = 0; condition(); ++round) {
    if (round < 128)
      arch::relax();
    else
      os::give_up_cpu();
  }
}

class Spinlock {
 public:
  void lock() {
    while (locked_.exchange(true, std::memory_order_acquire))
      wait_while([this] { return locked_.load(std::memory_order_relaxed); });
  }
  bool try_lock() { return !locked_.exchange(true, std::memory_order_acquire); }
  void unlock() { locked_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> locked_{false};
};

/// In place of a Spinlock where only one may come anyway.
class NoLock {
 public:
  void lock() {}
  void unlock() {}
};

template <class Lock>
class Guard {
 public:
  explicit Guard(Lock& lock) : lock_(lock) { lock_.lock(); }
  ~Guard() { lock_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Lock& lock_;
};

using SpinGuard = Guard<Spinlock>;

}  // namespace weft::core
