/* Where the calling thread may run, and does. */
#ifndef WEFT_TESTS_ABI_PLACE_H
#define WEFT_TESTS_ABI_PLACE_H

#include "check.h"

#include <sched.h>

/* It may run on the CPUs of its place and on no others, and does. */
static int is_in_place(void) {
  cpu_set_t mask;
  int ids[CPU_SETSIZE];
  const int place = omp_get_place_num(), count = omp_get_place_num_procs(place);
  if (place < 0 || sched_getaffinity(0, sizeof mask, &mask) != 0 || CPU_COUNT(&mask) != count) return 0;
  omp_get_place_proc_ids(place, ids);
  for (int i = 0; i < count; ++i)
    if (!CPU_ISSET(ids[i], &mask)) return 0;
  return CPU_ISSET(sched_getcpu(), &mask);
}

#endif
