// A timer of the kernel's that sends the interrupt signal to one KLT, again and again (timer_create(2) with
// SIGEV_THREAD_ID; Shiina et al. 3.2.1). Bare system calls only: may be started and stopped in a signal handler.
//
// One that ticks again and again is two timers in fact, which tick in turn. The kernel sets a timer anew when its
// signal is delivered; if nothing else is due earlier, the CPU's clock is programmed for it once more then, right after
// it was programmed for what came next. With two, what comes next is the other one's tick, and the clock is set for it
// already. On a virtual machine a tick takes 15 us so, instead of 19 (`preempt interruption 2`).
//
// Who starts anew, or stops, one of another KLT's sends that KLT a forwarded tick first (keep_handler_coming()).
#pragma once

#include <atomic>
#include <cstdint>
#include <sys/types.h>

namespace weft::os {

class Ticker {
 public:
  /// Whose timer has sent what comes with this value; nullptr: a timer of the program's, which has the same signal.
  /// From the handler.
  static Ticker* of_signal(const void* value);
  /// The KLT that it ticks from now on; 0: none, before the one that it has had ends. Not from a handler.
  void belong_to(pid_t klt);
  /// Ticks its KLT each `interval_ns`, for the first time at `first_ns` of os::now_ns(); 0: only that once. False: it
  /// has been started already, or somebody is just at it, or there is no KLT, or the kernel has no further timer.
  bool start(std::uint64_t first_ns, std::uint64_t interval_ns);
  /// Nothing if somebody is just at it; who starts it stops it again if the interrupt signal has been taken away.
  void stop();
  /// It has: one that was to tick once does not run any more. From the handler.
  void has_ticked() {
    if (interval_ns_.load(std::memory_order_relaxed) == 0)
      runs_.store(false, std::memory_order_relaxed);
    else
      has_ticked_.store(true, std::memory_order_relaxed);
  }
  bool runs() const { return runs_.load(std::memory_order_relaxed); }
  /// The same, but not where its next tick is long overdue: has_ticked() has not been told, and start() helps. (A
  /// program may ignore the signal for a moment: with what was under way then, the kernel forgets all later ticks.)
  bool is_under_way();
  /// Why the kernel has given somebody no timer, an errno value (a seccomp filter; EAGAIN: RLIMIT_SIGPENDING, which
  /// lets no other signal of this kind be sent either); 0: it has not happened, or somebody has been given one since.
  static int refusal() { return refused_with.load(std::memory_order_relaxed); }

 private:
  bool prepare(bool again);
  void set(std::uint64_t first_ns, std::uint64_t interval_ns) const;
  void keep_handler_coming() const;
  void disarm();
  void remove();

  static constexpr std::uint64_t shortest_late_ns = 10ULL * 1000 * 1000;
  static constexpr std::uint64_t longest_late_ns = 100 * shortest_late_ns;

  static std::atomic<int> refused_with;
  std::atomic<bool> busy_{false};
  std::atomic<bool> runs_{false};
  std::atomic<bool> has_ticked_{false};        // again, since somebody last asked whether it is under way
  std::atomic<std::uint64_t> due_{0};          // when it was to have ticked, once more
  std::atomic<std::uint64_t> interval_ns_{0};  // 0: once
  std::atomic<std::uint64_t> most_late_ns_{shortest_late_ns};  // then it is overdue
  pid_t klt_ = 0;
  int timers_[2] = {};  // the kernel's numbers
  unsigned count_ = 0;  // how many there are: the second comes with the first need
};

}  // namespace weft::os
