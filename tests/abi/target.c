/* target constructs without a device: everything happens on the host, as the host fallback. */
#include <stdint.h>

#include "check.h"

enum { items = 100 };

struct pair {
  char text[40];
  double number;
};

#pragma omp declare target
static int declared = 3;
static int add_declared(int value) { return value + declared; }
#pragma omp end declare target

static void mapping(void) {
  int scalar = 1, in = 5, out = 0, array[items];
  for (int i = 0; i < items; ++i) array[i] = i;
  int* heap = (int*)malloc(items * sizeof *heap);
  heap[7] = 70;
#pragma omp target map(tofrom : scalar, array) map(to : in) map(from : out) map(tofrom : heap [0:items])
  {
    scalar += in;
    out = in * 2;
    heap[7] += array[7];
    for (int i = 0; i < items; ++i) array[i] *= 2;
  }
  CHECK_EQ(scalar, 6);
  CHECK_EQ(out, 10);
  CHECK_EQ(heap[7], 77);
  for (int i = 0; i < items; ++i) CHECK_EQ(array[i], 2 * i);
#pragma omp target map(tofrom : scalar) map(alloc : declared)
  scalar = add_declared(scalar);
  CHECK_EQ(scalar, 9);
  free(heap);
}

static void privates(void) {
  const int length = 9;
  int scalar = 4;
  struct pair pair = {"pair", 2.5};
  double array[4] = {1, 2, 3, 4}, vla[length];
  _Alignas(64) char aligned[64] = "aligned";
  for (int i = 0; i < length; ++i) vla[i] = i;
  int seen = 0;
#pragma omp target firstprivate(scalar, pair, array, vla, aligned) map(tofrom : seen)
  {
    seen += scalar == 4 && pair.number == 2.5 && array[3] == 4 && vla[8] == 8 && aligned[0] == 'a';
    seen += ((size_t)aligned & 63) == 0;
    scalar = 0;
    pair.number = 0;
    array[3] = vla[8] = 0;
    aligned[0] = 'b';
  }
  CHECK_EQ(seen, 2);
  CHECK(scalar == 4 && pair.number == 2.5 && array[3] == 4 && vla[8] == 8 && aligned[0] == 'a');
  int private_one = 1;
#pragma omp target private(private_one)
  private_one = 2;
  CHECK_EQ(private_one, 1);
#pragma omp target /* a scalar is firstprivate */
  scalar = 8;
  CHECK_EQ(scalar, 4);
#pragma omp target defaultmap(tofrom : scalar)
  scalar = 8;
  CHECK_EQ(scalar, 8);
}

static void big_copies(void) {
  char large[100000];
  large[99999] = 3;
  int seen = 0;
#pragma omp target firstprivate(large) map(tofrom : seen)
  {
    seen = large[99999];
    large[99999] = 4;
  }
  CHECK_EQ(seen, 3);
  CHECK_EQ(large[99999], 3);
}

static void data_regions(void) {
  int array[items] = {0};
  int* pointer = array;
#pragma omp target data map(tofrom : array)
  {
#pragma omp target map(alloc : array)
    array[1] = 1;
#pragma omp target update from(array)
    CHECK_EQ(array[1], 1);
    array[2] = 2;
#pragma omp target update to(array [2:1])
#pragma omp target
    array[3] = array[2] + 1;
  }
  CHECK_EQ(array[3], 3);
#pragma omp target enter data map(to : array)
#pragma omp target
  array[4] = 4;
#pragma omp target exit data map(from : array)
  CHECK_EQ(array[4], 4);
#pragma omp target data map(tofrom : pointer [0:items]) use_device_ptr(pointer)
  {
#pragma omp target is_device_ptr(pointer)
    pointer[5] = 5;
  }
#pragma omp target data map(tofrom : array) use_device_addr(array)
  {
    int* address = array;
#pragma omp target is_device_ptr(address)
    address[6] = 6;
  }
  CHECK_EQ(array[5] + array[6], 11);
}

static void choice(int yes) {
  int where = 0;
#pragma omp target if (yes) map(tofrom : where)
  where += omp_is_initial_device();
#pragma omp target if (!yes) map(tofrom : where)
  where += omp_is_initial_device();
#pragma omp target device(omp_get_initial_device()) map(tofrom : where)
  where += omp_is_initial_device();
  CHECK_EQ(where, 3);
}

__attribute__((noipa)) static int surroundings(void) {
  return omp_get_level() == 0 && omp_get_thread_num() == 0 && omp_get_num_threads() == 1 && !omp_in_parallel() &&
         omp_get_num_teams() == 1 && omp_get_ancestor_thread_num(0) == 0;
}

/* A target region begins anew: a region, its thread limit and variables set around it are not seen. */
static void contexts(void) {
  int right = 0, limit = 0, members = 0;
#pragma omp target map(tofrom : right)
  right += surroundings();
#pragma omp parallel num_threads(2)
#pragma omp critical
  {
#pragma omp target map(tofrom : right)
    right += surroundings();
  }
  CHECK_GE(right, 2);
#pragma omp target thread_limit(2) map(tofrom : limit, members)
  {
    limit = omp_get_thread_limit();
#pragma omp parallel num_threads(6)
    check_add(&members, 1);
  }
  CHECK_EQ(limit, 2);
  CHECK_LE(members, 2);
  const int before = omp_get_max_threads();
  omp_set_num_threads(before + 3);
  int inside = 0;
#pragma omp target map(tofrom : inside)
  {
    inside = omp_get_max_threads();
    omp_set_num_threads(77);
  }
  CHECK(inside != before + 3 && inside != 77);
  CHECK_EQ(omp_get_max_threads(), before + 3);
  omp_set_num_threads(before);
}

