// Small pieces of work: something that takes a while, in one way or another.
#ifndef WEFT_TESTS_STRESS_CHAOS_BITS_H
#define WEFT_TESTS_STRESS_CHAOS_BITS_H

#include <stdint.h>

// Computes, allocates, calls sched_yield(), sleeps, enters a critical section (--bits=MASK, from the lowest bit on), or
// does nothing. errno is as before: a task may be run by a member that looks at its own.
void do_a_bit(uint64_t seed);

void allocate(uint64_t seed);

// In a critical section of the whole program's.
void count_in_critical(void);
void check_critical_count(void);

#endif
