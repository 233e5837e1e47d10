/* What `weft ctl` is tried on: creates units that compute until somebody closes its standard input. With "deaf" it has
 * a handler of its own for the signal; with "late" it does not use weft before a line has come. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>
#include <weft/weft.h>

static void own_handler(int number) { (void)number; }

static void compute(void* argument) {
  volatile unsigned* count = argument;
  for (int i = 0; i < 100000; ++i) ++*count;
}

static void tell(const char* text) {
  puts(text);
  fflush(stdout);
}

int main(int count, char** arguments) {
  unsigned counts[64] = {0};
  weft_unit* units[64];
  char line[16];
  if (count > 1 && strcmp(arguments[1], "deaf") == 0) signal(SIGURG, own_handler);
  if (count > 1 && strcmp(arguments[1], "late") == 0) {
    tell("not yet");
    if (read(0, line, sizeof line) <= 0) return 1;
  }
  if (weft_init() != WEFT_OK) return 1;
  tell("ready");
  for (;;) {
    for (int i = 0; i < 64; ++i)
      if (weft_unit_create(compute, &counts[i], NULL, &units[i]) != WEFT_OK) return 1;
    if (weft_unit_free_many(64, units) != WEFT_OK) return 1;
    fd_set none;
    struct timeval at_once = {0, 0};
    FD_ZERO(&none);
    FD_SET(0, &none);
    if (select(1, &none, NULL, NULL, &at_once) > 0) break;
  }
  return weft_finalize();
}
