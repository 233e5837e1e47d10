#include "core/technique/choice.h"

#include "base/hash.h"
#include "core/workers.h"

namespace weft::core {
namespace {

constexpr std::uint32_t window = 64;  // units from one decision to the next

unsigned index_of(void (*entry)(void*)) {
  constexpr unsigned bits = 6;
  static_assert(Choices::places == 1U << bits);
  return base::place_of_address(reinterpret_cast<std::uintptr_t>(entry), bits);
}

// A sequence lock: what is read between two equal even numbers of takeovers belongs together (add_known).
void take_over(Choices::Place& place, void (*entry)(void*)) {
  const std::uint32_t takeovers = place.takeovers.load(std::memory_order_relaxed);
  place.takeovers.store(takeovers + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  place.entry.store(entry, std::memory_order_relaxed);
  place.technique = Technique::sc;
  place.recent = 0;
  place.recent_deviated = 0;
  place.units.store(0, std::memory_order_relaxed);
  place.deviated.store(0, std::memory_order_relaxed);
  place.takeovers.store(takeovers + 2, std::memory_order_release);
}

Choices::Place& place_of(Worker& worker, void (*entry)(void*)) {
  Choices::Place& place = worker.choices.at[index_of(entry)];
  if (place.entry.load(std::memory_order_relaxed) != entry) [[unlikely]]
    take_over(place, entry);
  return place;
}

// By the owner, the only one who writes.
void count_one(std::atomic<std::uint64_t>& counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void add_known(Choice& sum, const Choices::Place& place, void (*entry)(void*)) {
  const std::uint32_t takeovers = place.takeovers.load(std::memory_order_acquire);
  if (takeovers % 2 != 0 || place.entry.load(std::memory_order_relaxed) != entry) return;
  const std::uint64_t units = place.units.load(std::memory_order_relaxed);
  const std::uint64_t deviated = place.deviated.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (place.takeovers.load(std::memory_order_relaxed) != takeovers) return;
  sum.units += units;
  sum.deviated += deviated;
}

void decide(Choices::Place& place) {
  // Of a hundred units, so many deviated: where two techniques cost the same.
  constexpr std::uint32_t sc_most = 12;
  constexpr std::uint32_t roc_most = 60;
  const std::uint32_t percent = place.recent_deviated * 100 / place.recent;
  place.technique = percent <= sc_most ? Technique::sc : percent <= roc_most ? Technique::roc_l : Technique::full_l;
  place.recent = 0;
  place.recent_deviated = 0;
}

}  // namespace

Technique choose(Worker& worker, void (*entry)(void*)) {
  Choices::Place& place = place_of(worker, entry);
  count_one(place.units);
  if (++place.recent > window) [[unlikely]]
    decide(place);
  return place.technique;
}

void note_deviated(Worker& worker, void (*entry)(void*)) {
  Choices::Place& place = place_of(worker, entry);
  count_one(place.deviated);
  ++place.recent_deviated;
}

Choice known_of(const Worker& worker, void (*entry)(void*)) {
  Choice sum;
  const unsigned index = index_of(entry);
  const Choices::Place& own = worker.choices.at[index];
  if (own.entry.load(std::memory_order_relaxed) == entry) sum.technique = own.technique;
  for_each_worker([&sum, index, entry](const Worker& other) { add_known(sum, other.choices.at[index], entry); });
  return sum;
}

}  // namespace weft::core
