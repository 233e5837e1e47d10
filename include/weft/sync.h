/* weft: what units and threads of the program (roots) wait on. Part of the native C API; see weft/weft.h for its
 * conventions.
 *
 * Objects are plain structs that the program keeps wherever it likes: initialised by their WEFT_..._INIT or by
 * weft_..._init(), not copied or moved while in use. None but a barrier owns memory, so an object that nobody uses may
 * simply be forgotten; weft_..._destroy() checks that nobody does. Whoever finds a mutex free, a latch open, and so on,
 * may free the object's memory at once, even if the call that made it so has not returned.
 *
 * Who waits gives its worker to others, and comes back on whichever worker is free; a root on its own KLT. Nothing
 * polls. Any caller may call any function here, but one that would have to wait in a stackless unit returns
 * WEFT_ERR_STACKLESS instead, and has changed nothing. Every function returns WEFT_ERR_ARGUMENT for NULL where an
 * object is expected; that is not repeated below.
 *
 * Time limits are relative, in nanoseconds. 0 never waits; WEFT_FOREVER is no limit. The first wait with a limit
 * starts a KLT of weft's that sleeps until the next limit; if the system has no thread for it, that wait returns
 * WEFT_ERR_LIMIT instead, and has changed nothing. That is not repeated below either.
 *
 * Sources: "Table 2" is that of [C]; ABT_... is what Argobots has; POSIX is IEEE Std 1003.1-2017, chapter 2.9. */
#ifndef WEFT_SYNC_H
#define WEFT_SYNC_H

#include <stddef.h>
#include <stdint.h>

#include "weft/weft.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_FOREVER UINT64_MAX

/* ------------------------------------------------------------------ mutex */

/* Flags; 0: a plain one. Table 2; ABT_mutex. */
enum weft_mutex_kind {
  WEFT_MUTEX_PLAIN = 0,
  WEFT_MUTEX_RECURSIVE = 1, /* who holds it may lock it again, and unlocks it as often */
  WEFT_MUTEX_FAIR = 2       /* unlocking hands it to whoever has waited longest; else whoever comes first takes it,
                             * which is faster, but a waiter may starve */
};

typedef struct weft_mutex {
  uint32_t word;
  uint32_t kind;
  void* owner;
  uint32_t depth;
} weft_mutex;
/* clang-format off */
#define WEFT_MUTEX_INIT {0, WEFT_MUTEX_PLAIN, NULL, 0}
#define WEFT_MUTEX_INIT_KIND(kind) {0, (kind), NULL, 0}
/* clang-format on */

/* Initialises it, free. ARGUMENT: unknown flags. */
WEFT_API int weft_mutex_init(weft_mutex* mutex, unsigned kind);
/* BUSY: it is held. */
WEFT_API int weft_mutex_destroy(weft_mutex* mutex);
/* Waits until it is the caller's. A holder that locks a mutex again that is not recursive waits for ever. STACKLESS.
 * pthread_mutex_lock of POSIX. */
WEFT_API int weft_mutex_lock(weft_mutex* mutex);
/* BUSY: another holds it (or the caller, if it is not recursive). */
WEFT_API int weft_mutex_try_lock(weft_mutex* mutex);
/* TIMEOUT: it could not be had in time. STACKLESS. */
WEFT_API int weft_mutex_timed_lock(weft_mutex* mutex, uint64_t nanoseconds);
/* OWNER: nobody holds it; or it is recursive, and the caller does not. That another holds a mutex that is not
 * recursive is not found: it is then unlocked. */
WEFT_API int weft_mutex_unlock(weft_mutex* mutex);

/* ------------------------------------------------------------------ condition variable */

typedef struct weft_cond {
  uint32_t word;
} weft_cond;
#define WEFT_COND_INIT \
  { 0 }

