#ifndef WEFT_TESTS_STRESS_CHAOS_SEED_H
#define WEFT_TESTS_STRESS_CHAOS_SEED_H

// All that a seed stands for: its roots, and what goes on beside them.
void run_seed(unsigned long seed);

#endif
