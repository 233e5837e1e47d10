#include "core/runtime.h"

#include <algorithm>
#include <pthread.h>
#include <unistd.h>

#include "base/panic.h"
#include "core/active.h"
#include "core/cpus.h"
#include "core/fork.h"
#include "core/place_pools.h"
#include "core/preempt.h"
#include "core/roots.h"
#include "core/sanitizer.h"
#include "core/segment.h"
#include "core/watchdog.h"
#include "core/workers.h"
#include "os/barrier.h"
#include "os/fault.h"
#include "os/identity.h"
#include "os/klt.h"

namespace weft::core {

Runtime runtime;

namespace {

pthread_once_t started_once = PTHREAD_ONCE_INIT;

// (Bug: after a handler of the program's had jumped out of one overflow, the next one waited here for the end.)
bool report_overflow(void* address, bool may_go_on) {
  const Stack* stack = stack_in_use();
  if (stack == nullptr || !stack->guard_holds(address)) return false;
  const Unit& unit = *this_worker()->current;
  while (!may_go_on && !base::first_to_end()) ::pause();
  const bool has_own_size = unit.stack_class != 0 || has_flag(unit, UnitFlag::own_memory);
  base::warn("stack overflow in %s (stack of %zu KiB); raise %s",
             details(unit).name != nullptr ? details(unit).name : "a unit without a name", stack->usable_size() / 1024,
             has_own_size ? "weft_unit_attr.stack_size" : runtime.config.stack_setting);
  return true;
}

bool allow_code_on_stack(void* instruction) {
  const Stack* stack = stack_in_use();
  if (stack == nullptr && this_worker() != nullptr) stack = this_worker()->under_scheduler;
  return stack != nullptr && stack->holds(instruction) && os::make_executable(stack->memory);
}

unsigned configured_workers() {
  return runtime.config.workers != 0 ? runtime.config.workers : std::min(count_cpus(), most_workers);
}

// A thread that has been cancelled comes to its next cancellation point in the program's code, not in here.
class NotCancelled {
 public:
  NotCancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NotCancelled() { pthread_setcancelstate(before_, nullptr); }
  NotCancelled(const NotCancelled&) = delete;
  NotCancelled& operator=(const NotCancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

void start_once() {
  const NotCancelled meanwhile;
  if (runtime.hooks.starts != nullptr) runtime.hooks.starts();
  os::register_membarrier();
  runtime.fp_control = arch::fp_control();
  remember_cpus();
  runtime.workers = configured_workers();
  runtime.active.store(runtime.workers, std::memory_order_relaxed);
  if (runtime.config.stack_size == 0) runtime.config.stack_size = os::default_stack_size();
  runtime.default_stack_class = StackCache::class_of(runtime.config.stack_size);
  runtime.sleepers.store(static_cast<std::int32_t>(runtime.workers) - 1, std::memory_order_relaxed);
  make_place_pools();
  expect_roots();
  os::expect_lenders();
  watch_forks_in_parent();
  os::watch_for_faults(report_overflow, allow_code_on_stack);
  enable_preemption();
  enable_watchdog(!sanitizer::active);
  if (preemption_settings.kind != Preemption::none) make_units_slowly();
  obey_commands();
  os::remember_signals();
  runtime.is_set_up.store(true, std::memory_order_release);
}

}  // namespace

void configure(const Config& config) {
  runtime.config = config;
  runtime.spin_ns.store(config.spin_ns, std::memory_order_relaxed);
}

void configure(const Config& config, const Hooks& hooks) {
  configure(config);
  runtime.hooks = hooks;
}

void start_runtime() { pthread_once(&started_once, start_once); }

unsigned worker_count() {
  const unsigned workers = runtime.workers;
  return workers != 0 ? workers : configured_workers();
}

Counters sum_counters() {
  Counters sum;
  for_each_worker([&sum](const Worker& worker) {
    const Counters& counters = worker.counters;
    sum.units_started +=
        worker.scheduling_points.load(std::memory_order_relaxed) - worker.units_resumed.load(std::memory_order_relaxed);
    sum.promoted_to_stack += counters.promoted_to_stack;
    sum.promoted_to_identity += counters.promoted_to_identity;
    sum.steals += counters.steals;
    sum.sleeps += counters.sleeps;
    sum.preempted += counters.preempted;
  });
  return sum;
}

}  // namespace weft::core
