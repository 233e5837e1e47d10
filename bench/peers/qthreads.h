// Qthreads: a unit's return value is a full/empty word, and joining it is reading that. No condition variables.
#ifndef WEFT_BENCH_PEERS_QTHREADS_H
#define WEFT_BENCH_PEERS_QTHREADS_H

#include <qthread/barrier.h>
#include <qthread/qthread.h>

#define PEER_NAME "qthreads"

typedef aligned_t PeerResult;
#define PEER_END return 0
typedef aligned_t Unit;
typedef aligned_t PeerMutex;
typedef int PeerCondition;
typedef qt_barrier_t* PeerBarrier;

static inline const void* peer_symbol(void) { return (const void*)(uintptr_t)&qthread_initialize; }

static inline void peer_start(const char* config) {
  setenv("QT_STACK_SIZE", text("%d", config_int(config, "stack", STACK_BYTES)), 1);
  SUCCEED(qthread_init((qthread_shepherd_id_t)config_workers(config)));
}

static inline void peer_main(void (*body)(void*), void* argument) { body(argument); }

static inline void peer_create(Unit* unit, PeerResult (*entry)(void*), void* argument) {
  qthread_fork(entry, argument, unit);
}
static inline void peer_join(Unit* unit) { qthread_readFF(NULL, unit); }

static inline void peer_create_many(Unit* units, size_t count, PeerResult (*entry)(void*), void** arguments) {
  (void)units, (void)count, (void)entry, (void)arguments;
  fail("qthreads: no creation of many");
}
static inline void peer_join_many(Unit* units, size_t count) {
  for (size_t i = 0; i < count; i++) peer_join(&units[i]);
}

static inline void peer_yield(void) { qthread_yield(); }
static inline void peer_yield_to(Unit* unit) {
  (void)unit;
  fail("qthreads: no yield_to");
}

static inline void peer_mutex_init(PeerMutex* mutex) { *mutex = 0; }
static inline void peer_mutex_lock(PeerMutex* mutex) { qthread_lock(mutex); }
static inline void peer_mutex_unlock(PeerMutex* mutex) { qthread_unlock(mutex); }
static inline void peer_condition_init(PeerCondition* condition) {
  (void)condition;
  fail("qthreads: no condition variables");
}
static inline void peer_condition_wait(PeerCondition* condition, PeerMutex* mutex) { (void)condition, (void)mutex; }
static inline void peer_condition_signal(PeerCondition* condition) { (void)condition; }
static inline void peer_barrier_init(PeerBarrier* barrier, int members) {
  *barrier = qt_barrier_create((size_t)members, REGION_BARRIER);
}
static inline void peer_barrier_wait(PeerBarrier* barrier) { qt_barrier_enter(*barrier); }

#endif
