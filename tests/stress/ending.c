// The end of a process, wherever it is called for: it ends at once, with the status it was given.
#include "check.h"
#include "handlers.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

static void some_regions(int members) {
  int present = 0;
#pragma omp parallel num_threads(members)
  {
#pragma omp atomic
    present += 1;
#pragma omp barrier
  }
  CHECK_EQUAL(present, members, "members of a region");
}

static void* regions_without_end(void* argument) {
  for (;;) {
    some_regions(4);
    omp_set_max_active_levels(4);
#pragma omp parallel num_threads(3)
    some_regions(3);
  }
  return argument;
}

static void* sleep_in_region(void* argument) {
#pragma omp parallel num_threads(8)
  {
    if (omp_get_thread_num() == 3) {
      sleep_seconds(1000);
    }
#pragma omp barrier
  }
  return argument;
}

static pthread_t start(void* (*function)(void*), void* argument) {
  pthread_t thread;
  const int error = pthread_create(&thread, NULL, function, argument);
  CHECK(error == 0, "pthread_create: %s", strerror(error));
  return thread;
}

static void exit_in_member(void) {
#pragma omp parallel num_threads(8)
  {
#pragma omp barrier
    if (omp_get_thread_num() == 5) {
      exit(33);
    }
#pragma omp barrier
  }
}

static void exit_in_master(void) {
#pragma omp parallel num_threads(8)
  {
#pragma omp barrier
#pragma omp master
    exit(33);
#pragma omp barrier
  }
}

static void exit_in_all_members(void) {
#pragma omp parallel num_threads(8)
  {
#pragma omp critical
    exit(33);
  }
}

static void exit_in_nested_member(void) {
  omp_set_max_active_levels(4);
#pragma omp parallel num_threads(4)
#pragma omp parallel num_threads(4)
  {
#pragma omp barrier
    if (omp_get_ancestor_thread_num(1) == 2 && omp_get_thread_num() == 3) {
      exit(33);
    }
#pragma omp barrier
  }
}

static void exit_in_task(void) {
#pragma omp parallel num_threads(8)
  {
#pragma omp single
    for (int i = 0; i < 100; i++) {
#pragma omp task firstprivate(i)
      if (i == 77) {
        exit(33);
      }
    }
  }
}

static void immediate_exit_in_member(void) {
#pragma omp parallel num_threads(8)
  {
#pragma omp barrier
    if (omp_get_thread_num() == 6) {
      _exit(33);
    }
#pragma omp barrier
  }
}

static void quick_exit_in_member(void) {
#pragma omp parallel num_threads(8)
  {
#pragma omp barrier
    if (omp_get_thread_num() == 6) {
      quick_exit(33);
    }
#pragma omp barrier
  }
}

static void exit_while_a_root_runs(void) {
  start(regions_without_end, NULL);
  start(regions_without_end, NULL);
  some_regions(8);
  sleep_seconds(0.05);
  exit(33);
}

static void exit_while_a_root_waits(void) {
  start(sleep_in_region, NULL);
  sleep_seconds(0.05);
  exit(33);
}

static void* exit_soon(void* argument) {
  some_regions(4);
  sleep_seconds(0.05);
  exit(33);
  return argument;
}

static void exit_by_a_root(void) {
  start(exit_soon, NULL);
  regions_without_end(NULL);
}

static void region_at_exit(void) { some_regions(8); }

static void exit_handlers_open_regions(void) {
  atexit(region_at_exit);
  some_regions(4);
  exit(33);
}

