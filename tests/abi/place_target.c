/* The initial thread of a target region keeps its place, and has all places in its partition, whatever the code around
 * it has: as with libgomp, in programs of gcc. */
#include "check.h"

enum { most = 16 };

struct places {
  int place, count, numbers[most];
};

static struct places places_here(void) {
  struct places here = {omp_get_place_num(), omp_get_partition_num_places(), {0}};
  CHECK_LE(here.count, most);
  omp_get_partition_place_nums(here.numbers);
  return here;
}

static int are_equal(const struct places* one, const struct places* other) {
  return memcmp(one, other, sizeof *one) == 0;
}

static int has_all(const struct places* here) {
  if (here->count != omp_get_num_places()) return 0;
  for (int i = 0; i < here->count; ++i)
    if (here->numbers[i] != i) return 0;
  return 1;
}

/* In regions of as many members as there are places: one at each, from the opener's on. */
static void check_regions(int place) {
  const int count = omp_get_num_places();
#pragma omp parallel num_threads(count) proc_bind(spread)
  {
    CHECK_EQ(omp_get_num_threads(), count);
    CHECK_EQ(omp_get_place_num(), (place + omp_get_thread_num()) % count);
    CHECK_EQ(omp_get_partition_num_places(), 1);
  }
#pragma omp parallel num_threads(count) proc_bind(close)
  {
    const struct places here = places_here();
    CHECK_EQ(here.place, (place + omp_get_thread_num()) % count);
    CHECK(has_all(&here));
  }
#pragma omp parallel num_threads(count) proc_bind(primary)
  {
    const struct places here = places_here();
    CHECK_EQ(here.place, place);
    CHECK(has_all(&here));
  }
}

static void check_target(void) {
  const struct places outside = places_here();
  struct places inside = {-1, 0, {0}};
#pragma omp target map(from : inside)
  {
    inside = places_here();
    check_regions(inside.place);
    const struct places after = places_here();
    CHECK(are_equal(&after, &inside));
  }
  CHECK_EQ(inside.place, outside.place);
  CHECK(has_all(&inside));
#pragma omp target teams num_teams(1) map(from : inside)
  inside = places_here();
  CHECK_EQ(inside.place, outside.place);
  CHECK(has_all(&inside));
  const struct places after = places_here();
  CHECK(are_equal(&after, &outside));
}

/* Who executes the task is bound where it is. */
static void check_target_task(void) {
  const struct places outside = places_here();
  struct places inside = {-1, 0, {0}};
#pragma omp target nowait map(from : inside)
  inside = places_here();
#pragma omp taskwait
  CHECK(has_all(&inside));
  const struct places after = places_here();
  CHECK(are_equal(&after, &outside));
}

/* One after the other: libgomp hangs now and then where several target regions have regions within. */
#define CHECK_MEMBERS \
  _Pragma("omp for ordered schedule(static, 1)") for (int i = 0; i < 4; ++i) { _Pragma("omp ordered") check_target(); }

int main(void) {
  check_runtime();
  CHECK_EQ(omp_get_num_places(), 8);
  check_target();
  check_target_task();
#pragma omp parallel num_threads(4) proc_bind(spread)
  {
    CHECK_EQ(omp_get_partition_num_places(), 2);
    CHECK_MEMBERS
  }
#pragma omp parallel num_threads(4) proc_bind(close)
  CHECK_MEMBERS
#pragma omp parallel num_threads(4) proc_bind(primary)
  CHECK_MEMBERS
  if (getenv("CHECK_RUNTIME") != NULL) { /* libgomp's members end with a segmentation fault */
#pragma omp parallel num_threads(4) proc_bind(spread)
    {
      check_target();
      check_target_task();
    }
  }
  return check_finish();
}
