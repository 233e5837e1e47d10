// Signals while regions run: handlers run on threads of the program, or on whichever signals itself, calls are
// interrupted as usual, default actions end the process with the right status, and the handlers of the program are not
// displaced.
#include "handlers.h"

#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

static atomic_int handled;
static atomic_int on_other_thread;
static pid_t expected_thread;

static void count_signal(int number) {
  (void)number;
  const int saved = errno;
  atomic_fetch_add(&handled, 1);
  if (thread_id() != expected_thread) {
    atomic_fetch_add(&on_other_thread, 1);
  }
  errno = saved;
}

static void install_with_info(int number, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  CHECK(sigaction(number, &action, NULL) == 0, "sigaction: %s", strerror(errno));
}

static void some_regions(int members) {
  int present = 0;
  long sum = 0;
#pragma omp parallel num_threads(members) reduction(+ : sum)
  {
#pragma omp atomic
    present += 1;
#pragma omp barrier
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 100; i++) {
      sum += i;
    }
  }
  CHECK_EQUAL(present, members, "members of a region");
  CHECK_EQUAL(sum, 4950, "sum of a loop");
  omp_set_max_active_levels(4);
  present = 0;
#pragma omp parallel num_threads(3)
#pragma omp parallel num_threads(3)
  {
#pragma omp barrier
#pragma omp atomic
    present += 1;
  }
  CHECK_EQUAL(present, 9, "members of nested regions");
}

static void regions_for(double seconds) {
  const double end = seconds_now() + seconds;
  for (int i = 0; seconds_now() < end; i++) {
    some_regions(1 + i % 12);
  }
}

// And on, where others have the CPU meanwhile, until so many signals have been handled.
static void regions_until_handled(double seconds, int least) {
  for (int attempt = 0; attempt == 0 || (attempt < 50 && atomic_load(&handled) < least); attempt++) {
    regions_for(seconds);
  }
}

static void timer_handler_runs_on_main(void) {
  expected_thread = thread_id();
  some_regions(8);
  install(SIGALRM, count_signal, SA_RESTART);
  start_timer(ITIMER_REAL, 500);
  regions_until_handled(0.3 * repeats(1), 21);
  start_timer(ITIMER_REAL, 0);
  CHECK(atomic_load(&handled) > 20, "only %d signals of a timer were handled", atomic_load(&handled));
  CHECK_EQUAL(atomic_load(&on_other_thread), 0, "handlers that ran on a thread that is not the program's");
}

// Wherever it comes, also where no member runs or one is just ending, the answers are a member's.
static atomic_int wrong_answers;
static char first_wrong[200];

static void ask_openmp(int number) {
  const int saved = errno;
  const int thread = omp_get_thread_num();
  const int threads = omp_get_num_threads();
  const int most = omp_get_max_threads();
  const int level = omp_get_level();
  if ((thread < 0 || thread >= threads || threads > 12 || most < 1 || level < 0 || level > 2) &&
      atomic_fetch_add(&wrong_answers, 1) == 0) {
    snprintf(first_wrong, sizeof first_wrong, "thread %d of %d, at most %d, level %d", thread, threads, most, level);
  }
  errno = saved;
  count_signal(number);
}

static void handlers_ask_openmp(void) {
  install(SIGALRM, ask_openmp, SA_RESTART);
  install(SIGPROF, ask_openmp, SA_RESTART);
  start_timer(ITIMER_REAL, 500);
  start_timer(ITIMER_PROF, 1000);
  regions_until_handled(0.4 * repeats(1), 21);
  start_timer(ITIMER_REAL, 0);
  start_timer(ITIMER_PROF, 0);
  CHECK(atomic_load(&handled) > 20, "only %d signals were handled", atomic_load(&handled));
  CHECK(atomic_load(&wrong_answers) == 0, "%d wrong answers, the first: %s", atomic_load(&wrong_answers), first_wrong);
}

static void profile_timer(void) {
  expected_thread = thread_id();
  install(SIGPROF, count_signal, SA_RESTART);
  start_timer(ITIMER_PROF, 1000);
  regions_until_handled(0.3 * repeats(1), 1);
  start_timer(ITIMER_PROF, 0);
  CHECK(atomic_load(&handled) > 0, "no signal of the profile timer was handled");
}

