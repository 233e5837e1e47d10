#include <stdio.h>
#include <weft/weft.h>

static void wait_for_the_signal(void* signal) { weft_flag_wait(signal); }

int main(void) {
  weft_flag signal = WEFT_FLAG_INIT;
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  weft_unit* unit = NULL;
  weft_init();
  attr.name = "the one that waits";
  weft_unit_create(wait_for_the_signal, &signal, &attr, &unit);

  if (weft_unit_timed_join(unit, 1000 * 1000 * 1000) == WEFT_ERR_TIMEOUT) puts("not done in a second; there are:");
  weft_unit_info infos[8];
  size_t there = weft_units(infos, 8); /* perhaps more than have room */
  for (size_t i = 0; i < there && i < 8; ++i)
    printf("%s, %s\n", infos[i].name, infos[i].state == WEFT_SUSPENDED ? "suspended" : "not suspended");

  weft_flag_set(&signal);
  weft_unit_free(unit);
  printf("%zu are left\n", weft_units(NULL, 0));
  return weft_finalize();
}
