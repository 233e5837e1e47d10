#include "os/cut_calls.h"

#include <iterator>
#include <limits>
#include <sys/syscall.h>

#include "arch/interrupted.h"
#include "os/clock.h"

namespace weft::os {
namespace {

// When a call can be made anew: always, or if the argument that decides says so (a limit in milliseconds that is none;
// no limit, or no mask); or as a sleep.
enum class Anew : std::uint8_t { always, if_negative, if_null, as_sleep };

struct Call {
  const char* function;  // of libc's, that makes it
  long number;
  Anew anew;
  unsigned argument;  // that decides
  ExportedFunction code;
};
constinit Call calls[] = {
    {"clock_nanosleep", SYS_clock_nanosleep, Anew::as_sleep, 0, {}},
    {"poll", SYS_poll, Anew::if_negative, 2, {}},
    {"ppoll", SYS_ppoll, Anew::if_null, 3, {}},
    {"select", SYS_pselect6, Anew::always, 0, {}},
    {"epoll_wait", SYS_epoll_wait, Anew::if_negative, 3, {}},
    {"semtimedop", SYS_semtimedop, Anew::if_null, 3, {}},
    {"msgrcv", SYS_msgrcv, Anew::always, 0, {}},
    {"msgsnd", SYS_msgsnd, Anew::always, 0, {}},
};

namespace sleep {
enum Argument : unsigned { clock, flags, time, left };
}  // namespace sleep

// Of a sleep that is made anew until its end. The kernel reads it when the call is made: so it is written last, where
// the code goes on, which may be with another identity than before. While the code is left, its handler has it.
thread_local timespec end_of_sleep;

const Call* call_at(std::uintptr_t instruction) {
  for (const Call& call : calls)
    if (call.code.holds(instruction)) return &call;
  return nullptr;
}

bool can_be_made_anew(const Call& call, const ucontext_t& interrupted) {
  const std::uint64_t argument = arch::system_call_argument(interrupted, call.argument);
  switch (call.anew) {
    case Anew::if_negative:
      return static_cast<int>(argument) < 0;
    case Anew::if_null:
      return argument == 0;
    case Anew::always:
    case Anew::as_sleep:
      break;
  }
  return true;
}

bool sleeps_until(const ucontext_t& interrupted) {
  return (arch::system_call_argument(interrupted, sleep::flags) & TIMER_ABSTIME) != 0;
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
  const timespec after = to_timespec(static_cast<std::uint64_t>(end.tv_nsec + asked->tv_nsec));
  const bool is_ever = __builtin_add_overflow(end.tv_sec + after.tv_sec, asked->tv_sec, &end.tv_sec);
  if (is_ever) end.tv_sec = std::numeric_limits<time_t>::max();
  end.tv_nsec = after.tv_nsec;
  return end;
}

void note_sleep(CutCall& cut, const ucontext_t& interrupted) {
  if (sleeps_until(interrupted)) {
    const std::uint64_t time = arch::system_call_argument(interrupted, sleep::time);
    cut.has_end = time == reinterpret_cast<std::uint64_t>(&end_of_sleep);
    if (cut.has_end) cut.end = end_of_sleep;
  } else if (cut.number >= 0 && arch::system_call_argument(interrupted, sleep::left) == 0) {
    cut.has_end = true;
    cut.end = end_of(interrupted);
  }
}

// The one with which the code goes on now.
[[gnu::noinline]] void set_end(const timespec& end, ucontext_t& interrupted) {
  if (!sleeps_until(interrupted)) {
    const clockid_t clock = clock_of(interrupted);
    arch::set_system_call_argument(interrupted, sleep::clock, static_cast<std::uint64_t>(clock));
    arch::set_system_call_argument(interrupted, sleep::flags, TIMER_ABSTIME);
  }
  end_of_sleep = end;
  arch::set_system_call_argument(interrupted, sleep::time, reinterpret_cast<std::uint64_t>(&end_of_sleep));
}

}  // namespace

void look_up_calls_that_are_cut(const ExportedFunction& of_libc) {
  NamedFunction wanted[std::size(calls)] = {};
  for (std::size_t index = 0; index < std::size(calls); ++index) wanted[index].name = calls[index].function;
  find_exported_beside(of_libc, wanted, std::size(wanted));
  for (std::size_t index = 0; index < std::size(calls); ++index) calls[index].code = wanted[index].function;
}

CutCall cut_call_of(const ucontext_t& interrupted) {
  CutCall cut;
  const Call* call = call_at(arch::interrupted_instruction(interrupted));
  if (call == nullptr) return cut;  // the code around it is looked at only in there: it may be the last of its page
  const bool is_cut = arch::system_call_was_cut_short(interrupted);
  if (!is_cut && arch::system_call_to_be_made(interrupted) != SYS_clock_nanosleep) return cut;
  if (!can_be_made_anew(*call, interrupted)) return cut;
  if (is_cut) cut.number = call->number;
  if (call->anew == Anew::as_sleep) note_sleep(cut, interrupted);
  return cut;
}

void make_anew(const CutCall& cut, ucontext_t& interrupted) {
  if (cut.has_end) {
    set_end(cut.end, interrupted);
  } else if (cut.number == SYS_clock_nanosleep && !sleeps_until(interrupted)) {
    const std::uint64_t left = arch::system_call_argument(interrupted, sleep::left);
    arch::set_system_call_argument(interrupted, sleep::time, left);
  }
  if (cut.number >= 0) arch::make_system_call_anew(interrupted, cut.number);
}

}  // namespace weft::os
