// OpenMP beside other processes on the same CPUs, unbound. `processes` of them do what the ranks of an MPI program do:
// a region of `members` with `region` cycles of work in all, `serial` cycles by the master alone, and then they wait
// for each other, the masters looking at shared memory and calling sched_yield(), as MPI libraries do with more ranks
// than CPUs. `hogs` further processes only compute, without OpenMP, as `nice` as they are told. A run is one such round
// of all.
#include <omp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "work.h"

enum { MOST_PROCESSES = 64, PIECES = 64, ROUNDS = 20 };

// Seen by all processes.
typedef struct {
  atomic_int arrived, round;
  atomic_int last;  // round; INT_MAX as long as that is open
  atomic_bool wrong;
} Meeting;

typedef struct {
  int processes, members;
  uint64_t piece_steps, serial_steps;
  uint64_t sum;  // what the first region computed
  Meeting* meeting;
} Rank;

static void meet(Meeting* meeting, int processes) {
  const int round = atomic_load(&meeting->round);
  if (atomic_fetch_add(&meeting->arrived, 1) == processes - 1) {
    atomic_store(&meeting->arrived, 0);
    atomic_store(&meeting->round, round + 1);
    return;
  }
  while (atomic_load(&meeting->round) == round) sched_yield();
}

static void one_round(Rank* rank) {
  uint64_t sum = 0;
#pragma omp parallel for num_threads(rank->members) reduction(+ : sum)
  for (int piece = 0; piece < PIECES; piece++) sum += work_steps((uint64_t)piece + 1, rank->piece_steps);
  if (rank->sum == 0) rank->sum = sum;
  if (sum != rank->sum) atomic_store(&rank->meeting->wrong, true);
  sum = work_steps(sum, rank->serial_steps);
  __asm__ volatile("" : : "r"(sum));
  meet(rank->meeting, rank->processes);
}

static void rounds(void* argument) {
  for (int i = 0; i < ROUNDS; i++) one_round(argument);
}

// The first of them measures; the others follow until the last round, which it names before it comes to that.
static void be_first(const Options* options, const char* config, Rank* rank, double ideal, const char* params) {
  Samples samples = measure(options, 0, rounds, rank);
  atomic_store(&rank->meeting->last, atomic_load(&rank->meeting->round) + 1);
  one_round(rank);
  for (int i = 0; i < samples.count; i++) samples.us[i] /= ROUNDS;
  samples.batch *= ROUNDS;
  print_result("neighbours", config, params, &samples, ideal, !rank->meeting->wrong, "");
}

static void follow(Rank* rank) {
  while (atomic_load(&rank->meeting->round) < atomic_load(&rank->meeting->last)) one_round(rank);
}

static pid_t child(void) {
  fflush(NULL);
  const pid_t parent = getpid(), pid = fork();
  if (pid < 0) fail("fork: no process");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(2);
  }
  return pid;
}

static pid_t start_hog(int niceness) {
  const pid_t pid = child();
  if (pid == 0 && setpriority(PRIO_PROCESS, 0, niceness) != 0) fail("nice=%d: refused", niceness);
  for (volatile uint64_t sink = 1; pid == 0;) sink = work_steps(sink, 100000);
  return pid;
}

static bool ended_well(pid_t pid) {
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Children do all of it, and this process has no OpenMP threads when it forks them.
static void run(const Options* options, const char* config) {
  const int processes = config_count(config, "processes", 2), hogs = config_int(config, "hogs", 0);
  const int nice = config_int(config, "nice", 0);
  const double region = config_number(config, "region", 100000), serial = config_number(config, "serial", 0);
  if (processes < 1 || processes + hogs > MOST_PROCESSES)
    fail("processes and hogs must be 1 to %d: %s", MOST_PROCESSES, config);
  Meeting* meeting = mmap(NULL, sizeof *meeting, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (meeting == MAP_FAILED) fail("out of memory");
  atomic_store(&meeting->last, INT_MAX);
  Rank rank = {.processes = processes,
               .members = config_count(config, "members", 2),
               .piece_steps = steps_for(region / PIECES),
               .serial_steps = steps_for(serial),
               .meeting = meeting};
  const double ideal =
      hogs > 0 ? 0 : ideal_us(processes * (double)(PIECES * rank.piece_steps + rank.serial_steps), processes);
  const char* params = text("\"processes\": %d, \"members\": %d, \"region\": %.0f, \"serial\": %.0f, \"hogs\": %d",
                            processes, rank.members, region, serial, hogs);
  check_keys(config);
  pid_t others[MOST_PROCESSES], hog[MOST_PROCESSES];
  for (int i = 0; i < hogs; i++) hog[i] = start_hog(nice);
  for (int i = 0; i < processes; i++) {
    others[i] = child();
    if (others[i] != 0) continue;
    if (i == 0)
      be_first(options, config, &rank, ideal, params);
    else
      follow(&rank);
    exit(0);
  }
  bool well = true;
  for (int i = 0; i < processes; i++) well = ended_well(others[i]) && well;
  for (int i = 0; i < hogs; i++) {
    kill(hog[i], SIGKILL);
    waitpid(hog[i], NULL, 0);
  }
  munmap(meeting, sizeof *meeting);
  if (!well) fail("a process ended badly: %s", config);
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"processes=2,members=2,region=500000", "processes=2,members=4,region=500000",
                                        "processes=2,members=4,region=50000,serial=500000",
                                        "processes=1,members=2,region=50000,serial=500000,hogs=1"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  calibrate_work();
  for (int i = 0; i < options.configs; i++) run(&options, options.config[i]);
  return 0;
}
