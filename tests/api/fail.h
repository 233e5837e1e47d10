/* For test programs in C: how they end where something is wrong. */
#ifndef WEFT_TESTS_API_FAIL_H
#define WEFT_TESTS_API_FAIL_H

#include <stdio.h>
#include <stdlib.h>

static inline _Noreturn void fail(const char* what) {
  fprintf(stderr, "failed: %s\n", what);
  exit(1);
}

#endif
