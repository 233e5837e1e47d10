// Going through the workers that there are, by their slots. A worker stays where it is for as long as the process
// lives, so what is found remains valid.
#pragma once

#include "core/runtime.h"

namespace weft::core {

/// What look(Worker&) returns first that is something, from slot `start` on, round about (any number; the slots are
/// counted through); else an empty result.
template <class Look>
auto first_of_workers(unsigned start, Look look) -> decltype(look(*static_cast<Worker*>(nullptr))) {
  const unsigned slots = runtime.slots.load(std::memory_order_acquire);
  for (unsigned step = 0; step < slots; ++step) {
    unsigned index = start % slots + step;
    if (index >= slots) index -= slots;
    Worker* worker = runtime.worker_at[index].load(std::memory_order_acquire);
    if (worker == nullptr) continue;
    if (auto found = look(*worker)) return found;
  }
  return {};
}

/// The first worker for which wanted(Worker&) holds; nullptr: none.
template <class Wanted>
Worker* find_worker(Wanted wanted) {
  return first_of_workers(0, [&wanted](Worker& worker) { return wanted(worker) ? &worker : nullptr; });
}

template <class Visit>
void for_each_worker(Visit visit) {
  find_worker([&visit](Worker& worker) {
    visit(worker);
    return false;
  });
}

template <class Counts>
unsigned count_workers(Counts counts) {
  unsigned count = 0;
  for_each_worker([&count, counts](const Worker& worker) { count += counts(worker) ? 1 : 0; });
  return count;
}

}  // namespace weft::core