WEFT_API int weft_cond_init(weft_cond* cond);
/* BUSY: somebody waits. */
WEFT_API int weft_cond_destroy(weft_cond* cond);
/* Releases the mutex (a recursive one as often as it is held), waits for a signal, and locks it again. Wakes only for
 * a signal, but others may run before the caller has the mutex back: test in a loop. Any mutex, always the
 * same one while somebody waits. OWNER: the caller does not hold the mutex, as far as that is known (see
 * weft_mutex_unlock). STACKLESS. Table 2; pthread_cond_wait of POSIX. */
WEFT_API int weft_cond_wait(weft_cond* cond, weft_mutex* mutex);
/* TIMEOUT: no signal in time; the mutex is held again all the same, which may take longer. */
WEFT_API int weft_cond_timed_wait(weft_cond* cond, weft_mutex* mutex, uint64_t nanoseconds);
/* Wakes the one that has waited longest, if any; or all. What they wait for was changed under the mutex, which may
 * have been released since. */
WEFT_API int weft_cond_signal(weft_cond* cond);
WEFT_API int weft_cond_broadcast(weft_cond* cond);

/* ------------------------------------------------------------------ barrier */

typedef struct weft_barrier {
  uint32_t arrived;
  uint32_t round;
  uint32_t parties;
  uint32_t on_their_way;
  void* shards;
} weft_barrier;
/* clang-format off */
#define WEFT_BARRIER_INIT(parties) {0, 0, (parties), 0, NULL}
/* clang-format on */

/* For so many parties, round after round. ARGUMENT: 0. */
WEFT_API int weft_barrier_init(weft_barrier* barrier, uint32_t parties);
/* Frees what it has allocated when its parties came from several workers; it can be used again. BUSY: some have
 * arrived, and wait for the others. Whoever has passed may call it; but timed waits must have returned. */
WEFT_API int weft_barrier_destroy(weft_barrier* barrier);
/* Waits until all parties have arrived. *last (unless NULL) is 1 for exactly one of them, and 0 for the others.
 * STACKLESS: others have to arrive yet; the caller has not. Table 2; ABT_barrier, pthread_barrier_wait of POSIX. */
WEFT_API int weft_barrier_wait(weft_barrier* barrier, int* last);
/* TIMEOUT: some did not arrive in time; the caller has not arrived either. */
WEFT_API int weft_barrier_timed_wait(weft_barrier* barrier, uint64_t nanoseconds, int* last);

/* ------------------------------------------------------------------ readers-writer lock */

typedef struct weft_rwlock {
  uint32_t word;
} weft_rwlock;
#define WEFT_RWLOCK_INIT \
  { 0 }

/* Any number of readers, or one writer. First come, first served: once somebody waits, a further reader queues up
 * behind. So neither side starves, and a reader must not lock it again: a writer may have come between. ABT_rwlock. */
WEFT_API int weft_rwlock_init(weft_rwlock* lock);
/* BUSY: it is held. */
WEFT_API int weft_rwlock_destroy(weft_rwlock* lock);
/* STACKLESS. */
WEFT_API int weft_rwlock_read_lock(weft_rwlock* lock);
WEFT_API int weft_rwlock_write_lock(weft_rwlock* lock);
/* BUSY: it would have to wait. */
WEFT_API int weft_rwlock_try_read_lock(weft_rwlock* lock);
WEFT_API int weft_rwlock_try_write_lock(weft_rwlock* lock);
/* TIMEOUT, STACKLESS. */
WEFT_API int weft_rwlock_timed_read_lock(weft_rwlock* lock, uint64_t nanoseconds);
WEFT_API int weft_rwlock_timed_write_lock(weft_rwlock* lock, uint64_t nanoseconds);
/* Of a reader or of the writer. OWNER: nobody holds it. */
WEFT_API int weft_rwlock_unlock(weft_rwlock* lock);

/* ------------------------------------------------------------------ semaphore */

typedef struct weft_semaphore {
  uint32_t word;
} weft_semaphore;
/* clang-format off */
#define WEFT_SEMAPHORE_INIT(permits) {(permits)}
/* clang-format on */
#define WEFT_SEMAPHORE_MAX 0x7fffffffU