static void signals_from_outside(void) {
  expected_thread = thread_id();
  install(SIGUSR1, count_signal, SA_RESTART);
  const pid_t parent = getpid();
  const pid_t child = fork();
  CHECK(child >= 0, "fork: %s", strerror(errno));
  if (child == 0) {
    end_with_parent();
    while (getppid() == parent) {
      kill(parent, SIGUSR1);
      sleep_seconds(0.001);
    }
    _exit(1);
  }
  regions_until_handled(0.35, 21);
  kill(child, SIGKILL);
  expect_signal(wait_for_child(child, 60, "sender of signals"), SIGKILL, "sender of signals");
  CHECK(atomic_load(&handled) > 20, "only %d signals were handled", atomic_load(&handled));
  CHECK_EQUAL(atomic_load(&on_other_thread), 0, "handlers that ran on a thread that is not the program's");
}

static pthread_t main_thread;

static void members_signal_main(void) {
  expected_thread = thread_id();
  main_thread = pthread_self();
  install(SIGUSR1, count_signal, SA_RESTART);
  for (int i = 0; i < repeats(20); i++) {
    atomic_store(&handled, 0);
#pragma omp parallel num_threads(8)
    {
      CHECK_EQUAL(pthread_kill(main_thread, SIGUSR1), 0, "pthread_kill of main");
#pragma omp barrier
    }
    const double end = seconds_now() + 60;
    while (atomic_load(&handled) == 0 && seconds_now() < end) {
      sched_yield();
    }
    CHECK(atomic_load(&handled) > 0, "a signal for main was not handled");
  }
  CHECK_EQUAL(atomic_load(&on_other_thread), 0, "handlers of signals to main that ran elsewhere");
}

// A member's signals to its own thread are handled there, before raise() and the like return.
static void members_signal_themselves(void) {
  install(SIGUSR1, count_signal, SA_RESTART);
  for (int i = 0; i < repeats(20); i++) {
#pragma omp parallel num_threads(8)
    {
      for (int round = 0; round < 5; round++) {
        const int before = atomic_load(&handled);
        CHECK_EQUAL(raise(SIGUSR1), 0, "raise() in a member");
        CHECK(atomic_load(&handled) > before, "a signal that member %d raised was not handled", omp_get_thread_num());
        CHECK_EQUAL(pthread_kill(pthread_self(), SIGUSR1), 0, "pthread_kill() of a member's own thread");
#pragma omp barrier
      }
    }
    CHECK_EQUAL(atomic_load(&handled), 8 * 5 * 2 * (i + 1), "signals handled");
  }
}

static void write_to_nobody(void) {
  int ends[2];
  CHECK(pipe(ends) == 0, "pipe: %s", strerror(errno));
  close(ends[0]);
#pragma omp parallel num_threads(8)
  {
#pragma omp barrier
    if (omp_get_thread_num() == 5) {
      (void)!write(ends[1], "x", 1);
      _exit(3);
    }
#pragma omp barrier
  }
}

static void broken_pipe_ends_process(void) {
  const struct Run run = run_again("write_to_nobody", (struct RunOptions){.deadline_seconds = 60});
  expect_signal(run.status, SIGPIPE, "a member that writes to a pipe which nobody reads");
}

// Bug: weft's threads had it open where the program has it blocked, and were told that it is blocked.
static void members_write_to_nobody(int they_block) {
  int ends[2];
  CHECK(pipe(ends) == 0, "pipe: %s", strerror(errno));
  close(ends[0]);
#pragma omp parallel num_threads(8)
  {
    if (they_block) {
      set_blocked(SIG_BLOCK, SIGPIPE);
    }
    sleep_seconds(0.03);  // so that several threads run them
    errno = 0;
    CHECK(write(ends[1], "x", 1) == -1 && errno == EPIPE, "write: %s", strerror(errno));
#pragma omp barrier
    errno = 0;
    CHECK(write(ends[1], "x", 1) == -1 && errno == EPIPE, "write after a barrier: %s", strerror(errno));
  }
  _exit(3);
}

