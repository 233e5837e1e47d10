// KLT-switching (Shiina et al., 3.1.2, 3.3): a unit that is preempted keeps the KLT it runs on, and its worker goes on
// on another one. The argument stands at the head of klt_switch.cpp; a model of the hand-over is
// tests/models/klt_switch.pml.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "arch/thread_pointer.h"
#include "base/relaxed.h"
#include "core/technique/start.h"
#include "core/unit.h"
#include "core/worker.h"
#include "os/cpu_set.h"
#include "os/identity.h"
#include "os/interrupt.h"
#include "os/klt.h"
#include "os/ticker.h"

namespace weft::core {

struct Lent;

/// A KLT that carries now this worker, now that. It is never given back.
struct Klt {
  enum Word : std::uint32_t { made, asleep, called };
  std::atomic<std::uint32_t> word{made};  // what it sleeps on
  std::atomic<bool> begun{false};         // it has come into the global pool, for the first time
  std::atomic<bool> suspended{false};     // by sigsuspend, or about to
  int id = 0;                             // the kernel's number
  static constexpr int not_known = -2;
  base::Relaxed<int> cpu{-1};  // that weft has bound it to; -1: none
  int moved_to = -1;           // it was to wake up on that CPU, and may run on:
  os::CpuSet cpus;
  void* thread_pointer = nullptr;  // the one that it began with
  void* context = nullptr;         // of its own loop, while it carries a worker
  Worker* worker = nullptr;        // that it carries, or shall carry
  Lent* begins = nullptr;          // the scheduler that it shall begin; nullptr: it goes on
  Event event = Event::yielded;    // with that, about the unit that was left
  os::WordAwaited awaited;         // what the unit that holds it sleeps for
  Unit* left = nullptr;            // was left for the one that it holds: to be shown
  Klt* next = nullptr;             // in a pool
  os::Ticker ticker;
};

/// Runs a unit that has, or may come to need, a KLT of its own; in place of run(). The worker is carried by a Klt, or
/// lends itself to one until the scheduler frame that calls this has nothing more to do: then `lent` is true, and all
/// is done.
Event run_on_klt(Worker& worker, Unit& unit, bool& lent);

/// From the handler, on the KLT that runs the unit, which may be left. False: it is not, as no other KLT is at hand;
/// there will be one soon.
bool switch_klt(Worker& worker, Unit& unit, const os::WordAwaited& awaited);

/// Whoever carries the worker runs on this CPU only, now and later; -1: on those that the process had at the start.
/// False: there is no such CPU, or nobody carries the worker yet.
bool bind_worker(Worker& worker, int cpu);

/// Of a unit that holds a KLT: that would only sleep on.
bool would_sleep_on(const Unit& unit);

/// Calls function(argument), which may sleep in the kernel and uses nothing of weft's, in the calling unit, while its
/// worker goes on on another KLT. Where that cannot be (a root, no stack, no further KLT), it is just called.
void call_blocking(void (*function)(void*), void* argument);

/// The KLT that carries the worker now has no timer yet, perhaps, and comes next to something else than a unit that
/// holds a KLT.
void keep_time(Worker& worker);

/// The worker's timer: that of the KLT which carries it.
os::Ticker& ticker_of(Worker& worker);

/// From the watchdog's loop: makes the KLTs that handlers have asked for.
void make_wanted_klts();

/// How many there are, and how many of them wait to be used.
struct KltCount {
  unsigned made;
  unsigned free;
};
KltCount count_klts();

/// Of the caller's worker: whether it has been lent from here, and so the caller is a handler of the program's on the
/// KLT of a root, which sleeps meanwhile. Nothing that the worker holds is about the caller then, but its root.
inline bool is_lent_from_here(const Worker& worker) {
  if (worker.use.load(std::memory_order_relaxed) != WorkerUse::root || worker.identities.home != nullptr) return false;
  const Klt* carrier = worker.carrier.load(std::memory_order_acquire);
  return carrier == nullptr || carrier->id != os::this_klt();
}

/// The same in a forked child, of the worker that the caller had in the parent. No KLT has the number here that it had;
/// but that of the root sleeps with its own thread pointer, on which nothing else runs.
inline bool was_lent_from_here(const Worker& before) {
  if (before.use.load(std::memory_order_relaxed) != WorkerUse::root || before.identities.home != nullptr) return false;
  return before.carrier.load(std::memory_order_relaxed) == nullptr ||
         before.root.unit.details.identity->thread_pointer == arch::thread_pointer();
}

/// The worker ends: those that wait for it are for all.
void leave_klts_to_others(Worker& worker);

/// In a forked child.
void reset_klts();

}  // namespace weft::core
