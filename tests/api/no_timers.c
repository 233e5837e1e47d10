/* Units that spin until another has run give way by their preemption, also where the kernel refuses timers (a filter
 * for system calls), or queues no signal at all. A line says so.
 *
 * no_timers timers|signals */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <weft/weft.h>

#include "../refused_call.h"

enum { units = 9, setter = 4 };

static atomic_int is_set;

static void spin(void* argument) {
  (void)argument;
  while (atomic_load(&is_set) == 0) continue;
}

static void set(void* argument) {
  (void)argument;
  atomic_store(&is_set, 1);
}

static int refuse_timers(void) { return refuse_call(SYS_timer_create); }

static int refuse_signals(void) {
  const struct rlimit none = {0, 0};
  return setrlimit(RLIMIT_SIGPENDING, &none) == 0;
}

/* The line comes from a thread of weft's, when that comes to it: into a pipe, to be waited for and passed on. */
static int passed_on_to;
static int lines;

static int take_lines(void) {
  int ends[2];
  passed_on_to = dup(STDERR_FILENO);
  if (passed_on_to < 0 || pipe(ends) != 0 || dup2(ends[1], STDERR_FILENO) < 0) return 0;
  lines = ends[0];
  return 1;
}

static int pass_on_first_line(void) {
  char text[4096];
  struct pollfd readable = {lines, POLLIN, 0};
  ssize_t length = 0;
  int ready = -1;
  do ready = poll(&readable, 1, 20000);
  while (ready < 0 && errno == EINTR); /* by the last tick of a timer */
  if (ready == 1) length = read(lines, text, sizeof text);
  return length > 0 && write(passed_on_to, text, (size_t)length) == length;
}

int main(int count, char** arguments) {
  weft_unit* unit[units];
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  const int timers = count == 2 && strcmp(arguments[1], "timers") == 0;
  if (!(timers ? refuse_timers() : refuse_signals())) {
    puts("nothing can be refused here; nothing to test");
    return 0;
  }
  if (!take_lines()) return 1;
  attr.preemption = WEFT_PREEMPT_SIGNAL_YIELD;
  if (weft_init() != WEFT_OK) return 1;
  for (int index = 0; index < units; ++index) {
    if (weft_unit_create(index == setter ? set : spin, NULL, &attr, &unit[index]) != WEFT_OK) return 1;
  }
  for (int index = 0; index < units; ++index) {
    if (weft_unit_free(unit[index]) != WEFT_OK) return 1;
  }
  if (!pass_on_first_line()) return 1;
  puts("all have run");
  return weft_finalize() != WEFT_OK;
}
