// The roots of a seed: threads of the program, main among them, that open regions side by side, round after round.
#ifndef WEFT_TESTS_STRESS_CHAOS_ROOTS_H
#define WEFT_TESTS_STRESS_CHAOS_ROOTS_H

// Ends when all of them have, and the threads that they made.
void run_roots(int roots, int rounds);

#endif
