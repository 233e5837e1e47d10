// The process-wide part: what start-up sets, and which workers there are. (How a KLT comes to have one: roots.h,
// worker_klts.h, spares.h.)
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/relaxed.h"
#include "core/worker.h"

namespace weft::core {

struct Config {
  unsigned workers = 0;        // 0: as many as there are CPUs
  unsigned cpus = 0;           // of the process's mask; 0: those of the thread that starts the runtime
  std::size_t stack_size = 0;  // of units that do not say; 0: the system's default for threads
  const char* stack_setting = "WEFT_STACKSIZE";  // what to tell a user whose unit needs more
  std::uint64_t spin_ns = 2000ULL * 1000;        // how long an idle worker looks before it sleeps
  unsigned places = 0;                           // where units may have to run; 0: nowhere in particular
  unsigned first_place = 0;                      // where roots are
};

/// What the layer above asks to be told; nullptr members are not called.
struct Hooks {
  void (*starts)() = nullptr;            // the first thread of the program comes to weft
  void (*root_ends)(Worker&) = nullptr;  // the KLT of a root is ending; its worker still works
  /// In a forked child, after the core has started afresh, whoever has forked: nobody else is here.
  void (*starts_afresh)() = nullptr;
  /// In the child, after that: the new worker of the KLT that forked, a root now, the one that it had in the parent,
  /// and what ran on that KLT (nullptr: a handler over a scheduler). Not called if it had no worker.
  void (*forked)(Worker& self, const Worker& before, const Unit* forked) = nullptr;
  /// A placed unit goes on on the calling KLT: binds that to the place. There are places.
  void (*take_place)(Worker& worker, Unit& unit) = nullptr;
  /// The calling KLT, which another one of the process has started, begins to carry the worker, of weft's.
  void (*klt_starts)(Worker& worker) = nullptr;
};

inline constexpr unsigned most_workers = 1024;            // that a user can ask for
inline constexpr unsigned most_worker_slots = 1U << 15U;  // with the roots

struct Runtime {
  Config config;
  std::atomic<std::uint64_t> spin_ns{Config{}.spin_ns};  // Config::spin_ns, until somebody changes it
  Hooks hooks;
  base::Relaxed<unsigned> cpus{1};      // that the process may use (core/cpus.h)
  base::Relaxed<unsigned> workers{0};   // wanted, the root's included: more, once more CPUs come; 0: not started yet
  std::atomic<bool> hands_open{false};  // some worker's are (core/hand.h); the watchdog says so
  std::atomic<unsigned> active{1};      // of them, that run units: all, unless some are switched off (core/active.h)
  unsigned default_stack_class = 0;
  weft_fp_control fp_control = 0;  // of the thread that started the runtime: with these units begin

  // Idle accounting; the protocol is at the head of idle.cpp.
  alignas(base::cache_line) std::atomic<std::int32_t> sleepers{0};   // parked, or not started yet
  alignas(base::cache_line) std::atomic<std::int32_t> searchers{0};  // awake, looking for work
  alignas(base::cache_line) std::atomic<unsigned> slots{0};          // used entries of `worker_at`
  std::atomic<unsigned> started{0};                                  // KLTs of weft's
  std::atomic<int> roots{0};                                         // alive
  std::atomic<bool> roots_may_move{false};                           // to other KLTs (core/roots.h)
  Spinlock entrance;                                                 // held while a thread becomes a root
  std::atomic<bool> main_has_ended{false};  // by pthread_exit: the process lives on with its threads
  std::atomic<unsigned> epoch{0};           // grows in each forked child
  std::atomic<bool> is_set_up{false};       // before, a forked child has nothing to undo
  std::atomic<Worker*> worker_at[most_worker_slots];
};

extern Runtime runtime;

/// What Unit::stack_class stands for.
inline unsigned stack_class_or_default(std::uint8_t stack_class) {
  return stack_class != 0 ? stack_class : runtime.default_stack_class;
}

/// Where the unit runs or ran last; it has departed, or is a root.
inline Worker& worker_of(const Unit& unit) { return *runtime.worker_at[unit.place].load(std::memory_order_acquire); }

/// Sets what start-up uses; before the first worker exists, in Hooks::starts at the latest.
void configure(const Config& config);
void configure(const Config& config, const Hooks& hooks);

/// Starts the runtime, if that has not been done. Not in a handler.
void start_runtime();

/// The number of workers, without starting any. Before weft has started this asks the kernel, and takes some 15 us.
unsigned worker_count();

/// Of all workers.
Counters sum_counters();

}  // namespace weft::core
