// Random numbers that follow from a seed alone: splitmix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom
// Number Generators", OOPSLA 2014).
#pragma once

#include <cstdint>

namespace native {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  unsigned below(unsigned limit) { return static_cast<unsigned>(next() >> 33U) % limit; }
  unsigned between(unsigned least, unsigned most) { return least + below(most - least + 1); }
  bool one_in(unsigned count) { return below(count) == 0; }

  /// For a part whose course may depend on who comes first: whatever it draws, the rest draws the same.
  Random fork() { return Random(next()); }

 private:
  std::uint64_t state_;
};

}  // namespace native
