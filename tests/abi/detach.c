/* detach: a task is complete when its body has ended and its event is fulfilled, by whichever thread. */
#include "fulfiller.h"

static void in_its_own_body(void) {
  int value = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 50; ++i) {
    omp_event_handle_t event;
#pragma omp task detach(event) shared(value)
    {
      omp_fulfill_event(event);
      check_add(&value, 1);
    }
  }
  CHECK_EQ(value, 50);
}

/* taskwait waits for the event, not only for the body. */
static void by_a_foreign_thread(void) {
  int value = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 5; ++i) {
    omp_event_handle_t event;
#pragma omp task detach(event) shared(value)
    start_fulfiller(event, &value, 200);
#pragma omp taskwait
    CHECK_EQ(check_load(&value), i + 1);
  }
}

/* A taskgroup and a barrier do as well; the region's end is one. libgomp 12 never comes out of a barrier if the event
 * of the last pending task is fulfilled by a thread from outside while all members wait in it. */
static void group_and_barrier(void) {
  int grouped = 0, at_barrier = 0, at_end = 0;
  if (getenv("CHECK_RUNTIME") == NULL) return;
#pragma omp parallel
  {
#pragma omp single nowait
    {
#pragma omp taskgroup
      {
        omp_event_handle_t event;
#pragma omp task detach(event) shared(grouped)
        start_fulfiller(event, &grouped, 200);
      }
      CHECK_EQ(check_load(&grouped), 1);
      omp_event_handle_t event;
#pragma omp task detach(event) shared(at_barrier)
      start_fulfiller(event, &at_barrier, 200);
    }
#pragma omp barrier
    CHECK_EQ(check_load(&at_barrier), 1);
#pragma omp barrier
#pragma omp single nowait
    {
      omp_event_handle_t event;
#pragma omp task detach(event) shared(at_end)
      start_fulfiller(event, &at_end, 200);
    }
  }
  CHECK_EQ(at_end, 1);
}

/* What depends on the task waits for the event; also where a foreign thread makes it ready. */
static void successors(void) {
  int value = 0, seen[10];
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 10; ++i) {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : seen[i]) shared(value)
    start_fulfiller(event, &value, 200);
#pragma omp task depend(in : seen[i]) depend(inout : value) shared(value, seen)
    seen[i] = check_load(&value);
  }
  CHECK_EQ(value, 10);
  for (int i = 0; i < 10; ++i) CHECK_GE(seen[i], i + 1);
}

/* The event of one task is fulfilled by another, which may run before, after or beside it. */
static void by_another_task(void) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 30; ++i) {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : event) shared(done)
    check_add(&done, 1);
#pragma omp task firstprivate(event)
    omp_fulfill_event(event);
#pragma omp task depend(in : event) shared(done)
    check_add(&done, 1);
#pragma omp taskwait
    CHECK_EQ(check_load(&done), 2 * (i + 1));
  }
}

/* By the member that created it, before it looks for the task: with one member, that one must go on. */
static void by_the_creator(void) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t events[20];
    for (int i = 0; i < 20; ++i) {
      omp_event_handle_t event;
#pragma omp task detach(event) shared(done)
      check_add(&done, 1);
      events[i] = event;
    }
    for (int i = 19; i >= 0; --i) omp_fulfill_event(events[i]);
#pragma omp taskwait
    CHECK_EQ(check_load(&done), 20);
  }
}

/* An undeferred one: its creator goes on when the body has ended; with gcc's libgomp, when the event is fulfilled too.
 */
static void undeferred(void) {
  int value = 0;
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task if (0) detach(event) shared(value)
    start_fulfiller(event, &value, 200);
#ifdef __clang__
#pragma omp taskwait
#endif
    CHECK_EQ(check_load(&value), 1);
  }
}

static void included(void) {
  int value = 0;
#pragma omp parallel
#pragma omp single
#pragma omp task final(1) shared(value)
  {
    omp_event_handle_t event;
#pragma omp task detach(event) shared(value)
    start_fulfiller(event, &value, 200);
#ifdef __clang__
#pragma omp taskwait
#endif
    CHECK_EQ(check_load(&value), 1);
  }
}

/* By the final task itself, behind its child. (Bug: that hung with LLVM's code, and with gcc's it does on libgomp,
 * too.) */
static void included_fulfilled_behind(void) {
#ifdef __clang__
  int done = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task final(1) shared(done)
  {
    omp_event_handle_t event;
    int cell = 0;
#pragma omp task detach(event) depend(out : cell) shared(done, cell)
    check_add(&done, 1);
    CHECK_EQ(check_load(&done), 1);
    omp_fulfill_event(event);
#pragma omp task depend(in : cell) shared(done, cell)
    check_add(&done, 1);
#pragma omp taskwait
    CHECK_EQ(check_load(&done), 2);
  }
#endif
}

/* Children of a detached task, and a task that is a child of one that is pending. */
static void with_children(void) {
  int value = 0;
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp taskgroup
    {
#pragma omp task detach(event) shared(value)
      {
        for (int i = 0; i < 5; ++i) {
#pragma omp task shared(value)
          check_add(&value, 1);
        }
        start_fulfiller(event, &value, 200);
      }
    }
    CHECK_EQ(check_load(&value), 6);
  }
}

static void* create_and_end(void* argument) {
  omp_event_handle_t event = (omp_event_handle_t)0;
  int done = 0;
#pragma omp task detach(event) shared(done)
  done = 1;
  CHECK_EQ(done, 1);
  *(omp_event_handle_t*)argument = event;
  return NULL;
}

/* Outside any region: the thread that creates the task need not be there any more when it is complete. In libgomp 12
 * the creator waits for the event. */
static void after_the_creator_has_ended(void) {
  if (getenv("CHECK_RUNTIME") == NULL) return;
  for (int i = 0; i < 10; ++i) {
    omp_event_handle_t event;
    pthread_t thread;
    if (pthread_create(&thread, NULL, create_and_end, &event) != 0) abort();
    pthread_join(thread, NULL);
    omp_fulfill_event(event);
  }
}

static void body(void) {
  in_its_own_body();
  by_a_foreign_thread();
  group_and_barrier();
  successors();
  by_another_task();
  by_the_creator();
  undeferred();
  included();
  included_fulfilled_behind();
  with_children();
  after_the_creator_has_ended();
}

CHECK_MAIN(body)
