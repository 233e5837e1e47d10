/* Prints where the members of regions are, one line each: place_probe THREADS. places_test.py compares. */
#include "check.h"

static void show(const char* region) {
  char line[8192];
  int end = snprintf(line, sizeof line, "%s %d/%d: place %d, bind %d, partition", region, omp_get_thread_num(),
                     omp_get_num_threads(), omp_get_place_num(), (int)omp_get_proc_bind());
  const int count = omp_get_partition_num_places();
  int* numbers = (int*)calloc((size_t)count + 1, sizeof(int));
  omp_get_partition_place_nums(numbers);
  for (int i = 0; i < count; ++i) end += snprintf(line + end, sizeof line - (size_t)end, " %d", numbers[i]);
  free(numbers);
  puts(line);
}

/* Members one after the other, so that the lines have an order. */
#define SHOW_ALL(name)                                                                             \
  _Pragma("omp for ordered schedule(static, 1)") for (int i = 0; i < omp_get_num_threads(); ++i) { \
    _Pragma("omp ordered") show(name);                                                             \
  }

int main(int argc, char** argv) {
  check_runtime();
  const int threads = argc > 1 ? atoi(argv[1]) : 2;
  printf("procs %d\n", omp_get_num_procs());
  for (int place = 0; place < omp_get_num_places(); ++place) {
    const int count = omp_get_place_num_procs(place);
    int* ids = (int*)calloc((size_t)count + 1, sizeof(int));
    omp_get_place_proc_ids(place, ids);
    printf("place %d:", place);
    for (int i = 0; i < count; ++i) printf(" %d", ids[i]);
    puts("");
    free(ids);
  }
  show("serial");
#pragma omp parallel num_threads(threads)
  {SHOW_ALL("plain")
#pragma omp barrier
       SHOW_ALL("after a barrier")}
#pragma omp parallel num_threads(threads) proc_bind(spread)
  SHOW_ALL("spread")
#pragma omp parallel num_threads(threads) proc_bind(close)
      SHOW_ALL("close")
#pragma omp parallel num_threads(threads) proc_bind(primary)
          SHOW_ALL("primary")
#pragma omp parallel num_threads(3) proc_bind(spread)
#pragma omp for ordered schedule(static, 1)
              for (int i = 0; i < omp_get_num_threads(); ++i) {
#pragma omp ordered
    {
#pragma omp parallel num_threads(threads) proc_bind(close)
      SHOW_ALL("close in spread")
#pragma omp parallel num_threads(threads)
      SHOW_ALL("plain in spread")
    }
  }
  show("serial");
  return 0;
}
