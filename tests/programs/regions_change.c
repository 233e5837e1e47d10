// Regions whose number of threads changes from one to the next: 1 to 32 and back, again and again. Prints sums that do
// not depend on the runtime, and whether the process has grown; the seconds on standard error.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long resident_pages(void) {
  long size = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2) exit(2);
  fclose(file);
  return resident;
}

static long round_of_regions(void) {
  static const int sizes[] = {1, 2, 32, 3, 16, 4, 8, 5, 32, 1, 24, 2};
  long sum = 0;
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
#pragma omp parallel num_threads(sizes[k]) reduction(+ : sum)
    sum += omp_get_thread_num() + omp_get_num_threads();
  }
  return sum;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 200;
  long sum = 0;
  for (int r = 0; r < 20; r++) sum += round_of_regions();
  const long before = resident_pages();
  const double start = omp_get_wtime();
  for (int r = 0; r < rounds; r++) sum += round_of_regions();
  fprintf(stderr, "seconds regions_change %.4f\n", omp_get_wtime() - start);
  const long grown = (resident_pages() - before) * (sysconf(_SC_PAGESIZE) / 1024);
  printf("sum %ld\ngrown_by_megabytes %d\n", sum, grown > 20000 ? (int)(grown / 1024) : 0);
  return 0;
}
