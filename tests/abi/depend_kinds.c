/* mutexinoutset (exclusive), dependence objects of each kind, iterators, undeferred tasks, taskwait with depend; and
 * what compilers since GCC 13 emit (inoutset, omp_all_memory, taskwait nowait), put together by hand. */
#include <unistd.h>

#include "check.h"

enum { SEATS = 5 };

/* Philosophers: each task wants two of five addresses, and every pair may go together only if it has none in common. */
static void exclusive_pairs(void) {
  int forks[SEATS] = {0}, meals = 0, wrong = 0;
  const int tasks = CHECK_SCALE(400);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < tasks; ++i) {
    const int left = i % SEATS, right = (i * 3 + 1) % SEATS == left ? (left + 1) % SEATS : (i * 3 + 1) % SEATS;
#pragma omp task depend(mutexinoutset : forks[left], forks[right]) shared(forks, meals, wrong)
    {
      if (check_add(&forks[left], 1) != 1 || check_add(&forks[right], 1) != 1) check_add(&wrong, 1);
      check_work(50);
      check_add(&forks[left], -1);
      check_add(&forks[right], -1);
      check_add(&meals, 1);
    }
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(meals, tasks);
}

/* Among other kinds: after the writer and the readers before it, before those behind. */
static void exclusive_in_order(void) {
  int value = 0, readers = 0, inside = 0, wrong = 0;
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 10; ++round) {
#pragma omp task depend(out : value) shared(value, readers, wrong)
    {
      if (value != round * 105) check_add(&wrong, 1);
      value += 100;
      check_store(&readers, 0);
    }
    for (int i = 0; i < 4; ++i) {
#pragma omp task depend(in : value) shared(value, readers, wrong)
      {
        check_work(300);
        if (value != round * 105 + 100) check_add(&wrong, 1);
        check_add(&readers, 1);
      }
    }
    for (int i = 0; i < 5; ++i) {
#pragma omp task depend(mutexinoutset : value) shared(value, readers, inside, wrong)
      {
        if (check_add(&inside, 1) != 1 || check_load(&readers) != 4) check_add(&wrong, 1);
        check_work(300);
        value++;
        check_add(&inside, -1);
      }
    }
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(value, 1050);
}

static void objects(void) {
  int value = 0, inside = 0, wrong = 0, readers = 0;
  omp_depend_t in, exclusive, changed;
#pragma omp depobj(in) depend(in : value)
#pragma omp depobj(exclusive) depend(mutexinoutset : value)
#pragma omp depobj(changed) depend(in : value)
#pragma omp depobj(changed) update(inout)
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 20; ++i) {
#pragma omp task depend(depobj : exclusive) shared(value, inside, wrong)
      {
        if (check_add(&inside, 1) != 1) check_add(&wrong, 1);
        value++;
        check_add(&inside, -1);
      }
    }
    for (int i = 0; i < 10; ++i) {
#pragma omp task depend(depobj : in) shared(value, wrong, readers)
      {
        if (value != 20) check_add(&wrong, 1);
        check_add(&readers, 1);
      }
    }
#pragma omp task depend(depobj : changed) shared(value, wrong, readers)
    {
      if (check_load(&readers) != 10) check_add(&wrong, 1);
      value = 0;
    }
  }
#pragma omp depobj(in) destroy
#pragma omp depobj(exclusive) destroy
#pragma omp depobj(changed) destroy
  CHECK_EQ(wrong, 0);
  CHECK_EQ(value, 0);
}

static void iterators(void) {
  int parts[20] = {0}, sum = 0, wrong = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(iterator(int k = 0 : 20 : 2), out : parts[k]) shared(parts)
    for (int i = 0; i < 20; i += 2) {
      check_work(500);
      parts[i] = 1;
    }
    for (int i = 0; i < 20; ++i) {
#pragma omp task depend(mutexinoutset : parts[i]) shared(parts, wrong)
      {
        if (i % 2 == 0 && parts[i] != 1) check_add(&wrong, 1);
        parts[i] += 10;
      }
    }
#pragma omp task if (0) depend(iterator(k = 0 : 20), in : parts[k]) shared(parts, sum)
    for (int i = 0; i < 20; ++i) sum += parts[i];
    CHECK_EQ(sum, 210);
  }
  CHECK_EQ(wrong, 0);
}

static void undeferred(void) {
  int value = 0, inside = 0, wrong = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 30; ++i) {
#pragma omp task depend(mutexinoutset : value) shared(value, inside, wrong)
    {
      if (check_add(&inside, 1) != 1) check_add(&wrong, 1);
      check_work(200);
      value++;
      check_add(&inside, -1);
    }
#pragma omp task if (0) depend(mutexinoutset : value) shared(value, inside, wrong)
    {
      if (check_add(&inside, 1) != 1) check_add(&wrong, 1);
      value++;
      check_add(&inside, -1);
    }
    if (i % 10 == 9) {
#pragma omp taskwait depend(in : value)
      CHECK_EQ(value, 2 * (i + 1));
    }
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(value, 60);
}

/* Not understood by libgomp 12. */

extern void GOMP_task(void (*)(void*), void*, void (*)(void*, void*), long, long, _Bool, unsigned, void**, int, void*);
static void (*taskwait_depend_nowait)(void**);

