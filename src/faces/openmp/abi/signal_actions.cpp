// What the program does about the signal that weft interrupts with (os/interrupt.h), which it knows nothing of: it puts
// all signals back to their default, say, before it starts something. One that is under way then, at a thread that has
// not had the CPU since, would end the process. So it is told what it wants to hear, as libc does of the signals that
// it keeps for itself; only a handler of the program's own is installed, and the signal is weft's no more. (A program
// that asks the kernel itself, as Go's do, is noticed by keep_interrupt().)
//
//   sigaction()
//   signal(), ssignal(), bsd_signal(), sysv_signal()
//
// Names and versions are hidden as that of sched_yield() is (abi/sched_yield.cpp).
#include <atomic>
#include <csignal>

#include "core/preempt_timer.h"
#include "core/workers.h"
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/next_function.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/interrupt.h"

namespace weft::openmp {
namespace {

using Handler = void (*)(int);
using SetAction = int(int, const struct sigaction*, struct sigaction*);
using SetHandler = Handler(int, Handler);

constinit NextFunction<SetAction> set_action("sigaction");
constinit NextFunction<SetHandler> set_handler("signal");
constinit NextFunction<SetHandler> set_handler_once("__sysv_signal");

[[gnu::constructor]] void look_up() {
  set_action.look_up();
  set_handler.look_up();
  set_handler_once.look_up();
}

std::atomic<bool> is_ignored{false};  // as far as the program knows

bool is_of_weft(int number) { return number != 0 && number == os::interrupt_signal(); }

Handler known_handler() { return is_ignored.load(std::memory_order_relaxed) ? SIG_IGN : SIG_DFL; }

bool is_under_way() {
  return core::find_worker([](const core::Worker& worker) {
           return worker.interrupts.sent.load(std::memory_order_relaxed);
         }) != nullptr;
}

// The signal is to have a handler of the program's, which shall not get what was meant for weft's.
void leave_signal_to_program() {
  constexpr std::uint64_t longest_ns = 100ULL * 1000 * 1000, nap_ns = 100ULL * 1000;
  os::stop_interrupting();
  const std::uint64_t began = os::now_ns();
  do {
    core::stop_ticking();  // again: somebody may have been about to start a timer
    os::nap(nap_ns);
  } while (is_under_way() && os::now_ns() - began < longest_ns);
  core::stop_ticking();
}

// Whether it is something else than a handler of the program's; then that is known from now on, and all there is to do.
bool takes_note(Handler handler) {
  if (handler != SIG_DFL && handler != SIG_IGN) return false;
  is_ignored.store(handler == SIG_IGN, std::memory_order_relaxed);
  return true;
}

Handler change_handler(NextFunction<SetHandler>& function, int number, Handler handler) {
  if (!is_of_weft(number) || handler == SIG_ERR) return function.get()(number, handler);
  const Handler before = known_handler();
  if (takes_note(handler)) return before;
  leave_signal_to_program();
  return function.get()(number, handler) == SIG_ERR ? SIG_ERR : before;
}

}  // namespace

WEFT_EXPORT int weft_sigaction(int number, const struct sigaction* wanted, struct sigaction* before) {
  if (!is_of_weft(number)) return set_action.get()(number, wanted, before);
  struct sigaction known {};
  known.sa_handler = known_handler();
  const bool has_handler = wanted != nullptr && !takes_note(wanted->sa_handler);  // whatever its flags say
  if (has_handler) leave_signal_to_program();
  const int result = has_handler ? set_action.get()(number, wanted, nullptr) : 0;
  if (before != nullptr && result == 0) *before = known;
  return result;
}
WEFT_VERSION(weft_sigaction, "sigaction@GLIBC_2.2.5");

WEFT_EXPORT Handler weft_signal(int number, Handler handler) { return change_handler(set_handler, number, handler); }
WEFT_VERSION(weft_signal, "signal@GLIBC_2.2.5");
WEFT_DEFINE_JUMP(weft_ssignal, weft_signal);
WEFT_VERSION(weft_ssignal, "ssignal@GLIBC_2.2.5");
WEFT_DEFINE_JUMP(weft_bsd_signal, weft_signal);
WEFT_VERSION(weft_bsd_signal, "bsd_signal@GLIBC_2.2.5");

WEFT_EXPORT Handler weft_sysv_signal(int number, Handler handler) {
  return change_handler(set_handler_once, number, handler);
}
WEFT_VERSION(weft_sysv_signal, "sysv_signal@GLIBC_2.2.5");
WEFT_DEFINE_JUMP(weft_own_sysv_signal, weft_sysv_signal);
WEFT_VERSION(weft_own_sysv_signal, "__sysv_signal@GLIBC_2.2.5");

}  // namespace weft::openmp
