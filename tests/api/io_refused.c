/* Where the kernel refuses an io_uring, as in many containers, threads wait instead; if one was asked for, a line says
 * so. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <weft/io.h>

#include "../refused_call.h"

static int files[2];

static void write_later(void* argument) {
  size_t* count = argument;
  weft_sleep(20 * 1000 * 1000); /* so that the reader waits by then, mostly */
  weft_write(files[1], "hello", 5, count);
}

int main(void) {
  weft_unit* unit = NULL;
  char bytes[8];
  size_t written = 0, count = 0;
  if (!refuse_call(SYS_io_uring_setup)) {
    puts("no filter for system calls here; nothing to test");
    return 0;
  }
  if (pipe(files) != 0 || weft_init() != WEFT_OK) return 1;
  /* Waits in vain, where that does not come too late. (Bug: the only wait was that for the unit, which may have written
   * before on a busy machine; then nobody asked for an io_uring.) */
  for (int round = 0; round < 10; ++round)
    if (weft_timed_read(files[0], bytes, sizeof bytes, 30 * 1000 * 1000, &count) != WEFT_ERR_TIMEOUT) return 1;
  if (weft_unit_create(write_later, &written, NULL, &unit) != WEFT_OK) return 1;
  if (weft_read(files[0], bytes, sizeof bytes, &count) != WEFT_OK || count != 5) {
    puts("what was written was not read");
    return 1;
  }
  weft_unit_free(unit);
  puts(written == 5 ? "served" : "not all was written");
  return weft_finalize();
}
