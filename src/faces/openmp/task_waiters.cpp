#include "faces/openmp/task_waiters.h"

namespace weft::openmp {
namespace {

// Changes under the pool's lock only.
std::atomic<unsigned>& count_of(TaskPool& pool, const TaskWaiter& waiter) {
  return waiter.only_below == nullptr ? pool.free_waiters : pool.bound_waiters;
}

}  // namespace

void list_waiter(TaskPool& pool, TaskWaiter& waiter) {
  waiter.next = pool.waiters;
  waiter.previous = nullptr;
  if (pool.waiters != nullptr) pool.waiters->previous = &waiter;
  pool.waiters = &waiter;
  waiter.listed = true;
  if (waiter.only_below != nullptr) {
    const bool first = pool.bound_waiters.load(std::memory_order_relaxed) == 0;
    if (first || waiter.seen < pool.bound_seen.load(std::memory_order_relaxed))
      pool.bound_seen.store(waiter.seen, std::memory_order_relaxed);
  }
  std::atomic<unsigned>& count = count_of(pool, waiter);
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  // Before the waiter's last look at the tasks (wait_for); an idle worker looks first at these, and then at the count
  // (wants_help): so one of the two sees the other. Until the pool is used nobody asks for the count, and who opens it
  // takes the lock first.
  if (pool.used.load(std::memory_order_relaxed)) std::atomic_thread_fence(std::memory_order_seq_cst);
}

void unlist_waiter(TaskPool& pool, TaskWaiter& waiter) {
  (waiter.previous != nullptr ? waiter.previous->next : pool.waiters) = waiter.next;
  if (waiter.next != nullptr) waiter.next->previous = waiter.previous;
  waiter.listed = false;
  std::atomic<unsigned>& count = count_of(pool, waiter);
  count.store(count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

bool is_listed(const TaskPool& pool, const TaskWaiter& waiter) {
  const TaskWaiter* each = pool.waiters;
  while (each != nullptr && each != &waiter) each = each->next;
  return each != nullptr;
}

core::Unit* unlist_all(TaskPool& pool) {
  core::Unit* chain = nullptr;
  for (TaskWaiter* waiter = pool.waiters; waiter != nullptr; waiter = waiter->next) {
    waiter->listed = false;
    waiter->unit->next = chain;
    chain = waiter->unit;
  }
  pool.waiters = nullptr;
  pool.free_waiters.store(0, std::memory_order_relaxed);
  pool.bound_waiters.store(0, std::memory_order_relaxed);
  return chain;
}

void wake_all_waiters(TaskPool& pool) {
  wake_all_if(pool, [] { return true; });
}

bool wake_waiter(TaskPool& pool) {
  return wake_chosen(pool, [&pool]() -> TaskWaiter* {
    const std::uint64_t offered = tasks_offered(pool);
    TaskWaiter* chosen = nullptr;
    for (TaskWaiter* waiter = pool.waiters; waiter != nullptr; waiter = waiter->next) {
      if (waiter->only_below == nullptr) return waiter;
      if (waiter->seen != offered) chosen = waiter;  // in the end the one that has slept longest
    }
    if (chosen == nullptr) pool.bound_seen.store(offered, std::memory_order_relaxed);
    return chosen;
  });
}

}  // namespace weft::openmp
