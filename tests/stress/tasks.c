// Tasks in number and in odd places: many from one producer, regions inside tasks inside regions, tasks that
// wait.
#include "check.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static void ten_thousand_from_one_producer(void) {
  for (int i = 0; i < repeats(3); i++) {
    static unsigned char done[10000];
    atomic_int count;
    atomic_init(&count, 0);
    memset(done, 0, sizeof done);
#pragma omp parallel num_threads(8)
#pragma omp single
    for (int task = 0; task < 10000; task++) {
#pragma omp task firstprivate(task)
      {
        done[task]++;
        atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
      }
    }
    CHECK_EQUAL(atomic_load(&count), 10000, "tasks executed");
    for (int task = 0; task < 10000; task++) {
      CHECK_EQUAL(done[task], 1, "executions of one task");
    }
  }
}

static void ten_thousand_with_large_data(void) {
  struct Large {
    long values[40];
  };
  atomic_llong sum;
  atomic_init(&sum, 0);
#pragma omp parallel num_threads(8)
#pragma omp single
  {
    struct Large data;
    for (int task = 0; task < 10000; task++) {
      for (int j = 0; j < 40; j++) {
        data.values[j] = task + j;
      }
#pragma omp task firstprivate(data)
      {
        long own = 0;
        for (int j = 0; j < 40; j++) {
          own += data.values[j];
        }
        atomic_fetch_add(&sum, own);
      }
    }
  }
  CHECK_EQUAL(atomic_load(&sum), 40LL * (9999LL * 10000 / 2) + 10000LL * (39 * 40 / 2), "sum of the tasks' data");
}

static void every_member_produces(void) {
  for (int i = 0; i < repeats(5); i++) {
    atomic_int count;
    atomic_init(&count, 0);
#pragma omp parallel num_threads(16)
    {
      for (int task = 0; task < 500; task++) {
#pragma omp task
        atomic_fetch_add(&count, 1);
      }
#pragma omp barrier
      CHECK_EQUAL(atomic_load(&count), 16 * 500, "tasks complete at a barrier");
    }
  }
}

static void region_in_task_in_region(void) {
  omp_set_max_active_levels(6);
  for (int i = 0; i < repeats(10); i++) {
    atomic_int count;
    atomic_init(&count, 0);
#pragma omp parallel num_threads(8)
    {
      const int outer = omp_get_thread_num();
      for (int task = 0; task < 3; task++) {
#pragma omp task firstprivate(outer)
        {
          CHECK_EQUAL(omp_get_level(), 1, "level of a task");
          int inner = 0;
#pragma omp parallel num_threads(4) shared(inner)
          {
            CHECK_EQUAL(omp_get_level(), 2, "level of a region in a task");
#pragma omp barrier
#pragma omp atomic
            inner += 1;
#pragma omp single
#pragma omp task
            {
#pragma omp parallel num_threads(2)
              {
#pragma omp barrier
                atomic_fetch_add(&count, 1);
              }
            }
          }
          CHECK_EQUAL(inner, 4, "members of a region in a task");
          CHECK_EQUAL(omp_get_level(), 1, "level of a task after its region");
          atomic_fetch_add(&count, 10);
        }
      }
#pragma omp taskwait
      CHECK_EQUAL(omp_get_thread_num(), outer, "number of a member after taskwait");
    }
    CHECK_EQUAL(atomic_load(&count), 8 * 3 * (10 + 2), "tasks and inner members");
  }
}

