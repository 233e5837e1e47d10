/* weft: threads that start as function calls. The native C API.
 *
 * A unit is a function and its argument. It costs a descriptor until a worker starts it, runs on a borrowed
 * stack like a called function, and owns that stack only from the moment it has to wait. Link with -lweft.
 *
 * Words. A KLT is a kernel-level thread. A worker runs units one after another, on a KLT. A root is a thread of the
 * program that has called weft. A scheduling point is where a unit waits, yields or ends; a unit that waits, yields or
 * is preempted deviates. It is preempted when its slice of time is over, by a timer's signal, a tick.
 *
 * Conventions. Functions that can fail return 0 (WEFT_OK) or one of enum weft_error, which the comments name without
 * WEFT_ERR_; what they hand back is written only on success. "Any caller" means units and roots alike. A thread becomes
 * a root with its first call; without memory for that the process ends with a line (weft_init() returns MEMORY
 * instead). It does so, too, without memory for the stack of a unit that gets it only when it starts. Where
 * nothing is said of callers, any may call it, and it does not wait. NULL where an object is expected, or where
 * something shall be written: ARGUMENT, which is not repeated below. Times are in nanoseconds, sizes in bytes. Sources:
 * [D] is S. Iwasaki's dissertation, [C] Castello et al., "Analysis of Threading Libraries for High Performance
 * Computing", [S] S. Shiina et al., "Lightweight Preemptive User-Level Threads" (PPoPP 2021). Synchronisation objects
 * stand in weft/sync.h, which this file includes. */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_API __attribute__((visibility("default")))
#define WEFT_NORETURN __attribute__((noreturn)) /* (Bug: [[noreturn]], which C++98 does not know.) */

/* ------------------------------------------------------------------ errors */

enum weft_error {
  WEFT_OK = 0,
  WEFT_ERR_ARGUMENT,      /* an argument makes no sense */
  WEFT_ERR_MEMORY,        /* no memory */
  WEFT_ERR_STATE,         /* the object is not in a state in which this can be done */
  WEFT_ERR_STACKLESS,     /* a stackless unit cannot wait */
  WEFT_ERR_SCHEDULER,     /* the technique needs a stateless scheduler */
  WEFT_ERR_ACCESS,        /* the pool may not be used from this worker */
  WEFT_ERR_TIMEOUT,       /* the time is over */
  WEFT_ERR_BUSY,          /* somebody else holds it */
  WEFT_ERR_OWNER,         /* the caller does not hold it */
  WEFT_ERR_EMPTY,         /* there is nothing */
  WEFT_ERR_LIMIT,         /* a limit of weft or of the system is reached */
  WEFT_ERR_UNINITIALISED, /* weft_init() has not been called, or weft_finalize() as often */
  WEFT_ERR_UNSUPPORTED,   /* this version of weft cannot do it */
  WEFT_ERR_SYSTEM = 4096  /* from here on: what a system call has answered, WEFT_ERR_SYSTEM + errno (weft/io.h) */
};

/* The name ("WEFT_ERR_MEMORY"; "EBADF" for WEFT_ERR_SYSTEM + EBADF) and one sentence for a person. Any value: unknown
 * ones are said to be so. Any caller, any time. */
WEFT_API const char* weft_error_name(int error);
WEFT_API const char* weft_error_text(int error);
/* The errno value of an error from WEFT_ERR_SYSTEM on; 0 for all others. */
WEFT_API int weft_error_errno(int error);

/* ------------------------------------------------------------------ runtime */

typedef struct weft_unit weft_unit;
typedef struct weft_pool weft_pool;
typedef struct weft_scheduler weft_scheduler;
typedef struct weft_worker weft_worker;

/* Starts weft, and makes the caller a root; counted: each weft_init() wants its weft_finalize(). Workers
 * start when there is work for them: WEFT_NUM_WORKERS of them, the caller's included (default: the CPUs of
 * the affinity mask, cut by the cgroup's quota, of which docs/workers.md says when they are counted again); as many as
 * can be had. In a unit, which cannot take it back (weft_finalize), it only counts. Units begin with the modes of
 * floating-point arithmetic (rounding, denormals) that the thread has which starts weft, child-first ones with their
 * creator's, unless that is a unit and one of the two has WEFT_OWN_TLS; what one changes is its own, but of
 * stackless ones that run in a row the next may find it. MEMORY.
 *
 * In a child of fork(2) there is whoever forked, as a root, with the values of its keys and what it holds; all other
 * units and roots are gone, and workers start anew. Where a unit's function, or that of a scheduler or pool, has forked
 * and comes to its end in the child, the process ends with status 0, after the destructors of its values: what called
 * it is the parent's. Objects that others were using at that moment (pools, mutexes) stay as they were left, perhaps
 * locked for ever: make new ones there.
 *
 * The environment is read once, by the first call that starts weft, this one or another, or by weft_worker_count(). */
