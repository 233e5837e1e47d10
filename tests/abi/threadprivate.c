/* threadprivate: a copy for each thread, copyin, and persistence between regions with the same number of threads. */
#include <errno.h>
#include <pthread.h>

#include "check.h"

enum { ROOM = 256 };

static int counter = 7;
static double table[30] = {1, 2, 3};
#pragma omp threadprivate(counter, table)

static __thread int plain_thread_local = 3;

static void initial_values(void) {
#pragma omp parallel num_threads(6)
  {
    const int expected = omp_get_thread_num() == 0 ? counter : 7;
    CHECK_EQ(counter, expected);
    CHECK(table[2] == 3);
  }
}

/* Section 2.19.2 (4.5: 2.15.2): values persist between two consecutive active outermost regions with as many threads,
 * dyn-var false, same affinity. */
static void persistence(int members) {
  const int* address[ROOM];
#pragma omp parallel num_threads(members)
  {
    counter = 100 + omp_get_thread_num();
    table[4] = omp_get_thread_num() * 0.5;
    plain_thread_local = -omp_get_thread_num();
    address[omp_get_thread_num()] = &counter;
  }
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel num_threads(members)
    {
      CHECK_EQ(counter, 100 + omp_get_thread_num() + round);
      CHECK(table[4] == omp_get_thread_num() * 0.5);
      CHECK_EQ(plain_thread_local, -omp_get_thread_num());
      CHECK(address[omp_get_thread_num()] == &counter);
      ++counter;
    }
  }
}

/* Persistence with barriers, tasks and locks between: whatever the member is suspended in. */
static void over_suspension(int members) {
#pragma omp parallel num_threads(members)
  {
    const int me = omp_get_thread_num();
    const int* const mine = &counter;
    counter = me;
    for (int i = 0; i < 30; ++i) {
#pragma omp barrier
      CHECK(&counter == mine);
      CHECK_EQ(counter, me + i);
      ++counter;
#pragma omp critical(weft_threadprivate)
      CHECK(&counter == mine);
#pragma omp task
      check_work(100);
#pragma omp taskwait
      CHECK(&counter == mine);
    }
    CHECK_EQ(counter, me + 30);
  }
#pragma omp parallel num_threads(members)
  CHECK_EQ(counter, omp_get_thread_num() + 30);
}

static void distinct_copies(int members) {
  const int* address[ROOM];
#pragma omp parallel num_threads(members)
  {
    address[omp_get_thread_num()] = &counter;
#pragma omp barrier
    for (int i = 0; i < members; ++i) CHECK((address[i] == &counter) == (i == omp_get_thread_num()));
  }
}

static void copyin(int members) {
  for (int round = 0; round < 5; ++round) {
    counter = 50 + round;
    for (int i = 0; i < 30; ++i) table[i] = round * 100 + i;
#pragma omp parallel num_threads(members) copyin(counter, table)
    {
      CHECK_EQ(counter, 50 + round);
      for (int i = 0; i < 30; ++i) CHECK(table[i] == round * 100 + i);
#pragma omp barrier
      counter += omp_get_thread_num();
      table[7] = -1;
    }
    CHECK_EQ(counter, 50 + round);
    CHECK(table[7] == -1);
#pragma omp parallel num_threads(members)
    CHECK_EQ(counter, 50 + round + omp_get_thread_num());
  }
}

static void copyprivate(int members) {
#pragma omp parallel num_threads(members)
  {
    counter = -1;
#pragma omp barrier
#pragma omp single copyprivate(counter)
    counter = 77;
    CHECK_EQ(counter, 77);
  }
}

static void copyin_on_loops(int members) {
  int sum = 0;
  counter = 9;
#pragma omp parallel for num_threads(members) copyin(counter) reduction(+ : sum) schedule(dynamic)
  for (int i = 0; i < 100; ++i) sum += counter;
  CHECK_EQ(sum, 900);
}

/* errno and pthread keys belong to the member as well. */
static void other_thread_data(int members) {
  pthread_key_t key;
  CHECK_EQ(pthread_key_create(&key, NULL), 0);
#pragma omp parallel num_threads(members)
  {
    const long me = omp_get_thread_num() + 1;
    pthread_setspecific(key, (void*)me);
    for (int i = 0; i < 10; ++i) {
      errno = (int)me;
#pragma omp barrier
      CHECK_EQ(errno, me);
      CHECK_EQ((long)pthread_getspecific(key), me);
    }
  }
  pthread_key_delete(key);
}

static void body(void) {
  const int members = omp_get_max_threads();
  initial_values();
  distinct_copies(members);
  persistence(members);
  persistence(4);
  persistence(members);
  over_suspension(members);
  copyin(members);
  copyin(3);
  copyprivate(members);
  copyin_on_loops(members);
  other_thread_data(members);
}

/* Persistence is promised for outermost regions only. */
CHECK_MAIN_FLAT(body)
