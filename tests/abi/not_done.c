/* Entry points that weft does not have yet, reached by name (`not_done NAME`) or through a construct
 * (`not_done construct-NAME`). The call must not return; not_done.py checks how the process ends. */
#include <stdint.h>

#include "check.h"

static void use_target(void) {
  int x = 1;
#pragma omp target map(tofrom : x)
  x++;
}

static void use_teams(void) {
#pragma omp teams num_teams(2)
  check_work(1);
}

static const struct {
  const char* name;
  void (*function)(void);
} constructs[] = {
    {"construct-target", use_target},
    {"construct-teams", use_teams},
};

int main(int argc, char** argv) {
  check_runtime();
  if (argc != 2) return 2;
  for (size_t i = 0; i < sizeof constructs / sizeof *constructs; ++i)
    if (strcmp(argv[1], constructs[i].name) == 0) {
      constructs[i].function();
      return 0;
    }
  void (*const entry)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t) =
      (void (*)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t))dlsym(RTLD_DEFAULT, argv[1]);
  if (entry == NULL) return 3;
  entry(0, 0, 0, 0, 0, 0);
  return 0;
}
