// A library whose constructor opens a region, a while after it has begun (loading.c).
#include <omp.h>
#include <stdatomic.h>
#include <unistd.h>

atomic_int members_of_constructor;

__attribute__((constructor)) static void open_region(void) {
  usleep(200 * 1000);
#pragma omp parallel num_threads(4)
  atomic_fetch_add(&members_of_constructor, 1);
}
