/* Units on 4 KiB of the caller's own memory, the least that it may be: nothing is written below that, whatever they do
 * first. Each case is a process of its own, where libc binds for the first time what it needs. (Bug: weft_sleep() and
 * whatever else started a thread needed more.) */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/io.h>
#include <weft/weft.h>

enum { BELOW = 64 * 1024, SIZE = 4096, MARK = 0xa5, OVERWRITTEN = 2 };

static void nothing(void* argument) { (void)argument; }
static void yield_once(void* argument) {
  (void)argument;
  weft_yield();
}

static void sleep_a_little(void* argument) {
  (void)argument;
  weft_sleep(1000);
}

static void wait_in_vain(void* argument) {
  weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(0);
  (void)argument;
  weft_semaphore_timed_acquire(&semaphore, 1000);
}

static void create_others(void* argument) {
  weft_unit* units[4];
  (void)argument;
  weft_unit_create_many(4, yield_once, NULL, NULL, units);
  weft_unit_free_many(4, units);
}

/* Each wants an identity of its own. */
static void create_others_with_storage(void* argument) {
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  weft_unit* units[4];
  (void)argument;
  attr.flags = WEFT_OWN_TLS;
  weft_unit_create_many(4, yield_once, NULL, &attr, units);
  weft_unit_free_many(4, units);
}

static void create_preemptive(void* argument) {
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  weft_unit* unit = NULL;
  (void)argument;
  attr.preemption = WEFT_PREEMPT_KLT_SWITCH;
  weft_unit_create(yield_once, NULL, &attr, &unit);
  weft_unit_free(unit);
}

static void block(void* argument) {
  (void)argument;
  weft_blocking(nothing, NULL);
}

static void write_into_pipe(void* argument) {
  int ends[2];
  size_t count = 0;
  (void)argument;
  if (pipe(ends) == 0) weft_write(ends[1], "x", 1, &count);
}

static void make_worker(void* argument) {
  weft_pool* pool = NULL;
  weft_scheduler* scheduler = NULL;
  weft_worker* worker = NULL;
  (void)argument;
  weft_pool_create(WEFT_FIFO, WEFT_MPMC, &pool);
  weft_scheduler_create(WEFT_BASIC_WAIT, 1, &pool, &scheduler);
  weft_worker_create(scheduler, &worker);
  weft_worker_join(worker);
}

static const struct {
  const char* name;
  void (*body)(void*);
} cases[] = {
    {"yield", yield_once},
    {"sleep", sleep_a_little},
    {"timed wait", wait_in_vain},
    {"units", create_others},
    {"units with thread-local storage", create_others_with_storage},
    {"preemptive unit", create_preemptive},
    {"blocking call", block},
    {"write", write_into_pipe},
    {"worker", make_worker},
};

static int attempt(void (*body)(void*), weft_technique technique) {
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  weft_unit* unit = NULL;
  unsigned char* memory = malloc(BELOW + SIZE);
  if (memory == NULL) return 1;
  memset(memory, MARK, BELOW + SIZE);
  alarm(100);
  attr.technique = technique;
  attr.stack = memory + BELOW;
  attr.stack_size = SIZE;
  if (weft_init() != WEFT_OK || weft_unit_create(body, NULL, &attr, &unit) != WEFT_OK) return 1;
  weft_unit_free(unit);
  for (int index = 0; index < BELOW; ++index)
    if (memory[index] != MARK) return OVERWRITTEN;
  free(memory);
  return 0;
}

static void of_program(int number) { (void)number; }

/* A small stack makes weft take its signal, if it still is weft's. (Bug: the program's handler was overwritten.) */
static int keep_handlers(void) {
  struct sigaction action;
  if (weft_init() != WEFT_OK) return 1;
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) signal(number, of_program);
  if (attempt(yield_once, WEFT_FULL) != 0) return 1;
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number)
    if (sigaction(number, NULL, &action) != 0 || action.sa_handler != of_program) return 1;
  return 0;
}

int main(void) {
  static const weft_technique techniques[] = {WEFT_AUTO, WEFT_FULL, WEFT_ROC_L, WEFT_C_FULL, WEFT_C_ROC};
  int failed = 0;
  const pid_t keeper = fork();
  if (keeper == 0) _exit(keep_handlers());
  if (keeper < 0 || waitpid(keeper, &failed, 0) != keeper) return 1;
  if (failed != 0) printf("a signal's handler of the program's: it ends (%#x)\n", (unsigned)failed);
  for (size_t which = 0; which < sizeof cases / sizeof *cases; ++which)
    for (size_t index = 0; index < sizeof techniques / sizeof *techniques; ++index) {
      int status = 0;
      const pid_t child = fork();
      if (child == 0) _exit(attempt(cases[which].body, techniques[index]));
      if (child < 0 || waitpid(child, &status, 0) != child) return 1;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
      const int overwritten = WIFEXITED(status) && WEXITSTATUS(status) == OVERWRITTEN;
      printf("%s, %s: %s (%#x)\n", cases[which].name, weft_technique_name(techniques[index]),
             overwritten ? "memory below the stack is overwritten" : "it ends", (unsigned)status);
      failed = 1;
    }
  return failed != 0;
}
