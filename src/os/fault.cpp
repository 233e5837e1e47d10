// weft has to see faults first, on a stack that has not overflowed. What is not weft's business then goes on as if weft
// were not there: the action that the program has installed before is obeyed with all its flags.
//
//   sa_mask, SA_RESTART   are those of weft's own action, so that the kernel sees to them
//   SA_NODEFER            the signal is open again in the handler
//   SA_RESETHAND          the handler is called once; later faults take the default action
//   SIG_IGN               what was sent is ignored; a fault ends the process, as the kernel has it
//   no SA_ONSTACK         the handler runs on the stack of what was interrupted
//
// The last one matters to handlers that need room, as those of garbage collectors and checkpointers do, and to those
// that wait or are left by siglongjmp(). The kernel has called weft on the alternate stack. So the frame that it has
// built there is copied to where it would have built it otherwise, and the context that weft returns to is the
// handler's beginning (arch/signal_frame.h). The alternate stack is free again then, and the handler returns to what
// was interrupted by the copy of the context, which is also what it may change.
//
// Rejected: to call such a handler from here on the interrupted stack. The kernel takes an alternate stack on which the
// stack pointer does not lie for free: the next signal for it, in the midst of the handler, would overwrite the context
// that is to be returned to.
#include "os/fault.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <new>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "arch/interrupted.h"
#include "arch/signal_frame.h"
#include "arch/system_call.h"
#include "os/klt.h"
#include "os/pages.h"
#include "os/signal_mask.h"
#include "os/stack_memory.h"