struct probe {
  int *before, *after, *wrong, least;
};

static void step(void* data) {
  const struct probe* const probe = data;
  check_work(300);
  if (probe->before != NULL && check_load(probe->before) < probe->least) check_add(probe->wrong, 1);
  check_add(probe->after, 1);
}

static void create(struct probe probe, void** depend) {
  enum { flag_depend = 8 };
  GOMP_task(step, &probe, NULL, sizeof probe, _Alignof(struct probe), 1, flag_depend, depend, 0, NULL);
}

static void in_a_set(void) {
  int value = 0, writers = 0, members = 0, readers = 0, wrong = 0;
  void* object[2] = {&value, (void*)5}; /* inoutset */
  void* set[] = {NULL, (void*)1, (void*)0, (void*)0, (void*)0, object};
  void* out[] = {(void*)1, (void*)1, &value};
  void* in[] = {(void*)1, (void*)0, &value};
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 5; ++round) {
    create((struct probe){&readers, &writers, &wrong, round * 4}, out);
    for (int i = 0; i < 6; ++i) create((struct probe){&writers, &members, &wrong, round + 1}, set);
    for (int i = 0; i < 4; ++i) create((struct probe){&members, &readers, &wrong, 6 * (round + 1)}, in);
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(readers, 20);
}

static void meet(void* data) {
  int* const arrived = *(int**)data;
  check_add(arrived, 1);
  for (int i = 0; i < 20000 && check_load(arrived) < 2; ++i) usleep(1000);
  CHECK_EQ(check_load(arrived), 2);
}

/* Two tasks of a set run beside each other, as two that exclude each other could not. */
static void beside_each_other(void) {
  int value = 0, arrived = 0;
  int* data = &arrived;
  void* object[2] = {&value, (void*)5};
  void* set[] = {NULL, (void*)1, (void*)0, (void*)0, (void*)0, object};
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 2; ++i) GOMP_task(meet, &data, NULL, sizeof data, 8, 1, 8, set, 0, NULL);
  CHECK_EQ(arrived, 2);
}

/* Exclusive tasks are not ordered: one that waits for something else does not keep others from running. */
static void any_order(void) {
  int value = 0, other = 0, order = 0;
  (void)value, (void)other; /* only their addresses matter */
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : other)
    check_work(1);
#pragma omp task depend(in : other) depend(mutexinoutset : value) shared(order)
    CHECK_EQ(check_add(&order, 1), 2);
#pragma omp task depend(mutexinoutset : value) shared(order)
    {
      CHECK_EQ(check_add(&order, 1), 1);
      omp_fulfill_event(event);
    }
  }
  CHECK_EQ(order, 2);
}

static void all_memory(void) {
  int a = 0, b = 0, first = 0, middle = 0, last = 0, wrong = 0;
  void* on_a[] = {(void*)1, (void*)1, &a};
  void* on_b[] = {(void*)1, (void*)0, &b};
  void* on_all[] = {(void*)1, (void*)1, NULL};
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 3; ++i) {
      create((struct probe){&middle, &first, &wrong, round}, on_a);
      create((struct probe){&middle, &first, &wrong, round}, on_b);
    }
    create((struct probe){&first, &middle, &wrong, 6 * (round + 1)}, on_all);
    create((struct probe){&middle, &last, &wrong, round + 1}, on_b);
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(middle, 5);
  CHECK_EQ(last, 5);
}

/* taskwait depend(...) nowait: no wait, but what comes later comes after it. */
static void nowait(void) {
  int a = 0, b = 0, first = 0, last = 0, wrong = 0;
  void* on_a[] = {(void*)1, (void*)1, &a};
  void* on_b[] = {(void*)1, (void*)1, &b};
  void* on_both[] = {(void*)2, (void*)2, &a, &b};
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 10; ++round) {
    create((struct probe){&last, &first, &wrong, round}, on_a);
    taskwait_depend_nowait(on_both);
    create((struct probe){&first, &last, &wrong, round + 1}, on_b);
    taskwait_depend_nowait(on_both);
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(last, 10);
}

/* A null pointer that is only read stands for an address like another: not for all of them. */
static void null_pointers(void) {
  int x = 0, seen = 0;
  (void)x;
  int* volatile nowhere = NULL;
  int* const pointer = nowhere;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task shared(seen) depend(out : x)
    while (!check_load(&seen)) usleep(100);
#pragma omp task shared(seen) depend(in : *pointer)
    check_store(&seen, 1);
#pragma omp task shared(seen) depend(in : *pointer)
    CHECK_LE(check_load(&seen), 1);
  }
  CHECK_EQ(seen, 1);
}

static void body(void) {
  exclusive_pairs();
  exclusive_in_order();
  objects();
  iterators();
  undeferred();
  if (check_where == CHECK_SERIAL) null_pointers();
  if (taskwait_depend_nowait == NULL) return;
  in_a_set();
  if (check_where == CHECK_SERIAL) beside_each_other();
  any_order();
  all_memory();
  nowait();
}

int main(void) {
  taskwait_depend_nowait = (void (*)(void**))dlsym(RTLD_DEFAULT, "GOMP_taskwait_depend_nowait");
  return check_run(body);
}
