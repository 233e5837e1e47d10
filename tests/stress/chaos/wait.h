// Ways to wait that OpenMP knows nothing of.
#ifndef WEFT_TESTS_STRESS_CHAOS_WAIT_H
#define WEFT_TESTS_STRESS_CHAOS_WAIT_H

#include <stdatomic.h>

enum Way { spinning, pausing, yielding, sleeping, ways };

// Until *what is `least` or more. errno is as before, however often the wait was interrupted.
void wait_for(atomic_int* what, int least, enum Way way);

#endif
