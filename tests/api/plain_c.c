/* A C11 program with weft's header and nothing else: fork, join, and count. */
#include <weft/weft.h>

#include <stdio.h>

static void square(void* argument) {
  long* number = argument;
  *number *= *number;
}

int main(void) {
  long numbers[10];
  weft_unit* units[10];
  long sum = 0;
  if (weft_init() != WEFT_OK) return 1;
  for (long i = 0; i < 10; ++i) {
    const weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
    numbers[i] = i;
    if (weft_unit_create(square, &numbers[i], &attr, &units[i]) != WEFT_OK) return 2;
  }
  if (weft_unit_free_many(10, units) != WEFT_OK) return 3;
  for (int i = 0; i < 10; ++i) sum += numbers[i];
  if (weft_finalize() != WEFT_OK) return 4;
  printf("%ld\n", sum);
  return sum == 285 ? 0 : 5;
}
