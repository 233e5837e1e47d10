// Sees the parallel regions that a library opens, on whatever runtime is loaded.
//
// The program's own GOMP_parallel stands before every library's in the dynamic linker's search order, so
// calls of FFTW, BLIS and OpenBLAS come here first. It counts, if counting is on, regions and members by
// nesting level, and goes on to the runtime's. Include this in one file of a program that is linked with
// -rdynamic.
#ifndef WEFT_BENCH_REGIONS_SEEN_H
#define WEFT_BENCH_REGIONS_SEEN_H

#include <omp.h>
#include <stdatomic.h>

#include "common.h"

enum { SEEN_LEVELS = 4 };

typedef void (*GompParallel)(void (*)(void*), void*, unsigned, unsigned);

static struct {
  atomic_bool counting;
  atomic_long regions[SEEN_LEVELS];  // opened at this level: 0 is an outermost region
  atomic_long members[SEEN_LEVELS];  // that really ran in those
  atomic_int widest[SEEN_LEVELS];    // the largest team among those
} seen;

typedef struct {
  void (*function)(void*);
  void* data;
  int level;
} SeenRegion;

static GompParallel runtime_parallel;

__attribute__((constructor)) static void find_runtime_parallel(void) {
  void* symbol = dlvsym(RTLD_NEXT, "GOMP_parallel", "GOMP_4.0");
  if (!symbol) symbol = dlsym(RTLD_NEXT, "GOMP_parallel");
  if (!symbol) fail("no OpenMP runtime with GOMP_parallel is loaded");
  memcpy(&runtime_parallel, &symbol, sizeof symbol);
}

// A region is about to be opened; at which level.
static int see_region(void) {
  const int level = omp_get_level() < SEEN_LEVELS ? omp_get_level() : SEEN_LEVELS - 1;
  atomic_fetch_add(&seen.regions[level], 1);
  return level;
}

static void see_member(int level) {
  const int width = omp_get_num_threads();
  int widest = atomic_load(&seen.widest[level]);
  while (width > widest && !atomic_compare_exchange_weak(&seen.widest[level], &widest, width)) {
  }
  atomic_fetch_add(&seen.members[level], 1);
}

static void seen_member(void* argument) {
  const SeenRegion* region = argument;
  see_member(region->level);
  region->function(region->data);
}

__attribute__((visibility("default"))) void GOMP_parallel(void (*function)(void*), void* data, unsigned threads,
                                                          unsigned flags);

void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags) {
  if (!atomic_load_explicit(&seen.counting, memory_order_relaxed)) {
    runtime_parallel(function, data, threads, flags);
    return;
  }
  SeenRegion region = {function, data, see_region()};
  runtime_parallel(seen_member, &region, threads, flags);
}

static void count_regions(bool on) {
  if (on) {
    for (int i = 0; i < SEEN_LEVELS; i++) {
      atomic_store(&seen.regions[i], 0);
      atomic_store(&seen.members[i], 0);
      atomic_store(&seen.widest[i], 0);
    }
  }
  atomic_store(&seen.counting, on);
}

// Whether the last counted run opened inner teams of `inner` members, or none if `inner` is 1.
static bool inner_level_opened(int inner) {
  const long regions = atomic_load(&seen.regions[1]), members = atomic_load(&seen.members[1]);
  if (inner == 1) return members == regions;  // teams of one member are no teams
  return regions > 0 && members == regions * inner && atomic_load(&seen.widest[1]) == inner;
}

static const char* seen_checks(void) {
  return text("\"inner_regions\": %ld, \"inner_members\": %ld, \"inner_team\": %d", atomic_load(&seen.regions[1]),
              atomic_load(&seen.members[1]), atomic_load(&seen.widest[1]));
}

#endif
