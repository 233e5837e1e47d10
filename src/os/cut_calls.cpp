#include "os/cut_calls.h"

#include <sys/syscall.h>

#include "arch/interrupted.h"
#include "os/exported_function.h"

namespace weft::os {
namespace {

// When a call with these arguments can be made anew.
enum class Anew : std::uint8_t { always, without_limit, without_mask, as_sleep };

struct Call {
  const char* function;
  long number;
  Anew anew;
  unsigned argument;  // the limit, or the mask
  ExportedFunction code;
};
constinit Call calls[] = {
    {"clock_nanosleep", SYS_clock_nanosleep, Anew::as_sleep, 0, {}},
    {"poll", SYS_poll, Anew::without_limit, 2, {}},
    {"ppoll", SYS_ppoll, Anew::without_mask, 3, {}},
    {"select", SYS_pselect6, Anew::always, 0, {}},
    {"epoll_wait", SYS_epoll_wait, Anew::without_limit, 3, {}},
    {"semtimedop", SYS_semtimedop, Anew::without_mask, 3, {}},
    {"msgrcv", SYS_msgrcv, Anew::always, 0, {}},
    {"msgsnd", SYS_msgsnd, Anew::always, 0, {}},
};

namespace sleep {
enum Argument : unsigned { clock, flags, time, left };
}  // namespace sleep

// Kept by the identity that sleeps: the kernel reads it when the call is made, and again when it is made anew.
thread_local timespec end_of_sleep;

const Call* call_at(std::uintptr_t instruction) {
  for (const Call& call : calls)
    if (call.code.holds(instruction)) return &call;
  return nullptr;
}

bool is_limited_in_ms(std::uint64_t limit) { return static_cast<int>(limit) >= 0; }

bool can_be_made_anew(const Call& call, const ucontext_t& interrupted) {
  const std::uint64_t argument = arch::system_call_argument(interrupted, call.argument);
  switch (call.anew) {
    case Anew::without_limit:
      return !is_limited_in_ms(argument);
    case Anew::without_mask:
      return argument == 0;
    case Anew::always:
    case Anew::as_sleep:
      break;
  }
  return true;
}

bool knows_what_is_left(const ucontext_t& interrupted) {
  return (arch::system_call_argument(interrupted, sleep::flags) & TIMER_ABSTIME) != 0 ||
         arch::system_call_argument(interrupted, sleep::left) != 0;
}

// By which the end is told. For a time, that of day is waited for by the other: it may be set meanwhile.
clockid_t clock_of(const ucontext_t& interrupted) {
  const auto clock = static_cast<clockid_t>(arch::system_call_argument(interrupted, sleep::clock));
  return clock == CLOCK_REALTIME ? CLOCK_MONOTONIC : clock;
}

timespec end_of(const ucontext_t& interrupted) {
  const auto* asked = reinterpret_cast<const timespec*>(arch::system_call_argument(interrupted, sleep::time));
  timespec end{};
  clock_gettime(clock_of(interrupted), &end);
  end.tv_sec += asked->tv_sec;
  end.tv_nsec += asked->tv_nsec;
  if (end.tv_nsec >= 1000L * 1000 * 1000) {
    end.tv_nsec -= 1000L * 1000 * 1000;
    ++end.tv_sec;
  }
  return end;
}

void sleep_on(const CutCall& call, ucontext_t& interrupted) {
  if ((arch::system_call_argument(interrupted, sleep::flags) & TIMER_ABSTIME) != 0) return;
  if (const std::uint64_t left = arch::system_call_argument(interrupted, sleep::left); left != 0) {
    arch::set_system_call_argument(interrupted, sleep::time, left);
    return;
  }
  end_of_sleep = call.until;
  const clockid_t clock = clock_of(interrupted);
  arch::set_system_call_argument(interrupted, sleep::clock, static_cast<std::uint64_t>(clock));
  arch::set_system_call_argument(interrupted, sleep::flags, TIMER_ABSTIME);
  arch::set_system_call_argument(interrupted, sleep::time, reinterpret_cast<std::uint64_t>(&end_of_sleep));
}

}  // namespace

void look_up_calls_that_are_cut() {
  for (Call& call : calls) call.code = find_exported(call.function);
}

CutCall cut_call_of(const ucontext_t& interrupted) {
  CutCall cut;
  if (!arch::system_call_was_cut_short(interrupted)) return cut;
  const Call* call = call_at(arch::interrupted_instruction(interrupted));
  if (call == nullptr || !can_be_made_anew(*call, interrupted)) return cut;
  cut.number = call->number;
  if (call->anew == Anew::as_sleep && !knows_what_is_left(interrupted)) cut.until = end_of(interrupted);
  return cut;
}

void make_anew(const CutCall& call, ucontext_t& interrupted) {
  if (call.number < 0) return;
  if (call.number == SYS_clock_nanosleep) sleep_on(call, interrupted);
  arch::make_system_call_anew(interrupted, call.number);
}

}  // namespace weft::os
