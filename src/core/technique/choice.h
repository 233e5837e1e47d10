// `auto`: the technique for a unit, chosen when it starts from what units of the same entry function have done
// (the question that the dissertation leaves open, 3.8).
//
// Each worker counts, per entry function, the units that it has started and those that deviated, and forgets with
// time, so that a change of behaviour shows. It chooses among the techniques that are best somewhere (3.28-3.33 and
// `weft bench techniques`): SC while hardly any deviates, RoC-L in between, Full-L where most do.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/unit.h"

namespace weft::core {

struct Worker;

/// What is known of an entry function.
struct Choice {
  Technique technique = Technique::sc;
  std::uint64_t units = 0;
  std::uint64_t deviated = 0;
};

/// Of one worker, who alone writes; others read the atomic members. A function that finds its place taken takes it
/// over.
struct Choices {
  struct Place {
    std::atomic<std::uint32_t> takeovers{0};  // odd while one is under way
    std::atomic<void (*)(void*)> entry{nullptr};
    Technique technique = Technique::sc;
    std::uint32_t recent = 0;  // units since the last decision
    std::uint32_t recent_deviated = 0;
    std::atomic<std::uint64_t> units{0};
    std::atomic<std::uint64_t> deviated{0};
  };
  static constexpr unsigned places = 64;
  Place at[places];
};

/// Counts a unit of this function, and says how to start it.
Technique choose(Worker& worker, void (*entry)(void*));

/// One of them has deviated (once per unit).
void note_deviated(Worker& worker, void (*entry)(void*));

/// What all workers together know of the function; technique: what `worker` would choose now.
Choice known_of(const Worker& worker, void (*entry)(void*));

}  // namespace weft::core
