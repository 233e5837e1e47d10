// Workers: scheduling slots. A KLT of weft's own carries a worker; a root carries one of its own for
// as long as its KLT lives, and runs units on it while its own continuation waits.
//
// What a worker holds is written by the KLT that carries it, except where a comment says otherwise. What others look
// at, too, is Relaxed or atomic, or stands behind the line that says so. The only thing a KLT stores is one pointer to
// its worker, in the thread word (arch/thread_pointer.h) of the identity it runs on.
#pragma once

#include <atomic>
#include <cstdint>

#include "arch/context.h"
#include "arch/thread_pointer.h"
#include "base/count.h"
#include "base/layout.h"
#include "core/appetite.h"
#include "core/courtesy.h"
#include "core/help_pause.h"
#include "core/pool/aside.h"
#include "core/pool/deque.h"
#include "core/pool/inbox.h"
#include "core/pool/share.h"
#include "core/privacy.h"
#include "core/restraint.h"
#include "core/slices.h"
#include "core/spinlock.h"
#include "core/stack.h"
#include "core/technique/choice.h"
#include "core/unit.h"
#include "core/unit_cache.h"
#include "core/usual.h"
#include "os/identity.h"
#include "os/ticker.h"

namespace weft::core {

class Hand;
class Mutex;
class Scheduler;
struct Worker;

/// Worker::parked: whether its KLT sleeps on that word, and what for.
enum Parked : std::uint32_t {
  awake,
  for_any_work,
  for_work_within,  // a root: work that lies within Worker::lends_within
  for_its_turn,     // a root that has stepped aside
  for_its_pools,    // a worker with a scheduler over pools of its own
  spare_rests,      // a spare worker: until it is needed
  switched_off,     // a worker that shall not run anything (core/active.h)
};

/// Of a KLT of weft's that carries a worker.
enum Life : std::uint32_t {
  not_alive,  // there is none, or it has ended
  being_started,
  alive,
};

/// What a worker is there for.
enum class WorkerUse : std::uint8_t {
  none,        // its slot is free
  root,        // a KLT of the program
  of_weft,     // its KLT is weft's
  of_program,  // the same; made by start_worker()
  joined,      // the same; somebody waits for its end
};

/// The hands (core/hand.h) of the loops that run on a worker, the innermost first. Shared.
struct Hands {
  std::atomic<Hand*> top{nullptr};
  std::atomic<bool> visited{false};
  std::atomic<std::uint32_t> taken{0};      // by the loop whose hand is the outermost; it says whether that gets on
  std::atomic<const Share*> open{nullptr};  // for whoever looks for work: the share of the outermost that is not empty
  Spinlock lock;                            // of visitors
};

/// What `--report` adds up. Each worker counts its own; readers accept a slightly old value.
struct Counters {
  base::Count units_started;         // rung 1; in a sum only: what is not resumed of the scheduling points
  base::Count promoted_to_stack;     // rung 2: first deviations
  base::Count promoted_to_identity;  // rung 3: suspended with an identity of its own
  base::Count steals;
  base::Count sleeps;
  base::Count preempted;  // units that a tick has made give way
};

/// Why a unit that leaves may not simply pass the worker on to the next one. One word, as most often there is nothing.
struct alignas(std::uint32_t) Claims {
  bool frame_returns = true;         // the innermost scheduler frame wants the worker back after each unit
  base::Relaxed<bool> spare{false};  // stands in for workers whose KLT sleeps in the kernel; rests otherwise
  std::atomic<bool> ends{false};     // somebody joins it (join_worker); shared
  bool has_new_scheduler = false;    // since weft's own scheduler last looked for something to run

