// glibc signals every thread of its list, and each makes the system call in a handler. There the thread strikes itself
// off the list, by its thread pointer, and the caller goes over the list until nobody is left on it. A KLT that runs a
// unit wears the thread pointer of another, so it would strike off that one, and stay on the list for as long as it
// does so: the caller would not come back. So weft's handler comes before glibc's, and has the KLT wear its own
// meanwhile.
//
// Which one that is the kernel knows: it keeps the address of the thread's list of robust mutexes, which lies in the
// thread's own descriptor, where in each is the same. The descriptor may be in use elsewhere, by whoever wears it now;
// glibc's handler changes it by atomic operations alone, which it has made for that.
//
// Meanwhile the caller sleeps with a lock in hand that every start and end of a thread needs. A unit that was left
// there would keep it until its turn, and weft may need another KLT for that turn to come. So nobody is left in there
// (awaits_change_of_user_ids()), and need not be: the threads answer in their handlers, whatever their workers do. What
// tells that wait from others is its word, the count of a command on the caller's own stack that begins with the number
// of a system call; or, where a thread has just been started, a value that no other wait of libc's has.
//
// The thread whose pointer the caller wears is not signalled: glibc takes it for the caller, and it keeps its user ids.
// A lender of identities (os/identity.h) makes no system call by which anybody could tell. For members of inner
// regions, and with KLT-switching, it may be a KLT that runs units later.
#include "os/user_ids.h"

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "arch/system_call.h"
#include "arch/thread_pointer.h"
#include "os/signal_mask.h"

namespace weft::os {
namespace {

constexpr int changes_user_ids = __SIGRTMIN + 1;

// As the kernel has it.
struct Action {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void (*restorer)();
  SignalMask blocked;
};

Action of_libc{};
std::ptrdiff_t robust_list_in_descriptor = 0;
std::atomic<bool> is_installed{false};

char* robust_list() {
  robust_list_head* head = nullptr;
  std::size_t size = 0;
  const long error =
      arch::system_call(SYS_get_robust_list, 0, reinterpret_cast<long>(&head), reinterpret_cast<long>(&size));
  return error == 0 ? reinterpret_cast<char*>(head) : nullptr;
}

// While the library is loaded: who loads it wears its own.
[[gnu::constructor]] void look_at_own_descriptor() {
  if (char* list = robust_list(); list != nullptr)
    robust_list_in_descriptor = list - static_cast<char*>(arch::thread_pointer());
}

// All signals are blocked.
void on_signal(int number, siginfo_t* info, void* context) {
  void* worn = arch::thread_pointer();
  if (char* list = robust_list(); list != nullptr) arch::set_thread_pointer(list - robust_list_in_descriptor);
  of_libc.handler(number, info, context);
  arch::set_thread_pointer(worn);
}

// libc's description of the change, which the handlers read.
struct Command {
  int system_call;
  long ids[3];
  std::atomic<std::uint32_t> still_to_answer;
};

bool changes_ids(int system_call) {
  switch (system_call) {
    case SYS_setuid:
    case SYS_setgid:
    case SYS_setreuid:
    case SYS_setregid:
    case SYS_setresuid:
    case SYS_setresgid:
    case SYS_setgroups:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool awaits_change_of_user_ids(const std::atomic<std::uint32_t>* word, std::uint32_t value, std::uintptr_t stack) {
  constexpr std::uint32_t thread_has_not_begun = -2U;
  if (value == thread_has_not_begun) return true;
  constexpr std::uintptr_t frames = 1024;  // from the caller's command to the wait
  const std::uintptr_t command = reinterpret_cast<std::uintptr_t>(word) - offsetof(Command, still_to_answer);
  return command - stack < frames && changes_ids(reinterpret_cast<const Command*>(command)->system_call);
}

void let_user_ids_change() {
  if (robust_list_in_descriptor == 0 || is_installed.exchange(true, std::memory_order_relaxed)) return;
  constexpr long mask_bytes = sizeof(SignalMask);
  if (arch::system_call(SYS_rt_sigaction, changes_user_ids, 0, reinterpret_cast<long>(&of_libc), mask_bytes) != 0 ||
      of_libc.handler == nullptr)
    return;
  Action own = of_libc;
  own.handler = on_signal;
  own.blocked = ~SignalMask{0};
  arch::system_call(SYS_rt_sigaction, changes_user_ids, reinterpret_cast<long>(&own), 0, mask_bytes);
}

}  // namespace weft::os