WEFT_API int weft_init(void);

/* Ends what the matching weft_init() began. With the last one, units that nobody joined may be left behind;
 * the KLTs stay asleep for a next weft_init(). A root, not a unit: WEFT_ERR_STATE. More calls than of
 * weft_init(): WEFT_ERR_UNINITIALISED. */
WEFT_API int weft_finalize(void);

/* "MAJOR.MINOR.PATCH" of the library. */
WEFT_API const char* weft_version(void);

/* ------------------------------------------------------------------ units */

/* How a unit is started and finished: [D] Tables 3.1-3.2. */
typedef enum weft_technique {
  WEFT_AUTO = 0,  /* chosen per entry function, from what its units have done */
  WEFT_STACKLESS, /* a call on the scheduler's stack (or its joiner's, if as large); may not wait */
  WEFT_FULL,      /* [D] 3.3.1: stack at creation, two full switches */
  WEFT_FULL_L,    /* [D] 3.3.3: the same, stack bound at start */
  WEFT_ROC,       /* [D] 3.4.1: stack at creation, returns unless it has deviated */
  WEFT_ROC_L,     /* [D] 3.4.3: the same, stack bound at start */
  WEFT_SS,        /* [D] 3.4.2: called on a stack of its own, nothing saved; a deviation enters the scheduler anew */
  WEFT_SS_L,      /* [D] 3.4.3: the same, stack bound at start */
  WEFT_SC,        /* [D] 3.4.4: called on the scheduler's stack; a deviation makes a new scheduler on another */
  WEFT_C_FULL,    /* [D] 3.3.2: child-first: the creator waits in the worker's deque while the child runs */
  WEFT_C_FULL_E,  /* [D] 3.5.1: the same, stack given back when the child ends */
  WEFT_C_ROC,     /* [D] 3.5.2: child-first, return on completion */
  WEFT_C_ROC_E    /* [D] 3.5.2: the same, stack given back when the child ends */
} weft_technique;

typedef enum weft_state {
  WEFT_CREATED, /* not started yet */
  WEFT_READY,   /* in a pool */
  WEFT_RUNNING,
  WEFT_SUSPENDED, /* waits: for weft_resume(), an object, a time, the end of another unit */
  WEFT_DONE
} weft_state;

enum weft_unit_flags {
  WEFT_OWN_TLS = 1,  /* thread-local storage of its own: __thread, errno, pthread_getspecific. As on a thread of a
                      * thread pool, the unit may find there what a former unit has left; no destructors of keys have
                      * run. Without a thread or memory for it a line says so, once, and it shares that of others */
  WEFT_MAY_BLOCK = 2 /* for WEFT_STACKLESS: refuse it at creation instead of at its first wait */
};

/* How a unit is made to give way that does not by itself: S. Shiina et al., "Lightweight Preemptive User-Level Threads"
 * (PPoPP 2021), section 3. All kinds may be mixed. See "Preemption" below; docs/preemption.md says which to choose. */
typedef enum weft_preemption {
  WEFT_PREEMPT_DEFAULT = 0,  /* what its pool says (weft_pool_set_preemption), or else WEFT_PREEMPT, or else NONE */
  WEFT_PREEMPT_SIGNAL_YIELD, /* 3.1.1: a signal handler yields in its name, where the code can be left so */
  WEFT_PREEMPT_KLT_SWITCH,   /* 3.1.2: it keeps its KLT, and the worker goes on on another; implies WEFT_OWN_TLS */
  WEFT_PREEMPT_NONE          /* it runs until it waits, yields or ends */
} weft_preemption;

typedef struct weft_unit_attr {
  weft_technique technique;   /* WEFT_AUTO */
  size_t stack_size;          /* of the stack, 1 TiB at most, rounded up; 0: WEFT_STACKSIZE, or the system's default for
                               * threads. Not for WEFT_SC: ARGUMENT */
  void* stack;                /* the caller's own memory of stack_size bytes, 4 KiB at least; NULL: weft's, with a
                               * guard page */
  weft_pool* pool;            /* NULL: the first of the calling worker's scheduler; or none, and a worker's own
                               * deque, where that has none or the creator is a unit of none of its pools */
  int priority;               /* in a priority pool; higher runs first */
  unsigned flags;             /* enum weft_unit_flags */
  const char* name;           /* not copied; for messages and debuggers */
  weft_preemption preemption; /* WEFT_PREEMPT_DEFAULT; what can be preempted has a stack, of 16 KiB at least: with a
                               * smaller stack_size a kind is ARGUMENT, and the default NONE if it is that of `stack` */
  weft_worker* worker;        /* it goes there: into the first pool of that one's scheduler; or, with weft's default,
                               * behind what waits there, and another that has nothing may take it. NULL: no matter */
} weft_unit_attr;
#define WEFT_UNIT_ATTR_INIT \
  { WEFT_AUTO, 0, NULL, NULL, 0, 0, NULL, WEFT_PREEMPT_DEFAULT, NULL }