// Of as many members as the runtime gives in a handler.
static void constructs_at_exit(void) {
  int members = 0;
  int tasks = 0;
  int iterations = 0;
#pragma omp parallel num_threads(4) reduction(+ : members)
  {
    members = 1;
#pragma omp for schedule(dynamic, 1) reduction(+ : iterations)
    for (int i = 0; i < 20; i++) {
      iterations++;
    }
#pragma omp single
    {
      for (int i = 0; i < 20; i++) {
#pragma omp task shared(tasks) depend(inout : tasks)
        tasks++;
      }
#pragma omp taskwait
    }
  }
  CHECK(members >= 1 && members <= 4, "%d members of a region", members);
  CHECK_EQUAL(iterations, 20, "iterations of a loop");
  CHECK_EQUAL(tasks, 20, "tasks");
  int of_inner = 0;
#pragma omp parallel num_threads(2) reduction(+ : of_inner)
#pragma omp parallel for num_threads(4) reduction(+ : of_inner)
  for (int i = 0; i < 20; i++) {
    of_inner++;
  }
  CHECK(of_inner == 20 || of_inner == 40, "%d iterations of inner loops", of_inner);
  int of_teams = 0;
#pragma omp teams distribute parallel for num_teams(3) reduction(+ : of_teams)
  for (int i = 0; i < 20; i++) {
    of_teams++;
  }
  CHECK_EQUAL(of_teams, 20, "iterations of teams");
}

static void exit_of_handler(int number) {
  (void)number;
  exit(33);
}

// The handler finds main in a region, where it waits for another member, and runs nothing meanwhile.
static void handler_exits(void) {
  atexit(constructs_at_exit);
  install(SIGALRM, exit_of_handler, 0);
  start_timer_once(ITIMER_REAL, 100000);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
      const sigset_t alarm = one_signal(SIGALRM);
      sigset_t before;
      pthread_sigmask(SIG_BLOCK, &alarm, &before);
      sleep_seconds(0.3);
      pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
#pragma omp barrier
  }
}

static int was_used;

__attribute__((destructor)) static void region_in_destructor(void) {
  if (was_used) {
    some_regions(8);
  }
}

static void destructors_open_regions(void) {
  was_used = 1;
  some_regions(4);
  exit(33);
}

static void* exit_last(void* argument) {
  sleep_seconds(0.1);
  some_regions(8);
  exit(33);
  return argument;
}

// main ends before the others do.
static void main_thread_ends_first(void) {
  some_regions(8);
  start(exit_last, NULL);
  pthread_exit(NULL);
}

static void* end_last(void* argument) {
  sleep_seconds(0.1);
  some_regions(8);
  return argument;
}

// Nobody calls exit: the process ends, with status 0, when its last thread does.
static void last_thread_ends(void) {
  some_regions(8);
  start(end_last, NULL);
  pthread_exit(NULL);
}

// The same where main has never asked anything of the runtime.
static void last_thread_ends_after_idle_main(void) {
  start(end_last, NULL);
  pthread_exit(NULL);
}

// It may be the last itself.
static void* use_openmp(void* argument) {
  some_regions(8);
  return argument;
}

static void idle_main_ends_last(void) {
  pthread_join(start(use_openmp, NULL), NULL);
  sleep_seconds(0.3);
  pthread_exit(NULL);
}

// The same in a child, which has none of its parent's threads.
static void last_thread_of_child_ends(void) {
  some_regions(8);
  const pid_t child = fork();
  if (child == 0) {
    last_thread_ends();
  }
  int status;
  const int ended = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  exit(ended ? 33 : 1);
}

static void exit_thread_in(int member) {
#pragma omp parallel num_threads(8)
  {
    if (omp_get_thread_num() == member) {
      pthread_exit(NULL);
    }
    sleep_seconds(0.1);
  }
}

static void exit_thread_in_master(void) { exit_thread_in(0); }

static void* exit_thread_in_region_of_root(void* argument) {
  exit_thread_in(0);
  return argument;
}

static void exit_thread_in_master_of_root(void) { pthread_join(start(exit_thread_in_region_of_root, NULL), NULL); }

static void exit_thread_in_first_member(void) { exit_thread_in(1); }

static void exit_thread_in_last_member(void) { exit_thread_in(7); }

