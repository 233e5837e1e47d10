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
// Where that happens again and again, the looks become more frequent, so that a program full of
// spinning barriers does not wait 10 ms at each; where it does not, they become rare again.
#pragma once

#include <atomic>

namespace weft::core {

extern std::atomic<bool> watchdog_rests;
void wake_watchdog();

/// Units may get stuck from here on: called when work for several workers begins.
inline void watch() {
  if (watchdog_rests.load(std::memory_order_relaxed)) [[unlikely]]
    wake_watchdog();
}

/// How many workers slept in the kernel, while units waited, when it last looked.
unsigned watchdog_counts_blocked();

/// Before the first worker exists. Off in sanitizer builds.
void enable_watchdog();

/// Nobody is interrupted any more: the program has something in it that must not be left in its midst.
void disable_watchdog();

/// In a forked child.
void reset_watchdog();

}  // namespace weft::core
