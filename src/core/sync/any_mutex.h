// A mutex whose kind is chosen when it is made: barging or fair, and recursive or not.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/scheduler.h"
#include "core/sync/fair_mutex.h"
#include "core/sync/mutex.h"

namespace weft::core {

enum MutexKind : std::uint32_t { plain_mutex = 0, recursive_mutex = 1, fair_mutex = 2 };

class AnyMutex {
 public:
  explicit AnyMutex(std::uint32_t kind = plain_mutex) : kind_(kind) {}

  [[nodiscard]] bool try_lock() {
    if (is(recursive_mutex)) return again() || own(take());
    return take();
  }
  /// False: the deadline has passed.
  [[nodiscard]] bool try_lock_until(std::uint64_t deadline) {
    if (is(recursive_mutex)) return again() || own(take_until(deadline));
    return take_until(deadline);
  }
  void lock() { (void)try_lock_until(never); }

  /// False: the caller did not hold it (found for recursive ones), or nobody did.
  bool unlock() {
    if (!is(recursive_mutex)) return give();
    if (owner_.load(std::memory_order_relaxed) != &holder()) return false;
    if (depth_-- > 1) return true;
    owner_.store(nullptr, std::memory_order_relaxed);
    return give();
  }

  bool held() const { return is(fair_mutex) ? fair_.held() : plain_.held(); }
  /// False: it is recursive, and not the caller's; or nobody holds it.
  bool may_be_mine() const {
    return is(recursive_mutex) ? owner_.load(std::memory_order_relaxed) == &holder() : held();
  }

  /// Gives it up however often the caller holds it; and back. For waiting on a condition.
  std::uint32_t unlock_wholly() {
    const std::uint32_t depth = depth_;
    depth_ = 0;
    owner_.store(nullptr, std::memory_order_relaxed);
    give();
    return depth;
  }
  /// What all of it is, if it is neither fair nor recursive; else nullptr.
  Mutex* plain() { return kind_ == plain_mutex ? &plain_ : nullptr; }
  void lock_wholly(std::uint32_t depth) {
    (void)take_until(never);
    if (!is(recursive_mutex)) return;
    owner_.store(&holder(), std::memory_order_relaxed);
    depth_ = depth;
  }

 private:
  bool is(MutexKind kind) const { return (kind_ & kind) != 0; }
  bool take() { return is(fair_mutex) ? fair_.try_lock() : plain_.try_lock(); }
  bool take_until(std::uint64_t deadline) {
    return is(fair_mutex) ? fair_.try_lock_until(deadline) : plain_.try_lock_until(deadline);
  }
  bool give() { return is(fair_mutex) ? fair_.unlock() : plain_.unlock(); }

  // Only the holder writes the two, and only itself can find itself in `owner_`: a relaxed read is enough.
  bool again() {
    if (owner_.load(std::memory_order_relaxed) != &holder()) return false;
    ++depth_;
    return true;
  }
  bool own(bool taken) {
    if (!taken) return false;
    owner_.store(&holder(), std::memory_order_relaxed);
    depth_ = 1;
    return true;
  }

  union {
    Mutex plain_{};
    FairMutex fair_;
  };
  std::uint32_t kind_;
  std::atomic<const Unit*> owner_{nullptr};
  std::uint32_t depth_ = 0;
};

}  // namespace weft::core
