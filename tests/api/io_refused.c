/* Where the kernel refuses an io_uring, as in many containers, threads wait instead; if one was asked for, a line says
 * so. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <weft/io.h>

static int files[2];

static void write_later(void* argument) {
  size_t* count = argument;
  weft_sleep(300 * 1000 * 1000); /* so that the reader waits by then, on a busy machine too */
  weft_write(files[1], "hello", 5, count);
}

static int refuse_io_uring(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(void) {
  weft_unit* unit = NULL;
  char bytes[8];
  size_t written = 0, count = 0;
  if (!refuse_io_uring()) {
    puts("no filter for system calls here; nothing to test");
    return 0;
  }
  if (pipe(files) != 0 || weft_init() != WEFT_OK || weft_unit_create(write_later, &written, NULL, &unit) != WEFT_OK)
    return 1;
  if (weft_read(files[0], bytes, sizeof bytes, &count) != WEFT_OK || count != 5) {
    puts("what was written was not read");
    return 1;
  }
  weft_unit_free(unit);
  puts(written == 5 ? "served" : "not all was written");
  return weft_finalize();
}
