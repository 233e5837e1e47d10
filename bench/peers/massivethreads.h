// MassiveThreads. Keys: first=child (default, as the library's), parent.
#ifndef WEFT_BENCH_PEERS_MASSIVETHREADS_H
#define WEFT_BENCH_PEERS_MASSIVETHREADS_H

#include <myth/myth.h>

#define PEER_NAME "massivethreads"

typedef void* PeerResult;
#define PEER_END return NULL
typedef myth_thread_t Unit;
typedef myth_mutex_t PeerMutex;
typedef myth_cond_t PeerCondition;
typedef myth_barrier_t PeerBarrier;

static myth_thread_attr_t peer_attr;

static inline const void* peer_symbol(void) { return (const void*)(uintptr_t)&myth_create; }

static inline void peer_start(const char* config) {
  myth_globalattr_t attr;
  myth_globalattr_init(&attr);
  attr.n_workers = config_workers(config);
  attr.stacksize = (size_t)config_int(config, "stack", STACK_BYTES);
  if (myth_init_ex(&attr) < 0) fail("myth_init_ex failed");
  peer_attr.child_first = !config_is(config, "first", "parent");  // all else 0: the defaults
}

static inline void peer_main(void (*body)(void*), void* argument) { body(argument); }

static inline void peer_create(Unit* unit, PeerResult (*entry)(void*), void* argument) {
  myth_create_ex(unit, &peer_attr, entry, argument);
}
static inline void peer_join(Unit* unit) { myth_join(*unit, NULL); }

static inline void peer_create_many(Unit* units, size_t count, PeerResult (*entry)(void*), void** arguments) {
  (void)units, (void)count, (void)entry, (void)arguments;
  fail("massivethreads: no creation of many");
}
static inline void peer_join_many(Unit* units, size_t count) {
  for (size_t i = 0; i < count; i++) myth_join(units[i], NULL);
}

static inline void peer_yield(void) { myth_yield(); }
static inline void peer_yield_to(Unit* unit) {
  (void)unit;
  fail("massivethreads: no yield_to");
}

static inline void peer_mutex_init(PeerMutex* mutex) { myth_mutex_init(mutex, NULL); }
static inline void peer_mutex_lock(PeerMutex* mutex) { myth_mutex_lock(mutex); }
static inline void peer_mutex_unlock(PeerMutex* mutex) { myth_mutex_unlock(mutex); }
static inline void peer_condition_init(PeerCondition* condition) { myth_cond_init(condition, NULL); }
static inline void peer_condition_wait(PeerCondition* condition, PeerMutex* mutex) { myth_cond_wait(condition, mutex); }
static inline void peer_condition_signal(PeerCondition* condition) { myth_cond_signal(condition); }
static inline void peer_barrier_init(PeerBarrier* barrier, int members) {
  myth_barrier_init(barrier, NULL, (unsigned)members);
}
static inline void peer_barrier_wait(PeerBarrier* barrier) { myth_barrier_wait(barrier); }

#endif
