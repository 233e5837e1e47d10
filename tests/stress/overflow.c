// A member's stack: as large as OMP_STACKSIZE says, and running over its end is named, not silent.
#include "check.h"

#include <omp.h>
#include <stdint.h>
#include <sys/resource.h>

// Uses about `bytes` of stack below the caller.
__attribute__((noinline)) static long use_stack(long bytes) {
  volatile char frame[4096];
  for (int i = 0; i < 4096; i += 512) {
    frame[i] = (char)bytes;
  }
  if (bytes <= 4096) {
    return frame[0];
  }
  return use_stack(bytes - 4096) + frame[512];
}

static long endless(void) { return use_stack(INT64_C(1) << 40); }

static void no_core_file(void) { prctl(PR_SET_DUMPABLE, 0); }

// Helpers: each overflows one stack.
static void overflow_in_member(void) {
  long result = 0;
#pragma omp parallel num_threads(8) reduction(+ : result)
  if (omp_get_thread_num() == 5) {
    result += endless();
  }
  printf("%ld\n", result);
}

static void overflow_after_barrier(void) {
  long result = 0;
#pragma omp parallel num_threads(8) reduction(+ : result)
  {
#pragma omp barrier
    if (omp_get_thread_num() == 1) {
      result += endless();
    }
#pragma omp barrier
  }
  printf("%ld\n", result);
}

static void overflow_in_nested_member(void) {
  omp_set_max_active_levels(4);
  long result = 0;
#pragma omp parallel num_threads(4) reduction(+ : result)
#pragma omp parallel num_threads(4) reduction(+ : result)
  {
#pragma omp barrier
    if (omp_get_ancestor_thread_num(1) == 2 && omp_get_thread_num() == 3) {
      result += endless();
    }
  }
  printf("%ld\n", result);
}

static void overflow_in_task(void) {
  long result = 0;
#pragma omp parallel num_threads(8)
  {
#pragma omp barrier
    if (omp_get_thread_num() > 0) {
#pragma omp task shared(result)
      if (omp_get_thread_num() > 0) {
        result += endless();
      } else {
        sleep_seconds(0.1);
      }
    }
#pragma omp taskwait
  }
  printf("%ld\n", result);
}

static void overflow_is_named(void) {
  const char* situations[] = {"overflow_in_member", "overflow_after_barrier", "overflow_in_nested_member",
                              "overflow_in_task"};
  for (int i = 0; i < 4; i++) {
    const struct Run run =
        run_again(situations[i], (struct RunOptions){.environment = {"OMP_STACKSIZE=1M"}, .before_exec = no_core_file});
    expect_signal(run.status, SIGSEGV, situations[i]);
    CHECK(lines_with(run.errors, "") == 1, "%s: must print one line, printed: %s", situations[i], run.errors);
    CHECK(strstr(run.errors, "stack") != NULL, "%s: the line does not speak of the stack: %s", situations[i],
          run.errors);
    CHECK(strstr(run.errors, "OMP_STACKSIZE") != NULL, "%s: the line does not name the setting: %s", situations[i],
          run.errors);
    CHECK(strstr(run.errors, "1048576") || strstr(run.errors, "1024") || strstr(run.errors, "1 M") ||
              strstr(run.errors, "1M"),
          "%s: the line does not give the size: %s", situations[i], run.errors);
  }
}

static void deep_members(long bytes, int members) {
  long results = 0;
#pragma omp parallel num_threads(members) reduction(+ : results)
  {
    if (omp_get_thread_num() > 0) {  // the master is on a stack of the program's own
      results += use_stack(bytes) != 0 || 1;
    }
#pragma omp barrier
    if (omp_get_thread_num() > 0) {
      results += use_stack(bytes) != 0 || 1;
    }
  }
  CHECK_EQUAL(results, 2 * (members - 1), "members that used their stack");
}

static void deep_without_barrier(long bytes, int members) {
  long results = 0;
#pragma omp parallel num_threads(members) reduction(+ : results)
  if (omp_get_thread_num() > 0) {
    results += use_stack(bytes) != 0 || 1;
  }
  CHECK_EQUAL(results, members - 1, "members that used their stack");
}