static void combined(void) {
  int hits[items] = {0};
  long sum = 0;
#pragma omp target teams distribute parallel for map(tofrom : hits) reduction(+ : sum)
  for (int i = 0; i < items; ++i) {
    check_add(&hits[i], 1);
    sum += i;
  }
#pragma omp target parallel for map(tofrom : hits) schedule(dynamic)
  for (int i = 0; i < items; ++i) check_add(&hits[i], 1);
#pragma omp target simd map(tofrom : hits)
  for (int i = 0; i < items; ++i) hits[i]++;
#pragma omp target teams num_teams(4) map(tofrom : hits)
  {
#pragma omp distribute
    for (int i = 0; i < items; ++i) check_add(&hits[i], omp_get_num_teams() == 4);
  }
#pragma omp target teams loop map(tofrom : hits)
  for (int i = 0; i < items; ++i) check_add(&hits[i], 1);
  for (int i = 0; i < items; ++i) CHECK_EQ(hits[i], 5);
  CHECK_EQ(sum, items * (items - 1) / 2);
}

static void tasks(void) {
  int value = 0, order = 0, copy = 1;
#pragma omp parallel num_threads(4)
#pragma omp single
  {
#pragma omp target nowait map(tofrom : value) depend(out : value) firstprivate(copy)
    {
      check_work(1000);
      value = copy;
    }
    copy = 50;
#pragma omp target enter data map(to : value) depend(inout : value) nowait
#pragma omp target update to(value) depend(inout : value) nowait
#pragma omp target map(tofrom : value) depend(inout : value)
    value = value * 10 + 2;
    order = value; /* the construct without nowait has ended */
#pragma omp target nowait map(tofrom : value) depend(inout : value)
    value = value * 10 + 3;
#pragma omp task depend(inout : value) shared(value)
    value = value * 10 + 4;
#pragma omp target exit data map(from : value) depend(inout : value)
    CHECK_EQ(value, 1234);
#pragma omp taskwait
  }
  CHECK_EQ(order, 12);
  int many = 0;
#pragma omp parallel num_threads(4)
  {
#pragma omp target nowait map(tofrom : many)
    check_add(&many, 1);
  }
  CHECK_GE(many, 1);
  int waited = 0;
#pragma omp target nowait map(tofrom : waited)
  waited = 1;
#pragma omp taskwait
  CHECK_EQ(waited, 1);
}

static void routines(void) {
  const int host = omp_get_initial_device();
  int *memory = (int*)omp_target_alloc(items * sizeof(int), host), from[items], to[items];
  CHECK(memory != NULL);
  for (int i = 0; i < items; ++i) from[i] = i;
  memset(to, 0, sizeof to);
  CHECK_EQ(omp_target_memcpy(memory, from, sizeof from, 0, 0, host, host), 0);
  CHECK_EQ(omp_target_memcpy(to, memory, sizeof(int), sizeof(int), 9 * sizeof(int), host, host), 0);
  CHECK_EQ(to[1], 9);
#pragma omp target is_device_ptr(memory)
  memory[0] = 1;
  CHECK_EQ(memory[0], 1);
  const size_t volume[2] = {2, 3}, to_offsets[2] = {0, 1}, from_offsets[2] = {1, 2}, sizes[2] = {10, 10};
  CHECK_EQ(omp_target_memcpy_rect(to, from, sizeof(int), 2, volume, to_offsets, from_offsets, sizes, sizes, host, host),
           0);
  CHECK(to[1] == 12 && to[3] == 14 && to[11] == 22 && to[13] == 24 && to[4] == 0);
  /* More bytes than can be counted. */
  const size_t too_many = SIZE_MAX / sizeof(int) + 2, none = 0, one = 1;
  to[0] = -1;
  if (getenv("CHECK_RUNTIME") != NULL) {
    CHECK(omp_target_memcpy_rect(to, from, sizeof(int), 1, &too_many, &none, &none, &one, &one, host, host) != 0);
    CHECK(omp_target_memcpy_rect(to, from, sizeof(int), 1, &one, &none, &too_many, &one, &one, host, host) != 0);
  }
  CHECK_EQ(to[0], -1);
  CHECK_GE(omp_target_memcpy_rect(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, host, host), 3);
  CHECK_EQ(omp_target_is_present(from, host), 1);
  CHECK_EQ(omp_target_is_present(from, host + 5), 0);
  CHECK(omp_target_alloc(8, host + 5) == NULL);
  CHECK(omp_target_memcpy(to, from, 1, 0, 0, host, host + 5) != 0);
  CHECK(omp_target_associate_ptr(from, to, 4, 0, host) != 0);
  CHECK(omp_target_disassociate_ptr(from, host) != 0);
  omp_target_free(memory, host);
  CHECK_EQ(omp_get_num_devices(), 0);
  CHECK_EQ(omp_get_device_num(), host);
  CHECK_EQ(omp_pause_resource(omp_pause_soft, host) == 0, check_where == CHECK_SERIAL);
  CHECK(omp_pause_resource(omp_pause_soft, host + 5) != 0);
}

static void body(void) {
  mapping();
  privates();
  big_copies();
  data_regions();
  choice(1);
  contexts();
  combined();
  tasks();
  routines();
}

/* libgomp 12 ends with a segmentation fault in GOMP_parallel when members of a region run this. */
int main(void) { return getenv("CHECK_RUNTIME") != NULL ? check_run(body) : check_run_flat(body); }