/* Creates a unit that will run entry(argument) and puts it into its pool; child-first techniques run it at once
 * instead, and the caller waits in its own pool, as one that has yielded if either of the two has WEFT_OWN_TLS. (A
 * root, a stackless unit, and in that last case also a unit under a scheduler of the user's own wait for the child's
 * end, or its first wait.) `attr` NULL: WEFT_UNIT_ATTR_INIT. `unit` NULL: nobody will join it, and it frees itself. A
 * C++ exception that leaves `entry` calls std::terminate(), as with std::thread (weft.hpp hands it on). Any caller.
 * Errors: ARGUMENT (also a pool and a worker, or a child-first technique and a worker), MEMORY, SCHEDULER (SS, SS-L, SC
 * for a worker whose scheduler is not stateless), STACKLESS (with WEFT_MAY_BLOCK, or preemptive), STATE (the worker has
 * ended), ACCESS (the worker's first pool is PRIV, and not the caller's). [D] 3.2, Fig. 3.2. */
WEFT_API int weft_unit_create(void (*entry)(void*), void* argument, const weft_unit_attr* attr, weft_unit** unit);

/* The same, `count` times at once, with arguments[0..count), or NULL for all where `arguments` is NULL; all or none.
 * Parent-first techniques only, and no `stack`: ARGUMENT. MEMORY at once for more than 4,294,967,295. */
WEFT_API int weft_unit_create_many(size_t count, void (*entry)(void*), void* const* arguments,
                                   const weft_unit_attr* attr, weft_unit** units);

/* Waits until the unit is done. It stays valid: free or revive it. Any caller but the unit itself
 * (ARGUMENT), and but a stackless unit (STACKLESS). Any number may join the same one. A unit in a PRIV pool is
 * joined on the worker that created it (ACCESS). One that has not begun and would run here next may be called by the
 * caller, which is WEFT_SUSPENDED meanwhile as if it had left. */
WEFT_API int weft_unit_join(weft_unit* unit);
/* One after the other, but that the caller may wait for the last one first; the first error ends it: those before are
 * done. ARGUMENT: one is NULL. */
WEFT_API int weft_unit_join_many(size_t count, weft_unit* const* units);
/* TIMEOUT: it is not done in time, and can be joined, freed or detached as before. Limits of time as in weft/sync.h: 0
 * never waits, WEFT_FOREVER is no limit. A root that runs a unit meanwhile comes back when that waits, yields or
 * ends. Whoever frees the unit must know, as with weft_unit_join(), that no other is about to join it; a unit that
 * waits already does no harm, but a root is about to join it until it comes back. */
WEFT_API int weft_unit_timed_join(weft_unit* unit, uint64_t nanoseconds);

/* Waits until the unit is done, and frees it. Errors: of weft_unit_join(), without which nobody frees it. */
WEFT_API int weft_unit_free(weft_unit* unit);
/* The same, and frees them; those before an error are freed. */
WEFT_API int weft_unit_free_many(size_t count, weft_unit* const* units);

/* Nobody will join the unit: it frees itself when it is done. The handle must not be used afterwards. STATE: somebody
 * joins it already. */
WEFT_API int weft_unit_detach(weft_unit* unit);

/* Runs a unit that is done once more, with its descriptor, pool and attributes (but `worker`): join-revive ([C] Table
 * 2). STATE: it is not done. */
WEFT_API int weft_unit_revive(weft_unit* unit, void (*entry)(void*), void* argument);

/* The calling unit; NULL in a root, and in a scheduler's own code. */
WEFT_API weft_unit* weft_unit_self(void);

/* Ends the calling unit; what lies on its stack is not unwound. A root or a stackless unit: ends the process with a
 * line; a root that was a unit when it forked (weft_init), without one. pthread_exit() in a unit, which would end the
 * KLT that the worker runs on, ends the process with a line as well. */
WEFT_NORETURN WEFT_API void weft_unit_exit(void);

/* Asks the unit to end: if it has not started it never will; else it ends at its next weft_yield() or
 * weft_cancel_point(). Joins and frees as usual. */
WEFT_API int weft_unit_cancel(weft_unit* unit);
/* Ends the calling unit if somebody has asked it to. Any caller. */
WEFT_API void weft_cancel_point(void);

/* Lets others run: all that wait in its pool come before it, in whichever order (by priority, its equals and those
 * above). A stackless unit: STACKLESS. A root runs some units itself, and comes back. */
WEFT_API int weft_yield(void);

