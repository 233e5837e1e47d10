// The four timers that ask preemptive units to give way (Shiina et al., 3.2).
//
//   creation     each worker has a timer of its own, begun when the worker was
//   aligned      the same, but their ticks are spread over the interval: handlers of different workers do not meet
//                in the kernel, where signals take a lock
//   one-to-all   one worker has a timer, and passes each tick on to all that run a preemptive unit
//   chain        the same, but it passes it on to the next of these, and that to the next
//
// A timer runs only where there is something to preempt. It starts where preemptive units are created (start_ticking),
// on all workers with the first of them, and with each wake-up of a worker from then on (tick_again). It stops itself
// when it finds its worker asleep, or a root in its own code, whose system calls it would cut short (3.5.1), and when
// it has found no preemptive unit for a while: then a wake-up does not start it either, but the watchdog does, which
// looks every few milliseconds whether such a unit runs there again (tick_where_wanted). So neither the creation of
// units that are not preemptive nor a switch knows of timers.
#pragma once

#include <atomic>

#include "core/preempt.h"
#include "core/worker.h"

namespace weft::os {
struct Interruption;
}

namespace weft::core {

extern std::atomic<bool> ticking;  // since there has been a preemptive unit

/// A preemptive unit has been created.
void start_ticking();

/// The worker's KLT has woken up, or carries it from now on.
void tick_again_slowly(Worker& worker);
inline void tick_again(Worker& worker) {
  if (ticking.load(std::memory_order_relaxed)) [[unlikely]]
    tick_again_slowly(worker);
}

/// In place of tick_again(), where a unit goes on that was left asleep: it may soon sleep again, and should not keep
/// the worker until the end of a slice then. With a timer of its own its first tick comes early, and is only for that.
void tick_early(Worker& worker);

/// Whether another worker runs a unit that is preemptive.
bool runs_preemptive(const Worker& worker);

/// From the watchdog, which also ticks where the kernel refuses timers. Whether it had better look again: some worker
/// runs a unit, and there are preemptive ones.
bool tick_where_wanted();

/// From the handler: a tick has arrived on the worker. Passes it on where that is due. False: there shall be no more.
bool note_tick(Worker& worker, const os::Interruption& interruption, bool found_preemptive);

/// From the handler: a timer has ticked on a KLT that does not carry the worker for which it was started, `here` or
/// none, but runs something else on it (core/roots.h): it shall not go on. False: it is the timer of `here`.
bool stop_misplaced(const os::Interruption& interruption, Worker* here);

/// From the handler, before what was interrupted goes on or leaves its KLT to others: the next tick.
void tick_on(Worker& worker);

/// The KLT that carried the worker ends.
void end_ticking(Worker& worker);

/// Other timers, and another interval, from now on. Any caller.
void change_ticking(TickMode mode, std::uint64_t interval_ns);

/// The signal is in use no more: nor are timers that send it.
void stop_ticking();

/// In a forked child.
void reset_ticking();

}  // namespace weft::core
