/* hwloc is not loaded with libweft, nor when it starts, nor by workers that are bound to no CPU; it is, if it is
 * installed, once a bound worker has several others to steal from. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

enum { workers = 3, units = 300 };

static int is_loaded(void) {
  char line[1024];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) return -1;
  while (fgets(line, sizeof line, maps) != NULL) found = found || strstr(line, "libhwloc.so") != NULL;
  fclose(maps);
  return found;
}

/* Asked in a process of its own. */
static int is_installed(void) {
  int status = 1;
  const pid_t child = fork();
  if (child == 0) _exit(dlopen("libhwloc.so.15", RTLD_NOW) != NULL ? 0 : 1);
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void work(void* argument) {
  (void)argument;
  weft_yield();
}

static int run_units(weft_pool* pool) {
  weft_unit* all[units];
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.pool = pool;
  if (weft_unit_create_many(units, work, NULL, &attr, all) != WEFT_OK) return 1;
  return weft_unit_free_many(units, all) != WEFT_OK;
}

int main(void) {
  weft_pool* pools[workers];
  weft_scheduler* schedulers[workers];
  weft_worker* all[workers];
  cpu_set_t allowed;
  int cpu = -1;
  const int installed = is_installed();
  if (is_loaded() != 0) return puts("hwloc is loaded with the library"), 1;
  sched_getaffinity(0, sizeof allowed, &allowed);
  if (weft_init() != WEFT_OK || run_units(NULL) != 0) return 2;
  for (int i = 0; i < workers; ++i)
    if (weft_pool_create(WEFT_FIFO, WEFT_MPMC, &pools[i]) != WEFT_OK) return 3;
  for (int i = 0; i < workers; ++i) {
    weft_pool* own_first[] = {pools[i], pools[(i + 1) % workers], pools[(i + 2) % workers]};
    if (weft_scheduler_create(WEFT_RANDOM_WS, workers, own_first, &schedulers[i]) != WEFT_OK) return 4;
    if (weft_worker_create(schedulers[i], &all[i]) != WEFT_OK) return 5;
  }
  for (int round = 0; round < 10; ++round)
    if (run_units(pools[0]) != 0) return 6;
  if (is_loaded() != 0) return puts("hwloc is loaded for workers that are not bound"), 7;

  for (int i = 0; i < workers; ++i) {
    do cpu = (cpu + 1) % CPU_SETSIZE;
    while (!CPU_ISSET((size_t)cpu, &allowed));
    if (weft_worker_bind(all[i], cpu) != WEFT_OK) return 8;
  }
  /* By a thread of its own, which may have no CPU for a while. (Bug: it had a second or two.) */
  for (int round = 0; round < (installed ? 30000 : 1000) && is_loaded() == 0; ++round) {
    if (run_units(pools[round % workers]) != 0) return 9;
    usleep(1000);
  }
  for (int round = 0; round < 100; ++round) /* now by distance */
    if (run_units(pools[round % workers]) != 0) return 10;
  if (is_loaded() == 0 && installed) return puts("hwloc has not been loaded"), 11;
  for (int i = 0; i < workers; ++i)
    if (weft_worker_join(all[i]) != WEFT_OK || weft_scheduler_free(schedulers[i]) != WEFT_OK) return 12;
  for (int i = 0; i < workers; ++i)
    if (weft_pool_free(pools[i]) != WEFT_OK) return 13;
  return weft_finalize();
}