/* The same, and this unit runs next on the calling worker. That is sure only for one that waits to run in a private
 * pool which is the only one of the worker's scheduler. One without a pool is taken out of the worker's own deque as
 * long as no other worker has been there lately; and one time in 64 another that waits there comes before it, for the
 * sake of fairness. Else STATE: nothing has happened; call weft_yield(). Units only: STATE; a stackless one: STACKLESS.
 * [C] Table 2 ("yield to"). */
WEFT_API int weft_yield_to(weft_unit* unit);

/* Waits for somebody's weft_resume(). A resume that came before is not lost: the next suspend returns at once.
 * Units only: STATE. Not stackless ones: STACKLESS. */
WEFT_API int weft_suspend(void);
/* Makes a unit ready that has called weft_suspend(). One that has not, or waits for something else, does not wait in
 * its next one. STATE: it has been resumed already and has not suspended since, or is done. */
WEFT_API int weft_resume(weft_unit* unit);

/* weft_resume() and weft_yield() at once: if the unit was suspended, it runs next on the calling worker where that can
 * be. STATE as with weft_resume(): then the caller has not yielded. A stackless caller: STACKLESS. */
WEFT_API int weft_resume_to(weft_unit* unit);

/* Sleeps without keeping the worker. Any caller but a stackless unit. The first sleep starts a KLT, as the first wait
 * with a limit does (weft/sync.h). LIMIT: no thread can be had for it. */
WEFT_API int weft_sleep(uint64_t nanoseconds);

/* From its next scheduling point on the unit belongs to `pool`; NULL: to none, but to the worker where it becomes
 * ready. One that waits in a pool stays there until it has run. [C] Table 2; ABT_thread_migrate_to_pool. */
WEFT_API int weft_unit_migrate(weft_unit* unit, weft_pool* pool);

/* What is known about a unit. Any caller; of a unit that runs, it is a picture of the past. NULL is done, without a
 * name, and of WEFT_AUTO. */
WEFT_API weft_state weft_unit_state(const weft_unit* unit);
WEFT_API const char* weft_unit_name(const weft_unit* unit); /* "" if it has none */
/* Not copied: it must live as long as the unit, or until it has another. */
WEFT_API int weft_unit_set_name(weft_unit* unit, const char* name);
WEFT_API weft_technique
weft_unit_technique(const weft_unit* unit); /* WEFT_AUTO until it starts: then what was chosen */

typedef struct weft_unit_statistics {
  uint64_t starts;       /* 1, and one more for each revive; counted up to 65,535 */
  uint64_t deviations;   /* how often it has left the worker: yields and waits; counted modulo 2^32 */
  uint64_t worker_moves; /* how often it went on on another worker; counted up to 65,535 */
} weft_unit_statistics;
WEFT_API int weft_unit_get_statistics(const weft_unit* unit, weft_unit_statistics* statistics);

/* What WEFT_AUTO chooses now for units of this entry function, and why: of so many units, so many deviated. */
typedef struct weft_choice {
  weft_technique technique;
  uint64_t units;
  uint64_t deviated;
} weft_choice;
WEFT_API int weft_auto_choice(void (*entry)(void*), weft_choice* choice);
/* "RoC-L" and so on. */
WEFT_API const char* weft_technique_name(weft_technique technique);

/* Unit-local keys: a value per unit (and per root), with a destructor that runs, when the unit ends, for each value
 * that is not NULL; it may do whatever the unit may, also set values, which are destroyed in turn, up to three times
 * more. As pthread_key_create of POSIX; ABT_key. What a thread of the program sets in the last round of the destructors
 * of its pthread keys (PTHREAD_DESTRUCTOR_ITERATIONS) may be forgotten, and not destroyed. */
typedef struct weft_key {
  uint32_t index;
  uint32_t generation;
} weft_key;
#define WEFT_KEYS_MAX 256
/* `destructor` may be NULL; a C++ exception that leaves it calls std::terminate(). LIMIT: there are WEFT_KEYS_MAX keys
 * already. */
WEFT_API int weft_key_create(void (*destructor)(void*), weft_key* key);
/* Its values are forgotten, and not destroyed. ARGUMENT: there is no such key (any more). */
WEFT_API int weft_key_delete(weft_key key);
/* The caller's value. ARGUMENT: there is no such key; STATE: the caller is neither a unit nor a root. MEMORY: for the
 * first values of a unit. */
WEFT_API int weft_key_set(weft_key key, void* value);
/* NULL if it has never set one. Errors but MEMORY as above. */
WEFT_API int weft_key_get(weft_key key, void** value);

/* ------------------------------------------------------------------ pools */

/* Who may use a pool: one or several producers (push), one or several consumers (pop), by worker. [D] 3.2. */
typedef enum weft_access {
  WEFT_PRIV, /* one worker does both */
  WEFT_SPSC,
  WEFT_MPSC,
  WEFT_SPMC,
  WEFT_MPMC
} weft_access;

/* Which comes first of units that have been created, or have waited and are ready. One that yields, or is preempted,
 * goes behind all others (by priority, behind its equals). */
