#include "core/technique/choice.h"

#include "base/hash.h"
#include "core/workers.h"

namespace weft::core {
namespace {

unsigned index_of(void (*entry)(void*)) {
  constexpr unsigned bits = 6;
  static_assert(Choices::places == 1U << bits);
  return base::place_of_address(reinterpret_cast<std::uintptr_t>(entry), bits);
}

// A sequence lock: what is read between two equal even numbers of changes belongs together (add_known).
class Change {
 public:
  explicit Change(Choices::Place& place) : place_(place), before_(place.changes.load(std::memory_order_relaxed)) {
    place_.changes.store(before_ + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }
  ~Change() { place_.changes.store(before_ + 2, std::memory_order_release); }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  Choices::Place& place_;
  const std::uint32_t before_;
};

void take_over(Choices::Place& place, void (*entry)(void*)) {
  const Change change(place);
  place.entry.store(entry, std::memory_order_relaxed);
  place.technique = Technique::roc_l;
  place.left.store(Choices::window, std::memory_order_relaxed);
  place.recent_deviated = 0;
  place.units.store(0, std::memory_order_relaxed);
  place.deviated.store(0, std::memory_order_relaxed);
}

Choices::Place& place_of(Choices& choices, void (*entry)(void*)) {
  Choices::Place& place = choices.at[index_of(entry)];
  if (place.entry.load(std::memory_order_relaxed) != entry) [[unlikely]] {
    choices.take_back();
    take_over(place, entry);
  }
  return place;
}

void add_known(Choice& sum, const Choices::Place& place, void (*entry)(void*)) {
  const std::uint32_t changes = place.changes.load(std::memory_order_acquire);
  if (changes % 2 != 0 || place.entry.load(std::memory_order_relaxed) != entry) return;
  const std::uint64_t units =
      place.units.load(std::memory_order_relaxed) + Choices::window - place.left.load(std::memory_order_relaxed);
  const std::uint64_t deviated = place.deviated.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (place.changes.load(std::memory_order_relaxed) != changes) return;
  sum.units += units;
  sum.deviated += deviated;
}

void decide(Choices::Place& place) {
  // Of a hundred units, so many deviated. Where it is 14 the two cost the same, and near that chance would have them
  // change with each window.
  constexpr std::uint32_t roc_most = 17;
  constexpr std::uint32_t full_least = 11;
  const std::uint32_t percent = place.recent_deviated * 100 / Choices::window;
  if (percent > roc_most)
    place.technique = Technique::full_l;
  else if (percent < full_least)
    place.technique = Technique::roc_l;
  const Change change(place);
  place.units.store(place.units.load(std::memory_order_relaxed) + Choices::window, std::memory_order_relaxed);
  place.left.store(Choices::window, std::memory_order_relaxed);
  place.recent_deviated = 0;
}

}  // namespace

Technique choose_anew(Choices& choices, void (*entry)(void*)) {
  choices.take_back();
  Choices::Place& place = place_of(choices, entry);
  choices.last = &place;
  if (place.left.load(std::memory_order_relaxed) == 0) decide(place);
  place.left.store(place.left.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  return place.technique;
}

void note_deviated(Choices& choices, void (*entry)(void*)) { place_of(choices, entry).note_deviated(); }

Choice known_of(Worker& worker, void (*entry)(void*)) {
  worker.choices.take_back();
  Choice sum;
  const unsigned index = index_of(entry);
  const Choices::Place& own = worker.choices.at[index];
  if (own.entry.load(std::memory_order_relaxed) == entry) sum.technique = own.technique;
  for_each_worker([&sum, index, entry](const Worker& other) { add_known(sum, other.choices.at[index], entry); });
  return sum;
}

}  // namespace weft::core
