// Preemption by time: which units are made to give way, and how (S. Shiina et al., "Lightweight Preemptive User-Level
// Threads", PPoPP 2021, section 3). What the two kinds guarantee, and the argument, stand at the head of preempt.cpp;
// the timers in preempt_timer.h. Where no unit is preemptive nothing here runs, and nothing is looked at: what says so
// lies in Unit::flags, among bits that are looked at anyway.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/relaxed.h"
#include "core/unit.h"
#include "core/worker.h"

namespace weft::os {
struct Interruption;
}

namespace weft::core {

enum class Preemption : std::uint8_t { by_default, signal_yield, klt_switch, none };

enum class TickMode : std::uint8_t { creation, aligned, one_to_all, chain };  // 3.2.1, 3.2.1, 3.2.2, 3.2.2

/// How KLTs sleep and where they wait to be used (3.3); the paper's first variants, to compare with.
enum class KltSleep : std::uint8_t { futex, sigsuspend };
enum class KltPools : std::uint8_t { local, global };

struct PreemptionSettings {
  Preemption kind = Preemption::none;               // of units that do not say, and whose pool does not
  base::Relaxed<TickMode> mode{TickMode::aligned};  // these two change while they are in use
  base::Relaxed<std::uint64_t> interval_ns{1000ULL * 1000};
  int signal = 0;  // 0: a free one
  unsigned most_klts = 4096;
  KltSleep sleep = KltSleep::futex;
  KltPools pools = KltPools::local;
};
extern PreemptionSettings preemption_settings;

inline constexpr std::uint64_t shortest_interval_ns = 100ULL * 1000;
inline constexpr std::uint64_t longest_interval_ns = 10ULL * 1000 * 1000 * 1000;

/// Whether a signal can interrupt units: not in sanitizer builds, nor where the program uses all signals.
bool preemption_works();

/// What can be preempted has a stack of so many bytes: the frame of a signal handler alone has up to 11 KiB.
inline constexpr std::size_t smallest_preemptive_stack = 16UL * 1024;
/// A unit has a smaller one: from now on signals that come while it runs touch the KLT's alternate stack alone.
void spare_small_stacks();

/// Before the first worker exists: what a signal does from now on is up to preemption and watchdog.
void enable_preemption();

/// Unit::flags for a kind.
constexpr std::uint16_t flags_of(Preemption kind) {
  switch (kind) {
    case Preemption::signal_yield:
      return UnitFlag::yields_by_signal;
    case Preemption::klt_switch:
      return UnitFlag::switches_klt | UnitFlag::wants_identity;
    case Preemption::none:
      return UnitFlag::never_preempted;
    case Preemption::by_default:
      break;
  }
  return 0;
}

/// Of a unit of which only the address is known to be good.
inline Preemption kind_of(const Unit& unit) {
  constexpr unsigned kinds = UnitFlag::yields_by_signal | UnitFlag::switches_klt | UnitFlag::never_preempted;
  switch (unit.flags.load(std::memory_order_relaxed) & kinds) {
    case UnitFlag::yields_by_signal:
      return Preemption::signal_yield;
    case UnitFlag::switches_klt:
      return Preemption::klt_switch;
    case UnitFlag::never_preempted:
      return Preemption::none;
    default:
      break;
  }
  // One that was created one by one has been told at its creation.
  if (has_flag(unit, UnitFlag::free_standing) || is_root(unit)) return Preemption::none;
  return preemption_settings.kind;
}

/// A unit that was created into a pool with a kind, or by default, and that says nothing itself.
void mark(Unit& unit, Preemption kind);

/// weft_preempt_disable() and weft_preempt_enable() for the calling unit. False: too deep, or not disabled.
bool hold_off();
bool let_go();

/// The same around a fork(2): whatever runs on the calling KLT (a root, in a handler on a KLT that has lent its
/// worker), at any depth; nothing yields here. Who forks may go on on another worker, where a handler of the program's
/// waits for something.
void hold_off_fork();
void let_go_after_fork();

/// What runs on the calling KLT, which carries the worker, is not left any more, or as before.
inline void hold_off_here(Worker* worker) {
  if (worker == nullptr) return;
  worker->held_off = worker->held_off + 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}
inline void let_go_here(Worker* worker) {
  if (worker == nullptr) return;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  worker->held_off = worker->held_off - 1;
}

/// While it lives, what runs on the calling KLT is not left: around code that is not weft's and that weft calls in the
/// midst of something.
class HeldOff {
 public:
  HeldOff() : HeldOff(this_worker()) {}
  /// The caller's worker; nullptr: nothing could leave it.
  explicit HeldOff(Worker* worker) : worker_(worker) { hold_off_here(worker_); }
  ~HeldOff() { let_go_here(worker_); }
  HeldOff(const HeldOff&) = delete;
  HeldOff& operator=(const HeldOff&) = delete;

 private:
  Worker* worker_;  // the same at the end
};

}  // namespace weft::core
