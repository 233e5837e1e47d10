// Worksharing constructs: what the members of a team share while they work on one loop, sections or
// single region.
//
// Members may be in different constructs at a time (nowait). Construct number c of a region uses
// slot c modulo `slots`; the first member to get there prepares it, the last to leave frees it for
// number c + slots.
//
// A member that is that far ahead does not wait, for the others may wait for what it does later. It puts the construct
// aside, into a list of the ring's, and marks the slot: the last to leave that does not free it for c + slots then, but
// for the next number that is not in the list. Nobody skips a construct, so those that are put aside for one slot
// follow each other, and each finds the slot either still in use for one before its own, and adds itself, or marked; or
// free for its own, as the mark and the freeing are steps of one word. Who comes to a construct and finds the slot at
// another number looks into the list, which is in order.
//
// Orders. publish_construct()'s release store of `state` pairs with the acquire loads of try_to_enter(): what the first
// has prepared. Who leaves adds to `left` (acq_rel), so the last one has all behind it when it frees the slot
// (release), which the next first one acquires. The list is under a lock.
//
// A list that is searched from where something was found the last time is short to search, however long it is: in a
// cancelled region, which members have left in the midst, nothing is taken out of it until the end.
//
// Waiting inside a construct, for a turn (ordered.cpp) or an iteration (doacross.cpp), which another member grants, is
// of the same form: see wait_inside().
#pragma once

#include <atomic>
#include <cstdint>

#include "base/layout.h"
#include "core/parking_lot.h"
#include "core/spinlock.h"
#include "faces/openmp/icv.h"
#include "faces/openmp/loop_parts.h"

namespace weft::openmp {

struct Member;

struct alignas(base::cache_line) Workshare {
  static constexpr std::uint64_t phase_free = 0, phase_preparing = 1, phase_ready = 2, phases = 4;
  static constexpr std::uint64_t marked = 1;  // beside phase_ready: the next one of the slot has been put aside

  std::atomic<std::uint64_t> state{0};  // construct * phases + phase
  std::uint64_t next_of_slot = 0;       // while it is marked: the number that it is freed for. Under the ring's lock
  Workshare* behind = nullptr;          // in the ring's list
  // A loop over `trips` iterations counted from 0; iteration k stands for start + k * step, in
  // arithmetic modulo 2^64, which serves signed and unsigned loops alike.
  Schedule schedule = Schedule::static_;
  bool in_parts = false;       // the loop is taken from `parts`
  bool next_may_pass = false;  // dynamic: `next` may go beyond the end without running over
  std::uint64_t start = 0, step = 0, end = 0;
  std::uint64_t trips = 0;
  std::uint64_t chunk = 0;                       // 0: static without chunk
  std::uint64_t width = 1;                       // guided: chunks are multiples of it
  void* memory = nullptr;                        // shared by the members of the construct, freed with it
  void* entry_data = nullptr;                    // what the first member's EntryStep made
  std::atomic<std::uint64_t>* posted = nullptr;  // doacross (doacross.h), freed with it
  const std::uint64_t* extents = nullptr;        // lies behind it
  std::uint64_t rows = 0, columns = 0;
  unsigned dimensions = 0;
  LoopParts parts;

  alignas(base::cache_line) std::atomic<std::uint64_t> next{0};
  alignas(base::cache_line) std::atomic<std::uint32_t> left{0};
  alignas(base::cache_line) std::atomic<std::uint64_t> turn{0};  // ordered: first iteration not passed yet
  std::atomic<std::uint32_t> turn_waiters{0};
};

/// One of the addresses on which members of the construct may park (not in core::strict_key's sense).
inline const void* waiting_place(const Workshare& shared, std::uint64_t which) {
  constexpr std::uint64_t words = sizeof(Workshare) / sizeof(std::uint64_t);
  return reinterpret_cast<const char*>(&shared) + which % words * sizeof(std::uint64_t);
}

/// Waits, in the construct, until not_yet(argument) is false. What it waits for stands for a number, by which it parks
/// at one of many addresses, so that whoever brings it about wakes few others; who was woken in vain parks again.
///
/// No wake-up is lost: who brings it about writes that, then reads `turn_waiters` (wake_inside); a waiter counts itself
/// there, then asks not_yet(), under the lock of its address' queue, all in the total order of seq_cst. If the former
/// reads 0, the waiter's look comes later and finds what it waits for.
void wait_inside(const Member& member, Workshare& shared, std::uint64_t number, core::StillWanted not_yet,
                 const void* argument);
/// After a seq_cst write.
inline void wake_inside(Workshare& shared, std::uint64_t number) {
  if (shared.turn_waiters.load(std::memory_order_seq_cst) != 0) core::unpark(waiting_place(shared, number));
}

class WorkshareRing {
 public:
  static constexpr unsigned slots = 8;
  Workshare& slot(std::uint64_t construct) { return ring_[construct % slots]; }
  WorkshareRing() { reset(); }
  /// The region is over.
  void reset();
  /// The same where members have left in the midst of constructs.
  void discard();
  /// The region is cancelled: nobody shall wait in a construct.
  void wake_all();

  /// What has been put aside for a construct that does not find its slot free. nullptr: the slot is free for it by now.
  /// *first: it is so by this call, and to be prepared.
  Workshare* aside(std::uint64_t construct, bool* first);
  /// All have left it.
  void free(Workshare& shared);

 private:
  bool has(const Workshare& shared) const { return &shared >= ring_ && &shared < ring_ + slots; }
  bool mark(Workshare& slot, std::uint64_t construct);
  void free_marked(Workshare& slot);
  Workshare* find(std::uint64_t construct);
  void remove(Workshare& shared);
  Workshare ring_[slots];
  core::Spinlock lock_;
  Workshare* front_ = nullptr;  // of what has been put aside, by number
  Workshare* back_ = nullptr;
  Workshare* found_ = nullptr;  // the last time: who comes next looks for that, or for the one behind it
};

/// The member meets its next worksharing construct. *first is set for the one that must prepare the
/// slot, and then call publish_construct(); for the others the slot is ready.
Workshare& enter_construct(Member& member, bool* first);
void publish_construct(Workshare& slot);

/// Something that all members do when they enter a construct, the first one before the others can. `of_first` is what
/// the first one's run() returned, nullptr for itself. It outlives the first member's stay in the construct: the others
/// may come when that one has left a cancelled region.
struct EntryStep {
  void* (*run)(Member& member, void* data, void* of_first);
  void* data;
};

/// For a member that has just entered; if it is the first, before it publishes.
void take_entry_step(Member& member, Workshare& slot, bool first, const EntryStep& step);

/// A construct that consists of the step.
void enter_and_leave_construct(Member& member, const EntryStep& step);

/// The member is through with the construct that it entered last.
void leave_construct(Member& member, Workshare& slot);

}  // namespace weft::openmp
