// What every benchmark program shares: its command line, timing and the JSON lines it prints.
//
//   PROGRAM [--time MS] [--warm MS] [--min N] [--list] [CONFIG...]
//
// A CONFIG is "key=value,key=value"; a key that the program does not know ends it. For each one the program warms
// up, takes samples for MS milliseconds, and prints one line:
//
//   {"name": ..., "config": ..., "params": {...}, "unit": "us", "batch": ..., "samples": [...], "ideal": ...,
//    "checks": {"ok": true, ...}, "runtime": PATH}
//
// A sample is the mean of `batch` runs in a row, so that a sample is never shorter than SAMPLE_FLOOR_NS.
// "ideal" is the time that perfect scheduling would take (absent where there is none), "runtime" is the file
// that GOMP_parallel was taken from. Lines are flushed one by one: what was measured before a crash is not
// lost.
#ifndef WEFT_BENCH_COMMON_H
#define WEFT_BENCH_COMMON_H

#include <dlfcn.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_SAMPLES = 400, SAMPLE_FLOOR_NS = 200000, MAX_BATCH = 100000 };

typedef struct {
  double time_ms;
  double warm_ms;
  int min_samples;
  int configs;
  const char** config;
} Options;

typedef struct {
  int count;
  int batch;
  double us[MAX_SAMPLES];
} Samples;

// --- failing
// -------------------------------------------------------------------------------------------------------

__attribute__((noreturn, format(printf, 1, 2), unused)) static void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(2);
}

__attribute__((unused)) static void* allocate(size_t bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, 64, bytes ? bytes : 64) != 0) fail("out of memory: %zu bytes", bytes);
  return memory;
}

// --- configurations
// ------------------------------------------------------------------------------------------------

// A key that nobody asks for is a mistake: it would be measured without.
enum { MOST_KEYS = 32 };
static const char* asked_for[MOST_KEYS];
static int keys_asked_for;
static const char* config_in_use;

__attribute__((unused)) static bool is_asked_for(const char* key, size_t length) {
  for (int i = 0; i < keys_asked_for; i++) {
    if (strlen(asked_for[i]) == length && strncmp(asked_for[i], key, length) == 0) return true;
  }
  return false;
}

// The text behind "key=" in "key=text,key=text", up to the end of all, or NULL.
__attribute__((unused)) static const char* config_value(const char* config, const char* key) {
  const size_t length = strlen(key);
  config_in_use = config;
  if (!is_asked_for(key, length)) {
    if (keys_asked_for == MOST_KEYS) fail("more than %d keys", MOST_KEYS);
    asked_for[keys_asked_for++] = key;
  }
  for (const char* at = config; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    if (strncmp(at, key, length) == 0 && at[length] == '=') return at + length + 1;
  }
  return NULL;
}

// To be called once all keys have been asked for; measure() and print_result_of() do.
__attribute__((unused)) static void check_keys(const char* config) {
  for (const char* at = config; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    const size_t length = strcspn(at, "=,");
    if (!is_asked_for(at, length)) fail("'%s': there is no '%.*s' here", config, (int)length, at);
  }
}

// The value of `key` in "key=value,key=value", or `otherwise`.
__attribute__((unused)) static double config_number(const char* config, const char* key, double otherwise) {
  const char* given = config_value(config, key);
  if (!given) return otherwise;
  char* end;
  const double value = strtod(given, &end);
  if (end == given || (*end && *end != ',')) fail("bad value in '%s': %s", config, given);
  if (!(value >= 0 && value < 1e15)) fail("'%s': %s is out of range", config, key);
  return value;
}

__attribute__((unused)) static int config_int(const char* config, const char* key, int otherwise) {
  const double value = config_number(config, key, otherwise);
  if (value > INT_MAX || value != (int)value) fail("'%s': %s is no whole number up to %d", config, key, INT_MAX);
  return (int)value;
}

// The same for what there is at least one of.
__attribute__((unused)) static int config_count(const char* config, const char* key, int otherwise) {
  const int value = config_int(config, key, otherwise);
  if (value < 1) fail("'%s': %s is at least 1", config, key);
  return value;
}

// The text of `key` in "key=text,key=text", or `otherwise`.
__attribute__((unused)) static const char* config_word(const char* config, const char* key, const char* otherwise) {
  const char* given = config_value(config, key);
  return given ? strndup(given, strcspn(given, ",")) : otherwise;
}

__attribute__((unused)) static bool config_is(const char* config, const char* key, const char* word) {
  return strcmp(config_word(config, key, ""), word) == 0;
}

__attribute__((unused)) static void check_form(const char* config) {
  for (const char* at = config; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    const size_t length = strcspn(at, "=,");
    if (length == 0 || at[length] != '=') fail("'%s': expected key=value,key=value", config);
  }
}

