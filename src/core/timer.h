// Deadlines of suspended units; the protocol is at the head of timer.cpp.
#pragma once

#include <cstdint>

namespace weft::core {

struct Unit;

/// A deadline (os::now_ns()) that never comes.
inline constexpr std::uint64_t never = UINT64_MAX;

/// So long from now.
std::uint64_t deadline_after(std::uint64_t nanoseconds);

/// A deadline of a unit that is about to wait; lies on the unit's stack.
struct Timer {
  std::uint64_t deadline = never;
  /// When the deadline has passed, on the timer's KLT: the unit, if it is this call that ends its wait; else
  /// nullptr. Runs under the timer's lock: it may take a spinlock, and nothing else.
  Unit* (*expire)(Timer& timer) = nullptr;

  // In the heap.
  Timer* child = nullptr;
  Timer* sibling = nullptr;
  Timer* before = nullptr;  // the sibling before it, or the parent
  bool armed = false;
};

/// Whether anybody looks at deadlines; the first caller starts the KLT that does. False: the system grants no thread
/// now. Who can say so to its caller asks before it waits: where it is false, arm() ends the process with a line.
[[nodiscard]] bool serves_deadlines();

/// From now on the timer may expire. The unit has announced that it will suspend, and does so next.
void arm(Timer& timer);

/// Afterwards the timer does not expire any more, and nobody looks at it.
void disarm(Timer& timer);

/// Suspends the calling unit until the deadline has passed.
void sleep_until(std::uint64_t deadline);

/// In a forked child: nobody waits, and there is no KLT to serve timers.
void reset_timer();

}  // namespace weft::core
