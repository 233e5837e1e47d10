/* More units at once than there is memory for: refused, and nothing is used up by it. */
#include <stdio.h>
#include <sys/resource.h>

#include <weft/weft.h>

enum { MANY = 50000000, SOME = 1000 };

static void nothing(void* argument) { (void)argument; }

static int failures = 0;

static void expect(int error, int expected, const char* what) {
  if (error == expected) return;
  printf("%s: %s, must be %s\n", what, weft_error_name(error), weft_error_name(expected));
  ++failures;
}

int main(void) {
  const struct rlimit limit = {(rlim_t)1536 << 20, (rlim_t)1536 << 20};
  static weft_unit* units[SOME];
  weft_pool* pools[] = {NULL, NULL, NULL};
  expect(weft_init(), WEFT_OK, "weft_init");
  expect(weft_pool_create(WEFT_FIFO, WEFT_MPMC, &pools[1]), WEFT_OK, "weft_pool_create");
  expect(weft_pool_create(WEFT_PRIORITY, WEFT_PRIV, &pools[2]), WEFT_OK, "weft_pool_create");
  setrlimit(RLIMIT_AS, &limit);
  for (int i = 0; i < 3; ++i) {
    weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
    attr.pool = pools[i];
    expect(weft_unit_create_many(MANY, nothing, NULL, &attr, NULL), WEFT_ERR_MEMORY, "fifty million units");
    expect(weft_unit_create_many(UINT32_MAX, nothing, NULL, &attr, NULL), WEFT_ERR_MEMORY, "four billion units");
    if (pools[i] != NULL) expect(weft_pool_free(pools[i]), WEFT_OK, "weft_pool_free");
  }
  expect(weft_unit_create_many(SOME, nothing, NULL, NULL, units), WEFT_OK, "some units");
  expect(weft_unit_free_many(SOME, units), WEFT_OK, "weft_unit_free_many");
  expect(weft_finalize(), WEFT_OK, "weft_finalize");
  return failures != 0;
}
