#include <stdio.h>
#include <weft/weft.h>

/* A recursion: the child runs at once, and a thief takes its creator. */
static void fib(void* argument) {
  long* number = argument;
  long left = *number - 1, right = *number - 2;
  if (*number < 2) return;
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.technique = WEFT_C_ROC_E;
  weft_unit* child = NULL;
  weft_unit_create(fib, &left, &attr, &child);
  fib(&right);
  weft_unit_free(child);
  *number = left + right;
}

/* Only computes: it needs no stack of its own. */
static void square(void* argument) {
  long* number = argument;
  *number *= *number;
}

int main(void) {
  long number = 16, numbers[1000];
  void* arguments[1000];
  weft_unit* units[1000];
  weft_choice choice;
  weft_init();

  fib(&number);
  printf("fib(16) = %ld\n", number);

  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.technique = WEFT_STACKLESS;
  for (long i = 0; i < 1000; ++i) arguments[i] = &numbers[i], numbers[i] = i;
  weft_unit_create_many(1000, square, arguments, &attr, units);
  weft_unit_free_many(1000, units);
  printf("999 squared = %ld\n", numbers[999]);

  weft_unit_create_many(1000, square, arguments, NULL, units); /* WEFT_AUTO */
  weft_unit_free_many(1000, units);
  weft_auto_choice(square, &choice);
  printf("auto has chosen %s: of %lu units %lu waited\n", weft_technique_name(choice.technique),
         (unsigned long)choice.units, (unsigned long)choice.deviated);
  return weft_finalize();
}
