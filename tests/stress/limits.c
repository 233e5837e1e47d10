// What the runtime is refused or told wrongly: it says so in one line and goes on.
#include "check.h"

#include <dirent.h>
#include <grp.h>
#include <omp.h>
#include <stdatomic.h>
#include <sys/resource.h>

static int threads_of_this_user(void) {
  // Only used where this is not run as root: what the user has running already.
  DIR* processes = opendir("/proc");
  int threads = 0;
  for (const struct dirent* entry; processes && (entry = readdir(processes)) != NULL;) {
    char path[300];
    snprintf(path, sizeof path, "/proc/%s/status", entry->d_name);
    FILE* status = fopen(path, "r");
    if (!status) {
      continue;
    }
    char line[200];
    unsigned owner = 0;
    int count = 0;
    while (fgets(line, sizeof line, status)) {
      sscanf(line, "Uid: %u", &owner);
      sscanf(line, "Threads: %d", &count);
    }
    fclose(status);
    threads += owner == getuid() ? count : 0;
  }
  if (processes) {
    closedir(processes);
  }
  return threads;
}

// Where root is that of a namespace, there are no more than 65,536 users, mostly.
static void become_nobody_else(void) {
  const uid_t process = (uid_t)getpid();
  const uid_t users[] = {1500000000U + process, 20000U + process % 40000U};
  CHECK(setgroups(0, NULL) == 0, "setgroups: %s", strerror(errno));
  for (int i = 0; i < 2; i++) {
    if (setresuid(users[i], users[i], users[i]) == 0) return;
  }
  CHECK(0, "setresuid: %s", strerror(errno));
}

// From here on this process can start `more` threads.
static void allow_threads(int more) {
  struct rlimit limit;
  const int is_root = geteuid() == 0;
  limit.rlim_cur = limit.rlim_max = (rlim_t)((is_root ? 1 : threads_of_this_user()) + more);
  CHECK(setrlimit(RLIMIT_NPROC, &limit) == 0, "setrlimit: %s", strerror(errno));
  if (is_root) {
    become_nobody_else();
  }
}

static void members_with_barriers(int members) {
  for (int i = 0; i < 5; i++) {
    int present = 0;
    long sum = 0;
#pragma omp parallel num_threads(members)
    {
#pragma omp atomic
      present += 1;
#pragma omp barrier
      int seen;
#pragma omp atomic read
      seen = present;
      CHECK_EQUAL(seen, members, "members that arrived before a barrier");
#pragma omp for reduction(+ : sum)
      for (int j = 0; j < 1000; j++) {
        sum += j;
      }
    }
    CHECK_EQUAL(sum, 499500, "sum of a loop");
  }
  omp_set_max_active_levels(4);
  int inner = 0;
#pragma omp parallel num_threads(8)
#pragma omp parallel num_threads(8)
  {
#pragma omp barrier
#pragma omp atomic
    inner += 1;
  }
  CHECK_EQUAL(inner, 64, "inner members");
}

static void with_no_thread_more(void) {
  allow_threads(0);
  members_with_barriers(64);
}

static void with_one_thread_more(void) {
  allow_threads(1);
  members_with_barriers(64);
}

static void with_three_threads_more(void) {
  allow_threads(3);
  members_with_barriers(64);
}

static void limit_reached_in_use(void) {
  int present = 0;
#pragma omp parallel num_threads(2) reduction(+ : present)
  present += 1;
  CHECK_EQUAL(present, 2, "members");
  allow_threads(0);
  members_with_barriers(64);
}

static _Thread_local int own;