  /// Whether there are none.
  bool none() const {
    using Word [[gnu::may_alias]] = const std::uint32_t;
    return __atomic_load_n(reinterpret_cast<Word*>(this), __ATOMIC_RELAXED) == 0;
  }
};

static_assert(sizeof(Claims) == sizeof(std::uint32_t));

/// Where a scheduler's frame lies, for sanitizers.
struct SanitizerFrame {
  void* stack = nullptr;
  std::size_t stack_size = 0;
  void* fiber = nullptr;
  void* left_fiber = nullptr;
};

/// Thread-local storage for what runs on a worker (core/identities.h).
struct Identities {
  os::Identity* installed = nullptr;  // whose thread pointer the KLT runs on
  os::Identity* own = nullptr;        // on which it may run schedulers and units that have none
  os::Identity* home = nullptr;       // a root's native one, unless the worker is lent (core/lend.h)
  os::Identity* spares = nullptr;     // further free ones
  unsigned spare_count = 0;
};

/// The signals that are blocked on a worker's KLT (core/signal_masks.h).
struct WorkersMask {
  std::uint64_t of_root = 0;
  bool changed = false;
};

/// What undeviated units of a scheduler's frame run on, one after the other.
struct Undeviated {
  Stack* stack = nullptr;
  std::uint8_t stack_class = 0;  // Unit::stack_class of those that it was taken for
};

/// What a unit that leaves has the one settle that goes on after it (core/settle.cpp).
struct Unsettled {
  Unit* unit = nullptr;
  std::intptr_t event = 0;           // if it has not ended
  Spinlock* parked_under = nullptr;  // what a unit that parks holds until it is off its stack
  Mutex* locked = nullptr;           // and what it has not unlocked yet then (sync/condition.h)
};

/// Of a KLT of the program's. What it runs outside of all units is itself a unit: its continuation.
struct Root {
  WholeUnit unit;
  Stack* segment = nullptr;           // where its frames go on, inside call_on_segment()
  void* extras = nullptr;             // its unit-local values
  const Unit* known_as = nullptr;     // as the holder of mutexes (holder()); what has forked
  bool was_unit = false;              // what has forked was none (end_forked())
  std::atomic<bool> borrowed{false};  // where it is, on thread-local storage of another KLT (core/roots.h)
  // It has stepped aside. These belong to whoever has `unit` in hand.
  unsigned times_put_off = 0;  // so often others have their turn before it has,
  std::uint64_t due = 0;       // but no longer than until then
};

/// Whose turn it is on a worker: its newest unit's, or what waits elsewhere (core/find.cpp, core/scheduler.cpp).
struct Turns {
  unsigned units_left = 0;                  // how often it has left one
  unsigned of_pools = 0;                    // units that a scheduler with several pools has chosen
  std::uint8_t direct_switches = 1 << 2;    // of units to units, and yields; see count_direct_switch()
  bool of_what_was_left = false;            // the scheduler is to look for that next (search_what_was_left),
  bool elsewhere = false;                   // or for anything: what is at hand is a root that was put off
  unsigned pools_begun_with = 0;            // of places, when it looked into all
  unsigned placed = 0;                      // how often it was looked which of its own pools comes first
  unsigned yields_for_program = 0;          // (yield_for_program())
  unsigned yielded = 0;                     // units that have, since what others offer was last looked for
  std::uint64_t preempted_before = 0;       // Counters::preempted when a unit last yielded here
  const Unit* first_passed_over = nullptr;  // of those that sleep, since one was resumed that does not; only compared
  unsigned passed_over = 0;                 // how many since
  std::uint32_t fair = 0;                   // how often something else than the newest was first
  std::uint64_t points = 0;                 // the scheduling points at which it last asked whether others have a turn
  std::uint64_t last = 0;                   // when something else than the newest unit last came first
};

/// Whom a thief watches that had a single unit (core/find.cpp), and at which of its scheduling points it was then.
struct Watched {
  const Worker* at = nullptr;
  std::uint64_t points = 0;
};

/// When what runs on a worker is made to give way (core/preempt_timer.h).
struct Slice {
  os::Ticker ticker;                    // of the KLT that the worker was born with; shared
  unsigned idle_ticks = 0;              // in a row, that found nothing to preempt
  bool untimed = false;                 // a KLT carries it whose timer has not been started since (core/klt_switch.h)
  bool early = false;                   // the next tick is only for what sleeps again (tick_early)
  std::atomic<unsigned> ticks{0};       // that have arrived; its own KLT counts them
  std::atomic<unsigned> unanswered{0};  // passed on to it, since one has last arrived (core/preempt_timer.cpp)
  std::uint64_t began = 0;              // when what runs was resumed on a KLT of its own
};

/// KLTs that carry a worker in turn (core/carrier.h, core/klt_pools.h).
struct Klts {
  struct Lent* lent_here = nullptr;  // while it is lent, and its scheduler begins on the KLT that lends
  struct Klt* idle = nullptr;        // that have carried it, and are near its CPU
  unsigned idle_count = 0;
  // Of the KLT that carries it, begun and ended. Odd: one has been called, and has not said so yet, which may have to
  // wait for a CPU; or a root that has stepped aside sleeps on it. For the watchdog.
  base::Relaxed<unsigned> changes{0};
  void note_change() { changes = changes + 1; }
};

/// Between the watchdog and its handler on a worker (core/watchdog.h). Shared.
struct Interrupts {
  std::atomic<bool> sent{false};
  std::atomic<unsigned> arrived{0};               // how often one has
  std::atomic<Doing> doing{Doing::not_known};     // what was interrupted (core/spinners.h)
  std::atomic<const void*> stuck_group{nullptr};  // the team or pool that it belongs to (core/slices.h)
  std::atomic<std::uint64_t> ran_ns{0};           // how long it had run
  std::atomic<unsigned> in_vain{0};               // how often in a row it could not be left
  std::atomic<unsigned> tries{0};                 // soon after each other: in the runtime till now
  std::atomic<bool> takes_over{false};            // from one that was interrupted, what it runs next
  std::atomic<bool> sleep_begins{false};          // of what runs, in the kernel (going_to_sleep()),
  std::uint64_t points_at_sleep = 0;              // at so many scheduling points; the worker's own
};

struct alignas(base::cache_line) Worker {
  // The innermost scheduler frame on this KLT, and what runs on top of it.
  base::Relaxed<Unit*> current{nullptr};
  void* scheduler_context = nullptr;
  weft_fp_control fp_control = 0;  // in that frame
  SanitizerFrame sanitizer;        // the same frame
  Identities identities;
  WorkersMask mask;

