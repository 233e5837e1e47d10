/* Entry points that compilers since GCC 13 call, by name and version: libgomp 12 has none of them. */
#include "check.h"

static void* look_up(const char* name, const char* version) {
  void* const address = dlvsym(RTLD_DEFAULT, name, version);
  if (address == NULL) check_fail(__FILE__, __LINE__, name);
  return address;
}

static void allocations(void) {
  void (*const add)(void*) = (void (*)(void*))look_up("GOMP_add_alloc", "GOMP_5.1.2");
  _Bool (*const is)(void*) = (_Bool(*)(void*))look_up("GOMP_is_alloc", "GOMP_5.1.2");
  char blocks[3000];
  if (add == NULL || is == NULL) return;
  add(NULL);
  CHECK(!is(NULL));
  CHECK(!is(blocks));
  for (int i = 0; i < 3000; ++i) add(&blocks[i]);
  for (int i = 0; i < 3000; ++i) CHECK(is(&blocks[i]));
  for (int i = 0; i < 3000; ++i) CHECK(!is(&blocks[i]));
}

static void interop(void) {
  typedef void interop_type(int, int, void***, const int*, const char**, int, void**, int, void***, unsigned, void**);
  interop_type* const function = (interop_type*)look_up("GOMP_interop", "GOMP_5.1.3");
  void* (*const map)(void*) = (void* (*)(void*))look_up("GOMP_target_map_indirect_ptr", "GOMP_5.1.2");
  int value = 0, kinds[2] = {1, 2};
  void *made[2] = {&value, &value}, *destroyed = &value, *used = NULL;
  void** to_make[2] = {&made[0], &made[1]};
  void** to_destroy[1] = {&destroyed};
  void* depend[] = {(void*)1, (void*)1, &value};
  if (function == NULL || map == NULL) return;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : value) shared(value)
    check_store(&value, 1);
    function(0, 2, to_make, kinds, NULL, 1, &used, 1, to_destroy, 0, depend);
    CHECK_EQ(check_load(&value), 1);
  }
  CHECK(made[0] == NULL && made[1] == NULL && destroyed == NULL);
  CHECK(map(&value) == &value && map(NULL) == NULL);
}

static void body(void) {
  if (getenv("CHECK_RUNTIME") == NULL) return;
  look_up("GOMP_taskwait_depend_nowait", "GOMP_5.1.1");
  allocations();
  interop();
}

CHECK_MAIN(body)
