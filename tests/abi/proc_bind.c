/* proc_bind is accepted on parallel in every form; the routines about places give consistent answers. */
#include "check.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void clause(void) {
  int members = 0;
#pragma omp parallel num_threads(4) proc_bind(close)
  check_add(&members, 1);
#pragma omp parallel num_threads(4) proc_bind(spread)
  check_add(&members, 1);
#pragma omp parallel num_threads(4) proc_bind(master)
  check_add(&members, 1);
#pragma omp parallel num_threads(4) proc_bind(primary)
  check_add(&members, 1);
#pragma omp parallel for num_threads(4) proc_bind(close) schedule(dynamic)
  for (int i = 0; i < 100; ++i) check_add(&members, 1);
  CHECK_EQ(members, 116);
}

static void places(void) {
  const int places = omp_get_num_places();
  const int partition = omp_get_partition_num_places();
  CHECK_GE(places, 0);
  CHECK_GE(partition, 0);
  CHECK_LE(partition, places);
  CHECK_GE(omp_get_place_num(), -1);
  CHECK(omp_get_place_num() < places || places == 0);
  CHECK_EQ(omp_get_place_num_procs(-1), 0);
  CHECK_EQ(omp_get_place_num_procs(places), 0);
  for (int place = 0; place < places; ++place) {
    const int procs = omp_get_place_num_procs(place);
    int* ids = (int*)calloc((size_t)procs + 1, sizeof(int));
    CHECK_GE(procs, 1);
    omp_get_place_proc_ids(place, ids);
    for (int i = 0; i < procs; ++i) CHECK_GE(ids[i], 0);
    free(ids);
  }
  int* numbers = (int*)calloc((size_t)partition + 1, sizeof(int));
  omp_get_partition_place_nums(numbers);
  for (int i = 0; i < partition; ++i) CHECK(numbers[i] >= 0 && numbers[i] < places);
  free(numbers);
}

/* OMP_PROC_BIND is not set here, so the bind variable is false, everywhere. */
static void bind_variable(void) {
  CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_false);
#pragma omp parallel num_threads(2)
  CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_false);
}

static void body(void) {
  clause();
  places();
  bind_variable();
}

CHECK_MAIN(body)
