// fork(): the child can use OpenMP at once, whatever the parent did before and whoever called fork. A child
// that hangs is killed after a deadline, and the case fails.
#include "handlers.h"

#include <omp.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>

extern char** environ;

enum { child_deadline = 60 };

static void use_openmp(int members) {
  int present = 0;
  long sum = 0;
#pragma omp parallel num_threads(members) reduction(+ : present)
  {
    present += 1;
#pragma omp barrier
#pragma omp for schedule(dynamic, 7) reduction(+ : sum)
    for (long i = 0; i < 1000; i++) {
      sum += i;
    }
#pragma omp single
#pragma omp taskloop grainsize(10)
    for (int i = 0; i < 100; i++) {
#pragma omp atomic
      sum += 1;
    }
  }
  CHECK_EQUAL(present, members, "members of a region");
  CHECK_EQUAL(sum, 999 * 1000 / 2 + 100, "sum of a loop and a taskloop");
}

static void use_nested_openmp(int outer, int inner) {
  omp_set_max_active_levels(4);
  int present = 0;
#pragma omp parallel num_threads(outer) reduction(+ : present)
  {
    int here = 0;
#pragma omp parallel num_threads(inner) reduction(+ : here)
    {
      here += 1;
#pragma omp barrier
    }
    present += here;
  }
  CHECK_EQUAL(present, outer * inner, "members of nested regions");
}

static pid_t fork_child(void) {
  fflush(NULL);
  const pid_t child = fork();
  CHECK(child >= 0, "fork: %s", strerror(errno));
  if (child == 0) {
    end_with_parent();
  }
  return child;
}

static void child_uses_openmp(const char* what) {
  const pid_t child = fork_child();
  if (child == 0) {
    use_openmp(8);
    use_nested_openmp(4, 4);
    exit(7);  // with the handlers that run at exit
  }
  expect_exit(wait_for_child(child, child_deadline, what), 7, what);
}

static void before_first_region(void) {
  child_uses_openmp("child of a parent without a region");
  use_openmp(8);
  child_uses_openmp("child after the parent's first region");
}

static void after_region(void) {
  for (int i = 0; i < repeats(5); i++) {
    use_openmp(8);
    child_uses_openmp("child after a region");
    use_openmp(3);
  }
}

static void after_nested_region(void) {
  for (int i = 0; i < repeats(5); i++) {
    use_nested_openmp(8, 8);
    child_uses_openmp("child after a nested region");
  }
}

static void generations(int depth) {
  use_openmp(4);
  if (depth == 0) {
    return;
  }
  const pid_t child = fork_child();
  if (child == 0) {
    use_openmp(6);
    generations(depth - 1);
    exit(7);
  }
  expect_exit(wait_for_child(child, child_deadline + depth, "child of a child"), 7, "child of a child");
  use_openmp(4);
}

static void child_forks_again(void) { generations(5); }

static void* fork_from_thread(void* with_region) {
  if (with_region) {
    use_openmp(8);
  }
  child_uses_openmp("child of a pthread");
  use_openmp(4);
  return NULL;
}

static void run_in_pthread(void* (*function)(void*), void* argument) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, function, argument) == 0, "pthread_create failed");
  pthread_join(thread, NULL);
}

static void from_pthread_after_region(void) {
  run_in_pthread(fork_from_thread, &environ);
  use_openmp(8);
  run_in_pthread(fork_from_thread, &environ);
}

static void from_fresh_pthread(void) {
  run_in_pthread(fork_from_thread, NULL);
  use_openmp(8);
  run_in_pthread(fork_from_thread, NULL);
}

static atomic_int stop;

static void* keep_opening_regions(void* argument) {
  (void)argument;
  while (!atomic_load(&stop)) {
    use_openmp(8);
    use_nested_openmp(3, 3);
  }
  return NULL;
}

// Two threads do what keep_doing() does until `stop`.
static void repeat_beside_others(void* (*keep_doing)(void*), void (*repeat)(int)) {
  pthread_t others[2];
  atomic_store(&stop, 0);
  for (int i = 0; i < 2; i++) {
    CHECK(pthread_create(&others[i], NULL, keep_doing, NULL) == 0, "pthread_create failed");
  }
  for (int i = 0; i < repeats(10); i++) {
    repeat(i);
  }
  atomic_store(&stop, 1);
  for (int i = 0; i < 2; i++) {
    pthread_join(others[i], NULL);
  }
}

