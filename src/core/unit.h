// Units: what weft schedules, and the states they go through.
//
//   state       who may run it           next state, and who changes it
//   created     a worker that finds it   running      the worker that starts it
//   running     the worker it is on      suspending   itself, before it shows itself to a resumer
//                                        ready        itself (yield)
//                                        done         itself
//   suspending  still on its stack       suspended    its worker, once the context is saved
//                                        ready        the resumer (exactly one), by exchange
//                                        running      itself, if it did not switch after all
//   suspended   nobody                   ready        the resumer, who then puts it into a pool
//   ready       a worker that finds it   running      the worker that resumes it
//   done        nobody                   -
//
// The hand-over that matters is suspend against resume. A unit announces itself (suspending), shows
// itself to whoever may resume it, and switches away. The resumer exchanges in `ready`: had the
// unit been `suspended`, the resumer puts it into a pool; had it been `suspending`, the unit is still
// on its stack, and its worker, whose compare-exchange suspending -> suspended then fails, puts it
// there instead. So it is put exactly once, and never before its context is saved.
//
// A unit that yields into a list which is its worker's alone is `ready`, and there, a few instructions before its
// context is saved: nobody else takes from that list, and the worker not before it has left. So is one that yields into
// its worker's deque while others leave that alone: they wait until the switch has saved the context (core/privacy.h).
//
// A unit that stands in a queue (core/parking_lot.h) can do without `suspending`: it keeps the queue's lock until it is
// off its stack, when its worker sets `suspended` and releases the lock; so no resumer can find it earlier. And a
// resumer that finds `suspended` needs no exchange: nobody else changes the state then. Nor does one that resumes many
// of another worker's (resume_chain): they lie `suspended` in that worker's inbox, and whoever takes them out makes
// them `ready`.
//
// A unit whose stack is left by a call goes without a worker's help. A joiner that calls the unit it joins is
// `suspended` meanwhile, and a creator that calls its child is `ready`, for others to take; when the call has come
// back, and nobody has taken it, it is `running` again by itself (core/technique/by_joiner.cpp, child_first.h).
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/layout.h"
#include "base/relaxed.h"
#include "os/identity.h"

namespace weft::core {

class Pool;
class Share;
struct Stack;
struct Worker;

enum class UnitState : std::uint8_t { created, running, suspending, suspended, ready, done };

/// How a unit is started and finished (dissertation, Tables 3.1-3.2): a file each in core/technique.
/// In the order of enum weft_technique.
enum class Technique : std::uint8_t {
  automatic,  // one of the others, chosen when the unit starts (core/technique/choice.h)
  stackless,
  full,
  full_l,
  roc,
  roc_l,
  ss,
  ss_l,
  sc,
  c_full,
  c_full_e,
  c_roc,
  c_roc_e,
};

/// Unit::flags.
enum UnitFlag : std::uint16_t {
  free_standing = 1,   // created through core/create.h: its end is told by `waiters`, its descriptor is weft's
  detached = 2,        // nobody joins it: frees itself
  wants_identity = 4,  // keeps thread-local storage of its own while it waits
  cancelled = 8,       // somebody has asked it to end
  own_memory = 16,     // its stack is the caller's memory
  chosen = 32,         // its technique was chosen for it (core/technique/choice.h)
  granted = 64,        // may go on: the next wait_for_grant() returns at once (core/create.h)
  wants_grant = 128,   // waits for that
  root_of_klt = 256,   // a KLT of the program: resumed only on itself
  detailed = 512,      // its UnitDetails may have something to say
  placed = 1024,       // runs only at its place (core/place_pools.h)
  // How it is made to give way (core/preempt.h); none of them: by default.
  yields_by_signal = 2048,
  switches_klt = 4096,
  never_preempted = 8192,
  holds_klt = 16384,  // it was left in the midst on a KLT of its own, which sleeps (core/klt_switch.h)
  wants_klt = 32768,  // it runs only where it can keep its KLT, though nothing preempts it
};

/// What every unit has: one cache line, all that one touches which is created, run and freed without any deviation.
struct alignas(base::cache_line) Unit {
  Unit* next = nullptr;  // in a pool, an inbox or a list of waiters
  union {
    void* argument = nullptr;  // until it has started
    void* context;             // the saved stack pointer, where it has departed and does not run
  };
  std::atomic<UnitState> state{UnitState::created};
  base::Relaxed<Technique> technique{Technique::roc_l};
  std::uint8_t stack_class = 0;         // its stack shall have 2^stack_class bytes; 0: the default
  base::Relaxed<bool> departed{false};  // it has left its stack once, and is continued, not started
  std::atomic<std::uint16_t> flags{0};
  std::uint16_t birth = 0;  // the index of the worker that created it
  void (*entry)(void*) = nullptr;
  Stack* stack = nullptr;  // from its start on; earlier if bound at creation; none in a free descriptor
  union {
    std::atomic<Unit*> waiters{nullptr};  // of a free-standing unit: who joins it (core/create.h)
    void (*finished)(Unit*);              // of another: on the scheduler's side, after it has left its stack
  };
  std::atomic<Pool*> pool{nullptr};  // where it goes when ready; nullptr: to the worker that makes it so
  base::Relaxed<std::uint16_t> place{
      nowhere};             // the index of the worker where it runs or ran last; not before it departed
  std::uint16_t moves = 0;  // to another worker
  std::uint32_t deviations = 0;

