// The system's threads. workers=1 binds them all to one CPU.
#ifndef WEFT_BENCH_PEERS_PTHREADS_H
#define WEFT_BENCH_PEERS_PTHREADS_H

#include <pthread.h>

#define PEER_NAME "pthreads"

typedef void* PeerResult;
#define PEER_END return NULL
typedef pthread_t Unit;
typedef pthread_mutex_t PeerMutex;
typedef pthread_cond_t PeerCondition;
typedef pthread_barrier_t PeerBarrier;

static pthread_attr_t peer_attr;

static inline const void* peer_symbol(void) { return (const void*)(uintptr_t)&pthread_create; }

static inline void peer_start(const char* config) {
  SUCCEED(pthread_attr_init(&peer_attr));
  SUCCEED(pthread_attr_setstacksize(&peer_attr, (size_t)config_int(config, "stack", STACK_BYTES)));
  cpu_set_t all, few;
  CPU_ZERO(&few);
  SUCCEED(sched_getaffinity(0, sizeof all, &all));
  for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&few) < config_workers(config); cpu++) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &few);
  }
  SUCCEED(sched_setaffinity(0, sizeof few, &few));
}

static inline void peer_main(void (*body)(void*), void* argument) { body(argument); }

static inline void peer_create(Unit* unit, PeerResult (*entry)(void*), void* argument) {
  SUCCEED(pthread_create(unit, &peer_attr, entry, argument));
}
static inline void peer_join(Unit* unit) { pthread_join(*unit, NULL); }

static inline void peer_create_many(Unit* units, size_t count, PeerResult (*entry)(void*), void** arguments) {
  (void)units, (void)count, (void)entry, (void)arguments;
  fail("pthreads: no creation of many");
}
static inline void peer_join_many(Unit* units, size_t count) {
  for (size_t i = 0; i < count; i++) pthread_join(units[i], NULL);
}

static inline void peer_yield(void) { sched_yield(); }
static inline void peer_yield_to(Unit* unit) {
  (void)unit;
  fail("pthreads: no yield_to");
}

static inline void peer_mutex_init(PeerMutex* mutex) { SUCCEED(pthread_mutex_init(mutex, NULL)); }
static inline void peer_mutex_lock(PeerMutex* mutex) { pthread_mutex_lock(mutex); }
static inline void peer_mutex_unlock(PeerMutex* mutex) { pthread_mutex_unlock(mutex); }
static inline void peer_condition_init(PeerCondition* condition) { SUCCEED(pthread_cond_init(condition, NULL)); }
static inline void peer_condition_wait(PeerCondition* condition, PeerMutex* mutex) {
  pthread_cond_wait(condition, mutex);
}
static inline void peer_condition_signal(PeerCondition* condition) { pthread_cond_signal(condition); }
static inline void peer_barrier_init(PeerBarrier* barrier, int members) {
  SUCCEED(pthread_barrier_init(barrier, NULL, (unsigned)members));
}
static inline void peer_barrier_wait(PeerBarrier* barrier) { pthread_barrier_wait(barrier); }

#endif
