// Teams: nested, deep, large, of changing size, with members that finish in odd orders.
#include "check.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdint.h>

static uint32_t next_random(uint32_t* state) {
  *state = *state * 1664525U + 1013904223U;
  return *state >> 8;
}

static void nested_with_barrier(void) {
  omp_set_max_active_levels(4);
  for (int i = 0; i < repeats(3); i++) {
    static int arrived[64];
    atomic_int total;
    atomic_init(&total, 0);
    memset(arrived, 0, sizeof arrived);
#pragma omp parallel num_threads(64)
    {
      const int outer = omp_get_thread_num();
      CHECK_EQUAL(omp_get_num_threads(), 64, "size of the outer team");
#pragma omp parallel num_threads(64)
      {
        CHECK_EQUAL(omp_get_num_threads(), 64, "size of an inner team");
        CHECK_EQUAL(omp_get_ancestor_thread_num(1), outer, "number of the parent");
        CHECK_EQUAL(omp_get_level(), 2, "level of an inner member");
#pragma omp atomic
        arrived[outer] += 1;
#pragma omp barrier
        int seen;
#pragma omp atomic read
        seen = arrived[outer];
        CHECK_EQUAL(seen, 64, "inner members that arrived before the barrier");
        CHECK_EQUAL(omp_get_ancestor_thread_num(1), outer, "number of the parent after the barrier");
        atomic_fetch_add(&total, 1);
      }
      CHECK_EQUAL(omp_get_thread_num(), outer, "number of an outer member after its inner region");
    }
    CHECK_EQUAL(atomic_load(&total), 64 * 64, "inner members in all");
  }
}

static void nested_with_barriers_outside_too(void) {
  omp_set_max_active_levels(4);
  int count[16];
#pragma omp parallel num_threads(16)
  {
    const int outer = omp_get_thread_num();
    for (int round = 0; round < repeats(10); round++) {
      count[outer] = 0;
#pragma omp parallel num_threads(1 + (outer + round) % 8)
      {
#pragma omp barrier
#pragma omp atomic
        count[outer] += 1;
#pragma omp barrier
      }
#pragma omp barrier
      const int neighbour = (outer + 1) % 16;
      CHECK_EQUAL(count[neighbour], 1 + (neighbour + round) % 8, "inner members of the neighbour");
#pragma omp barrier
    }
  }
}

static atomic_int leaves;

static void go_down(int depth, int width) {
  if (depth == 0) {
    atomic_fetch_add(&leaves, 1);
    return;
  }
  const int level = omp_get_level();
#pragma omp parallel num_threads(width)
  {
    CHECK_EQUAL(omp_get_level(), level + 1, "level");
    CHECK_EQUAL(omp_get_num_threads(), width, "size of a team");
    go_down(depth - 1, width);
#pragma omp barrier
    CHECK_EQUAL(omp_get_level(), level + 1, "level after a barrier");
  }
}

static void deep_nesting(void) {
  omp_set_max_active_levels(20);
  for (int i = 0; i < repeats(3); i++) {
    atomic_store(&leaves, 0);
    go_down(8, 2);
    CHECK_EQUAL(atomic_load(&leaves), 256, "leaves of a nest 8 deep");
  }
}

static void very_deep_nesting_of_one(void) {
  omp_set_max_active_levels(200);
  atomic_store(&leaves, 0);
  go_down(100, 1);
  CHECK_EQUAL(atomic_load(&leaves), 1, "leaves of a nest 100 deep");
}

static void levels_beyond_the_limit_are_serial(void) {
  omp_set_max_active_levels(2);
  atomic_int members;
  atomic_init(&members, 0);
#pragma omp parallel num_threads(3)
#pragma omp parallel num_threads(3)
#pragma omp parallel num_threads(3)
  {
    CHECK_EQUAL(omp_get_num_threads(), 1, "size of a team beyond max_active_levels");
    CHECK_EQUAL(omp_get_level(), 3, "level beyond max_active_levels");
    CHECK_EQUAL(omp_get_active_level(), 2, "active level beyond max_active_levels");
    atomic_fetch_add(&members, 1);
  }
  CHECK_EQUAL(atomic_load(&members), 9, "members");
}

static void one_region_of(int members, int with_barrier) {
  atomic_int present;
  atomic_llong sum;
  atomic_init(&present, 0);
  atomic_init(&sum, 0);
#pragma omp parallel num_threads(members)
  {
    atomic_fetch_add(&present, 1);
    atomic_fetch_add(&sum, omp_get_thread_num());
    if (with_barrier) {
#pragma omp barrier
      CHECK_EQUAL(atomic_load(&present), members, "members that arrived before a barrier");
#pragma omp barrier
    }
  }
  CHECK_EQUAL(atomic_load(&present), members, "members of a team");
  CHECK_EQUAL(atomic_load(&sum), (long long)members * (members - 1) / 2, "sum of the members' numbers");
}

static void changing_team_sizes(void) {
  uint32_t random = 12345;
  for (int i = 0; i < repeats(2000); i++) {
    one_region_of(1 + (int)(next_random(&random) % 64), i % 3 == 0);
  }
}

static void changing_nested_team_sizes(void) {
  omp_set_max_active_levels(4);
  for (int i = 0; i < repeats(30); i++) {
#pragma omp parallel num_threads(1 + i % 9)
    {
      uint32_t random = (uint32_t)(i * 100 + omp_get_thread_num());
      for (int j = 0; j < 5; j++) {
        omp_set_max_active_levels(4);
        one_region_of(1 + (int)(next_random(&random) % 16), j % 2);
      }
    }
  }
}

