// A region, whose members go through the same steps one after the other, so that each of them comes to each.
#ifndef WEFT_TESTS_STRESS_CHAOS_TEAM_H
#define WEFT_TESTS_STRESS_CHAOS_TEAM_H

#include "meeting.h"
#include "settings.h"
#include "step.h"

struct Team {
  int members;
  int level;  // of OpenMP's
  int depth;  // with those of threads that members made
  int steps;
  struct Meeting* meeting;  // at the end, or NULL
  struct Step step[most_steps];
};

// depth is that of the opener, with the threads that it is below.
void run_team(uint64_t seed, int members, int depth, struct Meeting* meeting);

// A thread that opens one such region. Its argument is an array: a seed, and the depth.
void* small_root(void* seed_and_depth);

#endif
