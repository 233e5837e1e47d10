#include "os/ticker.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <sys/syscall.h>

#include "arch/system_call.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/interrupt.h"
#include "os/klt.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace weft::os {

std::atomic<int> Ticker::refused_with{0};

namespace {

// Above all addresses of a process: no value that the program gives a timer of its own looks like it.
constexpr std::uintptr_t mark = std::uintptr_t{0x7765} << 48U;
constexpr std::uintptr_t all_of_mark = std::uintptr_t{0xffff} << 48U;

// 0, or an errno value.
int create(int& timer, pid_t klt, Ticker* owner) {
  sigevent event{};
  event.sigev_value.sival_ptr = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(owner) | mark);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = interrupt_signal();
  event.sigev_notify_thread_id = klt;
  return static_cast<int>(-arch::system_call(SYS_timer_create, CLOCK_MONOTONIC, reinterpret_cast<long>(&event),
                                             reinterpret_cast<long>(&timer)));
}

// 0, 0: no tick.
void set_one(int timer, std::uint64_t first_ns, std::uint64_t interval_ns) {
  itimerspec times{};
  times.it_value = to_timespec(first_ns);
  times.it_interval = to_timespec(interval_ns);
  arch::system_call(SYS_timer_settime, timer, TIMER_ABSTIME, reinterpret_cast<long>(&times));
}

}  // namespace

Ticker* Ticker::of_signal(const void* value) {
  const auto bits = reinterpret_cast<std::uintptr_t>(value);
  return (bits & all_of_mark) == mark ? reinterpret_cast<Ticker*>(bits & ~all_of_mark) : nullptr;
}

void Ticker::remove() {
  for (; count_ != 0; --count_) arch::system_call(SYS_timer_delete, timers_[count_ - 1]);
}

// One that ticks again can do with a single timer, too.
bool Ticker::prepare(bool again) {
  if (klt_ == 0 || interrupt_signal() == 0) return false;
  const unsigned wanted = again ? 2 : 1;
  const unsigned before = count_;
  int error = 0;
  while (count_ < wanted && (error = create(timers_[count_], klt_, this)) == 0) ++count_;
  if (count_ != before) refused_with.store(0, std::memory_order_relaxed);  // there are some again
  if (count_ != 0) return true;
  // EINVAL: no such KLT, any longer.
  if (error != EINVAL) refused_with.store(error, std::memory_order_relaxed);
  return false;
}

// Whoever is just at it is done in a moment, with a KLT that is still there.
void Ticker::belong_to(pid_t klt) {
  while (busy_.exchange(true, std::memory_order_acquire)) give_up_cpu();
  remove();
  runs_.store(false, std::memory_order_relaxed);
  klt_ = klt;
  busy_.store(false, std::memory_order_release);
}

void Ticker::set(std::uint64_t first_ns, std::uint64_t interval_ns) const {
  const bool in_turn = interval_ns != 0 && count_ == 2;
  set_one(timers_[0], first_ns, in_turn ? 2 * interval_ns : interval_ns);
  if (in_turn) set_one(timers_[1], first_ns + interval_ns, 2 * interval_ns);
}

// From Linux 6.13 on a tick that has not been delivered is gone when its timer is set anew. A system call that it has
// cut short returns EINTR then, and no handler makes it anew: so the KLT gets another one first. (Bug: on a busy
// machine, where the watchdog took a tick for lost that had only not been delivered yet, semop() returned EINTR.)
void Ticker::keep_handler_coming() const {
  if (count_ != 0 && klt_ != this_klt()) forward_tick(klt_);
}

void Ticker::disarm() {
  keep_handler_coming();
  for (unsigned index = 0; index < count_; ++index) set_one(timers_[index], 0, 0);
  runs_.store(false, std::memory_order_relaxed);
}

// The handler leaves it to whoever asks to read the clock: the next tick is due by what time it is now. So one that has
// come just before a loss is noticed the later.
bool Ticker::is_under_way() {
  if (!runs()) return false;
  const std::uint64_t now = now_ns();
  if (has_ticked_.load(std::memory_order_relaxed)) {
    has_ticked_.store(false, std::memory_order_relaxed);
    due_.store(now + 2 * interval_ns_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    most_late_ns_.store(shortest_late_ns, std::memory_order_relaxed);
  }
  return now < due_.load(std::memory_order_relaxed) + most_late_ns_.load(std::memory_order_relaxed);
}

// Of one that is overdue again and again, ever more seldom. (Bug: signals without end piled up at a KLT that had theirs
// blocked for long.)
bool Ticker::start(std::uint64_t first_ns, std::uint64_t interval_ns) {
  if (is_under_way() || busy_.exchange(true, std::memory_order_acquire)) return false;
  const bool prepared = !is_under_way() && prepare(interval_ns != 0);
  if (prepared) {
    if (runs()) keep_handler_coming();
    const std::uint64_t later = std::min(2 * most_late_ns_.load(std::memory_order_relaxed), longest_late_ns);
    most_late_ns_.store(runs() ? later : shortest_late_ns, std::memory_order_relaxed);
    interval_ns_.store(interval_ns, std::memory_order_relaxed);
    has_ticked_.store(false, std::memory_order_relaxed);
    due_.store(first_ns + interval_ns, std::memory_order_relaxed);
    runs_.store(true, std::memory_order_relaxed);  // before: it may tick, and say so, before set() returns here
    set(first_ns, interval_ns);
  }
  busy_.exchange(false, std::memory_order_seq_cst);
  // Whoever takes the signal away says so first, and stops timers then, but for one that somebody is at. Here it is the
  // other way round. (Bug: the signal was looked at before.)
  if (interrupt_signal() == 0) stop();
  return prepared;
}

void Ticker::stop() {
  if (!runs() || busy_.exchange(true, std::memory_order_seq_cst)) return;
  disarm();
  busy_.store(false, std::memory_order_release);
}

}  // namespace weft::os
