/* Routines of OpenMP 5.0 and 5.1 that libgomp 12 has on the host: memory, affinity format, teams settings, pause. */
#include <stdint.h>

#include "check.h"

static void memory(void) {
  const omp_alloctrait_t traits[] = {
      {omp_atk_alignment, 256}, {omp_atk_fallback, omp_atv_null_fb}, {omp_atk_pool_size, 4096}};
  const omp_allocator_handle_t mine = omp_init_allocator(omp_default_mem_space, 3, traits);
  CHECK(mine != omp_null_allocator);
  char* plain = (char*)omp_alloc(100, omp_default_mem_alloc);
  char* aligned = (char*)omp_aligned_alloc(128, 256, omp_default_mem_alloc);
  char* zeroed = (char*)omp_calloc(10, 20, omp_null_allocator);
  char* zeroed_aligned = (char*)omp_aligned_calloc(64, 3, 64, omp_default_mem_alloc);
  char* own = (char*)omp_alloc(100, mine);
  CHECK(plain && aligned && zeroed && zeroed_aligned && own);
  CHECK_EQ((uintptr_t)aligned % 128, 0);
  CHECK_EQ((uintptr_t)zeroed_aligned % 64, 0);
  CHECK_EQ((uintptr_t)own % 256, 0);
  for (int i = 0; i < 200; ++i) CHECK_EQ(zeroed[i], 0);
  for (int i = 0; i < 192; ++i) CHECK_EQ(zeroed_aligned[i], 0);
  memset(plain, 7, 100);
  plain = (char*)omp_realloc(plain, 5000, omp_default_mem_alloc, omp_default_mem_alloc);
  for (int i = 0; i < 100; ++i) CHECK_EQ(plain[i], 7);
  CHECK(omp_alloc(100000, mine) == NULL); /* above its pool, no fallback */
  omp_free(own, mine);
  omp_free(plain, omp_default_mem_alloc);
  omp_free(aligned, omp_null_allocator);
  omp_free(zeroed, omp_null_allocator);
  omp_free(zeroed_aligned, omp_default_mem_alloc);
  omp_free(NULL, omp_default_mem_alloc);
  omp_destroy_allocator(mine);
}

static void default_allocator(void) {
  CHECK_EQ(omp_get_default_allocator(), omp_default_mem_alloc);
  omp_set_default_allocator(omp_high_bw_mem_alloc);
  CHECK_EQ(omp_get_default_allocator(), omp_high_bw_mem_alloc);
  omp_set_default_allocator(omp_default_mem_alloc);
}

static void allocate_clause(void) {
  int value = 5, sum = 0;
#pragma omp parallel allocate(omp_default_mem_alloc : value) firstprivate(value) reduction(+ : sum) num_threads(4)
  {
    CHECK_EQ(value, 5);
    value += omp_get_thread_num();
    sum += value;
  }
  CHECK_EQ(sum, 26);
}

static void affinity_format(void) {
  char text[200];
  CHECK_EQ(omp_capture_affinity(text, sizeof text, "%L %n %N %%"), 7);
  CHECK(strcmp(text, "0 0 1 %") == 0);
  CHECK_EQ(omp_capture_affinity(text, 4, "abcdefgh"), 8);
  CHECK(strcmp(text, "abc") == 0);
  omp_set_affinity_format("thread %i of %{num_threads}");
  CHECK_EQ(omp_get_affinity_format(text, sizeof text), strlen("thread %i of %{num_threads}"));
  CHECK(strcmp(text, "thread %i of %{num_threads}") == 0);
#pragma omp parallel num_threads(3)
  {
    char mine[64], expected[64];
    omp_capture_affinity(mine, sizeof mine, "%{nesting_level}:%{thread_num}/%{num_threads}/%0.5n");
    snprintf(expected, sizeof expected, "1:%d/3/%05d", omp_get_thread_num(), omp_get_thread_num());
    CHECK(strcmp(mine, expected) == 0);
  }
}

static void teams_settings(void) {
  omp_set_num_teams(4);
  CHECK_EQ(omp_get_max_teams(), 4);
  omp_set_teams_thread_limit(3);
  omp_set_num_teams(-2); /* no number of teams: nothing happens */
  omp_set_teams_thread_limit(-4);
  CHECK_EQ(omp_get_max_teams(), 4);
  CHECK_EQ(omp_get_teams_thread_limit(), 3);
}

static void pause_resources(void) {
#pragma omp parallel num_threads(4)
  {}
  CHECK_EQ(omp_pause_resource(omp_pause_soft, omp_get_initial_device()), 0);
  int members = 0;
#pragma omp parallel num_threads(4)
  check_add(&members, 1);
  CHECK_EQ(omp_pause_resource_all(omp_pause_hard), 0);
#pragma omp parallel num_threads(4)
  check_add(&members, 1);
  CHECK_EQ(members, 8);
}

static void device_memory(void) {
  int from = 11, to = 0;
  void* const block = omp_target_alloc(64, omp_get_initial_device());
  CHECK(block != NULL);
  omp_target_free(block, omp_get_initial_device());
  CHECK_EQ(omp_target_is_present(&from, omp_get_initial_device()), 1);
  CHECK_EQ(omp_target_memcpy(&to, &from, sizeof to, 0, 0, omp_get_initial_device(), omp_get_initial_device()), 0);
  CHECK_EQ(to, 11);
}

static void body(void) {
  memory();
  default_allocator();
  allocate_clause();
  affinity_format();
  teams_settings();
  pause_resources();
  device_memory();
}

CHECK_MAIN_FLAT(body)
