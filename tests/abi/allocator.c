/* Allocators with traits, and whose def-allocator-var is whose. */
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static int on_weft(void) { return getenv("CHECK_RUNTIME") != NULL; }

static omp_allocator_handle_t make(omp_alloctrait_key_t key, omp_uintptr_t value, omp_uintptr_t pool) {
  omp_alloctrait_t traits[] = {{key, value}, {omp_atk_pool_size, pool}};
  return omp_init_allocator(omp_default_mem_space, 2, traits);
}

static void alignment(void) {
  const omp_allocator_handle_t wide = make(omp_atk_alignment, 4096, 1 << 20);
  char* first = (char*)omp_alloc(1, wide);
  char* second = (char*)omp_aligned_alloc(8192, 100, wide);
  char* third = (char*)omp_calloc(10, 10, wide);
  CHECK(((uintptr_t)first | (uintptr_t)third) % 4096 == 0);
  CHECK_EQ((uintptr_t)second % 8192, 0);
  omp_free(first, wide);
  omp_free(second, omp_null_allocator);
  omp_free(third, wide);
  omp_destroy_allocator(wide);
}

static void fallbacks(void) {
  const omp_allocator_handle_t none = make(omp_atk_fallback, omp_atv_null_fb, 1000);
  const omp_allocator_handle_t to_default = make(omp_atk_fallback, omp_atv_default_mem_fb, 1000);
  omp_alloctrait_t traits[] = {{omp_atk_fallback, omp_atv_allocator_fb},
                               {omp_atk_fb_data, (omp_uintptr_t)none},
                               {omp_atk_pool_size, 300},
                               {omp_atk_alignment, 64}};
  const omp_allocator_handle_t to_other = omp_init_allocator(omp_default_mem_space, 4, traits);
  CHECK(omp_alloc(2000, none) == NULL);
  void* block = omp_alloc(500, none);
  CHECK(block != NULL);
  CHECK(omp_alloc(600, none) == NULL);
  omp_free(block, none);
  block = omp_alloc(600, none); /* the pool has it back */
  CHECK(block != NULL);
  omp_free(block, none);
  block = omp_alloc(2000, to_default);
  CHECK(block != NULL);
  omp_free(block, to_default);
  block = omp_alloc(500, to_other);
  CHECK(block != NULL);
  CHECK(omp_alloc(500, to_other) == NULL);
  omp_free(block, to_other);
#ifndef __clang__ /* libomp wants omp_atk_fb_data */
  const omp_allocator_handle_t to_any = make(omp_atk_fallback, omp_atv_allocator_fb, 300);
  block = omp_alloc(500, to_any);
  CHECK(block != NULL);
  omp_free(block, to_any);
  omp_destroy_allocator(to_any);
  omp_alloctrait_t by_default[] = {{omp_atk_fallback, omp_atv_allocator_fb},
                                   {omp_atk_fb_data, (omp_uintptr_t)omp_atv_default},
                                   {omp_atk_pool_size, 300}};
  const omp_allocator_handle_t to_default_data = omp_init_allocator(omp_default_mem_space, 3, by_default);
  block = omp_alloc(500, to_default_data);
  CHECK(block != NULL);
  omp_free(block, to_default_data);
  omp_destroy_allocator(to_default_data);
#endif
  omp_destroy_allocator(to_other);
  omp_destroy_allocator(to_default);
  omp_destroy_allocator(none);
}

/* A pool that several members use is never used beyond its size. */
static void pool_of_many(void) {
  const omp_allocator_handle_t pool = make(omp_atk_fallback, omp_atv_null_fb, 20000);
  int most = 0, in_use = 0;
#pragma omp parallel num_threads(4)
  for (int i = 0; i < CHECK_SCALE(400); ++i) {
    char* block = (char*)omp_alloc(4000, pool);
    if (block == NULL) continue;
    const int now = check_add(&in_use, 1);
    if (now > check_load(&most)) check_store(&most, now);
    block[0] = block[3999] = 1;
    check_add(&in_use, -1);
    omp_free(block, pool);
  }
  CHECK_LE(most, 4);
  CHECK_GE(most, 1);
  void* all = omp_alloc(19000, pool);
  CHECK(all != NULL); /* nothing of the pool was lost */
  omp_free(all, pool);
  omp_destroy_allocator(pool);
}

