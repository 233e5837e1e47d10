#include "core/watchdog_tells.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/panic.h"
#include "os/barrier.h"
#include "os/ticker.h"

namespace weft::core {

void tell_of_proc() {
  static bool told = false;
  if (std::exchange(told, true)) return;
  base::warn("/proc does not tell what the threads of this process do: who waits is told by the CPU time they use");
}

void tell_of_signals(int error) {
  static bool told = false;
  if (error != EAGAIN || std::exchange(told, true)) return;
  base::warn("no further signal can be queued (ulimit -i): nothing is interrupted; kernel threads stand in");
}

void tell_of_handlers() {
  static bool told = false;
  if (std::exchange(told, true)) return;
  base::warn(
      "the program has handlers for all real-time signals (as Go does), or for weft's: what spins is not interrupted; "
      "kernel threads stand in");
}

void tell_what_others_found() {
  static bool told_of_timers = false;
  const int refusal = os::Ticker::refusal();
  if (refusal == EAGAIN)
    tell_of_signals(refusal);
  else if (refusal != 0 && !std::exchange(told_of_timers, true))
    base::warn("the kernel refuses timers (timer_create: %s): units are preempted less often than they should be",
               strerror(refusal));
  static bool told_of_membarrier = false;
  if (os::membarrier_has_failed.load(std::memory_order_relaxed) && !std::exchange(told_of_membarrier, true))
    base::warn("the kernel refuses membarrier(2), which it has granted before: a wake-up may have been lost");
}

}  // namespace weft::core