static void child_beside_regions(int round) {
  child_uses_openmp("child of a parent whose other threads are in regions");
  if (round % 3 == 0) {
    use_openmp(5);
  }
}

static void while_another_is_in_regions(void) {
  repeat_beside_others(keep_opening_regions, child_beside_regions);
  child_uses_openmp("child after the other threads have gone");
}

static void many_children_at_once(void) {
  enum { children = 20 };
  pid_t ids[children];
  use_openmp(8);
  for (int i = 0; i < children; i++) {
    ids[i] = fork_child();
    if (ids[i] == 0) {
      use_openmp(4);
      use_nested_openmp(2, 3);
      exit(7);
    }
  }
  for (int i = 0; i < children; i++) {
    expect_exit(wait_for_child(ids[i], 60, "one child of many"), 7, "one child of many");
  }
}

static void* root_in_child(void* argument) {
  (void)argument;
  use_openmp(4);
  use_nested_openmp(2, 2);
  return NULL;
}

static void child_starts_roots(void) {
  use_openmp(8);
  const pid_t child = fork_child();
  if (child == 0) {
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) {
      CHECK(pthread_create(&threads[i], NULL, root_in_child, NULL) == 0, "pthread_create failed in the child");
    }
    use_openmp(4);
    for (int i = 0; i < 8; i++) {
      pthread_join(threads[i], NULL);
    }
    exit(7);
  }
  expect_exit(wait_for_child(child, child_deadline, "child with roots"), 7, "child with roots");
}

static int settings_were_kept(void) { return omp_get_max_threads() == 5 && omp_get_max_active_levels() == 3; }

static void child_keeps_settings(void) {
  omp_set_num_threads(5);
  omp_set_max_active_levels(3);
  use_openmp(8);
  const pid_t child = fork_child();
  if (child == 0) {
    int members = 0;
#pragma omp parallel reduction(+ : members)
    members += 1;
    exit(settings_were_kept() && members == 5 ? 7 : 8);
  }
  expect_exit(wait_for_child(child, child_deadline, "child's settings"), 7, "child's settings");
}

// What a program does in a member that calls a library which starts a process.
static void in_members_with_exit(void) {
  for (int i = 0; i < repeats(3); i++) {
#pragma omp parallel num_threads(8)
    {
      const int number = omp_get_thread_num();
      const pid_t child = fork_child();
      if (child == 0) {
        _exit(40 + number);
      }
      expect_exit(wait_for_child(child, child_deadline, "child of a member"), 40 + number, "child of a member");
#pragma omp barrier
    }
  }
}

// fork() takes the locks of all of malloc's arenas, one after the other.
static void in_members_beside_allocation(void) {
  enum { blocks = 20 };
  omp_set_max_active_levels(2);
  for (int i = 0; i < repeats(10); i++) {
#pragma omp parallel num_threads(8)
    for (int j = 0; j < 20; j++) {
      if (omp_get_thread_num() % 4 == 0) {
        const pid_t child = fork_child();
        if (child == 0) {
          _exit(7);
        }
        expect_exit(wait_for_child(child, child_deadline, "child of a member"), 7, "child of a member");
      }
      for (size_t k = 0; k < 200; k++) {
        char* block[blocks];
        for (size_t l = 0; l < blocks; l++) {
          block[l] = malloc(100 + 300 * l + k);
          CHECK(block[l] != NULL, "no memory");
          block[l][0] = 1;
        }
        for (size_t l = 0; l < blocks; l++) {
          free(block[l]);
        }
      }
#pragma omp parallel num_threads(3)
      free(malloc(1000));
    }
  }
}

// weft's threads leave signals to the program's own; their children are the program's all the same.
static void in_members_with_signals(void) {
  set_blocked(SIG_BLOCK, SIGUSR2);
#pragma omp parallel num_threads(8)
  {
    for (int i = 0; i < 3; i++) {
      const pid_t child = fork_child();
      if (child == 0) {
        sigset_t now;
        pthread_sigmask(SIG_SETMASK, NULL, &now);
        _exit(sigismember(&now, SIGUSR2) == 1 && sigismember(&now, SIGTERM) == 0 && sigismember(&now, SIGINT) == 0 &&
                      sigismember(&now, SIGCHLD) == 0 && sigismember(&now, SIGPIPE) == 0
                  ? 7
                  : 8);
      }
      expect_exit(wait_for_child(child, child_deadline, "child of a member"), 7, "signals of a member's child");
#pragma omp barrier
    }
  }
}

