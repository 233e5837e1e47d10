/* What libweft makes of the environment: prints the number of workers, and has a unit use so many bytes of its stack
 * (argument). */
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

int main(int count, char** arguments) {
  size_t bytes = count > 1 ? strtoul(arguments[1], NULL, 10) : 0;
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  weft_unit* unit = NULL;
  if (weft_init() != WEFT_OK) return 2;
  printf("%u\n", weft_worker_count());
  attr.technique = WEFT_ROC_L;
  if (weft_unit_create(use_stack, &bytes, &attr, &unit) != WEFT_OK || weft_unit_free(unit) != WEFT_OK) return 3;
  return weft_finalize();
}
