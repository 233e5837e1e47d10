#include <stdio.h>
#include <weft/weft.h>

static void tell(const char* what, int error) {
  printf("%s: %s, %s\n", what, weft_error_name(error), weft_error_text(error));
}

static void wait_without_a_stack(void* argument) {
  (void)argument;
  tell("a stackless unit yields", weft_yield());
}

int main(void) {
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  weft_mutex mutex = WEFT_MUTEX_INIT;
  weft_unit* unit = NULL;
  weft_init();
  tell("no function", weft_unit_create(NULL, NULL, NULL, &unit));
  attr.technique = WEFT_STACKLESS;
  int error = weft_unit_create(wait_without_a_stack, NULL, &attr, &unit);
  weft_unit_free(unit); /* it has run */
  tell("a stackless unit", error);
  attr.flags = WEFT_MAY_BLOCK;
  tell("one that may wait", weft_unit_create(wait_without_a_stack, NULL, &attr, &unit));
  tell("a mutex that nobody holds", weft_mutex_unlock(&mutex));
  weft_finalize();
  tell("once too often", weft_finalize());
  return 0;
}
