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

// Its copies are made by tasks, in part: each copy creates one, of whatever task copies it.
struct Busy {
  int value = 1;
  int *created, *ran;
  Busy(int* creations, int* runs) : created(creations), ran(runs) {}
  Busy(const Busy& other) : value(other.value), created(other.created), ran(other.ran) {
    check_add(created, 1);
    int* const runs = ran;
#pragma omp task firstprivate(runs)
    {
      check_work(300);
      check_add(runs, 1);
    }
  }
};

void copies_that_create_tasks() {
  const int tasks = 400;
  int created = 0, ran = 0, sum = 0;
#pragma omp parallel
#pragma omp single
  {
    Busy object(&created, &ran);
    // Undeferred, so that its copy of the object is on its creator's stack.
#pragma omp task if (0) firstprivate(object) shared(sum)
    {
#pragma omp task shared(sum)
      check_add(&sum, object.value);
    }
    for (int i = 0; i < tasks; ++i) {
#pragma omp task firstprivate(object) shared(sum)
      {
#pragma omp task shared(sum)
        check_add(&sum, object.value);
        if (i % 2 == 0) {
#pragma omp taskwait
        }
      }
    }
#pragma omp task final(1) firstprivate(object) shared(sum)
    {
#pragma omp task shared(sum)
      check_add(&sum, object.value);
    }
  }
  CHECK_GE(created, tasks + 2);
  CHECK_EQ(ran, created);
  CHECK_EQ(sum, tasks + 2);
}

void body() {
  cancelled_copies();
  reductions();
  detached_copies();
  copies_that_create_tasks();
}

}  // namespace

int main(int, char** argv) {
  check_need_variable("OMP_CANCELLATION", "true", argv);
  return check_run_flat(body);
}
