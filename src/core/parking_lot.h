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
  Waiter* older;  // while it is linked
  Waiter* newer;
  Selection* selection = nullptr;  // if it stands in several queues
  std::uintptr_t token;            // Parking::token
  bool linked = false;
  Waiter() {}                                                           // NOLINT: what is not set here costs nothing
  Waiter(const void* where, Unit& who) : address(where), unit(&who) {}  // NOLINT
};

/// The queues of the addresses that fall together, as one.
struct alignas(base::cache_line) Bucket {
  Spinlock lock;
  std::uint32_t caution = 0;  // so many shall not hold the lock for long: others have had to wait for it
  Waiter* oldest = nullptr;
  Waiter* newest = nullptr;

  static constexpr std::uint32_t caution_after_a_wait = 1000;
  void lock_for_short() {
    if (lock.try_lock()) [[likely]]
      return;
    lock.lock();
    caution = caution_after_a_wait;
  }
  // With the lock held: it may be held for longer.
  bool is_quiet() {
    if (caution == 0) [[likely]]
      return true;
    --caution;
    return false;
  }

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

/// park() where it has to be fast, and take little of the stack: without a deadline, and with what is called known to
/// the compiler. `queue` is the bucket of the address, which the caller, on `worker`, has locked, and has found that it
/// is to wait. Once the unit stands there bool leave_quickly(Worker&, const Unit&) is called under that lock too; if it
/// says false it has done nothing, and leave() is called, without the lock.
template <class LeaveQuickly, class Leave>
void park_in(Bucket& queue, const void* address, Worker& worker, LeaveQuickly leave_quickly, Leave leave);

/// The units that wait on an address, held still for as long as this object lives; at its end those that
/// were taken are resumed. Touches nothing at the address.
class Waiters {
 public:
  explicit Waiters(const void* address) : Waiters(address, bucket_of(address)) { bucket_.lock_for_short(); }
  /// Where the address's bucket is locked already.
  Waiters(const void* address, Bucket& locked) : address_(address), bucket_(locked) {}
  ~Waiters() {
    *end_ = nullptr;
    bucket_.lock.unlock();
    if (taken_ != nullptr) resume_taken();
  }
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  bool empty() { return front() == nullptr; }
  /// Parking::token of the one that has waited longest.
  std::uintptr_t front_token() { return front()->token; }
  /// Takes the one that has waited longest; false if there is none.
  bool take() {
    while (front() != nullptr) {
      Waiter& waiter = *front_;
      front_ = next_of_this_address(waiter.newer);
      bucket_.unlink(waiter);
      if (waiter.selection != nullptr && !claim(waiter)) continue;
      add(*waiter.unit);
      return true;
    }
    return false;
  }
  /// Takes all; the chain of those that were taken.
  const Unit* take_all() {
    take_first_in_a_row();
    while (take()) {
    }
    *end_ = nullptr;
    return taken_;
  }

 private:
  // Asked for first by who wakes: those who come to wait need not look.
  Waiter* front() {
    if (!looked_) {
      looked_ = true;
      front_ = next_of_this_address(bucket_.oldest);
    }
    return front_;
  }
  void add(Unit& unit) {
    *end_ = &unit;
    end_ = &unit.next;
  }
  // Mostly the bucket has no others than those of this address, and they leave it together.
  void take_first_in_a_row() {
    Waiter* waiter = bucket_.oldest;
    for (; waiter != nullptr && waiter->address == address_ && waiter->selection == nullptr; waiter = waiter->newer) {
      waiter->linked = false;
      add(*waiter->unit);
    }
    bucket_.oldest = waiter;
    (waiter != nullptr ? waiter->older : bucket_.newest) = nullptr;
    looked_ = false;
  }
  Waiter* next_of_this_address(Waiter* waiter) const {
    while (waiter != nullptr && waiter->address != address_) waiter = waiter->newer;
    return waiter;
  }
  static bool claim(Waiter& waiter);
  void resume_taken();

  const void* address_;
  Bucket& bucket_;
  Waiter* front_ = nullptr;
  bool looked_ = false;
  Unit* taken_ = nullptr;
  Unit** end_ = &taken_;
};

template <class LeaveQuickly, class Leave>
void park_in(Bucket& queue, const void* address, Worker& worker, LeaveQuickly leave_quickly, Leave leave) {
  Unit& unit = *worker.current;
  Waiter waiter(address, unit);
  queue.link(waiter);
  // Not where others want the lock: it is held for as long as a switch takes.
  if (queue.is_quiet() && !is_root(unit) && runs_on_any_identity(unit) && leave_quickly(worker, unit))
    return park_under(worker, unit, queue.lock);
  prepare_suspend(unit);
  queue.lock.unlock();
  leave();
  suspend();
}

/// Resumes all (or at most `most`) units that wait on `address`; returns how many.
std::uint32_t unpark(const void* address, std::uint32_t most = UINT32_MAX);

/// In a forked child: nobody waits.
void reset_parking_lot();

}  // namespace weft::core