/* ARGUMENT: more than WEFT_SEMAPHORE_MAX permits. E. W. Dijkstra, EWD 123 (1965); sem_init of POSIX. */
WEFT_API int weft_semaphore_init(weft_semaphore* semaphore, uint32_t permits);
/* BUSY: somebody waits. */
WEFT_API int weft_semaphore_destroy(weft_semaphore* semaphore);
/* Takes a permit. STACKLESS. */
WEFT_API int weft_semaphore_acquire(weft_semaphore* semaphore);
/* EMPTY: there is none. */
WEFT_API int weft_semaphore_try_acquire(weft_semaphore* semaphore);
/* TIMEOUT, STACKLESS. */
WEFT_API int weft_semaphore_timed_acquire(weft_semaphore* semaphore, uint64_t nanoseconds);
/* Adds permits, and wakes as many waiters. LIMIT: there would be more than WEFT_SEMAPHORE_MAX; none is added. */
WEFT_API int weft_semaphore_release(weft_semaphore* semaphore, uint32_t permits);
/* How many there are at this moment. */
WEFT_API int weft_semaphore_count(const weft_semaphore* semaphore, uint32_t* permits);

/* ------------------------------------------------------------------ latch */

typedef struct weft_latch {
  uint32_t word;
} weft_latch;
/* clang-format off */
#define WEFT_LATCH_INIT(count) {(count)}
/* clang-format on */
#define WEFT_LATCH_MAX 0x7fffffffU

/* Opens, once and for good, when it has been counted down to 0. ARGUMENT: more than WEFT_LATCH_MAX. As std::latch of
 * C++20. */
WEFT_API int weft_latch_init(weft_latch* latch, uint32_t count);
/* BUSY: somebody waits. */
WEFT_API int weft_latch_destroy(weft_latch* latch);
/* STATE: it is less than `by`; nothing is changed. */
WEFT_API int weft_latch_count_down(weft_latch* latch, uint32_t by);
/* Waits until it is open. STACKLESS. */
WEFT_API int weft_latch_wait(weft_latch* latch);
/* TIMEOUT, STACKLESS. */
WEFT_API int weft_latch_timed_wait(weft_latch* latch, uint64_t nanoseconds);
/* weft_latch_count_down() and weft_latch_wait() in one: whoever opens it may free it though the caller has not
 * returned. STATE: as there. STACKLESS: others have to count down yet; the caller has not. */
WEFT_API int weft_latch_arrive_and_wait(weft_latch* latch, uint32_t by);
/* EMPTY: it is not open yet. */
WEFT_API int weft_latch_test(weft_latch* latch);

/* ------------------------------------------------------------------ flag */

typedef struct weft_flag {
  uint32_t word;
} weft_flag;
#define WEFT_FLAG_INIT \
  { 0 }

/* Set or clear. Whoever waits goes on when it is set, even if it is cleared right after. */
WEFT_API int weft_flag_init(weft_flag* flag);
/* BUSY: somebody waits. */
WEFT_API int weft_flag_destroy(weft_flag* flag);
WEFT_API int weft_flag_set(weft_flag* flag);
WEFT_API int weft_flag_clear(weft_flag* flag);
/* STACKLESS. */
WEFT_API int weft_flag_wait(weft_flag* flag);
/* TIMEOUT, STACKLESS. */
WEFT_API int weft_flag_timed_wait(weft_flag* flag, uint64_t nanoseconds);
/* EMPTY: it is clear. */
WEFT_API int weft_flag_test(weft_flag* flag);

/* ------------------------------------------------------------------ eventual */

typedef struct weft_eventual {
  uint32_t ready;
  uint32_t taken;
  void* buffer;
  size_t capacity;
  void* value;
  size_t size;
} weft_eventual;
/* clang-format off */
#define WEFT_EVENTUAL_INIT {0, 0, NULL, 0, NULL, 0}
#define WEFT_EVENTUAL_INIT_BUFFER(buffer, capacity) {0, 0, (buffer), (capacity), NULL, 0}
/* clang-format on */

