// All members of all roots wait for each other, at the end of a round.
#ifndef WEFT_TESTS_STRESS_CHAOS_MEETING_H
#define WEFT_TESTS_STRESS_CHAOS_MEETING_H

#include <pthread.h>
#include <stdatomic.h>

enum Meet { by_yielding, by_sleeping, by_spinning, by_condition, meets };
struct Meeting {
  enum Meet how;
  int expected;  // members
  atomic_int arrived;
  int count;
  pthread_mutex_t mutex;
  pthread_cond_t condition;
};

// Whether there is one in this round; who asks then adds up who is expected.
int prepare_meeting(struct Meeting* meeting, int round, int roots);

void attend(struct Meeting* meeting);

#endif
