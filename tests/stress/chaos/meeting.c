#include "meeting.h"

#include "kinds.h"
#include "random.h"
#include "settings.h"
#include "wait.h"
#include "where.h"

static int allowed(enum Meet how, int roots) {
  if (how == by_spinning) return roots <= 2 && !class_is_off(of_spin);
  return !class_is_off(how == by_yielding ? of_yield : of_kernel);
}

int prepare_meeting(struct Meeting* meeting, int round, int roots) {
  memset(meeting, 0, sizeof *meeting);
  pthread_mutex_init(&meeting->mutex, NULL);
  pthread_cond_init(&meeting->condition, NULL);
  meeting->how = (enum Meet)below(mix(seed_of_run, 50), round, meets);
  const int wanted = settings.meetings >= 0 ? settings.meetings : below(mix(seed_of_run, 51), round, 2);
  return wanted && allowed(meeting->how, roots);
}

static void attend_by_condition(struct Meeting* meeting) {
  pthread_mutex_lock(&meeting->mutex);
  meeting->count++;
  pthread_cond_broadcast(&meeting->condition);
  while (meeting->count < meeting->expected) pthread_cond_wait(&meeting->condition, &meeting->mutex);
  pthread_mutex_unlock(&meeting->mutex);
}

void attend(struct Meeting* meeting) {
  static const enum Way way[] = {[by_yielding] = yielding, [by_sleeping] = sleeping, [by_spinning] = pausing};
  if (meeting->how == by_condition) {
    attend_by_condition(meeting);
  } else {
    atomic_fetch_add(&meeting->arrived, 1);
    wait_for(&meeting->arrived, meeting->expected, way[meeting->how]);
  }
}
