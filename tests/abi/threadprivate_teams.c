/* Threadprivate variables persist between the regions that one team of a league opens, and are not those of other
 * teams. */
#include "check.h"

static int own = 5;
#pragma omp threadprivate(own)

static void regions(int team) {
  int kept = 0, distinct = 0;
#pragma omp parallel num_threads(4)
  {
#pragma omp barrier
    own = 100 * team + omp_get_thread_num();
  }
  for (int again = 0; again < 5; ++again) {
#pragma omp parallel num_threads(4) reduction(+ : kept, distinct)
    {
#pragma omp barrier
      kept += own == 100 * team + omp_get_thread_num();
#pragma omp task
      check_work(100);
#pragma omp taskwait
      distinct += own == 100 * team + omp_get_thread_num();
    }
  }
  CHECK_EQ(own, 100 * team);
  CHECK_EQ(kept, 20);
  CHECK_EQ(distinct, 20);
}

int main(void) {
  check_runtime();
  for (int again = 0; again < 20; ++again) {
#pragma omp teams num_teams(3) thread_limit(4)
    regions(omp_get_team_num() + 1);
  }
  return check_finish();
}
