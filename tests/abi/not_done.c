/* Entry points that weft does not have yet, reached by name: `not_done NAME`. The call must not return; not_done.py
 * checks how the process ends. */
#include <stdint.h>

#include "check.h"

int main(int argc, char** argv) {
  check_runtime();
  if (argc != 2 || omp_get_level() != 0) return 2;
  void (*const entry)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t) =
      (void (*)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t))dlsym(RTLD_DEFAULT, argv[1]);
  if (entry == NULL) return 3;
  entry(0, 0, 0, 0, 0, 0);
  return 0;
}
