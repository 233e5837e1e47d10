// A set of CPUs, by the numbers that the kernel gives them.
#pragma once

#include <cstdint>

namespace weft::os {

struct CpuSet {
  static constexpr int most = 2048;
  static constexpr int bits = 64;
  std::uint64_t words[most / bits] = {};

  static bool in_range(long cpu) { return cpu >= 0 && cpu < most; }
  void add(int cpu) { words[cpu / bits] |= std::uint64_t{1} << (cpu % bits); }
  void add(const CpuSet& other) {
    for (int word = 0; word < most / bits; ++word) words[word] |= other.words[word];
  }
  void remove(int cpu) { words[cpu / bits] &= ~(std::uint64_t{1} << (cpu % bits)); }
  void remove(const CpuSet& other) {
    for (int word = 0; word < most / bits; ++word) words[word] &= ~other.words[word];
  }
  bool has(int cpu) const { return (words[cpu / bits] >> (cpu % bits) & 1) != 0; }
  bool operator==(const CpuSet&) const = default;

  int count() const {
    int sum = 0;
    for (const std::uint64_t word : words)
      if (word != 0) sum += __builtin_popcountll(word);
    return sum;
  }
  void keep_only(const CpuSet& other) {
    for (int word = 0; word < most / bits; ++word) words[word] &= other.words[word];
  }
  /// The first CPU of the set from `cpu` on; `most` if there is none.
  int next(int cpu) const {
    while (cpu < most && !has(cpu)) ++cpu;
    return cpu;
  }
};

}  // namespace weft::os
