/* Units on 4 KiB of the caller's own memory, the least that it may be: nothing is written below that, whatever they do
 * first. Each case is a process of its own, where libc binds for the first time what it needs. (Bug: weft_sleep() and
 * whatever else started a thread needed more.) */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
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

/* Threads are refused, and may be had later; and whether one has been made on the small stack itself. */
static int refuses, made_on_small_stack;
static const char* small_stack;

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*entry)(void*), void* argument) {
  const char* const here = __builtin_frame_address(0);
  int (*next)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) = NULL;
  void* const found = dlsym(RTLD_NEXT, "pthread_create");
  memcpy(&next, &found, sizeof next);
  if (small_stack != NULL && here >= small_stack && here < small_stack + SIZE) made_on_small_stack = 1;
  return __atomic_load_n(&refuses, __ATOMIC_RELAXED) ? EAGAIN : next(thread, attributes, entry, argument);
}

static weft_unit *awaited, *joiner;
static int child_runs;
static weft_technique technique_of_child;

static void join_child(void* argument) {
  (void)argument;
  while (!__atomic_load_n(&child_runs, __ATOMIC_ACQUIRE)) usleep(100);
  weft_unit_migrate(joiner, NULL);
  weft_unit_join(awaited);
}

static void end_when_joined(void* argument) {
  (void)argument;
  __atomic_store_n(&child_runs, 1, __ATOMIC_RELEASE);
  while (weft_unit_state(joiner) != WEFT_SUSPENDED) usleep(100);
  usleep(50 * 1000); /* weft tries no earlier again */
  __atomic_store_n(&refuses, 0, __ATOMIC_RELAXED);
}

static void create_child(void* argument) {
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  (void)argument;
  attr.technique = technique_of_child;
  weft_unit_create(end_when_joined, NULL, &attr, &awaited);
}

/* The end of a child, on its creator's small stack, makes its joiner ready, and wants a thread for it. (Bug: that was
 * made on the small stack.) */
static int end_child(weft_technique technique) {
  weft_unit_attr of_joiner = WEFT_UNIT_ATTR_INIT;
  weft_unit_attr of_creator = WEFT_UNIT_ATTR_INIT;
  weft_scheduler* scheduler = NULL;
  weft_worker* worker = NULL;
  weft_unit* creator = NULL;
  char* memory = malloc(SIZE);
  if (memory == NULL) return 1;
  alarm(100);
  technique_of_child = technique;
  if (weft_init() != WEFT_OK || weft_pool_create(WEFT_FIFO, WEFT_MPMC, &of_joiner.pool) != WEFT_OK ||
      weft_scheduler_create(WEFT_BASIC_WAIT, 1, &of_joiner.pool, &scheduler) != WEFT_OK ||
      weft_worker_create(scheduler, &worker) != WEFT_OK ||
      weft_unit_create(join_child, NULL, &of_joiner, &joiner) != WEFT_OK)
    return 1;
  __atomic_store_n(&refuses, 1, __ATOMIC_RELAXED);
  small_stack = memory;
  of_creator.technique = WEFT_FULL;
  of_creator.stack = memory;
  of_creator.stack_size = SIZE;
  if (weft_unit_create(create_child, NULL, &of_creator, &creator) != WEFT_OK) return 1;
  weft_unit_free(creator);
  small_stack = NULL;
  weft_unit_free(joiner);
  weft_unit_free(awaited);
  weft_worker_join(worker);
  free(memory);
  return made_on_small_stack ? OVERWRITTEN : 0;
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

static int end_child_full(void) { return end_child(WEFT_C_FULL); }
static int end_child_roc(void) { return end_child(WEFT_C_ROC); }

/* Whether the process fails that does this alone. */
static int fails_alone(int (*body)(void), const char* what) {
  int status = 1;
  const pid_t child_process = fork();
  if (child_process == 0) _exit(body());
  if (child_process < 0 || waitpid(child_process, &status, 0) != child_process) return 1;
  if (status != 0) printf("%s (%#x)\n", what, (unsigned)status);
  return status != 0;
}

int main(void) {
  static const weft_technique techniques[] = {WEFT_AUTO, WEFT_FULL, WEFT_ROC_L, WEFT_C_FULL, WEFT_C_ROC};
  int failed = fails_alone(keep_handlers, "a signal's handler of the program's: it ends");
  failed |= fails_alone(end_child_full, "C-Full: a thread is made on its creator's stack, or it ends");
  failed |= fails_alone(end_child_roc, "C-RoC: a thread is made on its creator's stack, or it ends");
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
