// What belongs to a member's thread alone: thread-local and threadprivate variables, a pthread key, pthread_self().
#ifndef WEFT_TESTS_STRESS_CHAOS_BELONGINGS_H
#define WEFT_TESTS_STRESS_CHAOS_BELONGINGS_H

#include <pthread.h>

extern _Thread_local int own;
extern int kept_private;
#pragma omp threadprivate(kept_private)

// &own, asked anew: within a function the compiler takes it for always the same.
int* address_of_own(void);

void prepare_belongings(void);  // by main, first

// The first member of a region has the thread of its opener, so what that had is put back at the end.
struct Values {
  int own, kept;
  void* specific;
};
struct Values values_here(void);
void set_values(struct Values values);
void check_values(struct Values values);

// A member's from the beginning of a region to its end: other values than anybody else's, always at the same addresses.
struct Belongings {
  struct Values values;
  int* address;
  int* address_kept;
  pthread_t self;
};
struct Belongings take_belongings(void);
void check_belongings(const struct Belongings* mine);

#endif
