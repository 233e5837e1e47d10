/* Routines that came after libgomp 12, and are therefore found by name: omp_in_explicit_task, omp_get_mapped_ptr,
 * omp_target_is_accessible and the asynchronous copies. */
#include "check.h"

#define ROUTINE(result, name, ...)         \
  typedef result name##_type(__VA_ARGS__); \
  static name##_type* name
ROUTINE(int, omp_in_explicit_task, void);
ROUTINE(void*, omp_get_mapped_ptr, const void*, int);
ROUTINE(int, omp_target_is_accessible, const void*, size_t, int);
ROUTINE(int, omp_target_memcpy_async, void*, const void*, size_t, size_t, size_t, int, int, int, omp_depend_t*);
ROUTINE(int, omp_target_memcpy_rect_async, void*, const void*, size_t, int, const size_t*, const size_t*, const size_t*,
        const size_t*, const size_t*, int, int, int, omp_depend_t*);
#define LOOK_UP(name) ((name = (name##_type*)dlsym(RTLD_DEFAULT, #name)) != NULL)

static void explicit_tasks(void) {
  CHECK_EQ(omp_in_explicit_task(), check_where == CHECK_IN_TASK);
#pragma omp parallel num_threads(2)
  {
    CHECK_EQ(omp_in_explicit_task(), 0);
#pragma omp task
    CHECK_EQ(omp_in_explicit_task(), 1);
#pragma omp task if (0)
    CHECK_EQ(omp_in_explicit_task(), 1);
  }
}

static void copies(void) {
  const int host = omp_get_initial_device(), nowhere = host + 5;
  int from[20], to[20] = {0}, middle[20] = {0};
  for (int i = 0; i < 20; ++i) from[i] = i + 1;
  CHECK(omp_get_mapped_ptr(from, host) == from);
  CHECK(omp_get_mapped_ptr(from, nowhere) == NULL);
  CHECK_EQ(omp_target_is_accessible(from, sizeof from, host), 1);
  CHECK_EQ(omp_target_is_accessible(from, sizeof from, nowhere), 0);
  CHECK(omp_target_memcpy_async(to, from, 4, 0, 0, host, nowhere, 0, NULL) != 0);
  CHECK_EQ(omp_target_memcpy_async(middle, from, 8, 4, 0, host, host, 0, NULL), 0);
#pragma omp taskwait
  CHECK(middle[0] == 0 && middle[1] == 1 && middle[2] == 2);
  const size_t volume[2] = {2, 2}, offsets[2] = {1, 1}, sizes[2] = {4, 5};
  omp_depend_t object;
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#pragma omp depobj(object) depend(inout : middle)
#pragma omp task depend(out : middle) shared(middle)
    {
      check_work(20000);
      middle[0] = 0;
    }
    CHECK_EQ(omp_target_memcpy_async(middle, from, sizeof from, 0, 0, host, host, 1, &object), 0);
    CHECK_EQ(omp_target_memcpy_rect_async(to, middle, sizeof(int), 2, volume, offsets, offsets, sizes, sizes, host,
                                          host, 1, &object),
             0);
    CHECK(omp_target_memcpy_rect_async(to, middle, sizeof(int), 0, volume, offsets, offsets, sizes, sizes, host, host,
                                       1, &object) != 0);
#pragma omp taskwait
#pragma omp depobj(object) destroy
  }
  for (int i = 0; i < 20; ++i) {
    const int in_block = i / 5 >= 1 && i / 5 <= 2 && i % 5 >= 1 && i % 5 <= 2;
    CHECK_EQ(middle[i], i + 1);
    CHECK_EQ(to[i], in_block ? i + 1 : 0);
  }
}

static void body(void) {
  explicit_tasks();
  copies();
}

int main(void) {
  const int found = LOOK_UP(omp_in_explicit_task) && LOOK_UP(omp_get_mapped_ptr) && LOOK_UP(omp_target_is_accessible) &&
                    LOOK_UP(omp_target_memcpy_async) && LOOK_UP(omp_target_memcpy_rect_async);
  if (!found) return getenv("CHECK_RUNTIME") != NULL; /* the stock runtime may be too old */
  return check_run(body);
}