static void blocked_by_main(void) {
  set_blocked(SIG_BLOCK, SIGPIPE);
  members_write_to_nobody(0);
}

static void blocked_by_main_and_members(void) {
  set_blocked(SIG_BLOCK, SIGPIPE);
  members_write_to_nobody(1);
}

static void blocked_by_members(void) { members_write_to_nobody(1); }

static void blocked_by_members_and_main_later(void) {
  some_regions(8);
  set_blocked(SIG_BLOCK, SIGPIPE);
  members_write_to_nobody(1);
}

static void blocked_by_main_after_a_question(void) {
  CHECK_EQUAL(omp_get_thread_num(), 0, "thread number outside of regions");
  blocked_by_main();
}

static void blocked_signal_of_broken_pipe(void) {
  const char* situations[] = {"blocked_by_main", "blocked_by_main_and_members", "blocked_by_members",
                              "blocked_by_members_and_main_later", "blocked_by_main_after_a_question"};
  for (size_t i = 0; i < sizeof situations / sizeof *situations; i++) {
    const struct Run run = run_again(situations[i], (struct RunOptions){.deadline_seconds = 60});
    expect_exit(run.status, 3, situations[i]);
  }
}

// Who waits for them gets them, though others compute all the while.
static void blocked_signals_of_profile_timer(void) {
  const sigset_t set = one_signal(SIGPROF);
  set_blocked(SIG_BLOCK, SIGPROF);
  start_timer(ITIMER_PROF, 5000);
  atomic_int enough = 0;
#pragma omp parallel num_threads(8)
  {
    if (omp_get_thread_num() == 0) {
      for (int taken = 0; taken < 5;) {
        const struct timespec limit = {60, 0};
        const int number = sigtimedwait(&set, NULL, &limit);
        CHECK(number == SIGPROF || errno == EINTR, "sigtimedwait: %s", strerror(errno));
        taken += number == SIGPROF;
      }
      atomic_store(&enough, 1);
    } else {
      while (!atomic_load(&enough)) {
      }
    }
  }
  start_timer(ITIMER_PROF, 0);
}

// A call of the master that blocks is interrupted, inside a region and outside.
static void expect_interrupted_read(const char* where) {
  int ends[2];
  char byte;
  CHECK(pipe(ends) == 0, "pipe: %s", strerror(errno));
  start_timer(ITIMER_REAL, 20000);
  errno = 0;
  const ssize_t got = read(ends[0], &byte, 1);
  const int error = errno;
  start_timer(ITIMER_REAL, 0);
  CHECK(got == -1 && error == EINTR, "read %s gave %zd and '%s', must be interrupted", where, got, strerror(error));
  close(ends[0]);
  close(ends[1]);
}

static void blocking_call_is_interrupted(void) {
  expected_thread = thread_id();
  install(SIGALRM, count_signal, 0);
  expect_interrupted_read("before any region");
  some_regions(8);
  expect_interrupted_read("after a region");
#pragma omp parallel num_threads(8)
  {
#pragma omp master
    expect_interrupted_read("in the master of a region");
#pragma omp barrier
#pragma omp master
    expect_interrupted_read("in the master after a barrier");
  }
  some_regions(8);
}

// The alternate signal stack that main has set stays main's.
static atomic_int outside_alternate;

static void note_stack(int number) {
  (void)number;
  const char here = 0;
  const uintptr_t address = (uintptr_t)&here;
  if (address < (uintptr_t)alternate || address >= (uintptr_t)alternate + alternate_size) {
    atomic_fetch_add(&outside_alternate, 1);
  }
  atomic_fetch_add(&handled, 1);
}

