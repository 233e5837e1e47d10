/* Collapsed loops whose bounds depend on outer variables, as a compiler hands them to LLVM's entry points: the threads'
 * parts make up the whole nest, in order. */
#include <stdint.h>

#include "check.h"

enum { U8, I8, U16, I16, U32, I32, U64, I64 };
enum { AT_MOST, AT_LEAST, NOT_EQUAL, LESS, GREATER };

typedef struct {
  int32_t type, variable_type, comparison, outer;
  uint64_t lower, lower_factor, upper, upper_factor;
  int64_t step;
  uint64_t trips;
} level;

int32_t __kmpc_for_collapsed_init(void*, int32_t, level*, level*, int32_t, int32_t*);
void __kmpc_for_static_fini(void*, int32_t);
uint64_t __kmpc_process_loop_nest_rectang(void*, int32_t, level*, int32_t);
void __kmpc_calc_original_ivs_rectang(void*, uint64_t, const level*, uint64_t*, int32_t);
int32_t __kmpc_global_thread_num(void*);

static struct {
  int32_t numbers[4];
  const char* text;
} here = {{0, 2, 0, 0}, ";file;function;1;1;;"};

#define MOST 4096
typedef struct {
  int64_t i, j, k;
} point;

static point whole[MOST];
static int in_whole, taken[MOST], who[MOST];

static int same(point left, point right) { return left.i == right.i && left.j == right.j && left.k == right.k; }

static int find(const level* at) {
  const point wanted = {(int64_t)at[0].lower, (int64_t)at[1].lower, (int64_t)at[2].lower};
  for (int n = 0; n < in_whole; ++n)
    if (same(whole[n], wanted)) return n;
  return -1;
}

/* Where the part ends: libomp's last one ends with the bounds of the loops, which may be no iteration. */
static int find_end(const level* at) {
  const point wanted = {(int64_t)at[0].upper, (int64_t)at[1].upper, (int64_t)at[2].upper};
  for (int n = 0; n < in_whole; ++n)
    if (same(whole[n], wanted)) return n;
  return in_whole - 1;
}

static void check_nest(const level* nest) {
  int lasts = 0, parts = 0;
  memset(taken, 0, sizeof taken);
#pragma omp parallel reduction(+ : lasts, parts)
  {
    level own[3], part[3];
    int32_t last = -1;
    memcpy(own, nest, sizeof own);
    if (__kmpc_for_collapsed_init(&here, __kmpc_global_thread_num(&here), own, part, 3, &last)) {
      const int from = find(part), to = find_end(part);
      CHECK_GE(from, 0);
      CHECK_GE(to, from);
      for (int n = from; n <= to; ++n) {
        check_add(&taken[n], 1);
        check_store(&who[n], omp_get_thread_num());
      }
      parts += 1;
      CHECK_EQ(last, to == in_whole - 1);
    }
    __kmpc_for_static_fini(&here, __kmpc_global_thread_num(&here));
    lasts += last == 1;
  }
  for (int n = 0; n < in_whole; ++n) CHECK_EQ(taken[n], 1);
  for (int n = 1; n < in_whole; ++n) CHECK_GE(who[n], who[n - 1]);
  CHECK_EQ(lasts, in_whole != 0);
  CHECK_EQ(parts == 0, in_whole == 0);
}

static void add(int64_t i, int64_t j, int64_t k) {
  CHECK(in_whole < MOST);
  if (in_whole < MOST) whole[in_whole++] = (point){i, j, k};
}

static void triangles(void) {
  for (int i = 0; i < 12; i += 2)
    for (int j = i; j <= 11; ++j)
      for (int k = 0; k < j - 3; k += 3) add(i, j, k);
  check_nest((level[3]){{I32, I32, LESS, 0, 0, 0, 12, 0, 2, 0},
                        {I32, I32, AT_MOST, 0, 0, 1, 11, 0, 1, 0},
                        {I32, I32, LESS, 1, 0, 0, (uint32_t)-3, 1, 3, 0}});
}

static void downwards(void) {
  for (int64_t i = 9; i > -4; i -= 3)
    for (int64_t j = 2 * i + 1; j >= -7; --j)
      for (int64_t k = 5; k != 1 - 0; --k) add(i, j, k);
  check_nest((level[3]){{I64, I64, GREATER, 0, 9, 0, (uint64_t)-4, 0, -3, 0},
                        {I64, I64, AT_LEAST, 0, 1, 2, (uint64_t)-7, 0, -1, 0},
                        {I64, I64, NOT_EQUAL, 0, 5, 0, 1, 0, -1, 0}});
}

