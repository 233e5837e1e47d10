/* One region again and again, whose members do nothing for a long while, and then meet at a barrier, wait for each
 * other in their own way, or differ much in what they do: however a runtime has come to hand them out, each runs once.
 */
#include "check.h"

#include <pthread.h>
#include <sched.h>

enum { MOST = 67, MOST_ASLEEP = 8 };
enum deed { NOTHING, BARRIER, OWN_BARRIER, CHAIN, CHAIN_ASLEEP, UNEVEN, INNER, INNER_UNTIL };

struct region {
  enum deed deed;
  int members;
  int runs[MOST];
  int arrived;
  int last; /* of the chain */
  int inner;
  pthread_mutex_t lock;
  pthread_cond_t changed;
};

__attribute__((noinline)) static void run(struct region* region) {
#pragma omp parallel num_threads(region->members)
  {
    const int me = omp_get_thread_num();
    check_add(&region->runs[me], 1);
    switch (region->deed) {
      case NOTHING:
        break;
      case BARRIER:
        check_add(&region->arrived, 1);
#pragma omp barrier
        CHECK_EQ(check_load(&region->arrived), region->members);
        break;
      case OWN_BARRIER:
        check_add(&region->arrived, 1);
        while (check_load(&region->arrived) != region->members) sched_yield();
        break;
      case CHAIN: /* from the last one to the first */
        while (check_load(&region->last) != me + 1) sched_yield();
        check_store(&region->last, me);
        break;
      case CHAIN_ASLEEP:              /* the last few of them, the others do nothing */
        if (check_sanitized()) break; /* there nobody sees to members that sleep in the kernel */
        if (me < region->members - MOST_ASLEEP) break;
        pthread_mutex_lock(&region->lock);
        while (region->last != me + 1) pthread_cond_wait(&region->changed, &region->lock);
        region->last = me;
        pthread_cond_broadcast(&region->changed);
        pthread_mutex_unlock(&region->lock);
        break;
      case UNEVEN:
        check_work(me % 13 == 0 ? 200000 : 10);
        break;
      case INNER:
#pragma omp parallel num_threads(3)
        check_add(&region->inner, 1);
        break;
      case INNER_UNTIL: /* the last one has been there */
        if (check_sanitized()) break;
        if (me == region->members - 1) check_store(&region->last, 0);
        while (me == 1 && check_load(&region->last) != 0) {
#pragma omp parallel num_threads(2)
          check_add(&region->inner, 1);
          usleep(100);
        }
        break;
    }
  }
}

static void runs_once_each(enum deed deed, int members) {
  struct region region = {.deed = deed,
                          .members = members,
                          .last = members,
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .changed = PTHREAD_COND_INITIALIZER};
  run(&region);
  for (int i = 0; i < members; ++i) CHECK_EQ(region.runs[i], 1);
  if (deed == INNER) CHECK_EQ(region.inner, 3 * members);
}

static void sleep_in_turn(void) {
  for (int round = 0; round < 20; ++round) runs_once_each(NOTHING, MOST_ASLEEP);
  runs_once_each(CHAIN_ASLEEP, MOST_ASLEEP);
}

static void body(void) {
  static const int sizes[] = {3, 8, 31, MOST};
  omp_set_dynamic(0);
  omp_set_max_active_levels(omp_get_supported_active_levels());
  for (unsigned size = 0; size < sizeof sizes / sizeof *sizes; ++size) {
    for (enum deed deed = BARRIER; deed <= INNER_UNTIL; ++deed) {
      for (int round = 0; round < CHECK_SCALE(40); ++round) runs_once_each(NOTHING, sizes[size]);
      runs_once_each(deed, sizes[size]);
      runs_once_each(deed, sizes[size]);
    }
  }
#pragma omp teams num_teams(1)
  sleep_in_turn();
}

CHECK_MAIN_FLAT(body)
