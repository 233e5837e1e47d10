// A program that brings its own malloc(), as one does that jemalloc or mimalloc are linked into: members are found
// stuck in the midst of it, and nobody can tell that code from the rest of the program. It has one lock, and says so
// when it is entered anew in the midst of a call, on the same thread-local storage.
#include <errno.h>
#include <limits.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "check.h"

enum { KINDS = 48, HEADER = 64, PAGES_FROM = 16 };  // a block of kind k has 2^k bytes; large ones are the kernel's

typedef struct Block {
  struct Block* next;
  size_t kind;
} Block;

static _Thread_local volatile bool inside;
static atomic_flag locked = ATOMIC_FLAG_INIT;
static Block* blocks[PAGES_FROM];
static char* fresh;
static size_t fresh_bytes;

static void enter(void) {
  if (inside) {
    static const char text[] = "FAILED own_malloc.c: entered in the midst of a call of the same thread\n";
    const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(written < 0 ? 2 : 1);
  }
  inside = true;
  while (atomic_flag_test_and_set_explicit(&locked, memory_order_acquire)) __builtin_ia32_pause();
}

static void leave(void) {
  atomic_flag_clear_explicit(&locked, memory_order_release);
  inside = false;
}

static char* from_kernel(size_t bytes) {
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static char* take(size_t kind) {
  const size_t bytes = (size_t)1 << kind;
  if (kind >= PAGES_FROM) return from_kernel(bytes);
  if (blocks[kind] != NULL) {
    Block* block = blocks[kind];
    blocks[kind] = block->next;
    return (char*)block;
  }
  if (fresh_bytes < bytes) {
    fresh_bytes = (size_t)1 << 24;
    fresh = from_kernel(fresh_bytes);
    if (fresh == NULL) return NULL;
  }
  char* block = fresh;
  fresh += bytes;
  fresh_bytes -= bytes;
  return block;
}

// What lies before the data says what the block is.
static void* allocate(size_t alignment, size_t size) {
  size_t kind = 7;
  if (size > ((size_t)1 << (KINDS - 1))) return NULL;
  while (((size_t)1 << kind) < size + HEADER + alignment) ++kind;
  enter();
  char* block = take(kind);
  leave();
  if (block == NULL) return NULL;
  char* data = (char*)(((uintptr_t)block + HEADER + alignment - 1) & ~(uintptr_t)(alignment - 1));
  Block** of_data = (Block**)(void*)data - 1;
  *of_data = (Block*)(void*)block;
  (*of_data)->kind = kind;
  return data;
}

void* malloc(size_t size) { return allocate(HEADER, size); }

void free(void* data) {
  if (data == NULL) return;
  Block* block = *((Block**)data - 1);
  if (block->kind >= PAGES_FROM) {
    const int kept = errno;
    munmap(block, (size_t)1 << block->kind);
    errno = kept;
    return;
  }
  enter();
  block->next = blocks[block->kind];
  blocks[block->kind] = block;
  leave();
}

void* calloc(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
  void* data = malloc(bytes);
  return data != NULL ? memset(data, 0, bytes) : NULL;
}

void* realloc(void* data, size_t size) {
  void* moved = malloc(size);
  if (data == NULL || moved == NULL) return moved;
  const Block* block = *((Block**)data - 1);
  const size_t had = ((size_t)1 << block->kind) - (size_t)((char*)data - (const char*)block);
  memcpy(moved, data, had < size ? had : size);
  free(data);
  return moved;
}

void* aligned_alloc(size_t alignment, size_t size) { return allocate(alignment < HEADER ? HEADER : alignment, size); }
void* memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }
int posix_memalign(void** data, size_t alignment, size_t size) {
  *data = aligned_alloc(alignment, size);
  return *data != NULL ? 0 : ENOMEM;
}

// Each for longer than a slice, so that all but the first are waiting meanwhile. At least once: it may lose its CPU for
// longer than that before it looks at the clock again.
static long allocate_for(double seconds) {
  const double end = omp_get_wtime() + seconds;
  long count = 0;
  do {
    for (int i = 0; i < 1000; ++i) {
      void* volatile block = malloc((size_t)(100 + i % 7 * 500));
      free(block);
    }
    ++count;
  } while (omp_get_wtime() < end);
  return count;
}

static void members_that_allocate(void) {
  enum { ROUNDS = 3, MEMBERS = 8 };
  for (int round = 0; round < ROUNDS * repeats(1); ++round) {
    long least = LONG_MAX;
#pragma omp parallel num_threads(MEMBERS) reduction(min : least)
    least = allocate_for(0.03);
    CHECK(least > 0, "a member allocated nothing");
  }
}

static void members_of_nested_teams_that_allocate(void) {
  enum { OUTER = 2, INNER = 4 };
  omp_set_max_active_levels(2);
  for (int round = 0; round < repeats(1); ++round) {
    int came = 0;
#pragma omp parallel num_threads(OUTER) reduction(+ : came)
#pragma omp parallel num_threads(INNER) reduction(+ : came)
    {
      allocate_for(0.03);
#pragma omp barrier
      came += 1;
    }
    CHECK_EQUAL(came, OUTER * INNER, "members");
  }
}

// Who spins is in the program's own code, and not made to leave it.
static void spinning_barriers(void) {
  enum { BARRIERS = 10, MEMBERS = 8 };
  for (int round = 0; round < repeats(1); ++round) {
    atomic_int arrived = 0;
#pragma omp parallel num_threads(MEMBERS)
    for (int barrier = 1; barrier <= BARRIERS; ++barrier) {
      atomic_fetch_add(&arrived, 1);
      while (atomic_load(&arrived) < barrier * MEMBERS) __builtin_ia32_pause();
    }
    CHECK_EQUAL(arrived, BARRIERS * MEMBERS, "arrivals");
  }
}

int main(int count, char** arguments) {
  static const struct Case cases[] = {
      {"members_that_allocate", members_that_allocate, 0},
      {"members_of_nested_teams_that_allocate", members_of_nested_teams_that_allocate, 0},
      {"spinning_barriers", spinning_barriers, 0},
      {NULL, NULL, 0},
  };
  return run_cases(count, arguments, cases);
}