static void alternate_stack_of_main(void) {
  set_alternate_stack();
  install(SIGUSR1, note_stack, SA_ONSTACK | SA_RESTART);
  install(SIGALRM, note_stack, SA_ONSTACK | SA_RESTART);
  for (int i = 0; i < repeats(20); i++) {
    raise(SIGUSR1);
#pragma omp parallel num_threads(8)
    {
#pragma omp master
      raise(SIGUSR1);
#pragma omp barrier
#pragma omp master
      raise(SIGUSR1);
    }
    stack_t now;
    CHECK(sigaltstack(NULL, &now) == 0, "sigaltstack: %s", strerror(errno));
    CHECK(now.ss_sp == (void*)alternate && !(now.ss_flags & SS_DISABLE), "main's signal stack was replaced");
  }
  CHECK(atomic_load(&handled) == 3 * repeats(20), "%d signals handled", atomic_load(&handled));
  start_timer(ITIMER_REAL, 1000);
  regions_for(0.2);
  start_timer(ITIMER_REAL, 0);
  CHECK_EQUAL(atomic_load(&outside_alternate), 0, "handlers that ran off the alternate stack");
}

// A signal that the program blocks everywhere stays pending until it is waited for.
static void stays_pending(int number) {
  const sigset_t set = one_signal(number);
  set_blocked(SIG_BLOCK, number);
  for (int i = 0; i < repeats(20); i++) {
    some_regions(8);
    kill(getpid(), number);
    some_regions(8);
    const struct timespec limit = {5, 0};
    CHECK_EQUAL(sigtimedwait(&set, NULL, &limit), number, "signal that was waited for");
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    CHECK(sigismember(&now, number) == 1 && sigismember(&now, SIGUSR1) == 0, "the mask of main was changed");
  }
}

static void blocked_signal_stays_pending(void) { stays_pending(SIGUSR2); }

// Bug: with no handler it was taken for one that nobody uses. Weft takes the first that is free from above when it is
// first asked something, so main() blocks this one before.
static void real_time_signal_stays_pending(void) { stays_pending(SIGRTMAX - 2); }

static void blocked_real_time_signal_stays_pending(void) {
  const struct Run run = run_again("real_time_signal_stays_pending", (struct RunOptions){.deadline_seconds = 60});
  expect_exit(run.status, 0, "a process that waits for a real-time signal");
}

// Bug: main's thread, taken back from a member that slept in ppoll() on it, had the call's mask from then on.
static void wait_in_ppoll(int end) {
  sigset_t none;
  sigemptyset(&none);
  const struct timespec limit = {60, 0};
  struct pollfd entry = {.fd = end, .events = POLLIN};
  const int ready = ppoll(&entry, 1, &limit, &none);
  CHECK(ready == 1 || (ready == -1 && errno == EINTR), "ppoll gave %d: %s", ready, strerror(errno));
}

static unsigned long long blocked_in_kernel(void) {
  unsigned long long mask = 0;
  CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask) == 0, "rt_sigprocmask: %s", strerror(errno));
  return mask;
}

static void members_in_ppoll_on_main(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0, "pthread_sigmask failed");
  const unsigned long long before = blocked_in_kernel();
  int ends[2];
  CHECK(pipe(ends) == 0, "pipe: %s", strerror(errno));
  omp_lock_t lock;
  omp_init_lock(&lock);
  atomic_int held = 0;
#pragma omp parallel num_threads(6)
  {
    const int member = omp_get_thread_num();
    if (member == 1) {
      omp_set_lock(&lock);
      atomic_store(&held, 1);
      for (int i = 0; i < 3; i++) {
        sleep_seconds(0.1);
      }
      omp_unset_lock(&lock);
    } else {
      while (!atomic_load(&held)) {
        sleep_seconds(0.001);
      }
      if (member == 0) {
        omp_set_lock(&lock);
        CHECK(blocked_in_kernel() == before, "main has %llx blocked, must be %llx", blocked_in_kernel(), before);
        omp_unset_lock(&lock);
        CHECK(write(ends[1], "x", 1) == 1, "write: %s", strerror(errno));
      } else {
        sleep_seconds(0.03 * (member - 1));
        wait_in_ppoll(ends[0]);
      }
    }
  }
  CHECK(blocked_in_kernel() == before, "after the region main has %llx blocked, must be %llx", blocked_in_kernel(),
        before);
  omp_destroy_lock(&lock);
  close(ends[0]);
  close(ends[1]);
}

// Default actions.
static void regions_without_end(void) {
  for (;;) {
    regions_for(1);
  }
}