typedef enum weft_order {
  WEFT_FIFO,
  WEFT_LIFO,
  WEFT_PRIORITY, /* highest weft_unit_attr.priority first, equal ones in the order in which they came; without memory
                  * for a further priority, the nearest one */
  WEFT_DEQUE /* owner: newest first; others steal the oldest (Chase-Lev). PRIV, SPMC and MPMC only. Of SPMC the owner
              * is the worker, or thread outside of weft, that pushes, always the same one: not a unit that goes from
              * worker to worker. Of MPMC it is whoever pops, unless it looks beyond its first pool as WEFT_RANDOM_WS
              * does, or waits for a unit */
} weft_order;

/* A pool of the user's own. pop returns NULL if there is nothing. All are called by whatever workers use the pool, in
 * the midst of putting a unit there or of looking for one: they must not wait, nor yield. Where a worker's scheduler
 * calls them they are no unit, and answered as a stackless one is, as is the code of a scheduler of the user's own.
 * push gets whatever becomes ready, units that yield or are preempted among them: let these go behind the others.
 * push is also called by threads of weft's that are no workers: they bring back units that have slept, whose time limit
 * is over, or whose input and output is done. weft_worker_self() is NULL there; functions of pools may be called, but
 * one that needs a worker, to create a unit say, makes such a thread a root for as long as the process lives. */
typedef struct weft_pool_functions {
  void (*push)(void* data, weft_unit* unit);
  weft_unit* (*pop)(void* data);
  size_t (*size)(void* data);
  void (*free)(void* data); /* may be NULL */
} weft_pool_functions;

/* A pool. ARGUMENT: an access that the order does not know. MEMORY. Units are put into a pool without fail; where it
 * lacks memory to grow, they may come out of turn. */
WEFT_API int weft_pool_create(weft_order order, weft_access access, weft_pool** pool);
/* ARGUMENT: push, pop or size is NULL. MEMORY. */
WEFT_API int weft_pool_create_custom(const weft_pool_functions* functions, void* data, weft_pool** pool);
/* No scheduler may have it any more. STATE: it holds units. */
WEFT_API int weft_pool_free(weft_pool* pool);

/* For schedulers, and for pools within pools. Units that are pushed must be ready and in no pool, which nobody checks.
 * A worker that sleeps and has the pool is woken. */
WEFT_API int weft_pool_push(weft_pool* pool, weft_unit* unit);
WEFT_API int weft_pool_push_many(weft_pool* pool, size_t count, weft_unit* const* units);
/* EMPTY: there is nothing. */
WEFT_API int weft_pool_pop(weft_pool* pool, weft_unit** unit);
/* At most `most` units; *count is 0 and EMPTY if there is nothing. */
WEFT_API int weft_pool_pop_many(weft_pool* pool, size_t most, weft_unit** units, size_t* count);
/* Waits for a unit, in the kernel: for a scheduler that has nothing else to do. TIMEOUT. */
WEFT_API int weft_pool_pop_wait(weft_pool* pool, uint64_t nanoseconds, weft_unit** unit);
/* How many units are in it at this moment; 0 for NULL. */
WEFT_API size_t weft_pool_size(const weft_pool* pool);

/* ------------------------------------------------------------------ schedulers and workers */

typedef enum weft_scheduler_kind {
  WEFT_BASIC,       /* its pools in turn, the first one first; looks on for ever */
  WEFT_BASIC_WAIT,  /* the same; sleeps when there is nothing */
  WEFT_BY_PRIORITY, /* always the first pool that has something */
  WEFT_RANDOM_WS    /* its first pool; else steals from the others, in random order, but near ones first if they are the
                     * first pools of workers that are bound to CPUs (weft_worker_bind), as the caller is, and hwloc is
                     * installed; sleeps when there is nothing */
} weft_scheduler_kind;

/* A scheduler over some pools; a pool may stand in several. ARGUMENT: no pool, one is NULL, or an unknown kind. MEMORY.
 * [D] 3.2, Fig. 3.2. */
WEFT_API int weft_scheduler_create(weft_scheduler_kind kind, size_t count, weft_pool* const* pools,
                                   weft_scheduler** scheduler);
