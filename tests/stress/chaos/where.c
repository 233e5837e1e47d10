#include "where.h"

#include <stdatomic.h>

unsigned long seed_of_run;
_Thread_local const char* step_here = "none";

const char* where(void) {
  static _Thread_local char text[100];
  snprintf(text, sizeof text, "seed %lu, step %s: ", seed_of_run, step_here);
  return text;
}

static atomic_int thread_noted;

void note_thread(void) { atomic_store_explicit(&thread_noted, thread_id(), memory_order_relaxed); }
int last_thread(void) { return atomic_load_explicit(&thread_noted, memory_order_relaxed); }
