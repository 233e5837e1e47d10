// A library to be preloaded before the OpenMP runtime: it sees each parallel region that gcc-compiled code
// opens, and writes at the end, as lines added to the file that WITNESS names, which runtime served them and
// what was opened:
//
//   runtime /path/libgomp.so.1
//   level N regions R members M
//
// where N is the number of regions around the region that was opened.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { levels = 8 };
static atomic_long regions[levels];
static atomic_long members[levels];

typedef int Query(void);

typedef void Function(void);

static Function* next(const char* name, const char* version) {
  void* const address = dlvsym(RTLD_NEXT, name, version);
  if (!address) {
    fprintf(stderr, "witness: there is no %s behind this library\n", name);
    abort();
  }
  return (Function*)(uintptr_t)address;
}

static int ask(const char* name, const char* version) { return ((Query*)next(name, version))(); }

struct Region {
  void (*function)(void*);
  void* data;
  int level;
};

static int enter(void) {
  const int level = ask("omp_get_level", "OMP_3.0");
  const int kept = level < levels ? level : levels - 1;
  atomic_fetch_add(&regions[kept], 1);
  return kept;
}

static void member(void* data) {
  const struct Region* region = data;
  atomic_fetch_add(&members[region->level], 1);
  region->function(region->data);
}

#define REGION \
  { function, data, enter() }

// One wrapper for each way to open a region.
typedef void Parallel(void (*)(void*), void*, unsigned, unsigned);
void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags);
void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags) {
  struct Region region = REGION;
  ((Parallel*)next("GOMP_parallel", "GOMP_4.0"))(member, &region, threads, flags);
}

typedef unsigned Reductions(void (*)(void*), void*, unsigned, unsigned);
unsigned GOMP_parallel_reductions(void (*function)(void*), void* data, unsigned threads, unsigned flags);
unsigned GOMP_parallel_reductions(void (*function)(void*), void* data, unsigned threads, unsigned flags) {
  // The runtime reads the reductions from the data, so function and data are handed on as they are.
  const int level = enter();
  const unsigned count = ((Reductions*)next("GOMP_parallel_reductions", "GOMP_5.0"))(function, data, threads, flags);
  atomic_fetch_add(&members[level], count);
  return count;
}

typedef void Sections(void (*)(void*), void*, unsigned, unsigned, unsigned);
void GOMP_parallel_sections(void (*function)(void*), void* data, unsigned threads, unsigned count, unsigned flags);
void GOMP_parallel_sections(void (*function)(void*), void* data, unsigned threads, unsigned count, unsigned flags) {
  struct Region region = REGION;
  ((Sections*)next("GOMP_parallel_sections", "GOMP_4.0"))(member, &region, threads, count, flags);
}

#define LOOP_WITH_CHUNK(name, version)                                                                          \
  void name(void (*function)(void*), void* data, unsigned threads, long start, long end, long step, long chunk, \
            unsigned flags);                                                                                    \
  void name(void (*function)(void*), void* data, unsigned threads, long start, long end, long step, long chunk, \
            unsigned flags) {                                                                                   \
    typedef void Loop(void (*)(void*), void*, unsigned, long, long, long, long, unsigned);                      \
    struct Region region = REGION;                                                                              \
    ((Loop*)next(#name, version))(member, &region, threads, start, end, step, chunk, flags);                    \
  }

#define LOOP(name, version)                                                                                           \
  void name(void (*function)(void*), void* data, unsigned threads, long start, long end, long step, unsigned flags);  \
  void name(void (*function)(void*), void* data, unsigned threads, long start, long end, long step, unsigned flags) { \
    typedef void Loop(void (*)(void*), void*, unsigned, long, long, long, unsigned);                                  \
    struct Region region = REGION;                                                                                    \
    ((Loop*)next(#name, version))(member, &region, threads, start, end, step, flags);                                 \
  }

LOOP_WITH_CHUNK(GOMP_parallel_loop_static, "GOMP_4.0")
LOOP_WITH_CHUNK(GOMP_parallel_loop_dynamic, "GOMP_4.0")
LOOP_WITH_CHUNK(GOMP_parallel_loop_guided, "GOMP_4.0")
LOOP_WITH_CHUNK(GOMP_parallel_loop_nonmonotonic_dynamic, "GOMP_4.5")
LOOP_WITH_CHUNK(GOMP_parallel_loop_nonmonotonic_guided, "GOMP_4.5")
LOOP(GOMP_parallel_loop_runtime, "GOMP_4.0")
LOOP(GOMP_parallel_loop_nonmonotonic_runtime, "GOMP_5.0")
LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime, "GOMP_5.0")

__attribute__((destructor)) static void write_what_was_seen(void) {
  const char* file = getenv("WITNESS");
  void* const parallel = dlvsym(RTLD_NEXT, "GOMP_parallel", "GOMP_4.0");
  Dl_info info;
  if (!file || !parallel || !dladdr(parallel, &info)) {
    return;
  }
  char text[4096];
  int length = snprintf(text, sizeof text, "runtime %s\n", info.dli_fname);
  for (int level = 0; level < levels; level++) {
    if (regions[level]) {
      length += snprintf(text + length, sizeof text - (size_t)length, "level %d regions %ld members %ld\n", level,
                         regions[level], members[level]);
    }
  }
  const int out = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (out < 0 || write(out, text, (size_t)length) != length) {
    perror("witness");
  }
}