/* One of the user's own: run(scheduler, data) loops over weft_pool_pop() and weft_unit_run() until
 * weft_scheduler_stops() says so. What it must keep to:
 *   - It runs what it pops, or pushes it into a pool: a unit that it forgets is never done.
 *   - It returns when it is told to stop, and not before, and asks between any two units: a worker whose root has what
 *     it waits for goes on only then. It may be called again.
 *   - Several workers may have it: then run() is called on each of them, at the same time, with the same data.
 *   - It may create and resume units, but not wait: it is no unit, and answered as a stackless one is. One that was
 *     pushed (weft_scheduler_push) is a unit.
 *   - It may sleep in the kernel, in weft_pool_pop_wait() with a limit: the end of that is when it sees that it stops.
 * The unit that runs may leave at any time, for another pool or worker: look at it no more after weft_unit_run().
 * The creator of a child-first unit is in its pool while the child runs, so it is popped like any other.
 * `stateless`: it keeps nothing on its stack from one unit to the next, so that it may be entered anew; only such run
 * SS, SS-L and SC. `count` may be 0, where run() knows its pools itself; units without a pool then go to other workers,
 * or, where no other takes them, are run by weft_scheduler_stops(). ARGUMENT: `run` is NULL, or one of the pools.
 * MEMORY. */
WEFT_API int weft_scheduler_create_custom(void (*run)(weft_scheduler* scheduler, void* data), void* data, int stateless,
                                          size_t count, weft_pool* const* pools, weft_scheduler** scheduler);
/* STATE: a worker has it, or it lies in a pool. */
WEFT_API int weft_scheduler_free(weft_scheduler* scheduler);
/* Whether the scheduler, which runs on the calling worker, has to return; not an error. 1 for NULL. */
WEFT_API int weft_scheduler_stops(weft_scheduler* scheduler);
/* ARGUMENT: it has no pool with that number. */
WEFT_API int weft_scheduler_pool(weft_scheduler* scheduler, size_t index, weft_pool** pool);
/* Runs a unit that was popped, until it waits, yields or ends. For schedulers; whoever else calls it runs the unit as
 * they do, which is not looked at. STATE: it runs, waits, or is done, and so was not popped. */
WEFT_API int weft_unit_run(weft_unit* unit);
/* Puts the scheduler itself into `pool`, as a unit: it runs its pools until they are empty. It may be pushed several
 * times, and into a pool of its own: each time is a unit. MEMORY. [D] 3.2 (stackable). */
WEFT_API int weft_scheduler_push(weft_pool* pool, weft_scheduler* scheduler);

/* A further worker, on a KLT of its own, with that scheduler. It lives until weft_worker_join(), which waits until its
 * scheduler's pools are empty, in the kernel: the caller's worker runs nothing meanwhile. The handle is no longer valid
 * once a call of weft_worker_join() has returned OK: the next worker may have the same. LIMIT: no thread can be had
 * for it. STATE, of weft_worker_join(): it was not made so, has ended, is the caller's, or another joins it. A unit
 * without a pool that a unit of the worker's has woken up goes to a worker without a scheduler of the program's; where
 * weft has no thread of its own for that (WEFT_NUM_WORKERS=1, or all are switched off) it stays, and cannot join. */
WEFT_API int weft_worker_create(weft_scheduler* scheduler, weft_worker** worker);
WEFT_API int weft_worker_join(weft_worker* worker);
/* The calling worker; a root is carried by one of its own. NULL in a function of a pool of the user's own that is
 * called by a thread without a worker (weft_pool_functions). */
WEFT_API weft_worker* weft_worker_self(void);
/* Its number, from 0; of NULL UINT_MAX. */
WEFT_API unsigned weft_worker_index(const weft_worker* worker);
/* How many workers weft runs units on by itself (WEFT_NUM_WORKERS); more, once there are more CPUs. Before weft has
 * started the environment is read (weft_init), and the kernel asked where that says nothing, which takes some 15 us. */
WEFT_API unsigned weft_worker_count(void);
/* From now on so many of them run units, from 1 to weft_worker_count(): the others stop at their next scheduling point,
 * leave what they have to those that go on, and use no CPU; units that are interrupted when they seem stuck
 * (weft_watchdog) are interrupted to that end. Threads of the program count as one, and are never switched off.
 * All packings (below) get as many active workers, or all that they have. Any caller, any time. The same by `weft ctl
 * PID workers=N`, and by the signal SIGURG, queued with the number (sigqueue(3); 0: all), unless the program has a
 * handler for it, or WEFT_CTL=off. A forked child begins with all. ARGUMENT. */
WEFT_API int weft_workers_set_active(unsigned workers);
WEFT_API unsigned weft_workers_active(void);
/* Its KLT runs on this CPU only; -1: on those that the process had when weft started. A bound worker with weft's
 * default scheduler steals from near ones first, as WEFT_RANDOM_WS does. ARGUMENT: there is no such CPU, or not for the
 * process. STATE: the worker has ended. */
WEFT_API int weft_worker_bind(weft_worker* worker, int cpu);
/* The worker, which is the caller's (else STATE), goes on with another scheduler, from its next scheduling point on;
 * NULL: with weft's default. What lies in the pools of the former one stays there; so does a unit of one of these that
 * calls this, and then yields or is preempted. */
WEFT_API int weft_worker_set_scheduler(weft_worker* worker, weft_scheduler* scheduler);

