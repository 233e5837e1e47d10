// The counters by which tasks tell of their ends: what they do where somebody waits for one.
#include "faces/openmp/task.h"
#include "faces/openmp/task_waiters.h"

namespace weft::openmp {

std::uint32_t TaskCounter::drop_awaited(TaskPool& pool, std::uint32_t awaited, std::uint32_t count) {
  std::uint32_t word = 0;
  wake_chosen(pool, [&] {
    word = word_.fetch_sub(count, std::memory_order_acq_rel) - count;
    return word == (awaited | waiter_bit) ? waiter_ : nullptr;
  });
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

// When the lock is had, the one that waited may have been woken by another, and have left: then this may be the last
// that refers to the task.
bool Family::drop_awaited(TaskPool& pool, std::uint64_t what) {
  bool all_are_gone = false;
  wake_chosen(pool, [&]() -> TaskWaiter* {
    const std::uint64_t word = elsewhere_.fetch_add(what, std::memory_order_acq_rel) + what;
    if ((word & waiter_bit) == 0) {
      all_are_gone = descriptors_in(word) == all_gone;
      return nullptr;
    }
    const bool over = awaits_descriptors_ ? descriptors_in(word) == descriptors_ : children_in(word) == children_;
    return over ? waiter_ : nullptr;
  });
  return all_are_gone;
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
