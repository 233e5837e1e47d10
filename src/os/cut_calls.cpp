#include "os/cut_calls.h"

#include <iterator>
#include <limits>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "arch/interrupted.h"
#include "os/clock.h"

namespace weft::os {
namespace {

// When a call can be made anew: always, or if the argument that decides says so (a limit in milliseconds that is none;
// no limit, or no mask; where one points to that); or as a sleep. Or its rest: always, or if it asks for all (that
// flag).
enum class Anew : std::uint8_t { always, if_negative, if_null, if_null_there, as_sleep, the_rest, the_rest_of_all };

struct Call {
  const char* function;  // of libc's, that makes it
  long number;
  Anew anew;
  unsigned argument;  // that decides
  int left;           // the argument that points to how much time is left; -1: none
  ExportedFunction code;
};
constinit Call calls[] = {
    {"clock_nanosleep", SYS_clock_nanosleep, Anew::as_sleep, 0, -1, {}},
    {"poll", SYS_poll, Anew::if_negative, 2, -1, {}},
    {"ppoll", SYS_ppoll, Anew::if_null, 3, 2, {}},
    {"select", SYS_pselect6, Anew::always, 0, 4, {}},
    {"pselect", SYS_pselect6, Anew::if_null_there, 5, 4, {}},
    {"epoll_wait", SYS_epoll_wait, Anew::if_negative, 3, -1, {}},
    {"sigtimedwait", SYS_rt_sigtimedwait, Anew::if_null, 2, -1, {}},
    {"semtimedop", SYS_semtimedop, Anew::if_null, 3, -1, {}},
    {"msgrcv", SYS_msgrcv, Anew::always, 0, -1, {}},
    {"msgsnd", SYS_msgsnd, Anew::always, 0, -1, {}},
    {"write", SYS_write, Anew::the_rest, 0, -1, {}},
    {"send", SYS_sendto, Anew::the_rest, 0, -1, {}},
    {"sendto", SYS_sendto, Anew::the_rest, 0, -1, {}},
    {"recv", SYS_recvfrom, Anew::the_rest_of_all, 3, -1, {}},
    {"recvfrom", SYS_recvfrom, Anew::the_rest_of_all, 3, -1, {}},
};

// Of those that transfer.
namespace transfer {
enum Argument : unsigned { file, address, size, flags };
}  // namespace transfer

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

// The code that transfers the rest of something has the function in which it goes on.
const Call* call_of_rest(const ucontext_t& interrupted) {
  return arch::makes_rest_of_transfer(interrupted) ? call_at(arch::goes_on_after_rest(interrupted)) : nullptr;
}

bool can_be_made_anew(const Call& call, const ucontext_t& interrupted) {
  const std::uint64_t argument = arch::system_call_argument(interrupted, call.argument);
  switch (call.anew) {
    case Anew::if_negative:
      return static_cast<int>(argument) < 0;
    case Anew::if_null:
      return argument == 0;
    case Anew::if_null_there:
      return argument == 0 || *reinterpret_cast<const std::uint64_t*>(argument) == 0;
    case Anew::always:
    case Anew::as_sleep:
      break;
    case Anew::the_rest:
    case Anew::the_rest_of_all:
      return false;
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

// The kernel has said how much time is left, and this when that was.
void note_left(CutCall& cut, const ucontext_t& interrupted, unsigned argument, clockid_t clock) {
  cut.left = reinterpret_cast<timespec*>(arch::system_call_argument(interrupted, argument));
  cut.clock = clock;
  if (cut.left != nullptr) clock_gettime(clock, &cut.noted);
}

void take_off_what_has_passed(const CutCall& cut) {
  timespec now{};
  clock_gettime(cut.clock, &now);
  constexpr long second = 1'000'000'000;
  timespec left{cut.left->tv_sec - (now.tv_sec - cut.noted.tv_sec),
                cut.left->tv_nsec - (now.tv_nsec - cut.noted.tv_nsec)};
  for (; left.tv_nsec < 0; left.tv_nsec += second) --left.tv_sec;
  for (; left.tv_nsec >= second; left.tv_nsec -= second) ++left.tv_sec;
  *cut.left = left.tv_sec < 0 ? timespec{} : left;
}

void note_sleep(CutCall& cut, const ucontext_t& interrupted) {
  if (sleeps_until(interrupted)) {
    const std::uint64_t time = arch::system_call_argument(interrupted, sleep::time);
    cut.has_end = time == reinterpret_cast<std::uint64_t>(&end_of_sleep);
    if (cut.has_end) cut.end = end_of_sleep;
  } else if (cut.number >= 0) {
    cut.has_end = arch::system_call_argument(interrupted, sleep::left) == 0;
    if (cut.has_end)
      cut.end = end_of(interrupted);
    else
      note_left(cut, interrupted, sleep::left, clock_of(interrupted));
  }
}

bool wants_all(const Call& call, const ucontext_t& interrupted) {
  if (call.anew == Anew::the_rest) return true;
  return call.anew == Anew::the_rest_of_all &&
         (arch::system_call_argument(interrupted, transfer::flags) & MSG_WAITALL) != 0;
}

// A file with O_NONBLOCK may have taken a part as well: asked for the rest it says EAGAIN, and the part is the answer.
bool is_part_of_transfer(const ucontext_t& interrupted) {
  const long done = arch::transferred(interrupted);
  return done != 0 && static_cast<std::uint64_t>(done) < arch::system_call_argument(interrupted, transfer::size);
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
  if (call == nullptr) call = call_of_rest(interrupted);
  if (call == nullptr) return cut;  // the code around it is looked at only in there: it may be the last of its page
  if (wants_all(*call, interrupted) && is_part_of_transfer(interrupted)) {
    cut.number = call->number;
    cut.is_part = true;
    return cut;
  }
  const bool is_cut = arch::system_call_was_cut_short(interrupted);
  if (!is_cut && arch::system_call_to_be_made(interrupted) != SYS_clock_nanosleep) return cut;
  if (!can_be_made_anew(*call, interrupted)) return cut;
  if (is_cut) cut.number = call->number;
  if (call->anew == Anew::as_sleep)
    note_sleep(cut, interrupted);
  else if (is_cut && call->left >= 0)
    note_left(cut, interrupted, static_cast<unsigned>(call->left), CLOCK_MONOTONIC);
  return cut;
}

void make_anew(const CutCall& cut, ucontext_t& interrupted) {
  if (cut.is_part) {
    arch::transfer_rest(interrupted, cut.number, transfer::address, transfer::size);
    return;
  }
  if (cut.has_end) {
    set_end(cut.end, interrupted);
  } else if (cut.left != nullptr) {
    take_off_what_has_passed(cut);
    if (cut.number == SYS_clock_nanosleep)
      arch::set_system_call_argument(interrupted, sleep::time, reinterpret_cast<std::uint64_t>(cut.left));
  }
  if (cut.number >= 0) arch::make_system_call_anew(interrupted, cut.number);
}

}  // namespace weft::os