/* Thread packing ([S] 4.2, Algorithm 1): a program with a unit for each of `count` workers goes on on fewer of them,
 * which share the load evenly. Each worker has a pool, which anybody may use (MPMC: ACCESS); pools[i] is for the units
 * of the i-th worker, and schedulers[i], which is written here, is to be given to weft_worker_create() for it, once.
 * With n active workers of N, each has floor(N / n) pools to itself, its own among them; the rest are shared by all, a
 * slice at a time, and take turns with those. So the units should be preemptive; KLT-switching suits any code. Unlike
 * the paper's, a worker's own pools take turns too. ARGUMENT, MEMORY. */
typedef struct weft_packing weft_packing;
WEFT_API int weft_packing_create(size_t count, weft_pool* const* pools, weft_scheduler** schedulers,
                                 weft_packing** packing);
/* From now on the first `workers` are active, from 1 to `count`: the others stop at the next tick, or scheduling point,
 * of what they run. Any caller, any time. ARGUMENT. */
WEFT_API int weft_packing_set_active(weft_packing* packing, size_t workers);
WEFT_API size_t weft_packing_active(const weft_packing* packing);
/* After its schedulers: STATE. */
WEFT_API int weft_packing_free(weft_packing* packing);

/* ------------------------------------------------------------------ preemption */

/* Once a preemptive unit has been created, timers of the kernel's interrupt the workers that run such units, and a unit
 * gives way to others that wait, if there are any. It is left only where that is safe; else it runs on until the next
 * tick:
 *   - signal-yield: not inside libc, the dynamic linker, the C++ runtime, the library that malloc() comes from if that
 *     is another, and weft. Any other code must tolerate that another unit runs in the middle of it, on the same KLT:
 *     a lock that it holds may be wanted by that unit, which should then wait by a weft_mutex, yield, or be preemptive
 *     itself. With WEFT_OWN_TLS its thread-local storage stays its own; without, it says that it depends on none
 *     ("KLT-independent", 3.1.1).
 *   - KLT-switching: not inside weft; in libc and the others of those only where it sleeps in a system call (a lock of
 *     malloc's is not held for slices in which its holder does not run); in any other code. While it waits for its
 *     next slice, it keeps its KLT with all that belongs to one. There are at most WEFT_MAX_KLTS of these (4096), 1
 *     or 2 for each worker and 1 for each unit that was preempted; when there are no more, units run on.
 * The signal is a real-time one that the program has no handler for; SA_RESTART is set (3.5.1), so that most system
 * calls go on by themselves, and so do sleeps, select(), poll() without a limit, and write(), send() and recv() with
 * MSG_WAITALL that have transferred a part. A few return EINTR, as for any signal: poll(), epoll_wait() and
 * sem_timedwait() with a limit, pause(), and those with a mask of signals; writev(), sendmsg() and sendfile() may
 * return a part. What may not be interrupted goes between weft_preempt_disable() and weft_preempt_enable(). A unit has
 * no mask of signals of its own: what it blocks it must unblock before it waits, and not be preempted meanwhile. It
 * does not hold a mutex with PTHREAD_PRIO_INHERIT, or a robust one: the kernel knows the KLT that owns it, and no unit.
 *
 * Variables of the environment, read by the call that starts weft: WEFT_PREEMPT=none|signal-yield|klt-switch, the kind
 * of units that do not say; WEFT_PREEMPT_TIMER=creation|aligned|one-to-all|chain; WEFT_PREEMPT_INTERVAL, in
 * microseconds; WEFT_PREEMPT_SIGNAL, a signal's number. Sanitizer builds of weft preempt nothing: their runtimes put
 * signals off. */

/* Which timers there are: section 3.2. */
typedef enum weft_timer {
  WEFT_TIMER_CREATION,   /* one per worker, as it comes */
  WEFT_TIMER_ALIGNED,    /* one per worker, spread over the interval (default) */
  WEFT_TIMER_ONE_TO_ALL, /* one for all; who gets it signals all others that run a preemptive unit */
  WEFT_TIMER_CHAIN       /* the same, but signals the next, and that the next */
} weft_timer;

/* From now on. `nanoseconds` from 100,000 to 10,000,000,000 (default: 1,000,000). ARGUMENT. */
WEFT_API int weft_preempt_timer(weft_timer timer, uint64_t nanoseconds);

/* Until the matching weft_preempt_enable() the calling unit is not preempted; it may wait and yield. Counted: LIMIT
 * beyond 100. A preemption that fell in between is made up for by enable(). STATE: there was no disable. Any caller. */
WEFT_API int weft_preempt_disable(void);
WEFT_API int weft_preempt_enable(void);

/* The kind of units that are put into the pool for the first time and do not say themselves. Once, before the pool has
 * units, or a worker a scheduler over it: STATE. A private pool with one is slower than without. */
WEFT_API int weft_pool_set_preemption(weft_pool* pool, weft_preemption kind);

