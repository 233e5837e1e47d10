#include "os/ticker.h"

#include <csignal>
#include <ctime>
#include <sys/syscall.h>

#include "arch/system_call.h"
#include "os/clock.h"
#include "os/interrupt.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace weft::os {
// For that KLT: the one that there is may be for another.
bool Ticker::prepare(pid_t klt) {
  if (klt_ == klt) return true;
  if (klt_ != 0) arch::system_call(SYS_timer_delete, timer_);
  klt_ = 0;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = interrupt_signal();
  event.sigev_notify_thread_id = klt;
  if (arch::system_call(SYS_timer_create, CLOCK_MONOTONIC, reinterpret_cast<long>(&event),
                        reinterpret_cast<long>(&timer_)) != 0)
    return false;
  klt_ = klt;
  return true;
}

void Ticker::set(std::uint64_t first_ns, std::uint64_t interval_ns) const {
  itimerspec times{};
  times.it_value = to_timespec(first_ns);
  times.it_interval = to_timespec(interval_ns);
  arch::system_call(SYS_timer_settime, timer_, TIMER_ABSTIME, reinterpret_cast<long>(&times));
}

bool Ticker::is_under_way() const {
  if (!runs()) return false;
  constexpr std::uint64_t most_late_ns = 10ULL * 1000 * 1000;
  const std::uint64_t due = due_.load(std::memory_order_relaxed);
  return due == again_and_again || now_ns() < due + most_late_ns;
}

bool Ticker::start(pid_t klt, std::uint64_t first_ns, std::uint64_t interval_ns) {
  if (is_under_way() || busy_.exchange(true, std::memory_order_acquire)) return false;
  const bool prepared = !is_under_way() && prepare(klt);
  if (prepared) {
    due_.store(interval_ns == 0 ? first_ns : again_and_again, std::memory_order_relaxed);
    runs_.store(true, std::memory_order_relaxed);  // before: it may tick, and say so, before set() returns here
    set(first_ns, interval_ns);
  }
  busy_.store(false, std::memory_order_release);
  return prepared;
}

void Ticker::stop() {
  if (!runs() || busy_.exchange(true, std::memory_order_acquire)) return;
  if (klt_ != 0) set(0, 0);
  runs_.store(false, std::memory_order_relaxed);
  busy_.store(false, std::memory_order_release);
}

void Ticker::end() {
  stop();
  if (busy_.exchange(true, std::memory_order_acquire)) return;
  if (klt_ != 0) arch::system_call(SYS_timer_delete, timer_);
  klt_ = 0;
  busy_.store(false, std::memory_order_release);
}

void Ticker::forget() {
  klt_ = 0;
  busy_.store(false, std::memory_order_relaxed);
  runs_.store(false, std::memory_order_relaxed);
}

}  // namespace weft::os
