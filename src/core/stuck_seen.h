// What the watchdog remembers of each worker from look to look: stuck.cpp notes it, stuck_help.cpp and
// stuck_interrupt.cpp act by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/relaxed.h"
#include "core/worker.h"

namespace weft::core {

/// The signals that one worker's KLTs have been sent.
struct SentInterrupts {
  int klt = 0;                  // the last one
  std::uint64_t sent = 0;       // when,
  unsigned arrived = 0;         // how many had arrived by then on the worker,
  unsigned unanswered = 0;      // and how many have been sent since
  int asked = 0;                // the KLT that was looked at for what signals it has blocked,
  std::uint64_t asked_at = 0;   // when,
  std::uint64_t others = 0;     // what it had blocked then of the signals below the real-time ones,
  std::optional<bool> refuses;  // and whether it had that which interrupts; nothing: not known
};

/// A KLT to which ticks are due, as it was when the last one was seen to have come, or its worker to pass scheduling
/// points.
struct Unticked {
  int klt = 0;  // none: none are due
  unsigned ticks = 0;
  std::uint64_t points = 0;
  std::uint64_t cpu_time = 0;
};

/// Of one worker. For the watchdog alone, but for `blocked`.
struct Seen {
  std::uint64_t points = 0;
  std::uint64_t since = 0;  // when it was first seen to have passed so many; or when something was done about it
  std::uint64_t comes_round_at = 0;  // when it was last seen to, or something was done about it
  std::uint64_t resumed = 0;         // units
  bool comes_round = false;          // it has resumed one since the last look
  std::size_t waiting_units = 0;     // in its own pools
  std::uint64_t share = 0;           // that it offers, and what is left of it
  std::uint64_t passed_over = 0;     // when it last was made to run something else though it passed scheduling points
  std::uint64_t asleep_since = 0;
  std::uint64_t cpu_time = 0;
  int cpu_time_of = 0;                // that KLT
  unsigned long sleeps = 0;           // since it has passed its last scheduling point,
  std::optional<unsigned> sleeps_at;  // after so many changes of KLTs; nothing: they are not counted
  Unticked unticked;
  SentInterrupts sent_interrupts;
  bool changes_over = false;      // it was made to run another unit since the last look
  std::uint32_t taken = 0;        // numbers out of its outermost hand,
  std::uint64_t taken_since = 0;  // and since when so many
  std::uint64_t next_visit = 0;   // to its hands, not before
  unsigned quick_looks = 0;       // so many more at whether it sleeps already, as it may be about to
  bool said_it_sleeps = false;    // and if it is late, each of the others, too
  // Its KLT sleeps in the kernel, or cannot be interrupted where it is; for others to see.
  base::Relaxed<bool> blocked{false};
};

Seen& seen_of(const Worker& worker);

}  // namespace weft::core
