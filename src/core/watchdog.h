// The watchdog: a KLT that looks every few milliseconds whether some worker is stuck, and costs nothing else. What that
// means, and what it does about it: stuck.h. Where it finds one again and again, the looks become more frequent, so
// that a program full of spinning barriers does not wait 10 ms at each; where it does not, they become rare again.
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
/// Its own, which nobody binds: where it may run is where the process may (core/cpus.h). 0: not started yet.
extern std::atomic<int> watchdog_klt;
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

/// From a signal handler: something is wanted that can be made only outside of it.
void hurry_watchdog();
/// From its handler: what it has interrupted cannot be left where it is, but a little later perhaps.
void look_again_soon();

/// The calling code, which may be on any KLT, goes to sleep in the kernel now, for long: if units wait for its worker,
/// that is looked at soon, and not only when what runs there has had its slice.
void going_to_sleep();

/// Before the first worker exists. Without a signal to interrupt with it has other KLTs stand in for those that spin,
/// too. `possible`: not where a sanitizer follows what runs.
void enable_watchdog(bool possible);

/// Nobody is interrupted any more: the program has something in it that must not be left in its midst.
void disable_watchdog();
bool watchdog_is_disabled();

/// In a forked child.
void reset_watchdog();

}  // namespace weft::core