/* Beside the block itself the pool need not have room for it once more. */
static void realloc_in_a_pool(void) {
  const omp_allocator_handle_t pool = make(omp_atk_fallback, omp_atv_null_fb, 4096);
  char* block = (char*)omp_alloc(3000, pool);
  CHECK(block != NULL);
  memset(block, 5, 3000);
  block = (char*)omp_realloc(block, 2000, pool, pool);
  CHECK(block != NULL);
  void* rest = omp_alloc(1500, pool); /* the pool has back what is left over */
  CHECK(rest != NULL);
  CHECK(omp_realloc(block, 3500, pool, pool) == NULL);
  omp_free(rest, pool);
  block = (char*)omp_realloc(block, 3500, pool, pool);
  CHECK(block != NULL);
  for (int i = 0; i < 2000; ++i) CHECK_EQ(block[i], 5);
  memset(block, 6, 3500);
  CHECK(omp_realloc(block, 5000, pool, pool) == NULL); /* and the block is as it was */
  CHECK_EQ(block[3499], 6);
  CHECK(omp_alloc(1000, pool) == NULL);
  omp_free(block, pool);
  block = (char*)omp_alloc(3900, pool); /* nothing of the pool was lost */
  CHECK(block != NULL);
  CHECK(omp_alloc(300, pool) == NULL); /* nor added to it */
  omp_free(block, pool);
  omp_destroy_allocator(pool);
}

static void bad_traits(void) {
  omp_alloctrait_t odd[] = {{omp_atk_alignment, 3}}, unknown[] = {{(omp_alloctrait_key_t)99, 0}};
  omp_alloctrait_t hints[] = {{omp_atk_sync_hint, omp_atv_private},
                              {omp_atk_access, omp_atv_thread},
                              {omp_atk_partition, omp_atv_nearest},
                              {omp_atk_pinned, omp_atv_false}};
  CHECK(omp_init_allocator(omp_default_mem_space, 1, odd) == omp_null_allocator);
  CHECK(omp_init_allocator(omp_default_mem_space, 1, unknown) == omp_null_allocator);
  const omp_allocator_handle_t good = omp_init_allocator(omp_large_cap_mem_space, 4, hints);
  CHECK(good != omp_null_allocator);
  omp_free(omp_alloc(10, good), good);
  omp_destroy_allocator(good);
}

static long locked_kilobytes(void) {
  char line[256];
  long kilobytes = -1;
  FILE* status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) sscanf(line, "VmLck: %ld", &kilobytes);
  if (status != NULL) fclose(status);
  return kilobytes;
}

/* Both come in pages of their own. libgomp 12 has no pinned memory. */
static void pages(void) {
  if (!on_weft()) return;
  const omp_allocator_handle_t pinned = make(omp_atk_pinned, omp_atv_true, 1 << 20);
  const omp_allocator_handle_t interleaved = make(omp_atk_partition, omp_atv_interleaved, 1 << 20);
  CHECK(pinned != omp_null_allocator && interleaved != omp_null_allocator);
  char* block = (char*)omp_alloc(20000, interleaved);
  memset(block, 3, 20000);
  block = (char*)omp_realloc(block, 30000, pinned, interleaved); /* may fall back, if the limit is low */
  CHECK(block != NULL && block[19999] == 3);
  if (check_where == CHECK_SERIAL && locked_kilobytes() > 0) CHECK_GE(locked_kilobytes(), 30);
  omp_free(block, pinned);
  if (check_where == CHECK_SERIAL) CHECK_EQ(locked_kilobytes(), 0);
  omp_destroy_allocator(pinned);
  omp_destroy_allocator(interleaved);
}

/* The fallback abort_fb ends the program; so does an allocate clause that gets nothing. */
static void aborts(void) {
  if (check_where != CHECK_SERIAL) return;
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    close(2);
    const omp_allocator_handle_t strict = make(omp_atk_fallback, omp_atv_abort_fb, 100);
    _exit(omp_alloc(1000, strict) == NULL ? 0 : 7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

static void clauses(void) {
  const omp_allocator_handle_t wide = make(omp_atk_alignment, 256, 1 << 20);
  int value = 3, sum = 0;
#pragma omp parallel num_threads(3) firstprivate(value) allocate(wide : value)
  {
    if ((uintptr_t)&value % 256 == 0) check_add(&sum, value);
  }
  CHECK(sum > 0 && sum % 3 == 0);
  omp_destroy_allocator(wide);
}

static void scopes(void) {
  const omp_allocator_handle_t before = omp_get_default_allocator();
  omp_set_default_allocator(omp_const_mem_alloc);
#pragma omp parallel num_threads(3)
  {
    CHECK_EQ(omp_get_default_allocator(), omp_const_mem_alloc);
    if (omp_get_thread_num() == 1) omp_set_default_allocator(omp_pteam_mem_alloc);
#pragma omp barrier
    CHECK_EQ(omp_get_default_allocator(), omp_get_thread_num() == 1 ? omp_pteam_mem_alloc : omp_const_mem_alloc);
  }
  CHECK_EQ(omp_get_default_allocator(), omp_const_mem_alloc);
  omp_set_default_allocator(omp_null_allocator);
  CHECK_EQ(omp_get_default_allocator(), omp_default_mem_alloc);
  omp_set_default_allocator(before);
}

static void body(void) {
  alignment();
  fallbacks();
  pool_of_many();
  realloc_in_a_pool();
  bad_traits();
  pages();
  aborts();
  clauses();
  scopes();
}

CHECK_MAIN(body)