// The limit comes in the midst of those that are started together: none of these is lost.
static void limit_reached_half_way(void) {
  enum { MEMBERS = 120, MORE = 90, NOT_OF_MEMBERS = 8 };
  const int* storage[MEMBERS];
  allow_threads(MORE);
  const int before = threads_of_process();
#pragma omp parallel num_threads(MEMBERS)
  {
    storage[omp_get_thread_num()] = &own;
#pragma omp barrier
  }
  int with_own = 0;
  for (int i = 0; i < MEMBERS; i++) {
    int sharing = 0;
    for (int j = 0; j < MEMBERS; j++) {
      sharing += storage[j] == storage[i];
    }
    with_own += sharing == 1;
  }
  const int started = threads_of_process() - before;
  CHECK(started >= MORE - NOT_OF_MEMBERS, "%d threads were started of %d that were allowed", started, MORE);
  CHECK(with_own >= started - NOT_OF_MEMBERS, "%d threads were started, for %d members with storage of their own",
        started, with_own);
  members_with_barriers(MEMBERS);
}

static void expect_success(const struct Run* run, const char* of) {
  char text[100];
  describe_status(run->status, text, sizeof text);
  CHECK(WIFEXITED(run->status) && WEXITSTATUS(run->status) == 0, "%s: %s; it printed: %s", of, text, run->errors);
}

static void few_threads_allowed(void) {
  const char* situations[] = {"with_no_thread_more", "with_one_thread_more", "with_three_threads_more",
                              "limit_reached_in_use", "limit_reached_half_way"};
  for (int i = 0; i < 5; i++) {
    const struct Run run = run_again(situations[i], (struct RunOptions){.environment = {NULL}});
    expect_success(&run, situations[i]);
    // One line for threads that cannot be had to own thread-local storage, and at most one for missing workers.
    const int lines = lines_with(run.errors, "");
    CHECK(lines >= 1 && lines <= 2 && lines_with(run.errors, "weft") == lines, "%s printed: %s", situations[i],
          run.errors);
    CHECK_EQUAL(lines_with(run.errors, "thread-local"), 1, "lines that say what it means");
  }
}

// Bug: where the last worker that was wanted could have no thread, nobody came to the place that it was to attend.
static void no_thread_for_a_place(void) {
  const char* workers[] = {"WEFT_NUM_WORKERS=2", "WEFT_NUM_WORKERS=3", "WEFT_NUM_WORKERS=8"};
  const char* policies[] = {"OMP_PROC_BIND=close", "OMP_PROC_BIND=spread"};
  const char* situations[] = {"with_no_thread_more", "with_one_thread_more"};
  for (int i = 0; i < 3 * 2 * 2; i++) {
    const char* situation = situations[i / 6];
    const struct Run run = run_again(
        situation, (struct RunOptions){.environment = {workers[i % 3], policies[i / 3 % 2], "OMP_PLACES={0},{1}"}});
    char what[100];
    snprintf(what, sizeof what, "%s, %s, %s", situation, workers[i % 3], policies[i / 3 % 2]);
    expect_success(&run, what);
  }
}

static void plain_use(void) { members_with_barriers(8); }

static void expect_complaint(const char* setting) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(setting, "="), setting);
  const struct Run run = run_again("plain_use", (struct RunOptions){.environment = {setting}});
  expect_success(&run, setting);
  CHECK(lines_with(run.errors, "") == 1 && lines_with(run.errors, name) == 1,
        "with %s: must print one line that names %s, printed: %s", setting, name, run.errors);
}

static void bad_number_of_workers(void) {
  const char* settings[] = {"WEFT_NUM_WORKERS=0",    "WEFT_NUM_WORKERS=-3",  "WEFT_NUM_WORKERS=many",
                            "WEFT_NUM_WORKERS=2x",   "WEFT_NUM_WORKERS=1.5", "WEFT_NUM_WORKERS=99999999999999999999999",
                            "WEFT_NUM_WORKERS=2 and"};
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    expect_complaint(settings[i]);
  }
}

static void bad_openmp_settings(void) {
  const char* settings[] = {"OMP_NUM_THREADS=none", "OMP_STACKSIZE=big",        "OMP_SCHEDULE=sometimes",
                            "OMP_DYNAMIC=perhaps",  "OMP_MAX_ACTIVE_LEVELS=-2", "OMP_THREAD_LIMIT=0",
                            "OMP_WAIT_POLICY=lazy", "WEFT_STACKSIZE=-1"};
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    expect_complaint(settings[i]);
  }
}