static void thousand_members(void) {
  for (int i = 0; i < repeats(3); i++) {
    one_region_of(1000, 0);
    one_region_of(1000, 1);
  }
}

static void ten_thousand_members(void) { one_region_of(10000, 0); }

static void ten_thousand_members_with_barrier(void) {
  one_region_of(10000, 1);
  one_region_of(10000, 1);
}

static void spend(unsigned long turns) {
  for (volatile unsigned long i = 0; i < turns; i++) {
  }
}

static void odd_finishing_orders(void) {
  for (int i = 0; i < repeats(50); i++) {
    long results[24] = {0};
#pragma omp parallel num_threads(24)
    {
      const int mine = omp_get_thread_num();
      uint32_t random = (uint32_t)(i * 31 + mine);
      if (i % 3 == 0 && mine == 0) {
        spend(20000);  // the master last
      } else if (i % 3 == 1 && mine == 23) {
        sleep_seconds(0.002);  // the last member last, in a system call
      } else {
        spend(next_random(&random) % 5000);
      }
      if (i % 2 == 0) {
#pragma omp barrier
      }
      results[mine] = mine + 1;
    }
    long sum = 0;
    for (int j = 0; j < 24; j++) {
      sum += results[j];
    }
    CHECK_EQUAL(sum, 24 * 25 / 2, "what the members wrote before the region ended");
  }
}

static void single_and_copyprivate_in_nested_teams(void) {
  omp_set_max_active_levels(4);
  for (int i = 0; i < repeats(10); i++) {
#pragma omp parallel num_threads(8)
    {
      const int outer = omp_get_thread_num();
      int executed = 0;
#pragma omp parallel num_threads(8) shared(executed)
      {
        for (int round = 0; round < 5; round++) {
          int value = -1;
#pragma omp single copyprivate(value)
          {
            value = outer * 100 + round;
#pragma omp atomic
            executed += 1;
          }
          CHECK_EQUAL(value, outer * 100 + round, "value that single handed to all");
#pragma omp single nowait
          {
#pragma omp atomic
            executed += 1;
          }
        }
      }
      CHECK_EQUAL(executed, 10, "single constructs executed in an inner team");
    }
  }
}

static void loops_and_sections_in_nested_teams(void) {
  omp_set_max_active_levels(4);
  for (int i = 0; i < repeats(5); i++) {
    long grand_total = 0;
#pragma omp parallel num_threads(6) reduction(+ : grand_total)
    {
      long total = 0;
      int in_order = 0;
#pragma omp parallel num_threads(5)
      {
#pragma omp for schedule(dynamic, 3) nowait reduction(+ : total)
        for (int j = 0; j < 100; j++) {
          total += j;
        }
#pragma omp for schedule(guided) reduction(+ : total)
        for (int j = 0; j < 100; j++) {
          total += j;
        }
#pragma omp sections reduction(+ : total)
        {
#pragma omp section
          total += 1;
#pragma omp section
          total += 2;
#pragma omp section
          total += 3;
        }
#pragma omp for ordered schedule(dynamic)
        for (int j = 0; j < 20; j++) {
#pragma omp ordered
          {
            total += 1;
            CHECK_EQUAL(j, in_order, "iteration in an ordered section");
            in_order++;
          }
        }
      }
      CHECK_EQUAL(total, 4950 + 4950 + 6 + 20, "sum of the work of an inner team");
      grand_total += total;
    }
    CHECK_EQUAL(grand_total, 6 * 9926, "sum over the outer team");
  }
}

static void sizes_one_inside(void) {
  omp_set_max_active_levels(4);
  for (int i = 0; i < repeats(100); i++) {
    atomic_int count;
    atomic_init(&count, 0);
#pragma omp parallel num_threads(4)
    {
#pragma omp parallel num_threads(1)
      {
#pragma omp parallel num_threads(3)
        {
#pragma omp barrier
          atomic_fetch_add(&count, 1);
        }
      }
#pragma omp barrier
#pragma omp parallel if (0)
      atomic_fetch_add(&count, 1);
    }
    CHECK_EQUAL(atomic_load(&count), 16, "members");
  }
}

int main(int count, char** arguments) {
  omp_set_dynamic(0);
  const struct Case cases[] = {
      {"nested_with_barrier", nested_with_barrier, 0},
      {"nested_with_barriers_outside_too", nested_with_barriers_outside_too, 0},
      {"deep_nesting", deep_nesting, 0},
      {"very_deep_nesting_of_one", very_deep_nesting_of_one, 0},
      {"levels_beyond_the_limit_are_serial", levels_beyond_the_limit_are_serial, 0},
      {"changing_team_sizes", changing_team_sizes, 0},
      {"changing_nested_team_sizes", changing_nested_team_sizes, 0},
      {"thousand_members", thousand_members, 0},
      {"ten_thousand_members", ten_thousand_members, 0},
      {"ten_thousand_members_with_barrier", ten_thousand_members_with_barrier, 0},
      {"odd_finishing_orders", odd_finishing_orders, 0},
      {"single_and_copyprivate_in_nested_teams", single_and_copyprivate_in_nested_teams, 0},
      {"loops_and_sections_in_nested_teams", loops_and_sections_in_nested_teams, 0},
      {"sizes_one_inside", sizes_one_inside, 0},
      {NULL, NULL, 0},
  };
  return run_cases(count, arguments, cases);
}
