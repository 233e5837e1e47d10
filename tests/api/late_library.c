/* Where units are left whose code has come after the first preemptive unit.
 *
 *   late_library library   in the C++ runtime: they are not (bug: they were)
 *   late_library nowhere   in no library at all, as what is compiled at run time: they are */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <weft/weft.h>

enum { UNITS = 4, BYTES = 20 << 20 };

static int fail(const char* what) {
  fprintf(stderr, "late_library: %s\n", what);
  return 1;
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static size_t (*hash_bytes)(const void*, size_t, size_t);
static unsigned char bytes[BYTES];
static atomic_size_t sum;

static void nothing(void* argument) { (void)argument; }

static void hash_for_a_while(void* argument) {
  (void)argument;
  const double end = seconds_now() + 0.1;
  while (seconds_now() < end) atomic_fetch_add(&sum, hash_bytes(bytes, BYTES, 1));
}

static void (*count_down)(uint64_t);

static void count_for_a_while(void* argument) {
  (void)argument;
  const double end = seconds_now() + 0.1;
  while (seconds_now() < end) count_down(10000000);
}

static unsigned long run(void (*function)(void*), unsigned units) {
  weft_unit_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.preemption = WEFT_PREEMPT_SIGNAL_YIELD;
  attr.flags = WEFT_OWN_TLS;
  weft_unit* unit[UNITS];
  const unsigned long before = (unsigned long)weft_preemptions();
  for (unsigned i = 0; i < units; i++)
    if (weft_unit_create(function, NULL, &attr, &unit[i]) != WEFT_OK) return 1000000;
  for (unsigned i = 0; i < units; i++) {
    weft_unit_join(unit[i]);
    weft_unit_free(unit[i]);
  }
  return (unsigned long)weft_preemptions() - before;
}

/* Between two calls a unit is in the program's own code, for nearly no time. */
static int in_library(void) {
  enum { IN_BETWEEN = 10 };
  void* const library = dlopen("libstdc++.so.6", RTLD_NOW);
  if (library == NULL) {
    puts("there is no libstdc++.so.6: nothing to test");
    return 0;
  }
  void* const found = dlsym(library, "_ZSt11_Hash_bytesPKvmm");
  if (found == NULL) return fail("no std::_Hash_bytes()");
  memcpy(&hash_bytes, &found, sizeof found);
  memset(bytes, 1, sizeof bytes);
  const unsigned long left = run(hash_for_a_while, UNITS);
  printf("left %lu times\n", left);
  if (dlsym(RTLD_DEFAULT, "_dl_find_object") == NULL) return 0; /* an older glibc: until the watchdog has looked */
  return left > IN_BETWEEN ? fail("units were left in the C++ runtime") : 0;
}

static int nowhere(void) {
#if defined(__x86_64__)
  static const unsigned char code[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3}; /* dec %rdi; jnz; ret */
  void* const memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return fail("mmap()");
  memcpy(memory, code, sizeof code);
  if (mprotect(memory, 4096, PROT_READ | PROT_EXEC) != 0) {
    puts("no code may be made at run time: nothing to test");
    return 0;
  }
  memcpy(&count_down, &memory, sizeof memory);
  const unsigned long left = run(count_for_a_while, UNITS);
  printf("left %lu times\n", left);
  const unsigned workers = weft_worker_count();
  if (left == 0 && workers < UNITS) return fail("units were not left in code of no library");
#endif
  return 0;
}

int main(int count, char** arguments) {
  if (weft_init() != WEFT_OK) return fail("weft_init()");
  run(nothing, 1); /* from here on there are ticks */
  return count > 1 && strcmp(arguments[1], "library") == 0 ? in_library() : nowhere();
}
