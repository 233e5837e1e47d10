// Random numbers: what is mixed from the same values is the same for all members.
#ifndef WEFT_TESTS_STRESS_CHAOS_RANDOM_H
#define WEFT_TESTS_STRESS_CHAOS_RANDOM_H

#include <stdint.h>

static inline uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t z = a * 0x9e3779b97f4a7c15ULL + b + 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

static inline int below(uint64_t seed, int salt, int limit) {
  return (int)(mix(seed, (uint64_t)salt) % (uint64_t)limit);
}

#endif
