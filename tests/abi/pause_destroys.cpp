// omp_pause_hard: when the call returns, the threadprivate objects of the threads that it ends have been destroyed, and
// other thread-local ones, as with both stock runtimes. With an argument: a destructor waits for what the caller holds.
#include <initializer_list>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"

namespace {

enum class Destructor { sleeps, asks, opens_regions, waits_for_lock };

int live, late;
Destructor what = Destructor::sleeps;
pthread_mutex_t of_caller = PTHREAD_MUTEX_INITIALIZER;

void open_region() {
  int members = 0;
#pragma omp parallel num_threads(3)
  check_add(&members, 1);
  CHECK_EQ(members, 3);
}

void destroy() {
  usleep(2000);
  if (what == Destructor::asks) CHECK_GE(omp_get_max_threads(), 1);
  if (what == Destructor::opens_regions) open_region();
  if (what == Destructor::waits_for_lock) {
    pthread_mutex_lock(&of_caller);
    pthread_mutex_unlock(&of_caller);
  }
}

struct Object {
  int value = 5;
  Object() { check_add(&live, 1); }
  ~Object() {
    destroy();
    check_add(&live, -1);
  }
};

extern Object object;
#pragma omp threadprivate(object)
Object object;
thread_local Object local;

// A key's value that comes back once: in the second round of its destructors.
pthread_key_t key;

void end_key(void* round) {
  usleep(1000);
  if (round == &live)
    pthread_setspecific(key, &late);
  else
    check_add(&late, -1);
}

// Each object is there once a thread, and all members are at work at the same time.
void use_all(int threads) {
  int sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
  {
    sum += object.value + local.value;
    if (omp_get_thread_num() != 0) {
      if (pthread_getspecific(key) == nullptr) check_add(&late, 1);
      pthread_setspecific(key, &live);
    }
#pragma omp barrier
  }
  CHECK_EQ(sum, 10 * threads);
}

void pause_hard() { CHECK_EQ(omp_pause_resource_all(omp_pause_hard), 0); }

// Only this thread's objects are left.
void check_pause(int threads) {
  use_all(threads);
  CHECK_EQ(check_load(&live), 2 * threads);
  CHECK_EQ(check_load(&late), threads - 1);
  pause_hard();
  CHECK_EQ(check_load(&live), 2);
  CHECK_EQ(check_load(&late), 0);
}

void check_pauses(Destructor kind) {
  what = kind;
  for (const int threads : {2, 4, 16}) check_pause(threads);
  check_pause(omp_get_max_threads());
}

// Nested regions have members of their own, which the pause need not find.
void pause_after_nested() {
  what = Destructor::sleeps;
#pragma omp parallel num_threads(3)
#pragma omp parallel num_threads(3)
  CHECK_EQ(object.value, 5);
  pause_hard();
}

void* pauses(void* unused) {
  for (int again = 0; again < 5; ++again) {
    use_all(4);
    pause_hard();
  }
  return unused;
}

void pause_side_by_side() {
  pthread_t other;
  CHECK_EQ(pthread_create(&other, nullptr, pauses, nullptr), 0);
  pauses(nullptr);
  pthread_join(other, nullptr);
}

void pause_in_child() {
  use_all(4);
  const pid_t child = fork();
  if (child == 0) {
    use_all(4);
    alarm(60);
    pause_hard();
    _exit(check_failures != 0);
  }
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
}

// The stock runtimes wait for ever here.
void pause_with_lock() {
  use_all(4);
  what = Destructor::waits_for_lock;
  timespec before{}, after{};
  clock_gettime(CLOCK_MONOTONIC, &before);
  pthread_mutex_lock(&of_caller);
  pause_hard();
  pthread_mutex_unlock(&of_caller);
  clock_gettime(CLOCK_MONOTONIC, &after);
  CHECK_LE(after.tv_sec - before.tv_sec, 40);
  what = Destructor::sleeps;
  for (int again = 0; again < 10000 && check_load(&live) > 2; ++again) usleep(1000);
  CHECK_EQ(check_load(&live), 2);
}

}  // namespace

int main(int argc, char**) {
  check_runtime();
  pthread_key_create(&key, end_key);
  check_add(&live, local.value - 5);  // this thread has both objects from here on
  if (argc > 1) {
    pause_with_lock();
    return check_finish();
  }
  check_pauses(Destructor::sleeps);
  check_pauses(Destructor::asks);
  if (getenv("CHECK_RUNTIME") != nullptr) {
    check_pauses(Destructor::opens_regions);
    pause_side_by_side();
    pause_in_child();
  }
  pause_after_nested();
  return check_finish();
}
