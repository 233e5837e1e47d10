// `auto`: the technique for a unit, chosen when it starts from what units of the same entry function have done
// (the question that the dissertation leaves open, 3.8).
//
// Each worker counts, per entry function, the units that it has started and those that deviated, and forgets with
// time, so that a change of behaviour shows. It chooses between the techniques that are best somewhere (`weft bench
// techniques`): Full-L where one of seven deviates or more, else RoC-L. SC and SS, best where hardly any deviates in
// the dissertation (3.28-3.33), save what RoC-L has to save and to bind, and here RoC-L does neither: its scheduler's
// control words are known, and the stack is the one that the last unit has left (docs/design/units.md).
#pragma once

#include <atomic>
#include <cstdint>

#include "core/unit.h"

namespace weft::core {

struct Worker;

/// What is known of an entry function.
struct Choice {
  Technique technique = Technique::roc_l;
  std::uint64_t units = 0;
  std::uint64_t deviated = 0;
};

/// Of one worker, who alone writes; others read the atomic members. A function that finds its place taken takes it
/// over.
struct Choices {
  struct Place {
    std::atomic<std::uint32_t> changes{0};  // odd while one is under way
    std::atomic<void (*)(void*)> entry{nullptr};
    Technique technique = Technique::roc_l;
    std::atomic<std::uint32_t> left{window};  // units until the next decision
    std::uint32_t recent_deviated = 0;        // of those since the last one
    std::atomic<std::uint64_t> units{0};      // until then
    std::atomic<std::uint64_t> deviated{0};

    /// Counts a unit of this function. False: it is of another, or it is time to decide, and nothing has happened.
    [[gnu::always_inline]] bool count(void (*of)(void*)) {
      std::uint32_t one_less;
      if (entry.load(std::memory_order_relaxed) != of ||
          __builtin_sub_overflow(left.load(std::memory_order_relaxed), 1, &one_less)) [[unlikely]]
        return false;
      left.store(one_less, std::memory_order_relaxed);
      return true;
    }
    void note_deviated() {
      deviated.store(deviated.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      ++recent_deviated;
    }
  };
  static constexpr unsigned places = 64;
  static constexpr std::uint32_t window = 64;  // units from one decision to the next
  Place at[places];
  Place* last = at;  // the one that was used last

  /// A row of units (technique/in_a_row.cpp) is promised all that are left until the next decision: they are counted
  /// already, and the row counts here which of them have come. take_back() uncounts the others, before `last` changes.
  std::uint32_t promised = 0;
  void promise_rest() {
    promised = last->left.load(std::memory_order_relaxed);
    last->left.store(0, std::memory_order_relaxed);
  }
  /// One of them has come. False: there was none.
  [[gnu::always_inline]] bool count_promised() {
    if (!__builtin_sub_overflow(promised, 1U, &promised)) [[likely]]
      return true;
    promised = 0;
    return false;
  }
  void take_back() {
    last->left.store(last->left.load(std::memory_order_relaxed) + promised, std::memory_order_relaxed);
    promised = 0;
  }
};

/// Counts a unit of this function (not null), and says how to start it.
Technique choose_anew(Choices& choices, void (*entry)(void*));
/// The same if it is the function of the last one, and nothing is to be decided. False: nothing has happened.
[[gnu::always_inline]] inline bool choose_as_before(Choices& choices, void (*entry)(void*), Technique& technique) {
  if (!choices.last->count(entry)) [[unlikely]]
    return false;
  technique = choices.last->technique;
  return true;
}
[[gnu::always_inline]] inline Technique choose(Choices& choices, void (*entry)(void*)) {
  Technique technique;
  return choose_as_before(choices, entry, technique) ? technique : choose_anew(choices, entry);
}

/// One of them has deviated (once per unit).
void note_deviated(Choices& choices, void (*entry)(void*));
/// The same, if the last one that was counted is of this function. False: nothing has happened.
[[gnu::always_inline]] inline bool note_last_deviated(Choices& choices, void (*entry)(void*)) {
  Choices::Place& last = *choices.last;
  if (last.entry.load(std::memory_order_relaxed) != entry) [[unlikely]]
    return false;
  last.note_deviated();
  return true;
}

/// What all workers together know of the function; technique: what `worker`, the caller's, would choose now. Of another
/// one that runs a row of its units, up to a window too many.
Choice known_of(Worker& worker, void (*entry)(void*));

}  // namespace weft::core