/* Whether weft's watchdog (docs/design/stuck.md) interrupts units that have run for 10 ms while others wait, however
 * long their slice is: those with WEFT_OWN_TLS and WEFT_PREEMPT_SIGNAL_YIELD. Off at first. (On or off, once there are
 * preemptive units, other KLTs stand in for workers whose KLT sleeps in the kernel.) UNSUPPORTED: no signal is free. */
WEFT_API int weft_watchdog(int on);
/* How long a worker may pass no scheduling point before the watchdog does something about it (10,000,000 ns, also
 * WEFT_WATCHDOG_SLICE in microseconds), and down to what that shrinks for the units of a pool that are found stuck
 * again and again (100,000 ns, WEFT_WATCHDOG_SHORTEST). From 50,000 to 10,000,000,000. ARGUMENT. */
WEFT_API int weft_watchdog_slices(uint64_t first_ns, uint64_t shortest_ns);

/* The signal in use; 0: none is free, nothing is preempted. */
WEFT_API int weft_preempt_signal(void);
/* Calls function(argument), which may sleep in the kernel, while the worker goes on on another KLT. The function must
 * not use weft; a C++ exception that leaves it calls std::terminate(). From then on the unit has thread-local storage
 * of its own. A root, a stackless unit, and one that has preemption disabled just call it; so does everybody where no
 * further KLT can be had. ARGUMENT. */
WEFT_API int weft_blocking(void (*function)(void*), void* argument);

/* How many KLTs there are for KLT-switching; *free (may be NULL): how many of them wait to be used (3.3.2). */
WEFT_API size_t weft_klts(size_t* free);
/* How often units have been preempted so far. */
WEFT_API uint64_t weft_preemptions(void);

/* ------------------------------------------------------------------ queries */

/* What there is: each writes the first `most` of its kind to `infos` (NULL: none) and returns how many there are, which
 * may be more than `most`. Any caller, any time, stackless units and threads that do not use weft (which become no
 * roots) included, also before weft_init(). No errors; nothing waits.
 *
 * The infos are pictures of the past, and not of one moment: what ends or begins meanwhile may be there or not, and
 * members of one info may have been read before and after a change. Only who knows that an object is still there may
 * use its handle, or what `name` points to. Creating, starting and ending units costs nothing for this; a query looks
 * at every descriptor of a unit, pool or worker that there has ever been. */

typedef struct weft_unit_info {
  weft_unit* unit;
  const char* name;         /* "" if it has none */
  weft_state state;         /* not WEFT_DONE */
  weft_technique technique; /* WEFT_AUTO until it starts */
  weft_worker* worker;      /* RUNNING: where it runs; SUSPENDED: where it ran last; NULL: else, or not known */
} weft_unit_info;
/* The units that were created and are not done, detached ones included. Not those that are done and wait to be freed,
 * and not roots. */
WEFT_API size_t weft_units(weft_unit_info* infos, size_t most);

typedef struct weft_pool_info {
  weft_pool* pool;
  weft_order order;   /* says nothing if it is custom */
  weft_access access; /* WEFT_MPMC if it is custom */
  int custom;         /* 1: of weft_pool_create_custom() */
  size_t size;        /* units in it; of a custom one, what its size() says, which the caller calls */
} weft_pool_info;
/* The pools that were created and are not freed, but for the workers' own. weft_pool_free() waits for a query that
 * looks at the pool at this moment, so size() must not free one. A child of fork(2) has the parent's too; size() of one
 * of the program's may wait for a lock there that was held when it forked. */
WEFT_API size_t weft_pools(weft_pool_info* infos, size_t most);

typedef enum weft_worker_state {
  WEFT_WORKER_RUNNING,   /* a unit, the root's own code, or a scheduler of the program's own */
  WEFT_WORKER_SEARCHING, /* looks for a unit to run */
  WEFT_WORKER_ASLEEP     /* its KLT waits in the kernel until there is something to run, or has not begun yet */
} weft_worker_state;

typedef struct weft_worker_info {
  weft_worker* worker;
  unsigned index;            /* weft_worker_index() */
  int cpu;                   /* that weft_worker_bind() has bound it to; -1: none */
  int root;                  /* 1: it carries a root, and ends with that thread */
  weft_worker_state state;   /* a thread of the program that waits outside of weft: RUNNING */
  weft_unit* unit;           /* that runs on it; NULL: none, or the root itself */
  weft_scheduler* scheduler; /* NULL: weft's default */
} weft_worker_info;
/* The workers whose KLT runs or sleeps: those of weft that have started (with spare ones), of weft_worker_create(), and
 * of roots. Ordered by index. */
WEFT_API size_t weft_workers(weft_worker_info* infos, size_t most);

#ifdef __cplusplus
}
#endif

#include "weft/sync.h"

#endif