static void in_members_with_exec(void) {
#pragma omp parallel num_threads(8)
  {
    const pid_t child = fork_child();
    if (child == 0) {
      unsetenv("LD_PRELOAD");
      execl("/bin/sh", "sh", "-c", "exit 9", (char*)NULL);
      _exit(126);
    }
    expect_exit(wait_for_child(child, child_deadline, "exec in a member"), 9, "exec in a member");
  }
}

static void system_in_members(void) {
#pragma omp parallel num_threads(4)
  {
    CHECK_EQUAL(WEXITSTATUS(system("exit 5")), 5, "system() in a member");
#pragma omp barrier
    CHECK_EQUAL(WEXITSTATUS(system("exit 6")), 6, "system() in a member after a barrier");
  }
}

static void popen_in_members(void) {
#pragma omp parallel num_threads(8)
  {
    char line[32] = "";
    FILE* output = popen("echo hello", "r");
    CHECK(output != NULL, "popen: %s", strerror(errno));
#pragma omp barrier
    CHECK(fgets(line, sizeof line, output) && strcmp(line, "hello\n") == 0, "popen in a member read '%s'", line);
    CHECK_EQUAL(pclose(output), 0, "pclose in a member");
  }
}

static void posix_spawn_in_members(void) {
#pragma omp parallel num_threads(8)
  {
    char shell[] = "sh";
    char option[] = "-c";
    char command[] = "exit 11";
    char* arguments[] = {shell, option, command, NULL};
    pid_t child = 0;
    CHECK_EQUAL(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ), 0, "posix_spawn in a member");
#pragma omp barrier
    expect_exit(wait_for_child(child, child_deadline, "posix_spawn"), 11, "posix_spawn in a member");
  }
}

// The child of the master inside a region has the master alone; it uses OpenMP and ends without leaving the
// region.
static void inside_region_of_master(void) {
  omp_set_max_active_levels(4);
  for (int i = 0; i < repeats(5); i++) {
#pragma omp parallel num_threads(8)
    {
#pragma omp master
      {
        const pid_t child = fork_child();
        if (child == 0) {
          int members = 0;
#pragma omp parallel num_threads(4) reduction(+ : members)
          {
#pragma omp barrier
            members += 1;
          }
          _exit(members == 4 ? 7 : 8);
        }
        expect_exit(wait_for_child(child, child_deadline, "child forked in a region"), 7, "child forked in a region");
      }
#pragma omp barrier
    }
  }
}

// The child is the member, alone, in a region whose other members it has not.
static void tasks_in_region_of_member(void) {
  for (int i = 0; i < repeats(5); i++) {
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) {
      const pid_t child = fork_child();
      if (child == 0) {
        int done = 0;
        for (int task = 0; task < 3; task++) {
#pragma omp task shared(done)
          {
#pragma omp atomic
            done++;
          }
        }
#pragma omp taskwait
        _exit(done == 3 ? 7 : 8);
      }
      expect_exit(wait_for_child(child, child_deadline, "child forked by a member"), 7, "child forked by a member");
    }
  }
}

// Threads with the stacks, and so the thread-local storage, that libc took from the parent's other threads.
enum { neighbours = 32 };
static _Thread_local int own;
static int* own_of[neighbours];
static pthread_barrier_t together;

static void* be_neighbour(void* argument) {
  int** place = argument;
  *place = &own;
  own = -1;
  pthread_barrier_wait(&together);
  pthread_barrier_wait(&together);
  return own == -1 ? NULL : argument;
}

static int members_beside_neighbours(void) {
  int apart = 1;
#pragma omp parallel num_threads(4) reduction(&& : apart)
  {
    const int number = omp_get_thread_num();
    own = number;
    for (int i = 0; i < neighbours; i++) {
      apart = apart && own_of[i] != &own;
    }
#pragma omp barrier
    apart = apart && own == number;
  }
  return apart;
}