  static constexpr std::uint16_t nowhere = UINT16_MAX;
};

static_assert(sizeof(Unit) == base::cache_line);

/// What is known of a unit when it is made, and all of it one store: the members of Unit from `state` on.
struct alignas(std::uint64_t) UnitStart {
  UnitState state = UnitState::created;
  Technique technique = Technique::automatic;
  std::uint8_t stack_class = 0;
  bool departed = false;
  std::uint16_t flags = 0;
  std::uint16_t birth = 0;
};

inline void store_start(Unit& unit, const UnitStart& start) {
  static_assert(offsetof(Unit, state) % sizeof(UnitStart) == 0 &&
                offsetof(Unit, technique) - offsetof(Unit, state) == offsetof(UnitStart, technique) &&
                offsetof(Unit, stack_class) - offsetof(Unit, state) == offsetof(UnitStart, stack_class) &&
                offsetof(Unit, departed) - offsetof(Unit, state) == offsetof(UnitStart, departed) &&
                offsetof(Unit, flags) - offsetof(Unit, state) == offsetof(UnitStart, flags) &&
                offsetof(Unit, birth) - offsetof(Unit, state) == offsetof(UnitStart, birth));
  using Word [[gnu::may_alias]] = std::uint64_t;
  __atomic_store_n(reinterpret_cast<Word*>(&unit.state), std::bit_cast<std::uint64_t>(start), __ATOMIC_RELAXED);
}

/// The same word, of a unit that others may be at.
inline std::uint64_t load_start(const Unit& unit) {
  using Word [[gnu::may_alias]] = const std::uint64_t;
  return __atomic_load_n(reinterpret_cast<Word*>(&unit.state), __ATOMIC_RELAXED);
}

/// What few units need. In a free descriptor they are as new: who frees a unit puts them in order again where
/// UnitFlag::detailed says so. An identity is gone when the unit is done.
struct UnitDetails {
  os::Identity* identity = nullptr;  // what it owns at rung 3; else it runs on its worker's
  void* face = nullptr;              // what the face that made it hangs here
  base::Relaxed<const char*> name{nullptr};
  std::int32_t priority = 0;  // in a pool that knows priorities; higher runs first
  std::uint16_t revivals = 0;
  bool keeps_identity = false;  // `identity` is its own for good, not just while suspended
  // Preemption, by the unit itself or while it forks: how deep, and whether a tick has been missed (core/preempt.cpp).
  base::Relaxed<std::uint8_t> held_off{0};
};

/// A unit that is not free-standing.
struct WholeUnit : Unit {
  UnitDetails details;
  const Share* scope = nullptr;  // what it belongs to now; nullptr: to nothing in particular
};

/// Free-standing units lie in slabs: so the cache lines that all of them need lie side by side, and a unit that waits
/// to be run takes 96 bytes.
struct alignas(1U << 16U) Slab {
  static constexpr std::size_t count = 682;
  Unit units[count];
  UnitDetails details[count];
  Slab* older = nullptr;
};

static_assert(sizeof(UnitDetails) == 32 && sizeof(Slab) == std::size_t{1} << 16U);

inline bool has_flag(const Unit& unit, UnitFlag flag) {
  return (unit.flags.load(std::memory_order_relaxed) & flag) != 0;
}

inline UnitDetails& details(Unit& unit) {
  if (!has_flag(unit, UnitFlag::free_standing)) return static_cast<WholeUnit&>(unit).details;
  const auto address = reinterpret_cast<std::uintptr_t>(&unit);
  const std::uintptr_t offset = address % sizeof(Slab);
  return reinterpret_cast<Slab*>(address - offset)->details[offset / sizeof(Unit)];
}
inline const Share* scope_of(const Unit& unit) {
  return has_flag(unit, UnitFlag::free_standing) ? nullptr : static_cast<const WholeUnit&>(unit).scope;
}

inline const UnitDetails& details(const Unit& unit) { return details(const_cast<Unit&>(unit)); }

inline bool is_root(const Unit& unit) { return has_flag(unit, UnitFlag::root_of_klt); }

/// Whether the unit has a stack that it can leave and come back to.
inline bool may_wait(const Unit& unit) { return unit.technique != Technique::stackless; }

}  // namespace weft::core
