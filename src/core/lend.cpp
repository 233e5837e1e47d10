#include "core/lend.h"

#include "arch/context.h"
#include "core/identities.h"
#include "core/idle.h"
#include "core/preempt_timer.h"
#include "core/roots.h"
#include "core/scheduler.h"
#include "core/signal_masks.h"
#include "os/cpus.h"
#include "os/futex.h"
#include "os/identity.h"
#include "os/signal_mask.h"

namespace weft::core {
namespace {

// The worker's scheduler, which has come to its end on some KLT, goes back to where it was lent.
constexpr std::uintptr_t goes_back = 1;

std::intptr_t back_to(Lent& lent) {
  return static_cast<std::intptr_t>(reinterpret_cast<std::uintptr_t>(&lent) | goes_back);
}

// On the fresh stack.
void schedule_lent(void* argument) {
  Lent& lent = *static_cast<Lent*>(argument);
  Worker& worker = *lent.worker;
  run_lent(worker, *lent.first, lent.modes, lent.loops, lent.until_done);
  install_own(worker);
  take_pending_signals_along(worker);
  Klt& here = *worker.carrier.load(std::memory_order_relaxed);
  weft_context_jump(here.context, back_to(lent));
}

}  // namespace

std::intptr_t begin_lent(Lent& lent, void*& context) {
  return weft_context_start_full(&context, lent.stack->top(), &schedule_lent, &lent, arch::fp_control());
}

Lent* lent_in(std::intptr_t next) {
  const auto value = static_cast<std::uintptr_t>(next);
  return (value & goes_back) != 0 ? reinterpret_cast<Lent*>(value & ~goes_back) : nullptr;
}

void give_back(Lent& lent) {
  lent.worker->klts.note_change();
  lent.is_back.store(1, std::memory_order_release);
  os::futex_wake(lent.is_back, 1);
}

namespace {

// The first unit holds a KLT: who that is.
Klt* begin_here(Lent& lent) {
  lent.worker->klts.lent_here = &lent;
  const std::intptr_t next = begin_lent(lent, lent.context);
  lent.worker->klts.lent_here = nullptr;
  return reinterpret_cast<Klt*>(next);
}

}  // namespace

void lend(Worker& worker, Unit& unit, Klt* klt, Stack& stack) {
  Lent lent{&worker, &unit, !worker.claims.frame_returns, worker.until_done, worker.fp_control, &stack};
  install_home(worker);  // a root's own: a signal may come for it meanwhile
  take_pending_signals_along(worker);
  os::Identity* home = worker.identities.home;
  worker.identities.home = nullptr;
  worker.slice.ticker.stop();
  // As its root has last said, which may have moved since. (Bug: the number of the KLT that it had moved to was taken
  // for that, and its timer stayed behind.)
  const int klt_before = worker.klt.load(std::memory_order_relaxed);
  const os::SignalMask before = home != nullptr ? os::block_interrupt_only() : os::block_all_signals();
  const int bound_to = worker.cpu.load(std::memory_order_relaxed);
  if (klt != nullptr)
    klt->begins = &lent;
  else
    klt = begin_here(lent);
  hand_over(worker, *klt);
  while (lent.is_back.load(std::memory_order_acquire) == 0) os::futex_wait(lent.is_back, 0);
  note_klt_of_root(worker, klt_before);
  worker.klts.note_change();
  worker.carrier.store(nullptr, std::memory_order_release);
  bind_until_it_holds(worker, bound_to, [](int cpu) { os::bind_klt(os::this_klt(), cpu); });
  worker.identities.home = home;
  worker.mask.changed = home != nullptr && home->has_mask;
  *arch::thread_word_of(worker.identities.installed->thread_pointer) = &worker;
  arch::set_thread_pointer(worker.identities.installed->thread_pointer);
  if (home != nullptr) worker.identities.installed = nullptr;  // it was on the other KLT: nothing of it is pending here
  install_home(worker);
  if (home == nullptr) {
    // `before` may hold what an identity has blocked that was installed then.
    os::set_signals(os::signals_blocked_on_klts());
    change_signal_mask(worker, *worker.identities.installed);
  } else {  // nothing else: the root may have come to another KLT (roots.h)
    os::unblock_signals(os::mask_of(os::interrupt_signal_chosen()) & ~before);
  }
  if (!is_over(worker)) tick_again(worker);  // else a root goes on in its own code
  worker.stacks.give(lent.stack);
}

}  // namespace weft::core
