// Sees the regions of libraries that LLVM's or Intel's compilers have built, beside those that regions_seen.h sees: the
// program's own __kmpc_fork_call stands before the runtime's. It counts, if counting is on, and goes on to the
// runtime's, which must be the one that GOMP_parallel comes from.
#ifndef WEFT_BENCH_REGIONS_SEEN_KMPC_H
#define WEFT_BENCH_REGIONS_SEEN_KMPC_H

#include "regions_seen.h"

// Arguments beyond those that a function takes are not looked at (the callers' registers and stack hold them), so all
// are handed over always.
enum { KMPC_ARGUMENTS = 24 };

typedef void (*KmpcMicrotask)(int32_t*, int32_t*, ...);
typedef void (*KmpcForkCall)(void*, int32_t, KmpcMicrotask, ...);

typedef struct {
  KmpcMicrotask function;
  void* argument[KMPC_ARGUMENTS];
  int level;
} SeenKmpcRegion;

#define ALL_OF(a)                                                                                                     \
  (a)[0], (a)[1], (a)[2], (a)[3], (a)[4], (a)[5], (a)[6], (a)[7], (a)[8], (a)[9], (a)[10], (a)[11], (a)[12], (a)[13], \
      (a)[14], (a)[15], (a)[16], (a)[17], (a)[18], (a)[19], (a)[20], (a)[21], (a)[22], (a)[23]

static KmpcForkCall runtime_fork_call;  // NULL: the runtime has none

__attribute__((constructor)) static void find_runtime_fork_call(void) {
  void* symbol = dlsym(RTLD_NEXT, "__kmpc_fork_call");
  memcpy(&runtime_fork_call, &symbol, sizeof symbol);
}

// Whether both kinds of entry points lead to one runtime: a library may have loaded another one behind it.
static bool is_one_runtime(void) {
  Dl_info info;
  char path[PATH_MAX];
  void* symbol = NULL;
  memcpy(&symbol, &runtime_fork_call, sizeof symbol);
  return symbol && dladdr(symbol, &info) && realpath(info.dli_fname, path) && strcmp(path, runtime_path()) == 0;
}

static void seen_kmpc_member(int32_t* thread, int32_t* bound, ...) {
  va_list arguments;
  va_start(arguments, bound);
  const SeenKmpcRegion* region = va_arg(arguments, const SeenKmpcRegion*);
  va_end(arguments);
  see_member(region->level);
  region->function(thread, bound, ALL_OF(region->argument));
}

__attribute__((visibility("default"))) void __kmpc_fork_call(void* where, int32_t count, KmpcMicrotask function, ...);

void __kmpc_fork_call(void* where, int32_t count, KmpcMicrotask function, ...) {
  SeenKmpcRegion region = {.function = function, .level = 0};
  if (!runtime_fork_call) fail("a library wants __kmpc_fork_call, which this runtime does not have");
  if (count > KMPC_ARGUMENTS) fail("a region with %d arguments: at most %d are handed over", count, KMPC_ARGUMENTS);
  va_list arguments;
  va_start(arguments, function);
  for (int i = 0; i < count; i++) region.argument[i] = va_arg(arguments, void*);
  va_end(arguments);
  if (!atomic_load_explicit(&seen.counting, memory_order_relaxed)) {
    runtime_fork_call(where, count, function, ALL_OF(region.argument));
    return;
  }
  region.level = see_region();
  runtime_fork_call(where, 1, seen_kmpc_member, &region);
}

#endif