  StackCache stacks;
  Stack* under_scheduler = nullptr;  // of a KLT of weft's: what its scheduler runs on, if not on the KLT's own
  Undeviated undeviated;
  UnitCache units;
  Usual usual;
  bool usual_binds = false;  // they have their stack from their creation on
  Usual usual_child;         // the same of child-first units
  Choices choices;
  Counters counters;
  Appetite appetite;
  base::Relaxed<const Unit*> until_ready{nullptr};  // its scheduler stops when this is ready: a root. Who
                                                    // switches the worker off or on writes it, too (core/active.h)
  const Unit* until_done = nullptr;                 // or when this is done
  Unit* handed_on = nullptr;                        // taken out of a pool, and to be run next
  Claims claims;                                    // of that frame, and of others, to the worker
  Unit* first_of_row = nullptr;                     // of one that begins (technique/in_a_row.cpp),
  std::uint64_t first_start = 0;                    // and its UnitStart
  Unsettled unsettled;
  unsigned in_hand = 0;  // units that a loop on this KLT has claimed and not started yet
  Watched watched;
  Turns turns;
  unsigned index = 0;
  std::uint32_t random = 1;
  os::AwaitedEnds* end_awaited = nullptr;  // that of its KLT, by who has asked it to
  void* signal_stack = nullptr;            // of the KLT that it was born with, which had none
  Root root;
  WholeUnit scheduler_code;      // `current` in a scheduler of the program's own, between units: cannot wait
  void* face = nullptr;          // a face's own caches
  const Pool* served = nullptr;  // here, by a scheduler in a pool, which has run a unit that goes back there
  Worker* next_unused = nullptr;
  bool slot_of_program = false;         // whoever has it, or had it last, was made by start_worker()
  base::Relaxed<unsigned> held_off{0};  // what runs here is not left (core/preempt.h, HeldOff)
  Slice slice;
  Klts klts;
  Restraint restraint;
  HelpPause help_pause;
  Courtesy courtesy;
  Hands hands;

