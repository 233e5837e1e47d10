// What synchronisation costs. Keys: kind=
//   mutex      `units` units (1) lock and unlock one mutex; per lock
//   condition  two units hand a turn to and fro, with a mutex and one condition variable each; per hand-over
//   barrier    `units` units (64) meet at a barrier; per meeting
#include "native.h"

enum { LOCKS = 2000, TURNS = 2000, MEETINGS = 100, MAX_UNITS = 4096 };

static int units = 1;
static long entered, expected;
static PeerMutex mutex;
static PeerCondition condition[2];
static PeerBarrier barrier;

static int turn;

static PeerResult lock_often(void* argument) {
  (void)argument;
  for (int i = 0; i < LOCKS; i++) {
    peer_mutex_lock(&mutex);
    entered++;
    peer_mutex_unlock(&mutex);
  }
  PEER_END;
}

static PeerResult take_turns(void* argument) {
  const int mine = *(const int*)argument;
  peer_mutex_lock(&mutex);
  for (int i = 0; i < TURNS; i++) {
    while (turn != mine) peer_condition_wait(&condition[mine], &mutex);
    turn = !mine;
    entered++;
    peer_condition_signal(&condition[!mine]);
  }
  peer_mutex_unlock(&mutex);
  PEER_END;
}

static PeerResult meet_often(void* argument) {
  (void)argument;
  for (int i = 0; i < MEETINGS; i++) peer_barrier_wait(&barrier);
  __atomic_fetch_add(&entered, MEETINGS, __ATOMIC_RELAXED);
  PEER_END;
}

static PeerResult (*entry)(void*) = lock_often;

static void run_units(void* argument) {
  static int number[MAX_UNITS];
  static Unit unit[MAX_UNITS];
  (void)argument;
  turn = 0;
  for (int i = 0; i < units; i++) {
    number[i] = i;
    peer_create(&unit[i], entry, &number[i]);
  }
  for (int i = 0; i < units; i++) peer_join(&unit[i]);
}

// How many locks, hand-overs or meetings there are in a run.
static double prepare(const char* config) {
  const char* kind = config_word(config, "kind", "mutex");
  peer_mutex_init(&mutex);
  if (strcmp(kind, "mutex") == 0) {
    units = config_int(config, "units", 1);
    expected = (long)units * LOCKS;
    return (double)expected;
  }
  if (strcmp(kind, "condition") == 0) {
    units = 2;
    entry = take_turns;
    for (int i = 0; i < 2; i++) peer_condition_init(&condition[i]);
    expected = 2L * TURNS;
    return (double)expected;
  }
  if (strcmp(kind, "barrier") != 0) fail("kind: mutex, condition, barrier");
  units = config_int(config, "units", 64);
  entry = meet_often;
  peer_barrier_init(&barrier, units);
  expected = (long)units * MEETINGS;
  return MEETINGS;
}

static void run(void* argument) {
  const NativeRun* native = (const NativeRun*)argument;
  const double operations = prepare(native->config);
  if (units < 1 || units > MAX_UNITS) fail("units: 1 to %d", MAX_UNITS);
  run_units(NULL);
  const bool ok = entered == expected;
  const Samples samples = measure(native->options, 0, run_units, NULL);
  print_native("sync", native->config, operations, &samples, ok);
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"kind=mutex",     "kind=mutex,units=64,workers=2",
                                        "kind=condition", "kind=condition,workers=2",
                                        "kind=barrier",   "kind=barrier,workers=2"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  return run_native(&options, run);
}