static void exit_thread_after_barrier(void) {
#pragma omp parallel num_threads(8)
  {
#pragma omp barrier
    if (omp_get_thread_num() == 5) {
      pthread_exit(NULL);
    }
#pragma omp barrier
  }
}

static void exit_thread_in_nested_member(void) {
  omp_set_max_active_levels(4);
#pragma omp parallel num_threads(4)
#pragma omp parallel num_threads(4)
  if (omp_get_ancestor_thread_num(1) == 2 && omp_get_thread_num() == 3) {
    pthread_exit(NULL);
  }
}

static void* cancel_after_a_while(void* thread) {
  sleep_seconds(0.1);
  pthread_cancel(*(pthread_t*)thread);
  return NULL;
}

static void cancel_thread_of_member(void) {
  static pthread_t of_member;
#pragma omp parallel num_threads(8)
  {
    if (omp_get_thread_num() == 3) {
      of_member = pthread_self();
      start(cancel_after_a_while, &of_member);
      for (;;) {
        sleep(1);
      }
    }
#pragma omp barrier
  }
}

static void expect_end_with(const char* situation, int status, bool prints) {
  for (int i = 0; i < repeats(5); i++) {
    const struct Run run = run_again(situation, (struct RunOptions){.deadline_seconds = 40});
    char text[100];
    describe_status(run.status, text, sizeof text);
    CHECK(WIFEXITED(run.status) && WEXITSTATUS(run.status) == status, "%s: %s, must be %d; it printed: %s", situation,
          text, status, run.errors);
    CHECK((run.errors[0] != 0) == prints, "%s printed: '%s'", situation, run.errors);
  }
}

static void expect_end(const char* situation, int status) { expect_end_with(situation, status, false); }

static void exit_called_in_a_member(void) {
  expect_end("exit_in_member", 33);
  expect_end("exit_in_master", 33);
  expect_end("exit_in_all_members", 33);
  expect_end("exit_in_nested_member", 33);
  expect_end("exit_in_task", 33);
}

// The kernel thread of a worker, or one that the others need. (Bug: the process could not go on, and SIGTERM did not
// end it, or members went on with memory that was gone.)
static void threads_ended_in_regions(void) {
  const char* situations[] = {"exit_thread_in_master",       "exit_thread_in_master_of_root",
                              "exit_thread_in_first_member", "exit_thread_in_last_member",
                              "exit_thread_after_barrier",   "exit_thread_in_nested_member",
                              "cancel_thread_of_member"};
  for (size_t i = 0; i < sizeof situations / sizeof *situations; i++) {
    const struct Run run = run_again(situations[i], (struct RunOptions){.deadline_seconds = 40});
    expect_exit(run.status, 1, situations[i]);
    CHECK(lines_with(run.errors, "weft: pthread_exit() or pthread_cancel() has ended") == 1, "%s printed: '%s'",
          situations[i], run.errors);
  }
}

static void immediate_exits(void) {
  expect_end("immediate_exit_in_member", 33);
  expect_end("quick_exit_in_member", 33);
}

static void exit_while_others_run(void) {
  expect_end("exit_while_a_root_runs", 33);
  expect_end("exit_while_a_root_waits", 33);
  expect_end("exit_by_a_root", 33);
}

static void regions_at_exit(void) {
  expect_end("exit_handlers_open_regions", 33);
  expect_end("destructors_open_regions", 33);
}

static void regions_at_exit_of_a_handler(void) { expect_end("handler_exits", 33); }

// Bug: these ended at once, and what had been printed was lost.
static void end_as_usual(void) { _exit(33); }

static void allocator_aborts(void) {
  atexit(end_as_usual);
  const omp_alloctrait_t traits[] = {{omp_atk_fallback, omp_atv_abort_fb}, {omp_atk_pool_size, 100}};
  omp_alloc(1000, omp_init_allocator(omp_default_mem_space, 2, traits));
}