static void deep_48_megabytes(void) {
  deep_without_barrier(48L << 20, 8);
  deep_members(48L << 20, 8);
}

// 6 MB, or three quarters of the limit where that is below the usual one.
static void deep_default(void) {
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_STACK, &limit) == 0, "getrlimit: %s", strerror(errno));
  const long bytes = limit.rlim_cur < 8 << 20 ? (long)limit.rlim_cur / 4 * 3 : 6L << 20;
  deep_without_barrier(bytes, 8);
  deep_members(bytes, 8);
}

static void large_stack_is_usable(void) {
  const struct Run run = run_again("deep_48_megabytes", (struct RunOptions){.environment = {"OMP_STACKSIZE=64M"}});
  CHECK(WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0, "OMP_STACKSIZE=64M: status %d %s", run.status,
        run.errors);
  const struct Run kilobytes =
      run_again("deep_48_megabytes", (struct RunOptions){.environment = {"OMP_STACKSIZE=65536"}});
  CHECK(WIFEXITED(kilobytes.status) && WEXITSTATUS(kilobytes.status) == 0, "OMP_STACKSIZE=65536: status %d %s",
        kilobytes.status, kilobytes.errors);
}

// As libgomp: without a setting, a member has what a pthread has (the soft limit of the stack, usually 8 MB).
static void default_stack_is_a_pthreads(void) {
  const struct Run run = run_again("deep_default", (struct RunOptions){.environment = {"OMP_STACKSIZE"}});
  CHECK(WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0, "without OMP_STACKSIZE: status %d %s", run.status,
        run.errors);
}

static void deep_in_nested(void) {
  omp_set_max_active_levels(4);
  long results = 0;
#pragma omp parallel num_threads(4) reduction(+ : results)
#pragma omp parallel num_threads(4) reduction(+ : results)
  {
    const int own_stack = omp_get_ancestor_thread_num(1) > 0 || omp_get_thread_num() > 0;
    if (own_stack) {
      results += use_stack(10L << 20) != 0 || 1;
    }
#pragma omp barrier
    if (own_stack) {
      results += use_stack(10L << 20) != 0 || 1;
    }
  }
  CHECK_EQUAL(results, 2 * 15, "members that used their stack");
}

static void deep_in_tasks(void) {
  long results = 0;
#pragma omp parallel num_threads(4) reduction(+ : results)
  {
    long here = 0;
    for (int i = 0; i < 20; i++) {
#pragma omp task shared(here)
      if (omp_get_thread_num() > 0) {
        const long used = use_stack(10L << 20) != 0 || 1;
#pragma omp atomic
        here += used;
      } else {
#pragma omp atomic
        here += 1;
      }
    }
#pragma omp taskwait
    results += here;
  }
  CHECK_EQUAL(results, 80, "tasks that used their stack");
}

static void large_stack_in_nested_members_and_tasks(void) {
  const char* situations[] = {"deep_in_nested", "deep_in_tasks"};
  for (int i = 0; i < 2; i++) {
    const struct Run run = run_again(situations[i], (struct RunOptions){.environment = {"OMP_STACKSIZE=16M"}});
    CHECK(WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0, "%s: status %d %s", situations[i], run.status,
          run.errors);
  }
}

int main(int count, char** arguments) {
  omp_set_dynamic(0);
  const struct Case cases[] = {
      {"overflow_is_named", overflow_is_named, 0},
      {"large_stack_is_usable", large_stack_is_usable, 0},
      {"default_stack_is_a_pthreads", default_stack_is_a_pthreads, 0},
      {"large_stack_in_nested_members_and_tasks", large_stack_in_nested_members_and_tasks, 0},
      {"overflow_in_member", overflow_in_member, 1},
      {"overflow_after_barrier", overflow_after_barrier, 1},
      {"overflow_in_nested_member", overflow_in_nested_member, 1},
      {"overflow_in_task", overflow_in_task, 1},
      {"deep_48_megabytes", deep_48_megabytes, 1},
      {"deep_default", deep_default, 1},
      {"deep_in_nested", deep_in_nested, 1},
      {"deep_in_tasks", deep_in_tasks, 1},
      {NULL, NULL, 0},
  };
  return run_cases(count, arguments, cases);
}
