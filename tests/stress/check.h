// What the stress programs share: checks that say what failed, cases chosen by name on the command line, and
// children (forked, or this program started again) that must end before a deadline.
#ifndef WEFT_TESTS_STRESS_CHECK_H
#define WEFT_TESTS_STRESS_CHECK_H

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// What a failed check says of where it was: a program of many parts defines it before (chaos/where.h).
#ifndef CHECK_CONTEXT
#define CHECK_CONTEXT ""
#endif

#ifdef __cplusplus
#define CHECK_ZERO \
  {}
#else
#define CHECK_ZERO \
  { 0 }
#endif

// Prints one line and ends the process at once, from whichever thread, member or child. STRESS_ABORT: with a core.
__attribute__((noreturn, format(printf, 3, 4), unused)) static void check_failed(const char* file, int line,
                                                                                 const char* format, ...) {
  char text[600];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const char* base = strrchr(file, '/');
  dprintf(STDERR_FILENO, "FAILED %s:%d: %s%s\n", base ? base + 1 : file, line, CHECK_CONTEXT, text);
  if (getenv("STRESS_ABORT")) {
    abort();
  }
  _exit(1);
}

#define CHECK(condition, ...)                        \
  do {                                               \
    if (!(condition)) {                              \
      check_failed(__FILE__, __LINE__, __VA_ARGS__); \
    }                                                \
  } while (0)

#define CHECK_EQUAL(actual, expected, what)                                                              \
  do {                                                                                                   \
    const long long check_actual = (long long)(actual);                                                  \
    const long long check_expected = (long long)(expected);                                              \
    if (check_actual != check_expected) {                                                                \
      check_failed(__FILE__, __LINE__, "%s: is %lld, must be %lld", what, check_actual, check_expected); \
    }                                                                                                    \
  } while (0)

__attribute__((unused)) static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

__attribute__((unused)) static double cpu_seconds_of_process(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

__attribute__((unused)) static int threads_of_process(void) {
  DIR* directory = opendir("/proc/self/task");
  CHECK(directory != NULL, "/proc/self/task: %s", strerror(errno));
  int threads = 0;
  for (const struct dirent* entry; (entry = readdir(directory)) != NULL;) {
    threads += entry->d_name[0] != '.';
  }
  closedir(directory);
  return threads;
}

__attribute__((unused)) static long resident_kilobytes(void) {
  FILE* status = fopen("/proc/self/status", "r");
  CHECK(status != NULL, "/proc/self/status: %s", strerror(errno));
  char line[200];
  long kilobytes = -1;
  while (fgets(line, sizeof line, status)) {
    if (sscanf(line, "VmRSS: %ld kB", &kilobytes) == 1) {
      break;
    }
  }
  fclose(status);
  return kilobytes;
}

__attribute__((unused)) static void sleep_seconds(double seconds) {
  struct timespec left;
  left.tv_sec = (time_t)seconds;
  left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

__attribute__((unused)) static pid_t thread_id(void) { return (pid_t)syscall(SYS_gettid); }

// The CPU time that the process uses in a window in which nothing should happen: of ten windows the first that is below
// `bound`, else the last. What goes on for ever goes on in each; on a busy machine something ends late now and then.
__attribute__((unused)) static double cpu_seconds_when_idle(double window_seconds, double bound) {
  double used = bound;
  for (int window = 0; window < 10 && used >= bound; window++) {
    const double before = cpu_seconds_of_process();
    sleep_seconds(window_seconds);
    used = cpu_seconds_of_process() - before;
  }
  return used;
}

// How often a case repeats its body: `usual` times, multiplied by STRESS_REPEAT.
__attribute__((unused)) static int repeats(int usual) {
  const char* factor = getenv("STRESS_REPEAT");
  const int times = factor ? atoi(factor) : 1;
  return usual * (times > 0 ? times : 1);
}

// The status of a child that must end before the deadline; a child that does not is killed and the test
// fails.
__attribute__((unused)) static int wait_for_child(pid_t child, double deadline_seconds, const char* what) {
  const double end = seconds_now() + deadline_seconds;
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) {
      return status;
    }
    CHECK(ended == 0 || errno == EINTR, "%s: waitpid: %s", what, strerror(errno));
    if (seconds_now() > end) {
      if (getenv("STRESS_KEEP_HUNG")) {
        fprintf(stderr, "hung child %d left for a debugger\n", (int)child);
        pause();
      }
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      CHECK(0, "%s: the child did not end in time", what);
    }
    sleep_seconds(0.001);
  }
}

__attribute__((unused)) static void describe_status(int status, char* text, size_t size) {
  if (WIFEXITED(status)) {
    snprintf(text, size, "exit status %d", WEXITSTATUS(status));
  } else if (WIFSIGNALED(status)) {
    snprintf(text, size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  } else {
    snprintf(text, size, "raw status %d", status);
  }
}

__attribute__((unused)) static void expect_exit(int status, int expected, const char* what) {
  char text[100];
  describe_status(status, text, sizeof text);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == expected, "%s: ended with %s, must be exit status %d", what, text,
        expected);
}

