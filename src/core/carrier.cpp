// A worker is a scheduling slot with a scheduler on some stack; what executes it is whichever KLT carries it. Stacks
// and thread pointers do not belong to KLTs here (os/identity.h), so a KLT that takes over jumps to the worker's
// scheduler as any unit would that yields. A Klt is made for that: it has a small stack of its own for the loop in
// which it sleeps, and nothing else.
//
// Why exactly one KLT runs a worker: the one that carries it gives it away as its last act, by storing `called` into
// the other's word (release; the sleeper's load is an acquire), and touches neither worker nor unit afterwards: it is
// on its own stack, or in the handler on the stack of the unit that was left, where nothing is in use but its own word.
// That word it has set to `asleep` before: so a call that comes before it sleeps is not lost, and it does not fall
// asleep. A Klt goes into a pool before it gives the worker away, while nobody else takes from that worker's pool;
// whoever takes it from the global pool calls it the same way.
//
// A Klt that sleeps has the thread pointer it began with, but that may be in use elsewhere: it touches nothing
// thread-local, and blocks all signals.
#include "core/carrier.h"

#include <utility>

#include "arch/context.h"
#include "arch/thread_pointer.h"
#include "core/cpus.h"
#include "core/identities.h"
#include "core/klt_pools.h"
#include "core/lend.h"
#include "core/preempt.h"
#include "core/ready.h"
#include "core/signal_masks.h"
#include "os/cpus.h"
#include "os/fault.h"
#include "os/futex.h"
#include "os/identity.h"
#include "os/klt.h"
#include "os/signal_mask.h"

