// Tasks with objects: copies of discarded tasks are destroyed, reductions of a class, detached tasks with data.

#include "check.h"

namespace {

int live;

struct Counted {
  int value;
  explicit Counted(int initial = 0) : value(initial) { check_add(&live, 1); }
  Counted(const Counted& other) : value(other.value) { check_add(&live, 1); }
  Counted& operator=(const Counted&) = default;
  ~Counted() { check_add(&live, -1); }
  Counted& operator+=(const Counted& other) {
    value += other.value;
    return *this;
  }
};

#pragma omp declare reduction(add:Counted : omp_out += omp_in) initializer(omp_priv = Counted(0))

void cancelled_copies() {
  const int before = check_load(&live);
  {
    Counted object(5);
    int runs = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 200; ++i) {
#pragma omp task firstprivate(object) shared(runs)
      {
        check_add(&runs, object.value);
#pragma omp cancel taskgroup if (i == 3)
      }
    }
    CHECK_GE(runs, 5);
  }
  CHECK_EQ(check_load(&live), before);
}

void reductions() {
  const int before = check_load(&live);
  {
    Counted total(1);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(add : total)
    for (int i = 1; i <= 50; ++i) {
#pragma omp task in_reduction(add : total)
      total += Counted(i);
    }
    CHECK_EQ(total.value, 1276);
    Counted looped(0);
#pragma omp parallel
    {
#pragma omp for reduction(task, add : looped) schedule(dynamic)
      for (int i = 1; i <= 50; ++i) {
#pragma omp task in_reduction(add : looped)
        looped += Counted(i);
      }
    }
    CHECK_EQ(looped.value, 1275);
  }
  CHECK_EQ(check_load(&live), before);
}

void detached_copies() {
  const int before = check_load(&live);
  {
    Counted object(3);
    int sum = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 20; ++i) {
      omp_event_handle_t event;
#pragma omp task detach(event) firstprivate(object) shared(sum)
      check_add(&sum, object.value);
#pragma omp task firstprivate(event)
      omp_fulfill_event(event);
    }
    CHECK_EQ(sum, 60);
  }
  CHECK_EQ(check_load(&live), before);
}

void body() {
  cancelled_copies();
  reductions();
  detached_copies();
}

}  // namespace

int main(int, char** argv) {
  check_need_variable("OMP_CANCELLATION", "true", argv);
  return check_run_flat(body);
}
