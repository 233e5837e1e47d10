/* Units that spin until another has run give way by their preemption, also where the kernel refuses timers (a filter
 * for system calls), or queues no signal at all. A line says so.
 *
 * no_timers timers|signals */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
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

int main(int count, char** arguments) {
  weft_unit* unit[units];
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  const int timers = count == 2 && strcmp(arguments[1], "timers") == 0;
  if (!(timers ? refuse_timers() : refuse_signals())) {
    puts("nothing can be refused here; nothing to test");
    return 0;
  }
  attr.preemption = WEFT_PREEMPT_SIGNAL_YIELD;
  if (weft_init() != WEFT_OK) return 1;
  for (int index = 0; index < units; ++index) {
    if (weft_unit_create(index == setter ? set : spin, NULL, &attr, &unit[index]) != WEFT_OK) return 1;
  }
  for (int index = 0; index < units; ++index) {
    if (weft_unit_free(unit[index]) != WEFT_OK) return 1;
  }
  weft_sleep(30 * 1000 * 1000); /* the line has been written by then */
  puts("all have run");
  return weft_finalize() != WEFT_OK;
}
