#include "os/fault.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ucontext.h>
#include <unistd.h>

#include "arch/interrupted.h"

namespace weft::os {
namespace {

OverflowReporter reporter = nullptr;
ExecutionAllower allower = nullptr;
struct sigaction previous_segv;
struct sigaction previous_bus;

// As if this handler were not there: call what was installed before, or let the kernel do it by
// returning into the fault with the default action in place.
void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& previous = signal == SIGBUS ? previous_bus : previous_segv;
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
    struct sigaction fallback {};
    fallback.sa_handler = SIG_DFL;
    sigaction(signal, &fallback, nullptr);
    // A signal that somebody sent does not come again by itself.
    if (info->si_code <= 0) raise(signal);
  } else {
    previous.sa_handler(signal);
  }
}

bool was_executed(const siginfo_t& info, void* context) {
  return reinterpret_cast<std::uintptr_t>(info.si_addr) ==
         arch::interrupted_instruction(*static_cast<ucontext_t*>(context));
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const int kept = errno;
  if (info->si_code > 0 && reporter(info->si_addr)) {
    struct sigaction fallback {};
    fallback.sa_handler = SIG_DFL;
    sigaction(signal, &fallback, nullptr);  // faults again on return, and ends as such a fault does
    return;
  }
  const bool goes_on =
      info->si_code == SEGV_ACCERR && signal == SIGSEGV && was_executed(*info, context) && allower(info->si_addr);
  errno = kept;
  if (goes_on) return;
  pass_on(signal, info, context);
}

}  // namespace

void watch_for_faults(OverflowReporter overflow, ExecutionAllower execution) {
  if (reporter != nullptr) return;
  reporter = overflow;
  allower = execution;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &previous_segv);
  sigaction(SIGBUS, &action, &previous_bus);
}

void* provide_signal_stack() {
  stack_t current{};
  if (sigaltstack(nullptr, &current) != 0 || (current.ss_flags & SS_DISABLE) == 0) return nullptr;
  const long least = sysconf(_SC_SIGSTKSZ);
  constexpr std::size_t comfortable = 64UL * 1024;  // for the program's handlers, too
  stack_t mine{};
  mine.ss_size = least > static_cast<long>(comfortable) ? static_cast<std::size_t>(least) : comfortable;
  mine.ss_sp = std::malloc(mine.ss_size);
  if (mine.ss_sp != nullptr) sigaltstack(&mine, nullptr);
  return mine.ss_sp;
}

void withdraw_signal_stack(void* memory) {
  if (memory == nullptr) return;
  stack_t current{};
  if (sigaltstack(nullptr, &current) == 0 && current.ss_sp == memory) {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  std::free(memory);
}

}  // namespace weft::os