static long fibonacci(int n) {
  long a;
  long b;
  if (n < 2) {
    return n;
  }
#pragma omp task shared(a)
  a = fibonacci(n - 1);
#pragma omp task shared(b)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

static void recursive_tasks(void) {
  for (int i = 0; i < repeats(2); i++) {
    long result = 0;
#pragma omp parallel num_threads(8)
#pragma omp single
    result = fibonacci(18);
    CHECK_EQUAL(result, 2584, "fibonacci of 18");
  }
}

static void chain(int length) {
  if (length > 0) {
#pragma omp task
    chain(length - 1);
#pragma omp taskwait
  }
}

static void long_chain_of_waiting_tasks(void) {
#pragma omp parallel num_threads(8)
#pragma omp single
  chain(2000);
}

// Each of them takes an eighth of a stack of the default size.
static void large_chain(int length) {
  enum { bytes = 512 * 1024 };
  volatile char frame[bytes];
  for (int at = 0; at < bytes; at += 4096) frame[at] = (char)length;
  if (length > 0) {
#pragma omp task
    large_chain(length - 1);
#pragma omp taskwait
  }
  for (int at = 0; at < bytes; at += 4096) CHECK_EQUAL(frame[at], (char)length, "frame of a task that waited");
}

static void chain_of_waiting_tasks_with_large_frames(void) {
  for (int i = 0; i < repeats(3); i++) {
#pragma omp parallel num_threads(4)
    {
      CHECK_EQUAL(omp_get_num_threads(), 4, "members");
      large_chain(30 + omp_get_thread_num());
    }
  }
}

static void dependences_keep_order(void) {
  enum { chains = 20, links = 100 };
  for (int i = 0; i < repeats(3); i++) {
    int values[chains] = {0};
    int copies[chains][3] = {{0}};
#pragma omp parallel num_threads(8)
#pragma omp single
    for (int link = 0; link < links; link++) {
      for (int c = 0; c < chains; c++) {
#pragma omp task depend(inout : values[c]) firstprivate(link, c) shared(values)
        {
          CHECK_EQUAL(values[c], link, "link of a chain of dependent tasks");
          values[c]++;
        }
        if (link == links - 1) {
          for (int reader = 0; reader < 3; reader++) {
#pragma omp task depend(in : values[c]) firstprivate(c, reader) shared(values, copies)
            copies[c][reader] = values[c];
          }
#pragma omp task depend(out : values[c]) firstprivate(c) shared(values, copies)
          {
            for (int reader = 0; reader < 3; reader++) {
              CHECK_EQUAL(copies[c][reader], links, "what a reader of a chain saw");
            }
            values[c] = -1;
          }
        }
      }
    }
    for (int c = 0; c < chains; c++) {
      CHECK_EQUAL(values[c], -1, "end of a chain");
    }
  }
}

// No address comes again, and the creator goes on for ever.
static void dependences_on_ever_new_addresses(void) {
  enum { rounds = 10, tasks = 20000, bytes_each = 64 };
  const char* const memory = (const char*)0x100000000;  // only its addresses matter
  long before = 0, after = 0;
  atomic_int done = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (long round = 0; round < rounds; round++) {
    for (long i = 0; i < tasks; i++) {
      const char* address = memory + bytes_each * (round * tasks + i);
#pragma omp task depend(inout : address[0]) shared(done)
      atomic_fetch_add(&done, 1);
      (void)address;
    }
#pragma omp taskwait
    if (round == 1) before = resident_kilobytes();
    after = resident_kilobytes();
  }
  CHECK_EQUAL(atomic_load(&done), rounds * tasks, "tasks done");
  CHECK(after <= before + 8 * 1024L, "memory grew from %ld to %ld kB over dependences on new addresses", before, after);
}

static void taskgroups_wait_for_descendants(void) {
  for (int i = 0; i < repeats(10); i++) {
#pragma omp parallel num_threads(8)
    {
      atomic_int count;
      atomic_init(&count, 0);
#pragma omp taskgroup
      for (int task = 0; task < 10; task++) {
#pragma omp task shared(count)
        {
          for (int child = 0; child < 5; child++) {
#pragma omp task shared(count)
            atomic_fetch_add(&count, 1);
          }
        }
      }
      CHECK_EQUAL(atomic_load(&count), 50, "descendants complete at the end of a taskgroup");
    }
  }
}

static void tasks_yield(void) {
  for (int i = 0; i < repeats(5); i++) {
    atomic_int count;
    atomic_init(&count, 0);
#pragma omp parallel num_threads(8)
#pragma omp single
    for (int task = 0; task < 200; task++) {
#pragma omp task untied
      {
        for (int round = 0; round < 10; round++) {
          atomic_fetch_add(&count, 1);
#pragma omp taskyield
        }
      }
    }
    CHECK_EQUAL(atomic_load(&count), 2000, "rounds of yielding tasks");
  }
}

static void taskloops_nest(void) {
  for (int i = 0; i < repeats(3); i++) {
    atomic_int count;
    atomic_init(&count, 0);
#pragma omp parallel num_threads(8)
#pragma omp single
#pragma omp taskloop grainsize(1)
    for (int a = 0; a < 30; a++) {
#pragma omp taskloop num_tasks(7)
      for (int b = 0; b < 30; b++) {
        atomic_fetch_add(&count, 1);
      }
    }
    CHECK_EQUAL(atomic_load(&count), 900, "iterations of nested taskloops");
  }
}

static void tasks_outlive_their_parent(void) {
  for (int i = 0; i < repeats(20); i++) {
    atomic_int count;
    atomic_init(&count, 0);
#pragma omp parallel num_threads(8)
    {
#pragma omp task shared(count)
      {
#pragma omp task shared(count)
        {
#pragma omp task shared(count)
          {
            sleep_seconds(0.0002);
            atomic_fetch_add(&count, 1);
          }
        }
      }
    }
    CHECK_EQUAL(atomic_load(&count), 8, "tasks that outlived their parents");
  }
}

static void await_step(int* step, int awaited) {
  int now;
  for (;;) {
#pragma omp atomic read seq_cst
    now = *step;
    if (now >= awaited) return;
    sched_yield();
  }
}

static void count(int* counted) {
#pragma omp atomic seq_cst
  ++*counted;
}

// Two members have as many tasks as libgomp leaves for later. One runs its own; then there is room for one of the other
// that waits for its creator. (Bug: that was not looked for again soon.)
static void tasks_of_others_that_have_ended_make_room(void) {
  for (int round = 0; round < 10; round++) {
    int step = 0, made = 0, ended = 0;
#pragma omp parallel num_threads(2)
    {
      const int number = omp_get_thread_num();
      const int own = number == 1 ? 64 : 65;
      if (number == 0) await_step(&step, 1);
      for (int i = 0; i < own; i++) {
#pragma omp task
        count(&ended);
      }
      count(&step);
      if (number == 1) {
        await_step(&step, 2);
#pragma omp taskwait
        count(&step);
        await_step(&made, 1);
      } else {
        await_step(&step, 3);
#pragma omp task
        {
          await_step(&made, 1);
          count(&ended);
        }
        count(&made);
      }
    }
    CHECK_EQUAL(ended, 64 + 65 + 1, "tasks");
  }
}

// As many as libgomp leaves for later, but not more: 64 for each member.
static void tasks_that_wait_for_their_creator(void) {
  for (int members = 2; members <= 8; members *= 2) {
    int all_there = 0, ended = 0;
#pragma omp parallel num_threads(members)
#pragma omp single
    {
      for (int i = 0; i < 60 * members; i++) {
#pragma omp task
        {
          await_step(&all_there, 1);
          count(&ended);
        }
      }
      count(&all_there);
    }
    CHECK_EQUAL(ended, 60 * members, "tasks");
  }
}

static void tasks_outside_regions(void) {
  int count = 0;
  for (int task = 0; task < 1000; task++) {
#pragma omp task shared(count)
    {
#pragma omp atomic
      count += 1;
    }
  }
#pragma omp taskwait
  CHECK_EQUAL(count, 1000, "tasks outside a region");
#pragma omp taskgroup
  {
#pragma omp task shared(count)
    count++;
  }
  CHECK_EQUAL(count, 1001, "a task in a taskgroup outside a region");
}

static void tasks_in_nested_teams(void) {
  omp_set_max_active_levels(4);
  for (int i = 0; i < repeats(5); i++) {
    atomic_int count;
    atomic_init(&count, 0);
#pragma omp parallel num_threads(6)
#pragma omp parallel num_threads(6)
    {
      for (int task = 0; task < 20; task++) {
#pragma omp task
        {
          CHECK_EQUAL(omp_get_num_threads(), 6, "team of a task");
          atomic_fetch_add(&count, 1);
        }
      }
#pragma omp taskwait
#pragma omp barrier
    }
    CHECK_EQUAL(atomic_load(&count), 6 * 6 * 20, "tasks of nested teams");
  }
}

// Trees of tasks that their makers run themselves, so that their deques become private, and tasks that others steal, by
// turns.
static void peace_and_theft_by_turns(void) {
  for (int i = 0; i < repeats(10); i++) {
    const int members = 2 + 6 * (i % 2);
    atomic_int count;
    atomic_init(&count, 0);
    long results[8];
#pragma omp parallel num_threads(members)
    {
      const int number = omp_get_thread_num();
      for (int turn = 0; turn < 3; turn++) {
        results[number] = fibonacci(13 + turn);
#pragma omp barrier
#pragma omp single nowait
        for (int task = 0; task < 300; task++) {
#pragma omp task
          atomic_fetch_add(&count, 1);
        }
      }
    }
    for (int number = 0; number < members; number++) CHECK_EQUAL(results[number], 610, "fibonacci of 15");
    CHECK_EQUAL(atomic_load(&count), 3 * 300, "tasks of one for all");
  }
}

// Teams of a few and of many members by turns, with tasks to steal in each, from several threads of the program.
static void* sizes_by_turns(void* argument) {
  const int seed = *(const int*)argument;
  static const int sizes[] = {2, 130, 5, 70, 3, 400};
  for (int i = 0; i < repeats(20); i++) {
    const int members = sizes[(i + seed) % 6];
    atomic_int count;
    atomic_init(&count, 0);
#pragma omp parallel num_threads(members)
    {
#pragma omp single nowait
      for (int task = 0; task < 50; task++) {
#pragma omp task
        atomic_fetch_add(&count, 1);
      }
#pragma omp task
      atomic_fetch_add(&count, 1);
    }
    CHECK_EQUAL(atomic_load(&count), 50 + members, "tasks of a team whose size changes");
  }
  return NULL;
}

static void team_sizes_change_while_tasks_are_stolen(void) {
  pthread_t threads[4];
  int seeds[4];
  for (int i = 0; i < 4; i++) {
    seeds[i] = i;
    CHECK(pthread_create(&threads[i], NULL, sizes_by_turns, &seeds[i]) == 0, "pthread_create failed");
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
  }
}

// Who waits with a lock held can run only tasks of its own, and one of those becomes ready at somebody who goes on to
// another task, and waits for the lock. All slept where the former had looked while another had that task in hand.
static void tasks_wait_with_lock_held(void) {
  enum { pairs = 20 };
  for (int i = 0; i < repeats(50); i++) {
    atomic_int count;
    atomic_init(&count, 0);
#pragma omp parallel num_threads(3)
#pragma omp single
    for (int pair = 0; pair < pairs; pair++) {
#pragma omp task
#pragma omp critical(held_in_taskwait)
      {
        int made = 0;
#pragma omp task depend(out : made) shared(made)
        made = 1;
#pragma omp task depend(in : made) shared(made)
        atomic_fetch_add(&count, made);
#pragma omp taskwait
      }
#pragma omp task
      {
#pragma omp task
#pragma omp critical(held_in_taskwait)
        atomic_fetch_add(&count, 1);
#pragma omp taskwait
      }
    }
    CHECK_EQUAL(atomic_load(&count), 2 * pairs, "tasks beside a lock that is held in a taskwait");
  }
}

int main(int count, char** arguments) {
  omp_set_dynamic(0);
  const struct Case cases[] = {
      {"ten_thousand_from_one_producer", ten_thousand_from_one_producer, 0},
      {"ten_thousand_with_large_data", ten_thousand_with_large_data, 0},
      {"every_member_produces", every_member_produces, 0},
      {"region_in_task_in_region", region_in_task_in_region, 0},
      {"recursive_tasks", recursive_tasks, 0},
      {"long_chain_of_waiting_tasks", long_chain_of_waiting_tasks, 0},
      {"chain_of_waiting_tasks_with_large_frames", chain_of_waiting_tasks_with_large_frames, 0},
      {"dependences_keep_order", dependences_keep_order, 0},
      {"dependences_on_ever_new_addresses", dependences_on_ever_new_addresses, 0},
      {"taskgroups_wait_for_descendants", taskgroups_wait_for_descendants, 0},
      {"tasks_yield", tasks_yield, 0},
      {"taskloops_nest", taskloops_nest, 0},
      {"tasks_outlive_their_parent", tasks_outlive_their_parent, 0},
      {"tasks_that_wait_for_their_creator", tasks_that_wait_for_their_creator, 0},
      {"tasks_of_others_that_have_ended_make_room", tasks_of_others_that_have_ended_make_room, 0},
      {"tasks_outside_regions", tasks_outside_regions, 0},
      {"tasks_in_nested_teams", tasks_in_nested_teams, 0},
      {"peace_and_theft_by_turns", peace_and_theft_by_turns, 0},
      {"tasks_wait_with_lock_held", tasks_wait_with_lock_held, 0},
      {"team_sizes_change_while_tasks_are_stolen", team_sizes_change_while_tasks_are_stolen, 0},
      {NULL, NULL, 0},
  };
  return run_cases(count, arguments, cases);
}
