// Waiting on an address: the one place where ULTs and roots queue up for a lock, a flag or a count.
//
// The object itself is only as large as its state (a word); the queues lie here, in buckets found by
// hashing the object's address, as in WebKit's WTF::ParkingLot (F. Pizlo, "Locking in WebKit", 2016).
// That is what makes locks of four bytes in memory that is only zeroed possible, and objects that may be
// freed as soon as their state says so: waking uses their address, and nothing that lies there.
//
// No wake-up is lost: park() checks its condition under the bucket's lock, with the unit announced
// (suspending) but not yet in the queue; unpark() changes the object's state, if it does, before or
// under the same lock. From the queue on, the hand-over is that of unit.h.
//
// A unit that waits with a deadline, or on several addresses, is resumed once: by whoever takes it out of its
// queue, or, if it stands in several, claims it there (parking_lot.cpp).
#pragma once

#include <atomic>
#include <cstdint>

#include "base/hash.h"
#include "base/layout.h"
#include "core/identities.h"
#include "core/scheduler.h"
#include "core/spinlock.h"
#include "core/timer.h"

namespace weft::core {

struct Selection;

/// What to park on where being woken means that the state has changed, and the waiter does not look again. Such
/// an object changes its state and wakes under one hold of the queue's lock (Waiters). Others unpark after their last
/// access to an object, which may be gone by then: so late a wake-up must not reach a new one at its address.
inline const void* strict_key(const void* object) { return static_cast<const char*>(object) + 1; }

/// A unit in a queue; lies on its stack.
struct Waiter {
  const void* address = nullptr;
  Unit* unit = nullptr;
  Waiter* older = nullptr;
  Waiter* newer = nullptr;
  Selection* selection = nullptr;  // if it stands in several queues
  std::uintptr_t token = 0;
  bool linked = false;
};

/// The queues of the addresses that fall together, as one.
struct alignas(base::cache_line) Bucket {
  Spinlock lock;
  std::uint32_t caution = 0;  // so many shall not hold the lock for long: others have had to wait for it
  Waiter* oldest = nullptr;
  Waiter* newest = nullptr;

  void link(Waiter& waiter) {
    waiter.linked = true;
    waiter.newer = nullptr;
    waiter.older = newest;
    (newest != nullptr ? newest->newer : oldest) = &waiter;
    newest = &waiter;
  }

