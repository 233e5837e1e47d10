/* kmp_set_defaults: what the environment could have said, for the calling thread and for threads to come. */
#include <limits.h>
#include <pthread.h>

#include "check.h"

static void* in_another_thread(void* unused) {
  (void)unused;
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  CHECK_EQ(kind, omp_sched_guided);
  CHECK_EQ(chunk, 7);
  CHECK_EQ(omp_get_max_threads(), 5);
  return NULL;
}

/* Before the first region. */
static void early(void) {
  kmp_set_defaults("OMP_STACKSIZE=3m|OMP_CANCELLATION=true");
  CHECK_EQ(kmp_get_stacksize_s(), 3 << 20);
  CHECK_EQ(omp_get_cancellation(), 1);
}

static void late(void) {
  int members = 0;
#pragma omp parallel num_threads(4)
  {
    check_add(&members, 1);
#pragma omp cancel parallel if (omp_get_thread_num() == 0)
#pragma omp barrier
    check_add(&members, 100);
  }
  CHECK_LE(members, 304); /* the one that cancels leaves */

  omp_set_num_threads(2);
  kmp_set_defaults(" OMP_NUM_THREADS = 5 |OMP_SCHEDULE=guided,7");
  CHECK_EQ(omp_get_max_threads(), 5);
  in_another_thread(NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, in_another_thread, NULL);
  pthread_join(thread, NULL);
#pragma omp parallel
  CHECK_EQ(omp_get_num_threads(), 5);

  kmp_set_defaults("OMP_NUM_THREADS=3,2|OMP_MAX_ACTIVE_LEVELS=2");
#pragma omp parallel
  {
    CHECK_EQ(omp_get_num_threads(), 3);
#pragma omp parallel
    CHECK_EQ(omp_get_num_threads(), 2);
  }
  kmp_set_defaults("KMP_BLOCKTIME=77");
  CHECK_EQ(kmp_get_blocktime(), 77);
  kmp_set_defaults("KMP_BLOCKTIME=infinite|OMP_MAX_TASK_PRIORITY=9|OMP_DYNAMIC=true");
  CHECK_EQ(kmp_get_blocktime(), INT_MAX);
  CHECK_EQ(omp_get_max_task_priority(), 9);
  CHECK_EQ(omp_get_dynamic(), 1);
  kmp_set_defaults("OMP_WAIT_POLICY=passive|OMP_NESTED=false|OMP_NUM_TEAMS=6|OMP_AFFINITY_FORMAT=%n of %N");
  CHECK_EQ(kmp_get_blocktime(), 0);
  CHECK_EQ(omp_get_max_active_levels(), 1);
  CHECK_EQ(omp_get_max_teams(), 6);
  char format[32];
  CHECK_EQ(omp_get_affinity_format(format, sizeof format), 8);
  CHECK(strcmp(format, "%n of %N") == 0);
}

/* What cannot be used is named in a line, and changes nothing. */
static void wrong(void) {
  static const char* const texts[] = {"OMP_NUM_THREADS=none", "OMP_NUM_THREADS",  "=4",
                                      "NONSENSE=4",           "KMP_STACKSIZE=5m", "OMP_STACKSIZE=5m",
                                      "OMP_PLACES=threads",   "KMP_BLOCKTIME=-3", "OMP_CANCELLATION=false"};
  static const char* const silent[] = {"", "|", " | |"};
  char path[] = "/tmp/set_defaults_XXXXXX", line[256];
  fflush(stderr);
  const int kept = dup(2), file = mkstemp(path);
  unlink(path);
  dup2(file, 2);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) kmp_set_defaults(texts[i]);
  for (size_t i = 0; i < sizeof silent / sizeof *silent; ++i) kmp_set_defaults(silent[i]);
  dup2(kept, 2);
  FILE* said = fdopen(file, "r+");
  rewind(said);
  size_t lines = 0;
  for (; fgets(line, sizeof line, said) != NULL; ++lines) CHECK(strstr(line, "not used") != NULL);
  CHECK_EQ(lines, sizeof texts / sizeof *texts);
  fclose(said);
  CHECK_EQ(omp_get_max_threads(), 3);
  CHECK_EQ(kmp_get_stacksize_s(), 3 << 20);
  CHECK_EQ(kmp_get_blocktime(), 0);
  CHECK_EQ(omp_get_cancellation(), 1);
}

int main(void) {
  check_runtime();
  early();
  late();
  wrong();
  return check_finish();
}