static void good_settings_are_silent(void) {
  const char* settings[] = {"WEFT_NUM_WORKERS=1",  "WEFT_NUM_WORKERS=3",      "WEFT_NUM_WORKERS= 2 ",
                            "OMP_NUM_THREADS=4,2", "OMP_STACKSIZE=2M",        "OMP_SCHEDULE=guided,4",
                            "OMP_DYNAMIC=false",   "OMP_WAIT_POLICY=passive", "OMP_WAIT_POLICY=active",
                            "WEFT_STACKSIZE=1M",   "OMP_WAIT_POLICY=hybrid"};
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    const struct Run run = run_again("plain_use", (struct RunOptions){.environment = {settings[i]}});
    expect_success(&run, settings[i]);
    CHECK(run.errors[0] == 0, "with %s: printed %s", settings[i], run.errors);
  }
}

static int minus_two = -2;

static void fewer_threads_than_none(void) {
  int members = 0;
#pragma omp parallel num_threads(minus_two) reduction(+ : members)
  members++;
  CHECK_EQUAL(members, 1, "members of a region");
}

static void expect_line_about(const char* clause, const char* name) {
  const struct Run run = run_again(name, (struct RunOptions){.deadline_seconds = 20});
  expect_success(&run, clause);
  CHECK(lines_with(run.errors, "") == 1 && lines_with(run.errors, clause) == 1,
        "must print one line that names %s, printed: %s", clause, run.errors);
}

static void negative_num_threads(void) { expect_line_about("num_threads(-2)", "fewer_threads_than_none"); }

static void region_that_is_displayed(void) {
#pragma omp parallel num_threads(2)
  __asm__ volatile("");
}

// Bug: it ended the program when that was displayed first, by a line that did not name the variable.
static void wrong_affinity_format(void) {
  const char* const wrong[] = {"%Z", "%", "%{foo}", "%{thread_num", "%0.5", "x%%%-n"};
  for (size_t each = 0; each < sizeof wrong / sizeof *wrong; ++each) {
    char setting[100];
    snprintf(setting, sizeof setting, "OMP_AFFINITY_FORMAT=%s", wrong[each]);
    const struct Run run =
        run_again("region_that_is_displayed",
                  (struct RunOptions){.environment = {"OMP_DISPLAY_AFFINITY=true", setting}, .deadline_seconds = 20});
    expect_success(&run, setting);
    CHECK(lines_with(run.errors, "") == 3 && lines_with(run.errors, setting) == 1 &&
              lines_with(run.errors, "undefined") == 3,
          "%s: must print one line that names it, and \"undefined\" twice, printed: %s", setting, run.errors);
  }
}

static void fewer_teams_than_none(void) {
  int teams = 0;
#pragma omp teams num_teams(minus_two) reduction(+ : teams)
  teams++;
  CHECK_EQUAL(teams, 1, "teams of a league");
}

static void negative_num_teams(void) { expect_line_about("num_teams(-2)", "fewer_teams_than_none"); }

// As many as a taskgroup counts to, and one more. Nobody waits for all of them here.
static void two_to_the_31_tasks(void) {
  enum { LOOPS = 2048, TASKS = 1 << 20 };
  atomic_long ran = 0;
#pragma omp parallel num_threads(64)
#pragma omp single
  {
#pragma omp taskgroup
    for (int loop = 0; loop < LOOPS; loop++) {
#pragma omp taskloop nogroup num_tasks(TASKS) shared(ran)
      for (int i = 0; i < TASKS; i++)
        if (atomic_fetch_add(&ran, 1) == TASKS) _exit(0);
    }
    CHECK_EQUAL(atomic_load(&ran), (long)LOOPS * TASKS, "tasks at the end of their group");
  }
}