namespace weft::os {
namespace {

// What the program has installed for one of the signals.
struct Previous {
  struct sigaction action;
  std::atomic<bool> called{false};  // with SA_RESETHAND: that was it
};

OverflowReporter reporter = nullptr;
ExecutionAllower allower = nullptr;
constinit Previous previous_segv{};
constinit Previous previous_bus{};

bool has_handler(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

// Not one that somebody has sent, nor one about memory that has gone bad and that nobody has touched yet.
bool is_of_instruction(int signal, const siginfo_t& info) {
  return info.si_code > 0 && !(signal == SIGBUS && info.si_code == BUS_MCEERR_AO);
}

// By returning into the fault: it comes again, and ends the process as such a fault does.
void take_default_action(int signal, const siginfo_t& info) {
  struct sigaction fallback {};
  fallback.sa_handler = SIG_DFL;
  sigaction(signal, &fallback, nullptr);
  // Not raise(), which the face may have replaced.
  if (!is_of_instruction(signal, info))
    arch::system_call(SYS_tgkill, arch::system_call(SYS_getpid), this_klt(), signal);
}

// The frame and whatever lies between would reach into the guard of one of weft's stacks: then that is told.
bool overflows(const char* place, std::uintptr_t stack) {
  for (auto at = reinterpret_cast<std::uintptr_t>(place); at < stack; at += page)
    if (reporter(reinterpret_cast<void*>(at), false)) return true;
  return false;
}

// False: what weft has been given is not the kernel's own frame, but another handler's copy, or Valgrind's.
bool hand_over_where_interrupted(const struct sigaction& action, int signal, siginfo_t& info, ucontext_t& interrupted,
                                 SignalMask blocked) {
  const arch::SignalFrame frame = arch::signal_frame_of(info, interrupted);
  if (frame.bytes == 0) return false;
  char* const place = arch::place_where_interrupted(frame, interrupted);
  if (overflows(place, arch::interrupted_stack_pointer(interrupted))) {
    take_default_action(signal, info);
    return true;
  }
  arch::hand_over_at(place, frame, signal, info, interrupted, action.sa_sigaction);
  memcpy(&interrupted.uc_sigmask, &blocked, sizeof blocked);
  return true;
}

void call_handler(const struct sigaction& action, int signal, siginfo_t& info, ucontext_t& interrupted) {
  const bool is_deferred = (action.sa_flags & SA_NODEFER) == 0;
  const SignalMask blocked = signals_blocked() & ~(is_deferred ? 0 : mask_of(signal));
  if ((action.sa_flags & SA_ONSTACK) == 0 && arch::came_to_alternate_stack(interrupted) &&
      hand_over_where_interrupted(action, signal, info, interrupted, blocked))
    return;
  if (!is_deferred) set_signals(blocked);
  if ((action.sa_flags & SA_SIGINFO) != 0)
    action.sa_sigaction(signal, &info, &interrupted);
  else
    action.sa_handler(signal);
}

Previous& previous_of(int signal) { return signal == SIGBUS ? previous_bus : previous_segv; }

bool has_handler_with_own_stack(int signal) {
  const struct sigaction& action = previous_of(signal).action;
  return has_handler(action) && (action.sa_flags & SA_ONSTACK) != 0;
}

void pass_on(int signal, siginfo_t& info, ucontext_t& interrupted) {
  Previous& previous = previous_of(signal);
  const struct sigaction& action = previous.action;
  const bool only_once = (action.sa_flags & SA_RESETHAND) != 0;
  if (has_handler(action) && !(only_once && previous.called.exchange(true, std::memory_order_relaxed)))
    call_handler(action, signal, info, interrupted);
  else if (action.sa_handler != SIG_IGN || is_of_instruction(signal, info))
    take_default_action(signal, info);
}

bool was_executed(const siginfo_t& info, const ucontext_t& interrupted) {
  return reinterpret_cast<std::uintptr_t>(info.si_addr) == arch::interrupted_instruction(interrupted);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  auto& interrupted = *static_cast<ucontext_t*>(context);
  const int kept = errno;
  const bool can_be_handled = has_handler_with_own_stack(signal) && arch::came_to_alternate_stack(interrupted);
  if (info->si_code > 0 && reporter(info->si_addr, can_be_handled)) {
    if (can_be_handled) pass_on(signal, *info, interrupted);
    take_default_action(signal, *info);
    return;
  }
  const bool goes_on =
      info->si_code == SEGV_ACCERR && signal == SIGSEGV && was_executed(*info, interrupted) && allower(info->si_addr);
  errno = kept;
  if (goes_on) return;
  pass_on(signal, *info, interrupted);
}

void watch_for(int signal, Previous& previous) {
  sigaction(signal, nullptr, &previous.action);  // before a fault can ask for it
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  if (has_handler(previous.action)) {
    action.sa_mask = previous.action.sa_mask;
    action.sa_flags |= previous.action.sa_flags & SA_RESTART;
  } else if (previous.action.sa_handler == SIG_IGN) {
    action.sa_flags |= SA_RESTART;  // what is ignored interrupts nothing
  }
  sigaction(signal, &action, nullptr);
}

// At the high end of the mapping, above what handlers use.
struct alignas(64) SignalStack {
  StackMemory memory;
};

std::size_t bytes_of_signal_stack() {
  constexpr std::size_t comfortable = 64UL * 1024;  // for the program's handlers, too
  const long least = sysconf(_SC_SIGSTKSZ);         // four times what the kernel's frame takes on this CPU
  const std::size_t wanted = least > static_cast<long>(comfortable) ? static_cast<std::size_t>(least) : comfortable;
  return (wanted + sizeof(SignalStack) + page - 1) / page * page;
}

}  // namespace

void watch_for_faults(OverflowReporter overflow, ExecutionAllower execution) {
  if (reporter != nullptr) return;
  reporter = overflow;
  allower = execution;
  watch_for(SIGSEGV, previous_segv);
  watch_for(SIGBUS, previous_bus);
}

void* provide_signal_stack() {
  stack_t current{};
  if (sigaltstack(nullptr, &current) != 0 || (current.ss_flags & SS_DISABLE) == 0) return nullptr;
  const StackMemory memory = map_stack(bytes_of_signal_stack());
  if (memory.low == nullptr) return nullptr;
  auto stack = new (memory.low + memory.size - sizeof(SignalStack)) SignalStack{memory};
  stack_t mine{};
  mine.ss_sp = memory.low;
  mine.ss_size = memory.size - sizeof(SignalStack);
  sigaltstack(&mine, nullptr);
  return stack;
}

void withdraw_signal_stack(void* stack) {
  if (stack == nullptr) return;
  const StackMemory memory = static_cast<SignalStack*>(stack)->memory;
  stack_t current{};
  if (sigaltstack(nullptr, &current) == 0 && current.ss_sp == memory.low) {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  unmap_stack(memory);
}

}  // namespace weft::os