static void members_sleep(void) {
#pragma omp parallel num_threads(8)
  {
    if (omp_get_thread_num() == 5) {
      sleep_seconds(1000);
    }
#pragma omp barrier
  }
}

static int signal_to_send;

static void send_after_a_while(pid_t child) {
  sleep_seconds(0.3);
  kill(child, signal_to_send);
}

static void default_action_ends_process(void) {
  const char* situations[] = {"regions_without_end", "members_sleep"};
  const int signals[] = {SIGINT, SIGTERM, SIGALRM, SIGQUIT};
  for (int s = 0; s < 2; s++) {
    for (int i = 0; i < 4; i++) {
      signal_to_send = signals[i];
      const struct Run run = run_again(situations[s], (struct RunOptions){.while_running = send_after_a_while});
      expect_signal(run.status, signals[i], situations[s]);
      CHECK(run.errors[0] == 0, "a process ended by %s printed: %s", strsignal(signals[i]), run.errors);
    }
  }
}

static void stop_and_continue(pid_t child) {
  for (int i = 0; i < 5; i++) {
    sleep_seconds(0.03);
    kill(child, SIGSTOP);
    sleep_seconds(0.03);
    kill(child, SIGCONT);
  }
}

static void regions_half_second(void) { regions_for(0.5); }

static void stopped_and_continued(void) {
  const struct Run run = run_again("regions_half_second", (struct RunOptions){.while_running = stop_and_continue});
  expect_exit(run.status, 0, "a process that was stopped and continued");
}

static void abort_in_member(void) {
#pragma omp parallel num_threads(8)
  {
#pragma omp barrier
    if (omp_get_thread_num() == 6) {
      abort();
    }
#pragma omp barrier
  }
}

static void abort_ends_process(void) {
  const struct Run run = run_again("abort_in_member", (struct RunOptions){.deadline_seconds = 60});
  expect_signal(run.status, SIGABRT, "abort() in a member");
}

// Real segmentation faults: the program's handler is called, or the default action taken.
static char* page;

static void fault_handler_exits(int number, siginfo_t* info, void* context) {
  (void)context;
  _exit(number == SIGSEGV && info->si_addr == page ? 42 : 43);
}

static void map_page(void) {
  page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED, "mmap: %s", strerror(errno));
}

static void fault_in_member(int member) {
#pragma omp parallel num_threads(8)
  {
#pragma omp barrier
    if (omp_get_thread_num() == member) {
      *(volatile char*)page = 1;
    }
#pragma omp barrier
  }
}

static void fault_handler_installed_first(void) {
  map_page();
  install_with_info(SIGSEGV, fault_handler_exits);
  some_regions(4);
  fault_in_member(3);
}

static void fault_handler_installed_later(void) {
  map_page();
  some_regions(4);
  install_with_info(SIGSEGV, fault_handler_exits);
  fault_in_member(7);
}

static void fault_handler_and_fault_in_master(void) {
  map_page();
  install_with_info(SIGSEGV, fault_handler_exits);
  some_regions(4);
  fault_in_member(0);
}

static void fault_handler_and_fault_outside(void) {
  map_page();
  install_with_info(SIGSEGV, fault_handler_exits);
  some_regions(4);
  *(volatile char*)page = 1;
}

static void fault_without_handler(void) {
  map_page();
  fault_in_member(5);
}

static void fault_outside_without_handler(void) {
  map_page();
  some_regions(5);
  *(volatile char*)page = 1;
}

static void program_handles_its_faults(void) {
  const char* handled_cases[] = {"fault_handler_installed_first", "fault_handler_installed_later",
                                 "fault_handler_and_fault_in_master", "fault_handler_and_fault_outside"};
  for (int i = 0; i < 4; i++) {
    expect_exit(run_again(handled_cases[i], (struct RunOptions){.deadline_seconds = 60}).status, 42, handled_cases[i]);
  }
  const char* plain_cases[] = {"fault_without_handler", "fault_outside_without_handler"};
  for (int i = 0; i < 2; i++) {
    const struct Run run = run_again(plain_cases[i], (struct RunOptions){.deadline_seconds = 60});
    expect_signal(run.status, SIGSEGV, plain_cases[i]);
    CHECK(!strstr(run.errors, "STACKSIZE"), "an ordinary fault was called a stack overflow: %s", run.errors);
  }
}

