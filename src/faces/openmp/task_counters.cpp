// The counters by which tasks tell of their ends: what they do where somebody waits for one.
#include "core/scheduler.h"
#include "faces/openmp/task.h"
#include "faces/openmp/task_pool.h"

namespace weft::openmp {

std::uint32_t TaskCounter::drop_awaited(TaskPool& pool, std::uint32_t awaited, std::uint32_t count) {
  core::Unit* unit = nullptr;
  pool.lock.lock();
  const std::uint32_t word = word_.fetch_sub(count, std::memory_order_acq_rel) - count;
  if (word == (awaited | waiter_bit) && waiter_->listed) {
    unit = waiter_->unit;
    unlist_waiter(pool, *waiter_);
  }
  pool.lock.unlock();
  if (unit != nullptr) core::resume(*unit);
  return word & ~waiter_bit;
}

void TaskCounter::arm(TaskWaiter& waiter) {
  waiter_ = &waiter;
  word_.fetch_or(waiter_bit, std::memory_order_acq_rel);
}

void TaskCounter::disarm() {
  word_.fetch_and(~waiter_bit, std::memory_order_acq_rel);
  waiter_ = nullptr;
}

void Family::drop_awaited(TaskPool& pool, std::uint64_t what) {
  core::Unit* unit = nullptr;
  pool.lock.lock();
  const std::uint64_t word = elsewhere_.fetch_add(what, std::memory_order_acq_rel) + what;
  if ((word & waiter_bit) != 0 && waiter_->listed) {
    const bool over = awaits_descriptors_ ? descriptors_in(word) == descriptors_ : children_in(word) == children_;
    if (over) {
      unit = waiter_->unit;
      unlist_waiter(pool, *waiter_);
    }
  }
  pool.lock.unlock();
  if (unit != nullptr) core::resume(*unit);
}

void Family::arm(TaskWaiter& waiter, bool for_descriptors) {
  waiter_ = &waiter;
  awaits_descriptors_ = for_descriptors;
  elsewhere_.fetch_or(waiter_bit, std::memory_order_acq_rel);
}

void Family::disarm() {
  elsewhere_.fetch_and(~waiter_bit, std::memory_order_acq_rel);
  waiter_ = nullptr;
}

// So many children are there, or were ended elsewhere, that the counts would run over.
[[gnu::noinline]] void Family::settle() {
  const std::uint64_t word = elsewhere_.load(std::memory_order_acquire);
  const std::uint64_t counted = children_in(word) + descriptors_in(word) * descriptor;
  drop_here(counted);
  elsewhere_.fetch_sub(counted, std::memory_order_relaxed);
}

}  // namespace weft::openmp
