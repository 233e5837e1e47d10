// The watchdog: a KLT that looks every few milliseconds whether some worker is stuck, and costs
// nothing else.
//
// A worker is stuck if it has passed no scheduling point since the last look while units wait for a
// worker: a member that spins until another member has done something, say, in a library with a
// barrier of its own. Its KLT is interrupted, and what it runs gives way to the others as if it had
// yielded (signal-yield, Shiina et al. 3.1.1; units have identities of their own, so thread-local
// storage stays theirs). A root gives way by stepping aside: another KLT has its CPU for a while.
// A worker whose KLT sleeps in the kernel meanwhile (a member waits on a pthread barrier, say, or reads
// from a pipe) is stood in for: a spare worker on a KLT of its own runs the units that wait, for as long
// as it finds some. (Shiina et al. hand the worker itself to another KLT; here its pools are open to
// thieves, so that another worker serves as well.)
// One that passes scheduling points, but comes to nothing of what waits for long (a member that opens a region of its
// own again and again until another member has done something), is treated alike, after a longer while.
// One that is switched off (core/active.h), and computes on, is treated alike though nobody waits.
// Where that happens again and again, the looks become more frequent, so that a program full of
// spinning barriers does not wait 10 ms at each; where it does not, they become rare again.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/worker.h"
#include "os/barrier.h"

namespace weft::core {

extern std::atomic<bool> watchdog_rests;
/// Whether it interrupts workers that are stuck; else it only stands in for those whose KLT sleeps, and serves
/// preemption by time (core/preempt.h).
extern std::atomic<bool> watchdog_interrupts;
void wake_watchdog();

/// Units may get stuck from here on: called when work for several workers begins.
inline void watch() {
  if (watchdog_rests.load(std::memory_order_relaxed)) [[unlikely]]
    wake_watchdog();
}

/// The worker runs from here on what may get stuck: goes on with the watchdog, if that has been at work before.
void watch_again();
inline void become_active(Worker& worker) {
  worker.active.store(true, std::memory_order_relaxed);
  os::light_fence();
  if (watchdog_rests.load(std::memory_order_relaxed)) watch_again();
}

/// Whether who has opened one of the worker's shares, and runs a part of it on top of its own stack, would have
/// something else to do by now.
inline bool keeps_opener_from_going_on(const Worker& worker) {
  for (const auto& place : worker.published) {
    const Share* share = place.load(std::memory_order_acquire);
    if (share != nullptr && share->wants_opener != nullptr && share->wants_opener(*share)) return true;
  }
  return false;
}

/// Whether the worker's root waits for nothing any more but its KLT, which it has lent; or an opener does.
inline bool keeps_root_from_going_on(const Worker& worker) {
  const bool lent = worker.lends_within.load(std::memory_order_relaxed) != nullptr &&
                    worker.root.unit.state.load(std::memory_order_relaxed) == UnitState::ready;
  return lent || keeps_opener_from_going_on(worker);
}

/// From a signal handler: something is wanted that can be made only outside of it.
void hurry_watchdog();
/// From its handler: what it has interrupted cannot be left where it is, but a little later perhaps.
void look_again_soon();

/// The calling code, which may be on any KLT, goes to sleep in the kernel now, for long: if units wait for its worker,
/// that is looked at soon, and not only when what runs there has had its slice.
void going_to_sleep();

/// How many workers slept in the kernel, while units waited, when it last looked.
unsigned watchdog_counts_blocked();
/// Whether this one did.
bool watchdog_sees_blocked(const Worker& worker);

/// Before the first worker exists. Without a signal to interrupt with it has other KLTs stand in for those that spin,
/// too. `possible`: not where a sanitizer follows what runs.
void enable_watchdog(bool possible);

/// From the handler of that signal, on the KLT that the watchdog has interrupted: what runs there may be left now.
void give_way_to_watchdog();

/// Nobody is interrupted any more: the program has something in it that must not be left in its midst.
void disable_watchdog();
bool watchdog_is_disabled();

/// In a forked child.
void reset_watchdog();

}  // namespace weft::core
