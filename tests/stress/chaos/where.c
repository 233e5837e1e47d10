#include "where.h"

unsigned long seed_of_run;
_Thread_local const char* step_here = "none";

const char* where(void) {
  static _Thread_local char text[100];
  snprintf(text, sizeof text, "seed %lu, step %s: ", seed_of_run, step_here);
  return text;
}
