// Libraries that are loaded while the runtime starts: whoever loads one has the locks of the dynamic linker.
#include "check.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>

static void* open_first_region(void* argument) {
  sleep_seconds(0.1);
  atomic_int* members = argument;
#pragma omp parallel num_threads(4)
  atomic_fetch_add(members, 1);
  return NULL;
}

// Helper: the first region of the process, while the constructor of a library is about to open one.
static void start_while_loading(void) {
  atomic_int members;
  atomic_init(&members, 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, open_first_region, &members) == 0, "pthread_create");
  void* library = dlopen(CONSTRUCTOR_LIBRARY, RTLD_NOW);
  CHECK(library != NULL, "dlopen: %s", dlerror());
  pthread_join(thread, NULL);
  CHECK_EQUAL(members, 4, "members of the thread's region");
  const atomic_int* of_constructor = dlsym(library, "members_of_constructor");
  CHECK(of_constructor != NULL, "dlsym: %s", dlerror());
  CHECK_EQUAL(*of_constructor, 4, "members of the constructor's region");
}

// (Bug: what starts the runtime waited for the linker's lock, and the constructor for the runtime.)
static void regions_in_constructors(void) {
  const struct Run run = run_again("start_while_loading", (struct RunOptions){.deadline_seconds = 20});
  expect_exit(run.status, 0, "start_while_loading");
}

int main(int count, char** arguments) {
  const struct Case cases[] = {
      {"regions_in_constructors", regions_in_constructors, 0},
      {"start_while_loading", start_while_loading, 1},
      {NULL, NULL, 0},
  };
  return run_cases(count, arguments, cases);
}