// Bug: the group ended before the first of them.
static void tasks_beyond_count(void) {
  const struct Run run = run_again("two_to_the_31_tasks", (struct RunOptions){.environment = {"WEFT_NUM_WORKERS=1"}});
  expect_success(&run, "2^31 tasks in a taskgroup");
}

static void allow_address_space(rlim_t megabytes) {
  const struct rlimit limit = {megabytes << 20, megabytes << 20};
  setrlimit(RLIMIT_AS, &limit);
}

// Little address space: refused memory must not corrupt anything. The process may end, with a line, or work.
static void allow_little_memory(void) { allow_address_space(600); }

static void thousand_members_with_barrier(void) {
  int present = 0;
#pragma omp parallel num_threads(1000)
  {
#pragma omp atomic
    present += 1;
#pragma omp barrier
  }
  CHECK_EQUAL(present, 1000, "members");
}

static void little_address_space(void) {
  const struct Run run =
      run_again("thousand_members_with_barrier", (struct RunOptions){.before_exec = allow_little_memory});
  char text[100];
  describe_status(run.status, text, sizeof text);
  // Before the line that says why it ends there may be one that says with how few threads it got on so far.
  CHECK((WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0) || lines_with(run.errors, "weft: no memory for") == 1,
        "with little address space: %s, without a line that says why: %s", text, run.errors);
}

// As much as 16 threads with their stacks of 8 MiB need.
static void allow_memory_for_stacks(void) { allow_address_space(250); }

static void sixteen_members_that_spin(void) {
  enum { MEMBERS = 16, ROUNDS = 10 };
  atomic_int arrived = 0;
#pragma omp parallel num_threads(MEMBERS)
  for (int round = 1; round <= ROUNDS; round++) {
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < round * MEMBERS) {
    }
  }
  CHECK_EQUAL(atomic_load(&arrived), MEMBERS * ROUNDS, "arrivals");
}

// Bug: kernel threads of weft's that had units to keep asked malloc() for a little memory, and had 64 MiB of address
// space each for that: there was none left for stacks.
static void stacks_have_the_address_space(void) {
  const struct Run run = run_again("sixteen_members_that_spin",
                                   (struct RunOptions){.environment = {"OMP_STACKSIZE=8M", "WEFT_NUM_WORKERS=2"},
                                                       .before_exec = allow_memory_for_stacks});
  expect_success(&run, "sixteen members that spin");
}

int main(int count, char** arguments) {
  omp_set_dynamic(0);
  const struct Case cases[] = {
      {"few_threads_allowed", few_threads_allowed, 0},
      {"no_thread_for_a_place", no_thread_for_a_place, 0},
      {"bad_number_of_workers", bad_number_of_workers, 0},
      {"bad_openmp_settings", bad_openmp_settings, 0},
      {"good_settings_are_silent", good_settings_are_silent, 0},
      {"negative_num_threads", negative_num_threads, 0},
      {"negative_num_teams", negative_num_teams, 0},
      {"wrong_affinity_format", wrong_affinity_format, 0},
      {"tasks_beyond_count", tasks_beyond_count, 0},
      {"little_address_space", little_address_space, 0},
      {"stacks_have_the_address_space", stacks_have_the_address_space, 0},
      {"sixteen_members_that_spin", sixteen_members_that_spin, 1},
      {"with_no_thread_more", with_no_thread_more, 1},
      {"with_one_thread_more", with_one_thread_more, 1},
      {"with_three_threads_more", with_three_threads_more, 1},
      {"limit_reached_in_use", limit_reached_in_use, 1},
      {"limit_reached_half_way", limit_reached_half_way, 1},
      {"plain_use", plain_use, 1},
      {"fewer_threads_than_none", fewer_threads_than_none, 1},
      {"fewer_teams_than_none", fewer_teams_than_none, 1},
      {"region_that_is_displayed", region_that_is_displayed, 1},
      {"two_to_the_31_tasks", two_to_the_31_tasks, 1},
      {"thousand_members_with_barrier", thousand_members_with_barrier, 1},
      {NULL, NULL, 0},
  };
  return run_cases(count, arguments, cases);
}