__attribute__((unused)) static Options parse_options(int argc, char** argv, int defaults,
                                                     const char* const* default_configs) {
  Options options = {.time_ms = 200, .warm_ms = 50, .min_samples = 3, .configs = 0, .config = NULL};
  options.config = (const char**)allocate(sizeof(char*) * (size_t)(argc + defaults));
  for (int i = 1; i < argc; i++) {
    const bool has_value = i + 1 < argc;
    if (strcmp(argv[i], "--list") == 0) {
      for (int j = 0; j < defaults; j++) puts(default_configs[j]);
      exit(0);
    } else if (strcmp(argv[i], "--time") == 0 && has_value) {
      options.time_ms = atof(argv[++i]);
    } else if (strcmp(argv[i], "--warm") == 0 && has_value) {
      options.warm_ms = atof(argv[++i]);
    } else if (strcmp(argv[i], "--min") == 0 && has_value) {
      options.min_samples = atoi(argv[++i]);
    } else if (argv[i][0] == '-') {
      fail("usage: %s [--time MS] [--warm MS] [--min N] [--list] [CONFIG...]", argv[0]);
    } else {
      check_form(argv[i]);
      options.config[options.configs++] = argv[i];
    }
  }
  if (options.configs == 0) {
    for (int j = 0; j < defaults; j++) options.config[options.configs++] = default_configs[j];
  }
  return options;
}

#define PARSE_OPTIONS(argc, argv, list) parse_options(argc, argv, (int)(sizeof(list) / sizeof(*(list))), list)

// --- time
// ----------------------------------------------------------------------------------------------------------

__attribute__((unused)) static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

// CPUs this process may run on: as it starts, since a runtime that binds threads binds the one that asks too.
static int available_cpus;

__attribute__((constructor)) static void count_cpus(void) {
  cpu_set_t set;
  available_cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

__attribute__((unused)) static int batch_for(double ns_per_run) {
  const double wanted = (double)SAMPLE_FLOOR_NS / (ns_per_run > 1 ? ns_per_run : 1);
  return wanted < 1 ? 1 : wanted > (double)MAX_BATCH ? MAX_BATCH : (int)wanted;
}

// Runs `body` until it is warm, then takes samples: at least one, however slow. `first_ns` is the time of a
// run that the caller has already made and checked (0: none); where that took longer than warming up, it was
// the warm-up.
__attribute__((unused)) static Samples measure(const Options* options, double first_ns, void (*body)(void*),
                                               void* argument) {
  Samples samples;
  if (config_in_use) check_keys(config_in_use);
  memset(&samples, 0, sizeof samples);
  double start = now_ns(), last = start, shortest = first_ns > 0 ? first_ns : 1e18;
  while (first_ns + last - start < options->warm_ms * 1e6 || shortest == 1e18) {
    body(argument);
    const double now = now_ns();
    if (now - last < shortest) shortest = now - last;
    last = now;
  }

  samples.batch = batch_for(shortest);
  start = now_ns();
  for (;;) {
    const double before = now_ns();
    for (int i = 0; i < samples.batch; i++) body(argument);
    const double after = now_ns();
    samples.us[samples.count++] = (after - before) / samples.batch / 1e3;
    const double spent = after - start, budget = options->time_ms * 1e6;
    if (samples.count == MAX_SAMPLES || spent >= 4 * budget) break;
    if (spent >= budget && samples.count >= options->min_samples) break;
  }
  return samples;
}

// --- output
// --------------------------------------------------------------------------------------------------------

// Where the next GOMP_parallel after this program's own comes from, or what clang's code calls instead: the OpenMP
// runtime that is really in use.
__attribute__((unused)) static const char* runtime_path(void) {
  static char path[PATH_MAX];
  Dl_info info;
#ifdef __clang__
  void* symbol = dlsym(RTLD_NEXT, "__kmpc_fork_call");
#else
  void* symbol = dlvsym(RTLD_NEXT, "GOMP_parallel", "GOMP_4.0");
#endif
  if (!symbol || !dladdr(symbol, &info) || !realpath(info.dli_fname, path)) strcpy(path, "unknown");
  return path;
}

// Prints one result. `params` and `checks` are the insides of JSON objects; `ideal` 0 says that there is none.
__attribute__((unused)) static void print_result_of(const char* runtime, const char* unit, const char* name,
                                                    const char* config, const char* params, const Samples* samples,
                                                    double ideal, bool ok, const char* checks) {
  check_keys(config);
  printf(
      "{\"name\": \"%s\", \"config\": \"%s\", \"params\": {%s}, \"unit\": \"%s\", \"batch\": %d, "
      "\"samples\": [",
      name, config, params, unit, samples->batch);
  for (int i = 0; i < samples->count; i++) printf("%s%.4f", i ? ", " : "", samples->us[i]);
  printf("], ");
  if (ideal > 0) printf("\"ideal\": %.4f, ", ideal);
  printf("\"checks\": {\"ok\": %s%s%s}, \"runtime\": \"%s\"}\n", ok ? "true" : "false", *checks ? ", " : "", checks,
         runtime);
  fflush(stdout);
}

// The same for an OpenMP program, in us.
__attribute__((unused)) static void print_result(const char* name, const char* config, const char* params,
                                                 const Samples* samples, double ideal_us, bool ok, const char* checks) {
  print_result_of(runtime_path(), "us", name, config, params, samples, ideal_us, ok, checks);
}

// A string made by printf, for params and checks; lives until the process ends.
__attribute__((format(printf, 1, 2), unused)) static const char* text(const char* format, ...) {
  char* out = NULL;
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&out, format, arguments) < 0) fail("out of memory");
  va_end(arguments);
  return out;
}

#endif
