#include "os/interrupt.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "arch/interrupted.h"
#include "arch/signal_frame.h"
#include "arch/system_call.h"
#include "os/code_not_to_leave.h"
#include "os/cut_calls.h"
#include "os/frames_below.h"
#include "os/futex.h"
#include "os/linker_lock.h"
#include "os/restarted_calls.h"
#include "os/ticker.h"
#include "os/user_ids.h"

namespace weft::os {
namespace {

void (*interrupted_code)(const Interruption&) = nullptr;
std::atomic<bool (*)(std::uintptr_t)> has_room_on{nullptr};  // with it the handler begins on the alternate stack
std::atomic<int> signal_number{0};                           // 0: none, or the program has taken it
std::atomic<int> signal_chosen{0};                           // the same, for ever
constexpr int tick_mark = 0x77656674;                        // of a signal that a handler has passed on
constexpr int wake_mark = 0x77656675;                        // of one that wakes a KLT and says nothing else

bool is_ours(const siginfo_t& info, Interruption::Cause& cause) {
  if (info.si_code == SI_TKILL)
    cause = Interruption::Cause::watchdog;
  else if (info.si_code == SI_TIMER)
    cause = Interruption::Cause::timer;
  else if (info.si_code == SI_QUEUE && info.si_value.sival_int == tick_mark)
    cause = Interruption::Cause::forwarded;
  else
    return false;
  return true;
}

// Not, where it wakes somebody: that is in the midst of unlocking something.
bool waits_by_futex(const ucontext_t& interrupted) {
  switch (static_cast<int>(arch::system_call_argument(interrupted, 1)) & FUTEX_CMD_MASK) {
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_WAKE_OP:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_UNLOCK_PI:
      return false;
    default:
      return true;
  }
}

// The call is to be made.
WordAwaited awaited_by_futex(const ucontext_t& interrupted) {
  const auto argument = [&interrupted](unsigned index) { return arch::system_call_argument(interrupted, index); };
  const auto operation = static_cast<int>(argument(1)) & FUTEX_CMD_MASK;
  const bool has_limit = argument(3) != 0;
  if (has_limit || (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET)) return {};
  return {reinterpret_cast<const std::atomic<std::uint32_t>*>(argument(0)), static_cast<std::uint32_t>(argument(2))};
}

SignalMask mine() { return mask_of(interrupt_signal()); }

void on_signal(int signal, siginfo_t* info, void* context);

// From the alternate stack. False: what was interrupted is not to be left. (Or this is not the kernel's own frame, but
// another handler's copy, or Valgrind's.)
bool goes_on_where_interrupted(int signal, const siginfo_t& info, ucontext_t& interrupted) {
  if (!has_room_on.load(std::memory_order_acquire)(arch::interrupted_stack_pointer(interrupted))) return false;
  const arch::SignalFrame frame = arch::signal_frame_of(info, interrupted);
  if (frame.bytes == 0) return false;
  const SignalMask blocked = signals_blocked();
  arch::hand_over_at(arch::place_where_interrupted(frame, interrupted), frame, signal, info, interrupted, on_signal);
  memcpy(&interrupted.uc_sigmask, &blocked, kernel_set_bytes);
  return true;
}

void on_signal(int signal, siginfo_t* info, void* context) {
  Interruption interruption{};
  auto interrupted = static_cast<ucontext_t*>(context);
  if (!is_ours(*info, interruption.cause)) {  // also what is to end a suspension, where that has ended before
    make_anew(cut_call_of(*interrupted), *interrupted);
    return;
  }
  const bool spares_stack = arch::came_to_alternate_stack(*interrupted);
  if (spares_stack && goes_on_where_interrupted(signal, *info, *interrupted)) return;
  const CutCall cut = cut_call_of(*interrupted);
  interruption.context = context;
  if (interruption.cause == Interruption::Cause::timer)
    interruption.ticker = Ticker::of_signal(info->si_value.sival_ptr);
  interruption.instruction = arch::interrupted_instruction(*interrupted);
  const CodePlace place = place_of_code(interruption.instruction);
  interruption.in_weft = place.in_weft;
  interruption.in_runtime = place.in_runtime;
  interruption.beside_allocator = place.beside_allocator;
  if (arch::makes_rest_of_transfer(*interrupted)) interruption.in_weft = false;  // but in the place of libc's code
  const std::uintptr_t stack = arch::interrupted_stack_pointer(*interrupted);
  if (!interruption.in_weft && (runs_under_lock_of_linker(stack) || loads_libraries())) {
    interruption.in_runtime = true;  // and what sleeps there keeps the lock, too
  } else if (interruption.in_runtime && !interruption.in_weft) {
    const long call = arch::system_call_to_be_made(*interrupted);
    interruption.in_sleep = is_restarted(call) || cut.is_part || arch::system_call_was_cut_short(*interrupted);
    if (call == SYS_futex) {
      const auto [word, value] = interruption.awaited = awaited_by_futex(*interrupted);
      if (!waits_by_futex(*interrupted) || awaits_change_of_user_ids(word, value, stack)) interruption.in_sleep = false;
    }
  }
  const stack_t& alternate = interrupted->uc_stack;  // it does not say whether that is in use
  interruption.in_handler = spares_stack || (!interruption.in_weft && runs_in_handler(*interrupted)) ||
                            stack - reinterpret_cast<std::uintptr_t>(alternate.ss_sp) < alternate.ss_size;
  interrupted_code(interruption);
  make_anew(cut, *interrupted);
}

// Of the identity that runs this now. The compiler takes the address of errno for one that does not change within a
// function.
[[gnu::noinline]] void set_errno(int value) { errno = value; }

// Whether nobody has a handler for it. One that is ignored is free too: to ignore all of them is what a shell passes on
// to those it starts (`trap '' 1 2 ...`), and nobody sends it.
bool is_free(int number) {
  struct sigaction present {};
  return __sigaction(number, nullptr, &present) == 0 &&
         (present.sa_handler == SIG_DFL || present.sa_handler == SIG_IGN);
}

bool is_handled_here(int number) {
  struct sigaction present {};
  return __sigaction(number, nullptr, &present) == 0 && (present.sa_flags & SA_SIGINFO) != 0 &&
         present.sa_sigaction == on_signal;
}

bool install_on(int number) {
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | (has_room_on.load(std::memory_order_relaxed) != nullptr ? SA_ONSTACK : 0);
  sigemptyset(&action.sa_mask);
  return __sigaction(number, &action, nullptr) == 0;
}

}  // namespace

void leave(const Interruption& interruption, void (*function)(void*), void* argument) {
  auto interrupted = static_cast<ucontext_t*>(interruption.context);
  const int kept = errno;
  // As the KLT has it between calls. In one that has a mask of its own (ppoll, pselect, epoll_pwait, sigsuspend), the
  // handler came under that one, and the kernel has the real mask put back when the handler returns, which may be on
  // another KLT. (Bug: a root whose KLT was taken back from a member in ppoll() had the call's mask, for ever.)
  set_signals(blocked_in(*interrupted) & ~mine());
  function(argument);
  set_errno(kept);
  arch::system_call(SYS_rt_sigprocmask, SIG_SETMASK, 0, reinterpret_cast<long>(&interrupted->uc_sigmask),
                    kernel_set_bytes);
  arch::system_call(SYS_sigaltstack, 0, reinterpret_cast<long>(&interrupted->uc_stack));
}

bool install_interrupt(void (*interrupted)(const Interruption&), std::uintptr_t (*end_of_frames)(std::uintptr_t stack),
                       int wanted) {
  interrupted_code = interrupted;
  bound_frames_by(end_of_frames);
  const auto choose = [](int candidate) {
    if (is_free(candidate) && install_on(candidate)) signal_chosen = signal_number = candidate;
  };
  if (wanted != 0) {
    choose(wanted);
    return interrupt_signal() != 0;
  }
  // One that is blocked, and has no handler, the program waits for, perhaps (sigwait, signalfd).
  const SignalMask blocked = signals_blocked();
  for (const SignalMask passed_over : {blocked, SignalMask{0}})
    for (int candidate = SIGRTMAX - 2; candidate > SIGRTMIN && interrupt_signal() == 0; --candidate)
      if ((passed_over & mask_of(candidate)) == 0) choose(candidate);
  return interrupt_signal() != 0;
}

int interrupt_signal() { return signal_number.load(std::memory_order_relaxed); }

int interrupt_signal_chosen() { return signal_chosen.load(std::memory_order_relaxed); }

void stop_interrupting() { signal_number = 0; }

bool keep_interrupt() {
  const int number = interrupt_signal();
  if (number == 0) return false;
  if (is_handled_here(number)) return true;
  if (is_free(number) && install_on(number)) return true;
  signal_number = 0;
  return false;
}

void spare_small_stacks(bool (*has_room)(std::uintptr_t stack)) {
  static std::atomic<bool> installed{false};
  if (installed.load(std::memory_order_acquire) || !keep_interrupt()) return;
  has_room_on.store(has_room, std::memory_order_release);  // before a handler can ask
  installed.store(install_on(interrupt_signal()), std::memory_order_release);
}

namespace {

// An error number.
long queue_signal(pid_t klt, int number, int mark) {
  siginfo_t info{};
  info.si_signo = number;
  info.si_code = SI_QUEUE;
  info.si_value.sival_int = mark;
  const long process = arch::system_call(SYS_getpid);
  return -arch::system_call(SYS_rt_tgsigqueueinfo, process, klt, number, reinterpret_cast<long>(&info));
}

}  // namespace

void forward_tick(pid_t klt) { queue_signal(klt, interrupt_signal(), tick_mark); }
// Without it that sleeps for ever. RLIMIT_SIGPENDING is that of a user: others take theirs.
void wake_from_suspension(pid_t klt) {
  while (queue_signal(klt, interrupt_signal_chosen(), wake_mark) == EAGAIN) give_up_cpu();
}

void block_interrupt(bool block) {
  if (block)
    block_signals(mine());
  else
    unblock_signals(mine());
}
SignalMask block_interrupt_only() { return block_signals(mine()); }

void suspend_for_interrupt() {
  const SignalMask others = ~(mask_of(interrupt_signal_chosen()) | signals_of_libc);
  arch::system_call(SYS_rt_sigsuspend, reinterpret_cast<long>(&others), kernel_set_bytes);
}

bool interrupt(pid_t klt) {
  errno = 0;
  return keep_interrupt() && syscall(SYS_tgkill, getpid(), klt, interrupt_signal()) == 0;
}

}  // namespace weft::os
