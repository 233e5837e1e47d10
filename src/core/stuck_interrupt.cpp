#include "core/stuck_interrupt.h"

#include <cerrno>
#include <optional>

#include "core/watchdog_tells.h"
#include "os/code_not_to_leave.h"
#include "os/interrupt.h"
#include "os/klt.h"

namespace weft::core {
namespace {

// A signal that is under way for so long does not arrive: the program has blocked all there are, in that thread. Unless
// that thread has had no CPU meanwhile.
constexpr std::uint64_t most_under_way_ns = 20ULL * 1000 * 1000;

// Whether the KLT has blocked the signal: then it would stay pending until a sigwait() of the program's, who waits for
// all that it has blocked, takes it for one of its own. The file that says so is read only if the other one shows a
// change, or some time has passed: it costs 15 us, as much as an interruption does without it. A signal may still be
// pending if the program blocks it within some microseconds before it arrives; or later, if it blocks none of the usual
// ones with it and somebody has looked a little before.
std::optional<bool> refuses_interrupts(SentInterrupts& history, int klt, std::uint64_t others_blocked,
                                       std::uint64_t now) {
  constexpr std::uint64_t good_for_ns = 10ULL * 1000 * 1000;
  if (klt == history.asked && others_blocked == history.others && now - history.asked_at < good_for_ns)
    return history.refuses;
  history.asked = klt;
  history.asked_at = now;
  history.others = others_blocked;
  return history.refuses = os::has_interrupt_blocked(klt);
}

// Where nobody tells whether the KLT has blocked the signal, a few are sent that nobody answers, and then no more: the
// kernel would keep each of them, and all users of the machine have the same room for them (RLIMIT_SIGPENDING).
bool may_be_sent(const Worker& worker, SentInterrupts& history, int klt, bool is_open) {
  constexpr unsigned most_unanswered = 4;
  const unsigned arrived = worker.interrupts.arrived.load(std::memory_order_relaxed);
  if (history.klt != klt || history.arrived != arrived) history.unanswered = 0;
  history.arrived = arrived;
  return is_open || history.unanswered < most_unanswered;
}

}  // namespace

bool interrupt(Worker& worker, Seen& before, int klt, std::uint64_t others_blocked, bool had_cpu, std::uint64_t now) {
  SentInterrupts& history = before.sent_interrupts;
  const std::optional<bool> refuses = refuses_interrupts(history, klt, others_blocked, now);
  if (refuses.value_or(false) || !may_be_sent(worker, history, klt, refuses.has_value())) {
    worker.interrupts.in_vain.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  before.changes_over = true;
  const std::uint64_t ran_before = worker.interrupts.tries.load(std::memory_order_relaxed) != 0
                                       ? worker.interrupts.ran_ns.load(std::memory_order_relaxed)
                                       : 0;
  worker.interrupts.ran_ns.store(ran_before + now - before.since, std::memory_order_relaxed);
  // The one before may wait for a KLT that carries the worker no more.
  const bool under_way = worker.interrupts.sent.exchange(true, std::memory_order_relaxed);
  if (under_way && history.klt == klt) {
    if (!had_cpu || now - history.sent <= most_under_way_ns) return true;
    worker.interrupts.in_vain.fetch_add(1, std::memory_order_relaxed);  // and once more: it may have been lost
  }
  history.klt = klt;
  ++history.unanswered;
  history.sent = now;
  os::refresh_code_not_to_leave();
  // A root may be in its own code again.
  const bool active = worker.active.load(std::memory_order_relaxed);
  if (active && os::interrupt(klt)) return true;
  if (active) tell_of_signals(errno);  // EAGAIN, or the signal is in use no more
  worker.interrupts.sent.store(false, std::memory_order_relaxed);
  worker.interrupts.in_vain.fetch_add(1, std::memory_order_relaxed);
  return false;
}

}  // namespace weft::core
