// A lock for a few instructions. Never held across a switch.
#pragma once

#include <atomic>

#include "arch/cpu.h"
#include "os/futex.h"

namespace weft::core {

class Spinlock {
 public:
  void lock() {
    while (locked_.exchange(true, std::memory_order_acquire)) wait();
  }
  bool try_lock() { return !locked_.exchange(true, std::memory_order_acquire); }
  void unlock() { locked_.store(false, std::memory_order_release); }

 private:
  void wait() {
    // The holder may have been descheduled by the kernel: after a while, give it the CPU.
    for (unsigned round = 0; locked_.load(std::memory_order_relaxed); ++round) {
      if (round < 128)
        arch::relax();
      else
        os::give_up_cpu();
    }
  }
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