static int storage_is_apart(void) {
  pthread_t threads[neighbours];
  pthread_attr_t small;
  pthread_attr_init(&small);
  CHECK_EQUAL(pthread_attr_setstacksize(&small, 65536), 0, "pthread_attr_setstacksize");
  pthread_barrier_init(&together, NULL, neighbours + 1);
  for (int i = 0; i < neighbours; i++) {
    CHECK_EQUAL(pthread_create(&threads[i], &small, be_neighbour, &own_of[i]), 0, "pthread_create in the child");
  }
  pthread_barrier_wait(&together);
  int apart = members_beside_neighbours();
  pthread_barrier_wait(&together);
  for (int i = 0; i < neighbours; i++) {
    void* shared = NULL;
    pthread_join(threads[i], &shared);
    apart = apart && shared == NULL;
  }
  return apart;
}

static void fork_after_region(void) {
  int present = 0;
#pragma omp parallel num_threads(4) reduction(+ : present)
  present += 1;
  CHECK_EQUAL(present, 4, "members of a team's region");
  const pid_t child = fork_child();
  if (child == 0) {
    _exit(storage_is_apart() ? 7 : 8);
  }
  expect_exit(wait_for_child(child, child_deadline, "child forked in teams"), 7, "child forked in teams");
}

// The team's regions have kept their threads in the parent. (The child's members ran as those, on what libc had given
// to others.)
static void inside_teams_after_region(void) {
  for (int i = 0; i < repeats(3); i++) {
#pragma omp teams num_teams(1)
    fork_after_region();
  }
}

static void write_affinity(void) {
  char line[1000];
  CHECK(omp_capture_affinity(line, sizeof line, NULL) > 0, "a line of affinity is empty");
}

static void* keep_writing_affinity(void* argument) {
  (void)argument;
  while (!atomic_load(&stop)) {
    write_affinity();
  }
  return NULL;
}

static void* child_writes_affinity(void* argument) {
  (void)argument;
  const pid_t child = fork_child();
  if (child == 0) {
    write_affinity();
    _exit(7);
  }
  expect_exit(wait_for_child(child, child_deadline, "child that writes affinity"), 7, "child that writes affinity");
  return NULL;
}

static void children_write_affinity(int round) {
  (void)round;
  child_writes_affinity(NULL);
  run_in_pthread(child_writes_affinity, NULL);
}

// The format of the line has a lock of weft's, which the child must not find taken; also where a thread forks that has
// not used OpenMP.
static void while_others_write_affinity(void) { repeat_beside_others(keep_writing_affinity, children_write_affinity); }

static int tasks_of_child(void) {
  int done = 0;
  for (int task = 0; task < 3; task++) {
#pragma omp task priority(1) shared(done)
    {
#pragma omp atomic
      done++;
    }
#pragma omp task shared(done)
    {
#pragma omp atomic
      done++;
    }
  }
#pragma omp taskwait
  return done;
}

// Somebody nearly always has the locks of the team's tasks when a member forks, and has listed some. (A child waited
// for them, or ran the others' tasks.)
static void tasks_beside_those_of_others(void) {
  enum { children = 10, rounds = 300, tasks = 20 };
  for (int i = 0; i < repeats(3); i++) {
    int done = 0;
#pragma omp parallel num_threads(4)
    if (omp_get_thread_num() == 1) {
      for (int j = 0; j < children; j++) {
        const pid_t child = fork_child();
        if (child == 0) {
          _exit(tasks_of_child() == 6 ? 7 : 8);
        }
        expect_exit(wait_for_child(child, child_deadline, "child beside tasks"), 7, "child beside tasks");
      }
    } else {
      for (int j = 0; j < rounds; j++) {
        for (int task = 0; task < tasks; task++) {
#pragma omp task priority(1) shared(done)
          {
#pragma omp atomic
            done++;
          }
        }
#pragma omp taskwait
      }
    }
    CHECK_EQUAL(done, 3 * rounds * tasks, "tasks beside forks");
  }
}

// The child leaves the region. A task of the master's is not complete, and nobody is there who would ever complete it:
// the child waited for it.
static void leaves_region_with_task_of_parent(void) {
  for (int i = 0; i < repeats(5); i++) {
    pid_t child = 1;
    int begun = 0;
    omp_event_handle_t event;
#pragma omp parallel num_threads(2) shared(child, event, begun)
#pragma omp master
    {
#pragma omp task detach(event) shared(begun)
      begun = 1;
      child = fork_child();
      if (child != 0) {
        expect_exit(wait_for_child(child, child_deadline, "child that leaves a region"), 7,
                    "child that leaves a region");
        omp_fulfill_event(event);
      }
    }
    if (child == 0) {
      _exit(omp_get_level() == 0 ? 7 : 8);
    }
    CHECK_EQUAL(begun, 1, "a task of the parent's");
  }
}

