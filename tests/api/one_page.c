/* Resident memory of units that wait: one page of stack each, and what the unit itself takes. Each technique in a
 * process of its own, where every stack is new. (Bug: what mapped a stack for the next unit of Full-L ran on the stack
 * of the one that waited, and took a second page of one in five.) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/sync.h>
#include <weft/weft.h>

enum { UNITS = 10000, PAGE = 4096, MOST_BESIDE_PAGE = 400 };

static weft_flag may_end = WEFT_FLAG_INIT;
static weft_latch all_wait = WEFT_LATCH_INIT(UNITS);

static void wait_for_end(void* argument) {
  (void)argument;
  weft_latch_count_down(&all_wait, 1);
  weft_flag_wait(&may_end);
}

static long resident_bytes(void) {
  long size = 0;
  long resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &size, &resident) != 2) abort();
  fclose(file);
  return resident * PAGE;
}

static int measure(weft_technique technique, const char* name) {
  static weft_unit* units[UNITS];
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.technique = technique;
  attr.stack_size = 16 * 1024;
  memset(units, 1, sizeof units);
  const long before = resident_bytes();
  for (int i = 0; i < UNITS; ++i)
    if (weft_unit_create(wait_for_end, NULL, &attr, &units[i]) != WEFT_OK) return 1;
  weft_latch_wait(&all_wait); /* so the units go on from one to the next */
  const long each = (resident_bytes() - before) / UNITS;
  printf("%s: %ld bytes per unit that waits\n", name, each);
  weft_flag_set(&may_end);
  return weft_unit_free_many(UNITS, units) != WEFT_OK || each > PAGE + MOST_BESIDE_PAGE;
}

int main(void) {
  static const struct {
    weft_technique technique;
    const char* name;
  } cases[] = {{WEFT_AUTO, "auto"}, {WEFT_FULL, "Full"}, {WEFT_FULL_L, "Full-L"}, {WEFT_ROC_L, "RoC-L"}};
  int failed = 0;
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const pid_t child = fork();
    if (child == 0) return measure(cases[i].technique, cases[i].name);
    int status = 0;
    failed |= waitpid(child, &status, 0) != child || status != 0;
  }
  return failed;
}
