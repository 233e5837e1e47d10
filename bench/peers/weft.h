// weft. Keys: technique=auto (default), stackless, roc_l, ... (names[] below); pool=default (stealable), priv (a
// private FIFO pool under a basic scheduler); from=unit (default: the benchmark itself is a unit, as it is with the
// other libraries), root.
#ifndef WEFT_BENCH_PEERS_WEFT_H
#define WEFT_BENCH_PEERS_WEFT_H

#include <weft/weft.h>

#define PEER_NAME "weft"

typedef void PeerResult;
#define PEER_END return
typedef weft_unit* Unit;
typedef weft_mutex PeerMutex;
typedef weft_cond PeerCondition;
typedef weft_barrier PeerBarrier;

enum { MAIN_STACK = 1 << 20 };

static struct {
  weft_unit_attr attr;
  bool from_root;
} peer = {WEFT_UNIT_ATTR_INIT, false};

static inline const void* peer_symbol(void) { return (const void*)(uintptr_t)&weft_init; }

static inline weft_technique peer_technique(const char* name) {
  static const char* const names[] = {"auto", "stackless", "full",   "full_l",   "roc",   "roc_l",  "ss",
                                      "ss_l", "sc",        "c_full", "c_full_e", "c_roc", "c_roc_e"};
  for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
    if (strcmp(names[i], name) == 0) return (weft_technique)i;
  }
  fail("weft: no technique '%s'", name);
}

static inline void peer_start(const char* config) {
  setenv("WEFT_NUM_WORKERS", text("%d", config_workers(config)), 1);
  SUCCEED(weft_init());
  peer.attr.technique = peer_technique(config_word(config, "technique", "auto"));
  peer.attr.stack_size = (size_t)config_int(config, "stack", STACK_BYTES);
  peer.from_root = config_is(config, "from", "root");
  if (config_is(config, "pool", "priv")) {
    weft_scheduler* scheduler;
    SUCCEED(weft_pool_create(WEFT_FIFO, WEFT_PRIV, &peer.attr.pool));
    SUCCEED(weft_scheduler_create(WEFT_BASIC, 1, &peer.attr.pool, &scheduler));
    SUCCEED(weft_worker_set_scheduler(weft_worker_self(), scheduler));
  }
}

static inline void peer_main(void (*body)(void*), void* argument) {
  if (peer.from_root) {
    body(argument);
    return;
  }
  const weft_unit_attr attr = {WEFT_FULL, MAIN_STACK, NULL, peer.attr.pool, 0, 0, "benchmark", WEFT_PREEMPT_DEFAULT};
  weft_unit* unit;
  SUCCEED(weft_unit_create(body, argument, &attr, &unit));
  SUCCEED(weft_unit_free(unit));
}

static inline void peer_create(Unit* unit, PeerResult (*entry)(void*), void* argument) {
  const int error = weft_unit_create(entry, argument, &peer.attr, unit);
  if (__builtin_expect(error, 0)) fail("weft_unit_create: %s", weft_error_text(error));
}
static inline void peer_join(Unit* unit) {
  const int error = weft_unit_free(*unit);
  if (__builtin_expect(error, 0)) fail("weft_unit_free: %s", weft_error_text(error));
}

static inline void peer_create_many(Unit* units, size_t count, PeerResult (*entry)(void*), void** arguments) {
  SUCCEED(weft_unit_create_many(count, entry, arguments, &peer.attr, units));
}
static inline void peer_join_many(Unit* units, size_t count) { SUCCEED(weft_unit_free_many(count, units)); }

static inline void peer_yield(void) { (void)weft_yield(); }
static inline void peer_yield_to(Unit* unit) {
  const int error = weft_yield_to(*unit);
  if (__builtin_expect(error, 0)) (void)weft_yield();
}

static inline void peer_mutex_init(PeerMutex* mutex) { (void)weft_mutex_init(mutex, WEFT_MUTEX_PLAIN); }
static inline void peer_mutex_lock(PeerMutex* mutex) { (void)weft_mutex_lock(mutex); }
static inline void peer_mutex_unlock(PeerMutex* mutex) { (void)weft_mutex_unlock(mutex); }
static inline void peer_condition_init(PeerCondition* condition) { (void)weft_cond_init(condition); }
static inline void peer_condition_wait(PeerCondition* condition, PeerMutex* mutex) {
  (void)weft_cond_wait(condition, mutex);
}
static inline void peer_condition_signal(PeerCondition* condition) { (void)weft_cond_signal(condition); }
static inline void peer_barrier_init(PeerBarrier* barrier, int members) {
  (void)weft_barrier_init(barrier, (uint32_t)members);
}
static inline void peer_barrier_wait(PeerBarrier* barrier) { (void)weft_barrier_wait(barrier, NULL); }

#endif