  // Shared from here on.
  static constexpr unsigned most_published = 7;
  alignas(base::cache_line) std::atomic<Share*> published[most_published] = {};
  std::atomic<unsigned> overflowing{0};             // further shares, in a list
  std::atomic<std::uint64_t> scheduling_points{0};  // units started and resumed; for the watchdog
  std::atomic<std::uint64_t> units_resumed{0};      // these alone
  std::atomic<int> klt{0};                          // the KLT that carries the worker
  std::atomic<struct Klt*> carrier{nullptr};        // the same; nullptr: the one that it was born with
  Interrupts interrupts;
  std::atomic<Scheduler*> own_scheduler{nullptr};  // see scheduler()
  const Scheduler* custom_scheduler = nullptr;     // whose function runs here, if the worker has another one by now too
  std::atomic<Pool*> attended{nullptr};            // of place_pools.h; nullptr: none
  std::atomic<std::uint32_t> life{Life::not_alive};  // whoever waits for its start or end sleeps on it
  std::atomic<WorkerUse> use{WorkerUse::none};
  std::atomic<std::uint16_t> rank{0};  // of those that can be switched off (core/active.h); 0: it cannot
  std::atomic<bool> searches{false};   // for work, or has been told of some
  std::atomic<int> cpu{-1};            // that its KLT is bound to; -1: none
  std::atomic<bool> active{false};     // a root inside weft, or a KLT of weft's that is awake
  alignas(base::cache_line) std::atomic<std::uint32_t> parked{Parked::awake};
  /// Of a root that waits: its KLT may run only what lies within it; nullptr: anything.
  std::atomic<const Share*> lends_within{nullptr};
  mutable Spinlock overflow_lock;
  Share* overflow = nullptr;
  Privacy privacy;  // of the deque, and of the ends of the units that were created here
  Deque<Unit>::Room deque_room;
  Deque<Unit> deque{deque_room};  // not the owner: within a Privacy::Visit
  Inbox inbox;
  Aside aside;

  /// nullptr: weft's default, over the worker's own pools and those of others. A worker with one of the program's
  /// shares nothing: what lies in its deque and inbox belongs to pools that others may not use.
  Scheduler* scheduler() const { return own_scheduler.load(std::memory_order_relaxed); }
};

/// Whether what the worker has of its own may be run as it comes: no placed units have turns in between, and no root
/// has to look what it runs.
inline bool runs_as_they_come(const Worker& worker) {
  return worker.attended.load(std::memory_order_relaxed) == nullptr &&
         worker.lends_within.load(std::memory_order_relaxed) == nullptr;
}

/// A plain increment, of what only the caller writes.
[[gnu::always_inline]] inline void count_one(std::atomic<std::uint64_t>& count) {
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

/// The owner passes a scheduling point.
[[gnu::always_inline]] inline void pass_scheduling_point(Worker& worker) { count_one(worker.scheduling_points); }

/// The owner's next random number: xorshift32 (Marsaglia, "Xorshift RNGs", 2003).
inline std::uint32_t next_random(Worker& worker) {
  std::uint32_t x = worker.random;
  x ^= x << 13U;
  x ^= x >> 17U;
  x ^= x << 5U;
  return worker.random = x;
}

/// Makes the unit the newest of the worker's ready ones; only on that worker. The inbox needs no memory.
[[gnu::always_inline]] inline void put_newest(Worker& worker, Unit& unit) {
  if (worker.deque.push_if_room(&unit)) [[likely]]
    return;
  if (!worker.deque.try_push(&unit)) worker.inbox.put(&unit);
}

/// The worker of the calling KLT; nullptr in a thread that has not entered weft. Read it again after
/// anything that may suspend: the unit may have moved.
inline Worker* this_worker() { return static_cast<Worker*>(arch::thread_word()); }

}  // namespace weft::core