// As a garbage collector's write barrier does it: the handler opens the page and the member goes on.
static char* heap;

static void open_page(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  const uintptr_t address = (uintptr_t)info->si_addr & ~(uintptr_t)4095;
  if (address < (uintptr_t)heap || address >= (uintptr_t)heap + 64 * 4096) {
    _exit(44);
  }
  mprotect((void*)address, 4096, PROT_READ | PROT_WRITE);
  atomic_fetch_add(&handled, 1);
}

static void handler_repairs_fault(void) {
  install_with_info(SIGSEGV, open_page);
  for (int i = 0; i < repeats(10); i++) {
    heap = mmap(NULL, 64 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(heap != MAP_FAILED, "mmap: %s", strerror(errno));
    atomic_store(&handled, 0);
#pragma omp parallel num_threads(16)
    {
      char* mine = heap + 4 * 4096 * omp_get_thread_num();
      mine[0] = 1;
      mine[4096] = 2;
#pragma omp barrier
      mine[2 * 4096] = 3;
      mine[3 * 4096] = 4;
      CHECK(mine[0] + mine[4096] + mine[2 * 4096] == 6, "what a member wrote after its faults is lost");
    }
    CHECK_EQUAL(atomic_load(&handled), 64, "faults repaired");
    munmap(heap, 64 * 4096);
  }
}

// Jumps inside one member.
static void (*volatile jump)(jmp_buf, int) = longjmp;

__attribute__((noinline)) static void leave_by_jump(jmp_buf target, int depth, int value) {
  volatile char room[200];
  room[0] = (char)depth;
  if (depth > 0) {
    leave_by_jump(target, depth - 1, value + room[0] - (char)depth);
  } else {
    jump(target, value);
  }
  room[1] = room[0];
}

__attribute__((noinline)) static int come_back(int value) {
  jmp_buf target;
  const int came = setjmp(target);
  if (came == 0) {
    leave_by_jump(target, 20, value);
  }
  return came;
}

static void jumps_in_members(void) {
  for (int i = 0; i < repeats(20); i++) {
#pragma omp parallel num_threads(16)
    for (int round = 0; round < 5; round++) {
      CHECK_EQUAL(come_back(100 + omp_get_thread_num()), 100 + omp_get_thread_num(), "value of longjmp");
#pragma omp barrier
    }
  }
}

// A jump back over a barrier: the buffer was filled before the member was suspended.
__attribute__((noinline)) static int jump_over_barriers(void) {
  sigjmp_buf target;
  volatile int rounds = 0;
  if (sigsetjmp(target, 1) < 3) {
    rounds = rounds + 1;
  }
#pragma omp barrier
  if (rounds < 3) {
    siglongjmp(target, rounds);
  }
  return rounds;
}

static void jump_back_over_barrier(void) {
  for (int i = 0; i < repeats(20); i++) {
#pragma omp parallel num_threads(16)
    CHECK_EQUAL(jump_over_barriers(), 3, "rounds through sigsetjmp");
  }
}

// Out of a handler, as an interpreter leaves a long computation.
static sigjmp_buf way_out;
static volatile sig_atomic_t armed;

static void jump_out(int number) {
  (void)number;
  if (armed) {
    armed = 0;
    siglongjmp(way_out, 1);
  }
}

static void jump_out_of_handler(void) {
  install(SIGALRM, jump_out, 0);
  for (int i = 0; i < repeats(10); i++) {
    some_regions(8);
    if (sigsetjmp(way_out, 1) == 0) {
      armed = 1;
      start_timer(ITIMER_REAL, 2000);
      for (volatile unsigned long spin = 0; armed || spin < 1; spin++) {
      }
    }
    start_timer(ITIMER_REAL, 0);
    some_regions(8);
  }
}

__attribute__((noinline)) static void spin_until_jump(long microseconds) {
  if (sigsetjmp(way_out, 1) == 0) {
    armed = 1;
    start_timer(ITIMER_REAL, microseconds);
    while (armed) {
    }
  }
  start_timer(ITIMER_REAL, 0);
}

// Bug: with more members than workers the master was left standing in a queue, and stood in two then.
static void jump_out_of_handler_in_region(void) {
  install(SIGALRM, jump_out, 0);
  for (int i = 0; i < repeats(4); i++) {
    atomic_int rounds_over = 0;
    int count = 0;
#pragma omp parallel num_threads(8)
    for (int round = 1; round <= 4; round++) {
      if (omp_get_thread_num() == 0) {
        spin_until_jump(10000L * round);
        atomic_store(&rounds_over, round);
      }
      while (atomic_load(&rounds_over) < round) {
      }
#pragma omp barrier
#pragma omp critical
      count++;
#pragma omp barrier
    }
    CHECK_EQUAL(count, 8 * 4, "members in critical sections");
    some_regions(8);
  }
}

int main(int count, char** arguments) {
  if (count == 2 && strcmp(arguments[1], "real_time_signal_stays_pending") == 0) set_blocked(SIG_BLOCK, SIGRTMAX - 2);
  omp_set_dynamic(0);
  const struct Case cases[] = {
      {"timer_handler_runs_on_main", timer_handler_runs_on_main, 0},
      {"handlers_ask_openmp", handlers_ask_openmp, 0},
      {"profile_timer", profile_timer, 0},
      {"signals_from_outside", signals_from_outside, 0},
      {"members_signal_main", members_signal_main, 0},
      {"members_signal_themselves", members_signal_themselves, 0},
      {"broken_pipe_ends_process", broken_pipe_ends_process, 0},
      {"blocked_signal_of_broken_pipe", blocked_signal_of_broken_pipe, 0},
      {"blocked_signals_of_profile_timer", blocked_signals_of_profile_timer, 0},
      {"blocking_call_is_interrupted", blocking_call_is_interrupted, 0},
      {"alternate_stack_of_main", alternate_stack_of_main, 0},
      {"blocked_signal_stays_pending", blocked_signal_stays_pending, 0},
      {"blocked_real_time_signal_stays_pending", blocked_real_time_signal_stays_pending, 0},
      {"members_in_ppoll_on_main", members_in_ppoll_on_main, 0},
      {"default_action_ends_process", default_action_ends_process, 0},
      {"stopped_and_continued", stopped_and_continued, 0},
      {"abort_ends_process", abort_ends_process, 0},
      {"program_handles_its_faults", program_handles_its_faults, 0},
      {"handler_repairs_fault", handler_repairs_fault, 0},
      {"jumps_in_members", jumps_in_members, 0},
      {"jump_back_over_barrier", jump_back_over_barrier, 0},
      {"jump_out_of_handler", jump_out_of_handler, 0},
      {"jump_out_of_handler_in_region", jump_out_of_handler_in_region, 0},
      {"real_time_signal_stays_pending", real_time_signal_stays_pending, 1},
      {"write_to_nobody", write_to_nobody, 1},
      {"blocked_by_main", blocked_by_main, 1},
      {"blocked_by_main_and_members", blocked_by_main_and_members, 1},
      {"blocked_by_members", blocked_by_members, 1},
      {"blocked_by_members_and_main_later", blocked_by_members_and_main_later, 1},
      {"blocked_by_main_after_a_question", blocked_by_main_after_a_question, 1},
      {"regions_without_end", regions_without_end, 1},
      {"members_sleep", members_sleep, 1},
      {"regions_half_second", regions_half_second, 1},
      {"abort_in_member", abort_in_member, 1},
      {"fault_handler_installed_first", fault_handler_installed_first, 1},
      {"fault_handler_installed_later", fault_handler_installed_later, 1},
      {"fault_handler_and_fault_in_master", fault_handler_and_fault_in_master, 1},
      {"fault_handler_and_fault_outside", fault_handler_and_fault_outside, 1},
      {"fault_without_handler", fault_without_handler, 1},
      {"fault_outside_without_handler", fault_outside_without_handler, 1},
      {NULL, NULL, 0},
  };
  return run_cases(count, arguments, cases);
}
