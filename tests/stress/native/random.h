// Random numbers that follow from a seed alone: splitmix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom
// Number Generators", OOPSLA 2014).
#pragma once

#include "../chaos/random.h"

#include <cstdint>
#include <vector>

namespace native {

class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}

  std::uint64_t next() { return mix(drawn_++, seed_); }
  unsigned below(unsigned limit) { return static_cast<unsigned>(next() >> 33U) % limit; }
  unsigned between(unsigned least, unsigned most) { return least + below(most - least + 1); }
  bool one_in(unsigned count) { return below(count) == 0; }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[below(static_cast<unsigned>(all.size()))];
  }

  /// For a part whose course may depend on who comes first: whatever it draws, the rest draws the same.
  Random fork() { return Random(next()); }

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

}  // namespace native
