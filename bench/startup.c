// What a runtime costs a program that does not use it: this program starts itself again and again as a child
// that is linked to libgomp and opens no region. Children that inherit the environment (LD_PRELOAD,
// LD_LIBRARY_PATH: the runtime under test) alternate with children without those variables (the stock
// libgomp). A sample is the time from spawn to exit of the former. The child's exit status is its number of
// threads, which must be one.
#include <dirent.h>
#include <omp.h>
#include <spawn.h>
#include <sys/wait.h>

#include "common.h"

extern char** environ;

static int threads_of_this_process(void) {
  DIR* tasks = opendir("/proc/self/task");
  if (!tasks) return 255;
  int threads = 0;
  for (const struct dirent* entry; (entry = readdir(tasks));) threads += entry->d_name[0] != '.';
  closedir(tasks);
  return threads;
}

static char** stock_environment(void) {
  int count = 0, kept = 0;
  while (environ[count]) count++;
  char** copy = allocate(sizeof(char*) * (size_t)(count + 1));
  for (int i = 0; i < count; i++) {
    if (strncmp(environ[i], "LD_", 3) != 0) copy[kept++] = environ[i];
  }
  copy[kept] = NULL;
  return copy;
}

// Time of one child in us; its number of threads goes to *threads.
static double spawn_child(const char* program, char** environment, int* threads) {
  char* const arguments[] = {(char*)(uintptr_t)program, (char*)(uintptr_t) "--child", NULL};
  pid_t child;
  int status;
  const double start = now_ns();
  if (posix_spawn(&child, program, NULL, NULL, arguments, environment) != 0) fail("cannot start %s", program);
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) fail("the child did not end by itself");
  const double end = now_ns();
  *threads = WEXITSTATUS(status);
  return (end - start) / 1e3;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(const double* values, int count) {
  double* sorted = allocate(sizeof(double) * (size_t)count);
  memcpy(sorted, values, sizeof(double) * (size_t)count);
  qsort(sorted, (size_t)count, sizeof(double), ascending);
  const double middle = count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
  free(sorted);
  return middle;
}

static void run(const Options* options, const char* config) {
  static char program[PATH_MAX];
  config_word(config, "child", "");  // what is measured, which has no alternative
  if (!realpath("/proc/self/exe", program)) fail("cannot find this program");
  char** const stock = stock_environment();
  Samples samples = {.batch = 1};
  double stock_us[MAX_SAMPLES];
  int most_threads = 0, threads;
  const double start = now_ns();
  do {
    stock_us[samples.count] = spawn_child(program, stock, &threads);
    samples.us[samples.count] = spawn_child(program, environ, &threads);
    if (threads > most_threads) most_threads = threads;
    samples.count++;
  } while ((now_ns() - start < options->time_ms * 1e6 || samples.count < options->min_samples) &&
           samples.count < MAX_SAMPLES);
  const double with = median(samples.us, samples.count), without = median(stock_us, samples.count);
  print_result("startup", config, text("\"max_threads\": %d", omp_get_max_threads()), &samples, 0, most_threads == 1,
               text("\"stock_us\": %.1f, \"difference_ms\": %.4f, \"threads\": %d", without, (with - without) / 1e3,
                    most_threads));
  free(stock);
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "--child") == 0) return threads_of_this_process();
  static const char* const configs[] = {"child=unused"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  for (int i = 0; i < options.configs; i++) run(&options, options.config[i]);
  return 0;
}
