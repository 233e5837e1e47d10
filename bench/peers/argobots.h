// Argobots. Keys: unit=ult (default), tasklet; pool=priv (default), priv_lifo, shared (one FIFO for all),
// steal (randws pools and scheduler); first=parent (default), child (ABT_thread_create_to).
#ifndef WEFT_BENCH_PEERS_ARGOBOTS_H
#define WEFT_BENCH_PEERS_ARGOBOTS_H

#include <abt.h>

#define PEER_NAME "argobots"

typedef void PeerResult;
#define PEER_END return
typedef ABT_thread Unit;
typedef ABT_mutex PeerMutex;
typedef ABT_cond PeerCondition;
typedef ABT_barrier PeerBarrier;

enum { CREATE_ULT, CREATE_CHILD_FIRST, CREATE_TASKLET };

static struct {
  int create;
  bool one_pool;
  ABT_pool pools[MAX_WORKERS];
} peer;

static inline const void* peer_symbol(void) { return (const void*)(uintptr_t)&ABT_init; }

static inline void peer_start_workers(int workers, const char* pool) {
  const bool steal = strcmp(pool, "steal") == 0, lifo = strcmp(pool, "priv_lifo") == 0;
  const bool private_pool = lifo || strcmp(pool, "priv") == 0;
  if (!steal && !private_pool && strcmp(pool, "shared") != 0) fail("argobots: no pool '%s'", pool);
  if (private_pool && workers > 1) fail("argobots: a private pool is for one worker");
  const ABT_pool_kind kind = steal || lifo ? ABT_POOL_RANDWS : ABT_POOL_FIFO;
  const ABT_pool_access access = private_pool ? ABT_POOL_ACCESS_PRIV : ABT_POOL_ACCESS_MPMC;
  const ABT_sched_predef scheduler = steal ? ABT_SCHED_RANDWS : ABT_SCHED_BASIC;
  const int pools = steal ? workers : 1;
  for (int i = 0; i < pools; i++) SUCCEED(ABT_pool_create_basic(kind, access, ABT_TRUE, &peer.pools[i]));
  peer.one_pool = pools == 1;
  for (int i = 0; i < workers; i++) {
    ABT_pool order[MAX_WORKERS];
    for (int j = 0; j < pools; j++) order[j] = peer.pools[(i + j) % pools];
    ABT_xstream stream;
    if (i > 0) {
      SUCCEED(ABT_xstream_create_basic(scheduler, pools, order, ABT_SCHED_CONFIG_NULL, &stream));
    } else {
      SUCCEED(ABT_xstream_self(&stream));
      SUCCEED(ABT_xstream_set_main_sched_basic(stream, scheduler, pools, order));
    }
  }
}

static inline void peer_start(const char* config) {
  const char* unit = config_word(config, "unit", "ult");
  peer.create = strcmp(unit, "tasklet") == 0          ? CREATE_TASKLET
                : config_is(config, "first", "child") ? CREATE_CHILD_FIRST
                                                      : CREATE_ULT;
  setenv("ABT_THREAD_STACKSIZE", text("%d", config_int(config, "stack", STACK_BYTES)), 1);
  SUCCEED(ABT_init(0, NULL));
  peer_start_workers(config_workers(config), config_word(config, "pool", "priv"));
}

static inline void peer_main(void (*body)(void*), void* argument) { body(argument); }

static inline ABT_pool peer_pool(void) {
  if (peer.one_pool) return peer.pools[0];
  int rank;
  ABT_self_get_xstream_rank(&rank);
  return peer.pools[rank];
}

// Without an attribute: Argobots' quickest way to a stack of the default size.
static inline void peer_create(Unit* unit, PeerResult (*entry)(void*), void* argument) {
  if (peer.create == CREATE_ULT) {
    ABT_thread_create(peer_pool(), entry, argument, ABT_THREAD_ATTR_NULL, unit);
  } else if (peer.create == CREATE_CHILD_FIRST) {
    ABT_thread_create_to(peer_pool(), entry, argument, ABT_THREAD_ATTR_NULL, unit);
  } else {
    ABT_task_create(peer_pool(), entry, argument, unit);
  }
}

static inline void peer_join(Unit* unit) { ABT_thread_free(unit); }

static inline void peer_create_many(Unit* units, size_t count, PeerResult (*entry)(void*), void** arguments) {
  static size_t room;
  static ABT_pool* pools;
  static void (**entries)(void*);
  if (room < count) {
    room = count;
    pools = (ABT_pool*)allocate(count * sizeof *pools);
    entries = (void (**)(void*))allocate(count * sizeof *entries);
    for (size_t i = 0; i < count; i++) pools[i] = peer_pool();
  }
  for (size_t i = 0; i < count; i++) entries[i] = entry;
  ABT_thread_create_many((int)count, pools, entries, arguments, ABT_THREAD_ATTR_NULL, units);
}

static inline void peer_join_many(Unit* units, size_t count) { ABT_thread_free_many((int)count, units); }

static inline void peer_yield(void) { ABT_self_yield(); }
static inline void peer_yield_to(Unit* unit) { SUCCEED(ABT_self_yield_to(*unit)); }

static inline void peer_mutex_init(PeerMutex* mutex) { SUCCEED(ABT_mutex_create(mutex)); }
static inline void peer_mutex_lock(PeerMutex* mutex) { ABT_mutex_lock(*mutex); }
static inline void peer_mutex_unlock(PeerMutex* mutex) { ABT_mutex_unlock(*mutex); }
static inline void peer_condition_init(PeerCondition* condition) { SUCCEED(ABT_cond_create(condition)); }
static inline void peer_condition_wait(PeerCondition* condition, PeerMutex* mutex) {
  ABT_cond_wait(*condition, *mutex);
}
static inline void peer_condition_signal(PeerCondition* condition) { ABT_cond_signal(*condition); }
static inline void peer_barrier_init(PeerBarrier* barrier, int members) {
  SUCCEED(ABT_barrier_create((uint32_t)members, barrier));
}
static inline void peer_barrier_wait(PeerBarrier* barrier) { ABT_barrier_wait(*barrier); }

#endif