namespace weft::core {
namespace {

// ---------------------------------------------------------------- sleeping

// Those that sleep so already when the program takes the signal are woken by it all the same, once; and from then on by
// futex as the others. Who calls sees that the other is suspended, or that one, which says so first, that it is called:
// both orders are sequentially consistent.
bool sleeps_by_signal() { return preemption_settings.sleep == KltSleep::sigsuspend; }

void call(Klt& klt) {
  klt.word.store(Klt::called, sleeps_by_signal() ? std::memory_order_seq_cst : std::memory_order_release);
  // From now on it is not ours.
  os::futex_wake(klt.word, 1);
  if (sleeps_by_signal() && klt.suspended.load(std::memory_order_seq_cst)) os::wake_from_suspension(klt.id);
}

void suspend_until_called(Klt& self) {
  self.ticker.stop();  // its ticks would wake it
  self.suspended.store(true, std::memory_order_seq_cst);
  if (self.word.load(std::memory_order_seq_cst) != Klt::called) os::suspend_for_interrupt();
  self.suspended.store(false, std::memory_order_relaxed);
}

void sleep_until_called(Klt& self) {
  while (self.word.load(std::memory_order_acquire) != Klt::called) {
    if (sleeps_by_signal() && os::interrupt_signal() != 0) {
      suspend_until_called(self);
    } else {
      os::futex_wait(self.word, Klt::asleep);
    }
  }
  self.word.store(Klt::asleep, std::memory_order_relaxed);
}

// ---------------------------------------------------------------- taking over, and where

// Whether it may run where weft has bound it to, and nowhere else. If not, somebody has said so since (taskset -a):
// then that holds. Where it is not known what weft has bound it to, any one CPU will do, but for the one that has been
// left to the process. (Bug: it could run again where the process began.)
bool is_still_bound(const Klt& klt, int cpu) {
  const os::CpuSet cpus = os::cpus_of_klt(klt.id);
  if (cpus.count() != 1) return false;
  if (cpu != Klt::not_known) return cpus.has(cpu);
  return cpus != cpus_of_process();
}

// Noted first: who binds the worker meanwhile takes this KLT for its carrier, perhaps, and says then that nothing is
// known (bind_worker).
void bind_as_worker(Klt& self, int cpu) {
  const int before = self.cpu;
  if (cpu == before) return;
  self.cpu = cpu;
  if (cpu < 0 && !is_still_bound(self, before)) return;
  if (!os::bind_klt(self.id, cpu)) self.cpu = Klt::not_known;
}

// It was made to wake up on one CPU, and may run where the process may, if nobody has said otherwise since. That is not
// told by where it could run before: `taskset -a` may have passed by since then. And where that has left the process
// but this one CPU, it cannot be told from the move. (Bug: it had the CPUs from before for ever.) Nor is it bound any
// more to what weft had bound it to before. (Bug: it was taken for bound, where the worker was bound there again just
// then.)
void undo_move(Klt& self) {
  const int moved_to = std::exchange(self.moved_to, -1);
  if (moved_to < 0) return;
  if (const int before = self.cpu; before >= 0) self.cpu.replace(before, -1);  // `not_known` stays
  if (!is_still_bound(self, moved_to)) return;
  const os::CpuSet now = cpus_of_process();
  os::bind_klt(self.id, now.count() != 0 ? now : self.cpus);
}

// From now on this KLT carries the worker.
void take_over(Klt& self) {
  Worker& worker = *self.worker;
  undo_move(self);
  worker.carrier.store(&self, std::memory_order_release);
  worker.klt.store(self.id, std::memory_order_release);
  worker.klts.note_change();
  bind_until_it_holds(worker, Klt::not_known, [&self](int cpu) { bind_as_worker(self, cpu); });
  self.ticker.stop();  // the watchdog may have started it while this KLT slept: its tick may have come and gone
  if (Unit* left = self.left; left != nullptr) {
    self.left = nullptr;
    put_back_preempted(worker, *left);
  }
}

}  // namespace

// By whoever carries the worker, and is about to sleep. The kernel would wake the other one where that last ran, behind
// what runs there now, and this CPU would have nothing to do until the kernel looks for that: with two workers that
// cost a fifth of all time. So it wakes up here. (Where it fell asleep does not say where the kernel has it: one that
// is about to sleep may be interrupted by the one that it has woken, and then be moved.)
void hand_over(Worker& worker, Klt& klt) {
  klt.worker = &worker;
  worker.klts.note_change();
  if (worker.cpu.load(std::memory_order_relaxed) < 0)
    if (const int cpu = os::this_cpu(); os::move_sleeping_klt(klt.id, cpu, klt.cpus)) klt.moved_to = cpu;
  call(klt);
}

void sleep_until_resumed(Klt& self) {
  sleep_until_called(self);
  take_over(self);
}

namespace {

struct Carrier {
  int klt;
  Klt* carrier;
};

// Of one moment: whoever takes over writes one of the two after the other.
Carrier carrier_of(const Worker& worker) {
  for (;;) {
    const int klt = worker.klt.load(std::memory_order_acquire);
    Klt* const carrier = worker.carrier.load(std::memory_order_acquire);
    const bool is_same = worker.klt.load(std::memory_order_relaxed) == klt;
    if (is_same && (carrier == nullptr || carrier->id == klt)) return {klt, carrier};
    os::give_up_cpu();
  }
}

}  // namespace

// Whoever takes over says so, and looks at `cpu` then; here it is the other way round. So who carries the worker next
// is bound by itself, or here. Who has carried it just before may be bound here for nothing, and finds out when it
// takes over next; while a KLT that has lent its worker sleeps, it is bound when it is back. (Bug: whoever carried it
// was bound, and kept that for other workers; and the KLT that had lent the worker came back unbound.)
bool bind_worker(Worker& worker, int cpu) {
  for (int before = 0;;) {
    const auto [klt, carrier] = carrier_of(worker);
    const bool is_bound = klt != 0 && os::bind_klt(klt, cpu);
    if (carrier != nullptr) carrier->cpu = Klt::not_known;
    if (before == 0 && !is_bound) return false;
    if (before == klt) return true;  // bound once more since `cpu` could be seen
    before = klt;
    worker.cpu.store(cpu, std::memory_order_relaxed);
    os::heavy_fence();
  }
}

namespace {

// ---------------------------------------------------------------- its loop

// On the KLT's own stack, the worker in hand: whom to give it to, when that is known.
std::intptr_t carry(Klt& self) {
  Worker& worker = *self.worker;
  if (Lent* lent = self.begins; lent != nullptr) {
    self.begins = nullptr;
    return begin_lent(*lent, self.context);
  }
  return weft_context_switch(&self.context, worker.scheduler_context, static_cast<std::intptr_t>(self.event));
}

void give_away(Worker& worker, std::intptr_t next) {
  if (Lent* lent = lent_in(next); lent != nullptr)
    give_back(*lent);
  else
    hand_over(worker, *reinterpret_cast<Klt*>(next));
}

void loop(Klt& self, const os::SignalMask& carrying) {
  for (;;) {
    sleep_until_called(self);
    os::Identity* identity = self.worker->identities.installed = self.worker->identities.own;
    self.worker->mask.changed = false;
    *arch::thread_word_of(identity->thread_pointer) = self.worker;
    arch::set_thread_pointer(identity->thread_pointer);
    take_over(self);
    self.worker->slice.untimed = true;
    os::set_signals(carrying);
    if (signal_masks_in_use) change_signal_mask(*self.worker, *identity);
    const std::intptr_t next = carry(self);
    // Back on its own stack. It has carried other workers meanwhile, perhaps.
    Worker& worker = *self.worker;
    os::block_all_signals();
    arch::set_thread_pointer(self.thread_pointer);
    self.ticker.stop();
    put_into_pool(worker, self);
    give_away(worker, next);
  }
}

}  // namespace

void* begin_carrying(void* klt) {
  auto self = static_cast<Klt*>(klt);
  self->thread_pointer = os::begin_lending();
  os::provide_signal_stack();
  self->id = os::this_klt();
  self->ticker.belong_to(self->id);
  offer_identity_of_this_klt();  // nothing thread-local from here on
  const os::SignalMask carrying = os::signals_blocked_on_klts();
  self->word.store(Klt::asleep, std::memory_order_relaxed);
  put_new_into_pool(*self);
  self->begun.store(true, std::memory_order_release);
  loop(*self, carrying);
  return nullptr;
}

os::Ticker& ticker_of(Worker& worker) {
  Klt* klt = worker.carrier.load(std::memory_order_acquire);
  return klt != nullptr ? klt->ticker : worker.slice.ticker;
}

}  // namespace weft::core
