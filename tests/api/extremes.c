// Very many units at once: extremes CASE NUMBER, where CASE is
//   pending    units that have not started, in one pool, of each order in turn
//   suspended  units that wait, each on memory of the program's own
//   stacks     units that wait, each on a stack of weft's
// All of them are then run to their end, joined and freed. If the machine has not what the number takes (a page for
// each stack, mappings for each of weft's), it is as many as it has; the last line says how many.
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <weft/weft.h>

enum { own_stack = 8192, page = 4096, descriptor = 128 };

static _Atomic size_t arrived;
static _Atomic size_t ended;

static void must(int holds, const char* what) {
  if (holds) return;
  printf("%s does not hold; %zu arrived, %zu ended\n", what, arrived, ended);
  exit(1);
}
#define MUST(what) must((what) ? 1 : 0, #what)

static size_t number_in(const char* path, const char* key) {
  char line[256];
  size_t number = 0;
  FILE* file = fopen(path, "r");
  MUST(file != NULL);
  while (number == 0 && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, key, strlen(key)) == 0) number = strtoul(line + strlen(key), NULL, 10);
  fclose(file);
  return number;
}

// At most half of what is free.
static size_t fitting(size_t wanted, size_t bytes_each) {
  const size_t most = number_in("/proc/meminfo", "MemAvailable:") * 1024 / 2 / bytes_each;
  return wanted < most ? wanted : most;
}

// Linux 6.13: guards that are no mappings of their own, so that neighbouring stacks are one mapping.
static int has_light_guards(void) {
  const int guard_install = 102;
  void* memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(memory != MAP_FAILED);
  const int light = madvise(memory, page, guard_install) == 0;
  munmap(memory, page);
  return light;
}

static void count(void* number) {
  (void)number;
  atomic_fetch_add(&ended, 1);
}

static void wait_and_count(void* number) {
  atomic_fetch_add(&arrived, 1);
  if (weft_suspend() == WEFT_OK) count(number);
}

static void free_all(size_t number, weft_unit** units) {
  MUST(weft_unit_join_many(number, units) == WEFT_OK);
  MUST(ended == number);
  for (size_t i = 0; i < number; ++i) MUST(weft_unit_state(units[i]) == WEFT_DONE);
  MUST(weft_unit_free_many(number, units) == WEFT_OK);
}

static void run_pending(size_t number, weft_unit** units, weft_order order) {
  weft_pool* pool = NULL;
  weft_scheduler* schedulers[2];
  weft_worker* worker = NULL;
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  const size_t half = number / 2;
  ended = 0;
  MUST(weft_pool_create(order, WEFT_MPMC, &pool) == WEFT_OK);
  attr.pool = pool;
  MUST(weft_unit_create_many(half, count, NULL, &attr, units) == WEFT_OK);
  for (size_t i = half; i < number; ++i) {
    attr.priority = (int)(i % 1000);
    MUST(weft_unit_create(count, NULL, &attr, &units[i]) == WEFT_OK);
  }
  MUST(weft_pool_size(pool) == number && ended == 0);
  for (int i = 0; i < 2; ++i) MUST(weft_scheduler_create(WEFT_BASIC_WAIT, 1, &pool, &schedulers[i]) == WEFT_OK);
  MUST(weft_worker_create(schedulers[0], &worker) == WEFT_OK);
  MUST(weft_worker_set_scheduler(weft_worker_self(), schedulers[1]) == WEFT_OK);
  free_all(number, units);
  MUST(weft_worker_set_scheduler(weft_worker_self(), NULL) == WEFT_OK);
  MUST(weft_worker_join(worker) == WEFT_OK);
  for (int i = 0; i < 2; ++i) MUST(weft_scheduler_free(schedulers[i]) == WEFT_OK);
  MUST(weft_pool_free(pool) == WEFT_OK);
}

static void run_suspended(size_t number, weft_unit** units, char* stacks) {
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  for (size_t i = 0; i < number; ++i) {
    attr.technique = i % 2 == 0 ? WEFT_ROC_L : WEFT_FULL_L;
    attr.stack_size = stacks != NULL ? own_stack : 64UL << 10U;
    if (stacks != NULL) attr.stack = stacks + i * own_stack;
    MUST(weft_unit_create(wait_and_count, NULL, &attr, &units[i]) == WEFT_OK);
  }
  for (size_t i = 0; i < number; ++i)
    while (weft_unit_state(units[i]) != WEFT_SUSPENDED) MUST(weft_yield() == WEFT_OK);
  MUST(arrived == number && ended == 0);
  for (size_t i = 0; i < number; ++i) MUST(weft_resume(units[i]) == WEFT_OK);
  free_all(number, units);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  size_t number = strtoul(argv[2], NULL, 10);
  MUST(weft_init() == WEFT_OK);
  if (strcmp(argv[1], "pending") == 0) {
    number = fitting(number, descriptor + 5 * sizeof(void*));
    weft_unit** units = malloc(number * sizeof *units);
    MUST(units != NULL);
    for (int order = WEFT_FIFO; order <= WEFT_DEQUE; ++order) run_pending(number, units, (weft_order)order);
    free(units);
  } else {
    const int own = strcmp(argv[1], "suspended") == 0;
    number = fitting(number, page + descriptor + 4 * sizeof(void*));
    const size_t mappings = number_in("/proc/sys/vm/max_map_count", "");
    const size_t most = (mappings - mappings / 4) / 2;  // a stack and its guard
    if (!own && !has_light_guards() && number > most) number = most;
    weft_unit** units = malloc(number * sizeof *units);
    char* stacks = NULL;
    if (own) {
      stacks =
          mmap(NULL, number * own_stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      MUST(stacks != MAP_FAILED);
      madvise(stacks, number * own_stack, MADV_NOHUGEPAGE);
    }
    MUST(units != NULL);
    run_suspended(number, units, stacks);
    if (own) munmap(stacks, number * own_stack);
    free(units);
  }
  MUST(weft_finalize() == WEFT_OK);
  printf("%s: %zu at once\n", argv[1], number);
  return 0;
}