static void variable_gets_no_memory(void) {
  atexit(end_as_usual);
  const omp_alloctrait_t traits[] = {{omp_atk_fallback, omp_atv_null_fb}, {omp_atk_pool_size, 16}};
  const omp_allocator_handle_t none = omp_init_allocator(omp_default_mem_space, 2, traits);
  int value = 3;
#pragma omp parallel num_threads(1) firstprivate(value) allocate(none : value)
  ++value;
}

static void reduction_does_not_exist(void) {
  atexit(end_as_usual);
  int known = 0;
  int sum = 0;
#pragma omp taskgroup task_reduction(+ : known)
  {
#pragma omp task in_reduction(+ : sum)
    ++sum;
  }
  (void)known;
}

static void ends_by_the_runtime(void) {
  expect_end_with("allocator_aborts", 33, true);
#ifndef __clang__  // libomp's crash
  expect_end_with("variable_gets_no_memory", 33, true);
  expect_end_with("reduction_does_not_exist", 33, true);
#endif
}

static void main_thread_ends(void) { expect_end("main_thread_ends_first", 33); }

static void last_thread_ends_process(void) {
  expect_end("last_thread_ends", 0);
  expect_end("last_thread_ends_after_idle_main", 0);
  expect_end("idle_main_ends_last", 0);
  expect_end("last_thread_of_child_ends", 33);
}

int main(int count, char** arguments) {
  const struct Case cases[] = {
      {"exit_called_in_a_member", exit_called_in_a_member, 0},
      {"immediate_exits", immediate_exits, 0},
      {"exit_while_others_run", exit_while_others_run, 0},
      {"regions_at_exit", regions_at_exit, 0},
      {"regions_at_exit_of_a_handler", regions_at_exit_of_a_handler, 0},
      {"ends_by_the_runtime", ends_by_the_runtime, 0},
      {"threads_ended_in_regions", threads_ended_in_regions, 0},
      {"main_thread_ends", main_thread_ends, 0},
      {"last_thread_ends_process", last_thread_ends_process, 0},
      {"exit_in_member", exit_in_member, 1},
      {"exit_in_master", exit_in_master, 1},
      {"exit_in_all_members", exit_in_all_members, 1},
      {"exit_in_nested_member", exit_in_nested_member, 1},
      {"exit_in_task", exit_in_task, 1},
      {"immediate_exit_in_member", immediate_exit_in_member, 1},
      {"quick_exit_in_member", quick_exit_in_member, 1},
      {"exit_while_a_root_runs", exit_while_a_root_runs, 1},
      {"exit_while_a_root_waits", exit_while_a_root_waits, 1},
      {"exit_by_a_root", exit_by_a_root, 1},
      {"exit_handlers_open_regions", exit_handlers_open_regions, 1},
      {"destructors_open_regions", destructors_open_regions, 1},
      {"handler_exits", handler_exits, 1},
      {"allocator_aborts", allocator_aborts, 1},
      {"variable_gets_no_memory", variable_gets_no_memory, 1},
      {"reduction_does_not_exist", reduction_does_not_exist, 1},
      {"exit_thread_in_master", exit_thread_in_master, 1},
      {"exit_thread_in_master_of_root", exit_thread_in_master_of_root, 1},
      {"exit_thread_in_first_member", exit_thread_in_first_member, 1},
      {"exit_thread_in_last_member", exit_thread_in_last_member, 1},
      {"exit_thread_after_barrier", exit_thread_after_barrier, 1},
      {"exit_thread_in_nested_member", exit_thread_in_nested_member, 1},
      {"cancel_thread_of_member", cancel_thread_of_member, 1},
      {"main_thread_ends_first", main_thread_ends_first, 1},
      {"last_thread_ends", last_thread_ends, 1},
      {"last_thread_ends_after_idle_main", last_thread_ends_after_idle_main, 1},
      {"idle_main_ends_last", idle_main_ends_last, 1},
      {"last_thread_of_child_ends", last_thread_of_child_ends, 1},
      {NULL, NULL, 0},
  };
  return run_cases(count, arguments, cases);
}