// fork with handlers of the program's own (as malloc, Python and OpenSSL install them).
static int prepared, in_parent, in_child;

static void prepare(void) { prepared++; }

static void after_in_parent(void) { in_parent++; }

static void after_in_child(void) {
  in_child++;
  use_openmp(4);
}

static void child_handler_uses_openmp(void) {
  pthread_atfork(prepare, after_in_parent, after_in_child);
  use_openmp(8);
  const pid_t child = fork_child();
  if (child == 0) {
    use_openmp(8);
    exit(in_child == 1 ? 7 : 8);
  }
  expect_exit(wait_for_child(child, child_deadline, "child with an atfork handler"), 7, "child with an atfork handler");
  CHECK(prepared == 1 && in_parent == 1, "handlers of pthread_atfork ran %d and %d times", prepared, in_parent);
}

// Handlers that are older than the runtime's first use (main() asks it something), as those of a library may be. (Bug:
// in the child they ran on the parent's workers, and waited for their threads.)
static int handlers_use_openmp;
static int regions_in_child;

static void open_region_in_handler(void) {
  if (!handlers_use_openmp) return;
  int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
  {
    sum += omp_get_thread_num() + 1;
#pragma omp barrier
  }
  CHECK_EQUAL(sum, 6, "the sum of a region in a handler");
}

static void open_region_in_child(void) {
  open_region_in_handler();
  regions_in_child++;
}

__attribute__((constructor)) static void have_old_handlers(void) {
  pthread_atfork(open_region_in_handler, open_region_in_handler, open_region_in_child);
}

static void old_handlers_use_openmp(void) {
  handlers_use_openmp = 1;
  for (int i = 0; i < repeats(5); i++) {
    const pid_t child = fork_child();
    if (child == 0) {
      use_openmp(4);
      const pid_t next = fork_child();
      if (next == 0) {
        use_openmp(5);
        exit(regions_in_child == 2 ? 7 : 8);
      }
      expect_exit(wait_for_child(next, child_deadline, "a child's child"), 7, "a child's child");
      exit(regions_in_child == 1 ? 7 : 8);
    }
    expect_exit(wait_for_child(child, child_deadline, "child with atfork handlers"), 7, "child with atfork handlers");
  }
}

int main(int count, char** arguments) {
  omp_set_dynamic(0);
  const struct Case cases[] = {
      {"before_first_region", before_first_region, 0},
      {"after_region", after_region, 0},
      {"after_nested_region", after_nested_region, 0},
      {"child_forks_again", child_forks_again, 0},
      {"from_pthread_after_region", from_pthread_after_region, 0},
      {"from_fresh_pthread", from_fresh_pthread, 0},
      {"while_another_is_in_regions", while_another_is_in_regions, 0},
      {"many_children_at_once", many_children_at_once, 0},
      {"child_starts_roots", child_starts_roots, 0},
      {"child_keeps_settings", child_keeps_settings, 0},
      {"in_members_with_exit", in_members_with_exit, 0},
      {"in_members_beside_allocation", in_members_beside_allocation, 0},
      {"in_members_with_signals", in_members_with_signals, 0},
      {"in_members_with_exec", in_members_with_exec, 0},
      {"system_in_members", system_in_members, 0},
      {"popen_in_members", popen_in_members, 0},
      {"posix_spawn_in_members", posix_spawn_in_members, 0},
      {"inside_region_of_master", inside_region_of_master, 0},
      {"tasks_in_region_of_member", tasks_in_region_of_member, 0},
      {"inside_teams_after_region", inside_teams_after_region, 0},
      {"while_others_write_affinity", while_others_write_affinity, 0},
      {"tasks_beside_those_of_others", tasks_beside_those_of_others, 0},
      {"leaves_region_with_task_of_parent", leaves_region_with_task_of_parent, 0},
      {"child_handler_uses_openmp", child_handler_uses_openmp, 0},
      {"old_handlers_use_openmp", old_handlers_use_openmp, 0},
      {NULL, NULL, 0},
  };
  return run_cases(count, arguments, cases);
}