  void unlink(Waiter& waiter) {
    waiter.linked = false;
    (waiter.older != nullptr ? waiter.older->newer : oldest) = waiter.newer;
    (waiter.newer != nullptr ? waiter.newer->older : newest) = waiter.older;
  }
};

inline constexpr unsigned bucket_bits = 10;
extern Bucket buckets[1U << bucket_bits];

inline Bucket& bucket_of(const void* address) { return buckets[base::place_of_address(address, bucket_bits)]; }

enum class ParkResult : std::uint8_t { woken, not_wanted, timed_out };

/// Asked under the bucket's lock, where it may also note in the object that somebody waits.
using StillWanted = bool (*)(const void* argument);

struct Parking {
  const void* address;
  StillWanted still_wanted;
  const void* argument;
  std::uint64_t deadline = never;
  std::uintptr_t token = 0;                        // for Waiters::front_token()
  void (*queued)(const void* argument) = nullptr;  // called when the unit stands in the queue; must not wait
  Privacy* visited = nullptr;                      // until the unit stands in the queue
};

/// Suspends the calling unit until somebody unparks the address, if it is still wanted. A deadline that has passed is
/// answered at once, and nothing is asked.
ParkResult park(const Parking& parking);

/// The same, without a deadline: false if it was not wanted any more.
bool park(const void* address, StillWanted still_wanted, const void* argument);
ParkResult park_until(const void* address, StillWanted still_wanted, const void* argument, std::uint64_t deadline);

/// One of several addresses to wait on.
struct ParkPlace {
  const void* address;
  StillWanted still_wanted;
  const void* argument;
  Waiter waiter{};  // park_any's own
};

/// Suspends the calling unit until somebody unparks one of the addresses: woken, and *which is its index. not_wanted:
/// that of *which was not wanted any more.
ParkResult park_any(ParkPlace* places, std::uint32_t count, std::uint64_t deadline, std::uint32_t* which);

/// park() where it has to be fast: without a deadline, and with what is called known to the compiler. Under the queue's
/// lock bool decide(Waiters&) says whether to wait. Once the unit stands in the queue, bool leave_quickly(Worker&,
/// const Unit&) is called under that lock too; if it says false it has done nothing, and leave() is called, without the
/// lock.
template <class Decide, class LeaveQuickly, class Leave>
bool park_if(const void* address, Decide decide, LeaveQuickly leave_quickly, Leave leave);

/// The units that wait on an address, held still for as long as this object lives; at its end those that
/// were taken are resumed. Touches nothing at the address.
class Waiters {
 public:
  explicit Waiters(const void* address) : address_(address), bucket_(bucket_of(address)) {
    if (!bucket_.lock.try_lock()) [[unlikely]] {
      bucket_.lock.lock();
      bucket_.caution = caution_after_a_wait;
    }
    front_ = next_of_this_address(bucket_.oldest);
  }
  ~Waiters() {
    *end_ = nullptr;
    if (!keeps_lock_) bucket_.lock.unlock();
    if (taken_ != nullptr) resume_taken();
  }
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  bool empty() const { return front_ == nullptr; }
  /// Parking::token of the one that has waited longest.
  std::uintptr_t front_token() const { return front_->token; }
  /// Takes the one that has waited longest; false if there is none.
  bool take() {
    while (front_ != nullptr) {
      Waiter& waiter = *front_;
      front_ = next_of_this_address(waiter.newer);
      bucket_.unlink(waiter);
      if (waiter.selection != nullptr && !claim(waiter)) continue;
      *end_ = waiter.unit;
      end_ = &waiter.unit->next;
      return true;
    }
    return false;
  }
  /// Takes all; the chain of those that were taken.
  const Unit* take_all() {
    while (take()) {
    }
    *end_ = nullptr;
    return taken_;
  }

 private:
  template <class Decide, class LeaveQuickly, class Leave>
  friend bool park_if(const void* address, Decide decide, LeaveQuickly leave_quickly, Leave leave);

  Waiter* next_of_this_address(Waiter* waiter) const {
    while (waiter != nullptr && waiter->address != address_) waiter = waiter->newer;
    return waiter;
  }
  static constexpr std::uint32_t caution_after_a_wait = 1000;
  bool is_quiet() {
    if (bucket_.caution == 0) return true;
    --bucket_.caution;
    return false;
  }
  static bool claim(Waiter& waiter);
  void resume_taken();

  const void* address_;
  Bucket& bucket_;
  Waiter* front_;
  Unit* taken_ = nullptr;
  Unit** end_ = &taken_;
  bool keeps_lock_ = false;
};

template <class Decide, class LeaveQuickly, class Leave>
bool park_if(const void* address, Decide decide, LeaveQuickly leave_quickly, Leave leave) {
  Worker& worker = worker_here();
  Unit& unit = *worker.current;
  Waiter waiter;
  waiter.address = address;
  waiter.unit = &unit;
  bool parks = false;
  {
    Waiters waiters(address);
    if (!decide(waiters)) return false;
    waiters.bucket_.link(waiter);
    // Not where others want the lock: it is held for as long as a switch takes.
    parks = waiters.is_quiet() && !is_root(unit) && runs_on_any_identity(unit) && leave_quickly(worker, unit);
    if (parks)
      waiters.keeps_lock_ = true;
    else
      prepare_suspend(unit);
  }
  if (parks) {
    park_under(worker, unit, bucket_of(address).lock);
    return true;
  }
  leave();
  suspend();
  return true;
}

/// Resumes all (or at most `most`) units that wait on `address`; returns how many.
std::uint32_t unpark(const void* address, std::uint32_t most = UINT32_MAX);

/// In a forked child: nobody waits.
void reset_parking_lot();

}  // namespace weft::core
