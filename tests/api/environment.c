/* What libweft makes of the environment: prints the number of workers, and has a unit use so many bytes of its stack
 * (argument). What comes before weft_init() (second argument): "asks" for the number, or "creates" a unit. */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

static void use_stack(void* argument) {
  const size_t bytes = *(size_t*)argument;
  volatile char* memory = alloca(bytes);
  for (size_t left = bytes; left >= 1024; left -= 1024) memory[left - 1] = 1; /* from the top on, as a stack grows */
}

static void do_nothing(void* argument) { (void)argument; }

static int come_before_init(const char* what, unsigned* workers) {
  weft_unit* unit = NULL;
  if (strcmp(what, "asks") == 0) *workers = weft_worker_count();
  if (strcmp(what, "creates") != 0) return 1;
  return weft_unit_create(do_nothing, NULL, NULL, &unit) == WEFT_OK && weft_unit_free(unit) == WEFT_OK;
}

int main(int count, char** arguments) {
  size_t bytes = count > 1 ? strtoul(arguments[1], NULL, 10) : 0;
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  weft_unit* unit = NULL;
  unsigned before = 0;
  if (count > 2 && !come_before_init(arguments[2], &before)) return 4;
  if (weft_init() != WEFT_OK) return 2;
  if (before != 0 && before != weft_worker_count()) return printf("%u before weft_init()\n", before), 5;
  printf("%u\n", weft_worker_count());
  attr.technique = WEFT_ROC_L;
  if (weft_unit_create(use_stack, &bytes, &attr, &unit) != WEFT_OK || weft_unit_free(unit) != WEFT_OK) return 3;
  return weft_finalize();
}
