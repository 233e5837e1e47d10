#include <stdio.h>
#include <weft/weft.h>

static void greet(void* name) { printf("hello from %s\n", (const char*)name); }

int main(void) {
  weft_unit* unit = NULL;
  weft_init();
  weft_unit_create(greet, "a unit", NULL, &unit);
  weft_unit_free(unit); /* waits for its end */
  return weft_finalize();
}