__attribute__((unused)) static void expect_signal(int status, int expected, const char* what) {
  char text[100];
  describe_status(status, text, sizeof text);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == expected, "%s: ended with %s, must be signal %d", what, text,
        expected);
}

// For forked children: they do not outlive a test that is killed.
__attribute__((unused)) static void end_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }

// This program, started again.
struct Run {
  int status;
  char errors[16384];  // its standard error
};

struct RunOptions {
  const char* environment[8];  // "NAME=VALUE", or "NAME" to remove it
  double deadline_seconds;
  void (*before_exec)(void);
  void (*while_running)(pid_t child);
};

__attribute__((unused)) static struct Run run_again(const char* case_name, struct RunOptions options) {
  struct Run run = CHECK_ZERO;
  const double deadline = options.deadline_seconds > 0 ? options.deadline_seconds : 60.0;
  int ends[2];
  CHECK(pipe2(ends, O_CLOEXEC) == 0, "pipe: %s", strerror(errno));
  const pid_t child = fork();
  CHECK(child >= 0, "fork: %s", strerror(errno));
  if (child == 0) {
    end_with_parent();
    dup2(ends[1], STDERR_FILENO);
    for (size_t i = 0; i < sizeof options.environment / sizeof *options.environment; i++) {
      const char* setting = options.environment[i];
      if (!setting) {
        break;
      }
      if (strchr(setting, '=')) {
        putenv(strdup(setting));
      } else {
        unsetenv(setting);
      }
    }
    if (options.before_exec) {
      options.before_exec();
    }
    char self[] = "/proc/self/exe";
    char* argument = strdup(case_name);
    char* arguments[] = {self, argument, NULL};
    execv(self, arguments);
    _exit(126);
  }
  close(ends[1]);
  if (options.while_running) {
    options.while_running(child);
  }
  const double end = seconds_now() + deadline;
  size_t length = 0;
  for (;;) {
    struct pollfd readable;
    readable.fd = ends[0];
    readable.events = POLLIN;
    readable.revents = 0;
    const double left = end - seconds_now();
    if (left <= 0 || poll(&readable, 1, (int)(left * 1000) + 1) == 0) {
      break;
    }
    char spill[1024];
    const int full = length + 1 >= sizeof run.errors;
    const ssize_t got =
        full ? read(ends[0], spill, sizeof spill) : read(ends[0], run.errors + length, sizeof run.errors - 1 - length);
    if (got <= 0) {
      break;
    }
    length += full ? 0 : (size_t)got;
  }
  close(ends[0]);
  const double left = end - seconds_now();
  run.status = wait_for_child(child, left > 0.5 ? left : 0.5, case_name);
  return run;
}

__attribute__((unused)) static int lines_with(const char* text, const char* word) {
  int lines = 0;
  while (*text) {
    const char* end = strchr(text, '\n');
    const size_t length = end ? (size_t)(end - text) : strlen(text);
    lines += memmem(text, length, word, strlen(word)) != NULL;
    text += length + (end != NULL);
  }
  return lines;
}

// Cases.
struct Case {
  const char* name;
  void (*run)(void);
  int helper;  // started by another case, not by itself
};

// Where CHECK_RUNTIME names a folder, the OpenMP runtime in this process must be the one from there.
__attribute__((unused)) static void check_runtime(void) {
  const char* wanted = getenv("CHECK_RUNTIME");
  void* const address = dlsym(RTLD_DEFAULT, "GOMP_parallel");
  if (wanted && address) {
    Dl_info info;
    CHECK(dladdr(address, &info) && info.dli_fname, "dladdr knows nothing of GOMP_parallel");
    char* const folder = realpath(wanted, NULL);
    char* const file = realpath(info.dli_fname, NULL);
    CHECK(folder && file && strncmp(file, folder, strlen(folder)) == 0, "the runtime is %s, must be from %s",
          info.dli_fname, wanted);
    free(folder);
    free(file);
  }
}

__attribute__((unused)) static int run_cases(int count, char** arguments, const struct Case* cases) {
  check_runtime();
  for (const struct Case* c = cases; c->name; c++) {
    int wanted = count < 2 && !c->helper;
    for (int i = 1; i < count; i++) {
      wanted |= strcmp(arguments[i], c->name) == 0;
    }
    if (wanted) {
      c->run();
      if (count != 2) {
        printf("ok %s\n", c->name);
      }
    }
  }
  for (int i = 1; i < count; i++) {
    int known = 0;
    for (const struct Case* c = cases; c->name; c++) {
      known |= strcmp(arguments[i], c->name) == 0;
    }
    if (!known) {
      fprintf(stderr, "no case named %s\n", arguments[i]);
      return 2;
    }
  }
  return 0;
}

#endif
