#include "core/technique/choice.h"

#include "core/runtime.h"
#include "core/worker.h"

namespace weft::core {
namespace {

constexpr std::uint32_t window = 64;  // units from one decision to the next

Choice& place_of(Worker& worker, void (*entry)(void*)) {
  // Fibonacci hashing (Knuth, TAOCP vol. 3, 6.4).
  const std::uint64_t hash = reinterpret_cast<std::uintptr_t>(entry) * 0x9E3779B97F4A7C15ULL;
  Choice& choice = worker.choices.at[hash >> 58U];
  if (choice.entry != entry) [[unlikely]] {
    choice = Choice{};
    choice.entry = entry;
  }
  return choice;
}

static_assert(Choices::places == 64);  // the six highest bits of the hash

void decide(Choice& choice) {
  // Of a hundred units, so many deviated: where two techniques cost the same.
  constexpr std::uint32_t sc_most = 12;
  constexpr std::uint32_t roc_most = 60;
  const std::uint32_t percent = choice.recent_deviated * 100 / choice.recent;
  choice.technique = percent <= sc_most ? Technique::sc : percent <= roc_most ? Technique::roc_l : Technique::full_l;
  choice.recent = 0;
  choice.recent_deviated = 0;
}

}  // namespace

Technique choose(Worker& worker, void (*entry)(void*)) {
  Choice& choice = place_of(worker, entry);
  ++choice.units;
  if (++choice.recent > window) [[unlikely]]
    decide(choice);
  return choice.technique;
}

void note_deviated(Worker& worker, void (*entry)(void*)) {
  Choice& choice = place_of(worker, entry);
  ++choice.deviated;
  ++choice.recent_deviated;
}

Choice known_of(Worker& worker, void (*entry)(void*)) {
  Choice sum = place_of(worker, entry);
  const unsigned slots = runtime.slots.load(std::memory_order_acquire);
  for (unsigned index = 0; index < slots; ++index) {
    const Worker* other = runtime.worker_at[index].load(std::memory_order_acquire);
    if (other == nullptr || other == &worker) continue;
    for (const Choice& choice : other->choices.at) {
      if (choice.entry != entry) continue;
      sum.units += choice.units;
      sum.deviated += choice.deviated;
    }
  }
  return sum;
}

}  // namespace weft::core