static void without_sign(void) {
  for (uint32_t i = 4000000000U; i <= 4000000009U; ++i)
    for (uint32_t j = 4000000009U; j >= i; --j)
      for (uint32_t k = 4000000000U; k < j; k += 2) add(i, j, k);
  check_nest((level[3]){{U32, U32, AT_MOST, 0, 4000000000U, 0, 4000000009U, 0, 1, 0},
                        {U32, U32, AT_LEAST, 0, 4000000009U, 0, 0, 1, (uint32_t)-1, 0},
                        {U32, U32, LESS, 1, 4000000000U, 0, 0, 1, 2, 0}});
}

/* Loops inside that have no iteration, since no number without a sign is less than 0. libomp counts on below that. */
static void nothing_below_zero(void) {
  for (uint32_t i = 0; i < 5; ++i)
    for (uint32_t j = 0; j < i; ++j)
      for (uint32_t k = 0; k != j; ++k) add(i, j, k);
  check_nest((level[3]){{U32, U32, LESS, 0, 0, 0, 5, 0, 1, 0},
                        {U32, U32, LESS, 0, 0, 0, 0, 1, 1, 0},
                        {U32, U32, NOT_EQUAL, 1, 0, 0, 0, 1, 1, 0}});
  level flat[2] = {{U64, U64, LESS, 0, 0, 0, 7, 0, 1, 0}, {U64, U64, LESS, 0, 0, 0, 0, 0, 1, 0}};
  CHECK_EQ(__kmpc_process_loop_nest_rectang(&here, 0, flat, 2), 0);
  level down[1] = {{U32, U32, GREATER, 0, UINT32_MAX, 0, UINT32_MAX, 0, (uint32_t)-1, 0}};
  CHECK_EQ(__kmpc_process_loop_nest_rectang(&here, 0, down, 1), 0);
}

static void empty(void) {
  check_nest((level[3]){{I32, I32, LESS, 0, 0, 0, 5, 0, 1, 0},
                        {I32, I32, LESS, 0, 5, 0, 0, 1, 1, 0},
                        {I32, I32, LESS, 0, 0, 0, 10, 0, 1, 0}});
}

static void single_iteration(void) {
  add(4, 4, 7);
  check_nest((level[3]){{I32, I32, LESS, 0, 0, 0, 5, 0, 1, 0},
                        {I32, I32, AT_MOST, 0, 4, 0, 0, 1, 1, 0},
                        {I32, I32, LESS, 0, 7, 0, 8, 0, 1, 0}});
}

static void rectangular(void) {
  level nest[3] = {{I32, I8, LESS, 0, (uint32_t)-3, 0, 4, 0, 2, 0},
                   {U64, U16, GREATER, 0, 60, 0, 50, 0, -3, 0},
                   {I64, I64, NOT_EQUAL, 0, 5, 0, (uint64_t)-5, 0, -1, 0}};
  const uint64_t all = __kmpc_process_loop_nest_rectang(&here, 0, nest, 3);
  CHECK_EQ(all, 4 * 4 * 10);
  uint64_t n = 0;
  for (int i = -3; i < 4; i += 2)
    for (unsigned j = 60; j > 50; j -= 3)
      for (int64_t k = 5; k != -5; --k, ++n) {
        uint64_t variables[3];
        __kmpc_calc_original_ivs_rectang(&here, n, nest, variables, 3);
        CHECK_EQ((int8_t)variables[0], i);
        CHECK_EQ((uint16_t)variables[1], j);
        CHECK_EQ((int64_t)variables[2], k);
      }
  CHECK_EQ(n, all);
}

int main(void) {
  check_runtime();
  void (*const nests[])(void) = {triangles, downwards, without_sign, empty, single_iteration, nothing_below_zero};
  for (unsigned n = 0; n < sizeof nests / sizeof *nests; ++n) {
    if (nests[n] == nothing_below_zero && getenv("CHECK_RUNTIME") == NULL) continue;
    in_whole = 0;
    nests[n]();
  }
  rectangular();
  return check_finish();
}
