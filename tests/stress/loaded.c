// The runtime as a library that comes and goes: this program has no OpenMP of its own; it loads the runtime,
// uses or does not use it, and unloads it. The argument after the case is the path of the runtime.
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static const char* runtime;

static void* load(void) {
  void* const library = dlopen(runtime, RTLD_NOW | RTLD_LOCAL);
  CHECK(library != NULL, "dlopen: %s", dlerror());
  return library;
}

static void* find(void* library, const char* name) {
  void* const address = dlsym(library, name);
  CHECK(address != NULL, "dlsym: %s", dlerror());
  return address;
}

typedef void Parallel(void (*function)(void*), void* data, unsigned members, unsigned flags);
typedef void Barrier(void);

static Barrier* barrier;
static atomic_int present;

static void member(void* data) {
  (void)data;
  atomic_fetch_add(&present, 1);
  barrier();
  CHECK_EQUAL(atomic_load(&present) % 8, 0, "members modulo 8 after a barrier");
  barrier();
}

static void use(void* library) {
  Parallel* const parallel = (Parallel*)(uintptr_t)find(library, "GOMP_parallel");
  barrier = (Barrier*)(uintptr_t)find(library, "GOMP_barrier");
  for (int i = 0; i < 20; i++) {
    parallel(member, NULL, 8, 0);
  }
  CHECK_EQUAL(atomic_exchange(&present, 0), 160, "members of 20 regions");
}

static void loaded_but_unused(void) {
  const int before = threads_of_process();
  void* const library = load();
  CHECK_EQUAL(threads_of_process(), before, "kernel threads after dlopen");
  CHECK(cpu_seconds_when_idle(0.5, 0.005) < 0.005, "a loaded runtime uses CPU time");
  CHECK_EQUAL(threads_of_process(), before, "kernel threads half a second after dlopen");
  dlclose(library);
}

static void loaded_and_used(void) {
  void* const library = load();
  use(library);
  use(library);
}

static void closed_after_use(void) {
  for (int i = 0; i < 5; i++) {
    void* const library = load();
    use(library);
    dlclose(library);
    sleep_seconds(0.02);
  }
}

static void* use_in_thread(void* library) {
  use(library);
  return NULL;
}

static void run_in_pthread(void* library) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, use_in_thread, library) == 0, "pthread_create failed");
  pthread_join(thread, NULL);
}

static void loaded_late_in_other_threads(void) {
  void* const library = load();
  run_in_pthread(library);
  run_in_pthread(library);
  use(library);
  run_in_pthread(library);
}

// The thread that used the runtime ends after the program has closed the library.
static pthread_barrier_t closed;

static void* use_and_outlive(void* library) {
  use(library);
  pthread_barrier_wait(&closed);
  pthread_barrier_wait(&closed);
  return NULL;
}

static void thread_outlives_library(void) {
  void* const library = load();
  pthread_t thread;
  pthread_barrier_init(&closed, NULL, 2);
  CHECK(pthread_create(&thread, NULL, use_and_outlive, library) == 0, "pthread_create failed");
  pthread_barrier_wait(&closed);
  dlclose(library);
  pthread_barrier_wait(&closed);
  pthread_join(thread, NULL);
}

// In the child the library is there, and is used for the first time or again.
static void used_in_forked_child(void) {
  void* const library = load();
  for (int i = 0; i < 2; i++) {
    const pid_t child = fork();
    CHECK(child >= 0, "fork: %s", strerror(errno));
    if (child == 0) {
      end_with_parent();
      use(library);
      exit(7);
    }
    expect_exit(wait_for_child(child, 60, "child with a loaded runtime"), 7, "child with a loaded runtime");
    use(library);
  }
}

int main(int count, char** arguments) {
  CHECK(count == 3, "usage: loaded CASE RUNTIME");
  runtime = arguments[2];
  const struct Case cases[] = {
      {"loaded_but_unused", loaded_but_unused, 0},
      {"loaded_and_used", loaded_and_used, 0},
      {"closed_after_use", closed_after_use, 0},
      {"loaded_late_in_other_threads", loaded_late_in_other_threads, 0},
      {"thread_outlives_library", thread_outlives_library, 0},
      {"used_in_forked_child", used_in_forked_child, 0},
      {NULL, NULL, 0},
  };
  return run_cases(2, arguments, cases);
}