/* One value, set once, for any number of waiters. With a buffer of `capacity` bytes the value is copied there; with
 * NULL the value is the pointer that is set. The buffer is the caller's. Table 2; ABT_eventual. */
WEFT_API int weft_eventual_init(weft_eventual* eventual, void* buffer, size_t capacity);
/* BUSY: somebody waits. */
WEFT_API int weft_eventual_destroy(weft_eventual* eventual);
/* STATE: it has been set already. ARGUMENT: the buffer is smaller than `size`. */
WEFT_API int weft_eventual_set(weft_eventual* eventual, const void* value, size_t size);
/* Waits until it is set. *value (unless NULL) is then the buffer, or the pointer that was set; *size (unless
 * NULL) the size that was set. STACKLESS. */
WEFT_API int weft_eventual_wait(weft_eventual* eventual, void** value, size_t* size);
/* TIMEOUT, STACKLESS. */
WEFT_API int weft_eventual_timed_wait(weft_eventual* eventual, uint64_t nanoseconds, void** value, size_t* size);
/* EMPTY: it is not set. */
WEFT_API int weft_eventual_test(weft_eventual* eventual, void** value, size_t* size);
/* Unset again. Nobody may be setting it, or reading its value. */
WEFT_API int weft_eventual_reset(weft_eventual* eventual);

/* ------------------------------------------------------------------ future */

/* Called once, by the last setter in its weft_future_set(), before anybody who waits goes on. */
typedef void (*weft_future_callback)(void** values, uint32_t count, void* argument);

typedef struct weft_future {
  uint32_t ready;
  uint32_t count;
  uint32_t taken;
  uint32_t filled;
  void** values;
  weft_future_callback callback;
  void* argument;
} weft_future;
/* clang-format off */
#define WEFT_FUTURE_INIT(count, values, callback, argument) {0, (count), 0, 0, (values), (callback), (argument)}
/* clang-format on */

/* `count` values, one from each setter; when all are there, whoever waits goes on. `values` has room for so many, or is
 * NULL if only their number matters; it is the caller's. `callback` may be NULL. ARGUMENT: count 0. Table 2;
 * ABT_future. */
WEFT_API int weft_future_init(weft_future* future, uint32_t count, void** values, weft_future_callback callback,
                              void* argument);
/* BUSY: somebody waits. */
WEFT_API int weft_future_destroy(weft_future* future);
/* Puts the value into the next free place. STATE: all have been set. */
WEFT_API int weft_future_set(weft_future* future, void* value);
/* Waits until all are set. STACKLESS. */
WEFT_API int weft_future_wait(weft_future* future);
/* TIMEOUT, STACKLESS. */
WEFT_API int weft_future_timed_wait(weft_future* future, uint64_t nanoseconds);
/* EMPTY: some are missing. */
WEFT_API int weft_future_test(weft_future* future);
/* None is set any more. Nobody may be setting one, or reading them. */
WEFT_API int weft_future_reset(weft_future* future);

/* ------------------------------------------------------------------ select */

typedef enum weft_event_kind {
  WEFT_EVENT_FLAG,     /* is set */
  WEFT_EVENT_EVENTUAL, /* is set */
  WEFT_EVENT_FUTURE,   /* all its values are set */
  WEFT_EVENT_LATCH,    /* is open */
  WEFT_EVENT_SEMAPHORE /* has a permit, which the caller acquires if that is the event chosen */
} weft_event_kind;

typedef struct weft_event {
  weft_event_kind kind;
  void* object;
} weft_event;

/* Waits until one of the events has happened: *which is its index; of several, the first. TIMEOUT: none in
 * time. ARGUMENT: no event, an object NULL or an unknown kind. STACKLESS. MEMORY: for more than 8 events. As the
 * alternative command of C. A. R. Hoare, "Communicating Sequential Processes" (1978), but in order. */
WEFT_API int weft_select(size_t count, const weft_event* events, uint64_t nanoseconds, size_t* which);

#ifdef __cplusplus
}
#endif

#endif
