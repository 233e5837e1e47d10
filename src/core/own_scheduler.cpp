#include "core/own_scheduler.h"

#include <cstdlib>
#include <new>

#include "core/idle.h"
#include "core/scheduler.h"
#include "os/futex.h"

namespace weft::core {
namespace {

std::atomic<unsigned> lookers{0};  // in ask_scheduler()

}  // namespace

void reset_scheduler_lookers() { lookers.store(0, std::memory_order_relaxed); }

Scheduler* Scheduler::create(SchedulerKind kind, std::size_t count, Pool* const* pools, Run function, void* data,
                             bool stateless) {
  void* memory = std::malloc(sizeof(Scheduler) + count * sizeof(Pool*));
  if (memory == nullptr) return nullptr;
  auto scheduler = new (memory) Scheduler(kind, count, function, data, stateless);
  for (std::size_t index = 0; index < count; ++index) scheduler->pools()[index] = pools[index];
  return scheduler;
}

// No worker has it any more, but somebody may look at it (ask_scheduler). Either its look at own_scheduler comes after
// the fence here, and finds another scheduler or none; or its announcement in `lookers` came before, and is seen.
void Scheduler::destroy() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  while (lookers.load(std::memory_order_acquire) != 0) os::give_up_cpu();
  std::free(this);
}

// From pool `start` on, round about.
Unit* Scheduler::first_of(std::size_t start) {
  for (std::size_t step = 0; step < count_; ++step) {
    std::size_t index = start + step;
    if (index >= count_) index -= count_;
    if (Unit* unit = pools()[index]->pop(); unit != nullptr) return unit;
  }
  return nullptr;
}

Unit* Scheduler::next(Worker& worker) {
  switch (kind_) {
    case SchedulerKind::basic:
    case SchedulerKind::basic_wait: {
      // The first pool first; but now and then it is another's turn, or units that yield there for ever
      // would starve the rest.
      constexpr unsigned turns = 61;
      const bool others_turn = count_ > 1 && ++worker.turns % turns == 0;
      return first_of(others_turn ? worker.turns / turns % count_ : 0);
    }
    case SchedulerKind::by_priority:
    case SchedulerKind::custom:
      return first_of(0);
    case SchedulerKind::random_ws: {
      if (Unit* unit = pools()[0]->pop(); unit != nullptr) return unit;
      if (count_ == 1) return nullptr;
      // xorshift32 (Marsaglia, "Xorshift RNGs", 2003)
      std::uint32_t x = worker.random;
      x ^= x << 13U;
      x ^= x >> 17U;
      x ^= x << 5U;
      worker.random = x;
      const std::size_t others = count_ - 1;
      for (std::size_t step = 0; step < others; ++step) {
        Unit* unit = pools()[1 + (x + step) % others]->steal();
        if (unit == nullptr) continue;
        ++worker.counters.steals;
        return unit;
      }
      return nullptr;
    }
  }
  return nullptr;
}

bool Scheduler::has_work() const {
  for (std::size_t index = 0; index < count_; ++index)
    if (!pools()[index]->looks_empty()) return true;
  return false;
}

bool Scheduler::has(const Pool& pool) const {
  for (std::size_t index = 0; index < count_; ++index)
    if (pools()[index] == &pool) return true;
  return false;
}

namespace {

// For those who are not the worker: it may be given another scheduler meanwhile, and this one be freed.
template <class Question>
bool ask_scheduler(const Worker& worker, Question question) {
  lookers.fetch_add(1, std::memory_order_seq_cst);
  const Scheduler* scheduler = worker.own_scheduler.load(std::memory_order_seq_cst);
  const bool answer = scheduler != nullptr && question(*scheduler);
  lookers.fetch_sub(1, std::memory_order_release);
  return answer;
}

}  // namespace

bool has_custom_scheduler(const Worker& worker) {
  return ask_scheduler(worker, [](const Scheduler& scheduler) { return scheduler.is_custom(); });
}

bool scheduler_stops(const Worker& worker) { return is_over(worker) || worker.ends.load(std::memory_order_acquire); }

void notify_pool_slow(const Pool& pool) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const unsigned slots = runtime.slots.load(std::memory_order_acquire);
  for (unsigned index = 0; index < slots; ++index) {
    Worker* worker = runtime.worker_at[index].load(std::memory_order_acquire);
    if (worker == nullptr || worker->parked.load(std::memory_order_acquire) != Parked::for_its_pools) continue;
    const bool serves = ask_scheduler(*worker, [&pool](const Scheduler& scheduler) { return scheduler.has(pool); });
    if (serves && wake(*worker)) return;
  }
}

}  // namespace weft::core
