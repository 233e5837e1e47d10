/* The end of a free-standing unit, and those who wait for it: the word Unit::waiters of src/core/create.cpp
 * (wait_for_end, end_free_standing, tell_waiters, detach) with resume() and resume_all() of src/core/scheduler.cpp.
 *
 * One unit ends. JOINERS units join it, early or late, and the last to come back frees it; or, with DETACHER, one
 * detaches it, and the end or the detacher frees it. A joiner may be gone as soon as it goes on. The words that
 * are shared are changed by exchange and compare-exchange, and what else is read is published through them, so
 * steps that are atomic and in order are a faithful picture (as in suspend.pml, which has the states in full).
 *
 * The unit ends on the worker that created it, which may be private at first: then its end takes no locked instruction
 * where nobody waits, and whoever comes from another worker makes it shared before (core/privacy.h; here in sequentially
 * consistent steps, and never private again).
 *
 * Checked: nobody touches the unit once it is freed, nor a joiner once it is gone; each joiner goes on once, not
 * before its context is saved, and never before the unit is done; all go on (no other valid end state); the
 * unit is freed once.
 *
 * Wrong on purpose:
 *   LOOKS_AFTER_TELLING    the ended unit is touched again after it has said that it is done
 *   END_STORES_DONE        the end is stored, not exchanged, over whoever has come meanwhile
 *   NEXT_AFTER_RESUME      resume_all() reads the link of a joiner that it has resumed
 *   CHAINS_ONTO_DONE       a joiner does not look whether the unit is done before it puts itself into the chain
 *   CHAINED_BEFORE_ANNOUNCED  a joiner puts itself into the chain before it has announced that it suspends
 *   RESUMER_ENQUEUES_ALWAYS   a joiner is put into a pool although it is still on its stack
 *   COMES_WITHOUT_A_VISIT  joiners leave the worker private
 *   DETACH_STORES          (DETACHER) the mark is stored over what was there
 *   END_TRUSTS_FIRST_LOOK  (DETACHER) the end does not look at what its exchange has brought back
 */
#ifndef JOINERS
#define JOINERS 2
#endif

#define NOBODY 0                /* Unit::waiters: this, the newest joiner (from 1 on), or a mark */
#define DONE 10
#define DETACHED 11

mtype = { running, suspending, suspended, ready };

byte waiters = NOBODY;
bool is_done = false;           /* the unit has run to its end */
bool freed = false;

bool private = true;            /* the worker is */
bool inside = false;            /* Privacy::enter() to leave() */

byte next[JOINERS + 1];         /* of the joiners; 0 ends the chain */
mtype state[JOINERS + 1] = running;
bool saved[JOINERS + 1];        /* its context lies in memory, and nobody is on its stack */
byte in_pool[JOINERS + 1];
byte back[JOINERS + 1];         /* how often it has come back from its wait */
bool gone[JOINERS + 1];
byte joined = 0;

inline touch_unit() { assert(!freed) }
inline touch(joiner) { assert(!gone[joiner]) }
inline free_unit() { atomic { assert(!freed); freed = true } }

inline enqueue(joiner)
{
	atomic { assert(saved[joiner]); in_pool[joiner]++; assert(in_pool[joiner] == 1) }
}

inline suspend_self(self)
{
	saved[self] = true;                               /* leave_unit() */
	atomic {                                          /* settle(): compare-exchange */
	  resumed_early = (state[self] != suspending);
	  if
	  :: resumed_early -> assert(state[self] == ready)
	  :: else -> state[self] = suspended
	  fi
	}
	if
	:: resumed_early -> enqueue(self)
	:: else
	fi;
	atomic { in_pool[self] > 0 -> in_pool[self]--; saved[self] = false }
	state[self] = running
}

/* Privacy::Visit */
inline visit()
{
#ifndef COMES_WITHOUT_A_VISIT
	private = false;
	!inside
#else
	skip
#endif
}

/* compare_exchange_weak(seen, self): in `got` whether it worked; else `seen` is what stands there. */
inline put_into_chain(self)
{
	atomic {
	  touch_unit();
	  got = (waiters == seen);
	  if
	  :: got -> waiters = self
	  :: else -> seen = waiters
	  fi
	}
}

proctype Joiner(byte self)
{
	byte seen;
	bool got = false;
	bool waits = true;
	bool resumed_early;
	atomic { touch_unit(); waits = (waiters != DONE) }
	if
	:: waits ->
#ifndef CHAINED_BEFORE_ANNOUNCED
	   state[self] = suspending;                      /* prepare_suspend() */
#endif
	   visit();
	   atomic { touch_unit(); seen = waiters }
	   do
#ifndef CHAINS_ONTO_DONE
	   :: !got && seen == DONE ->
	      state[self] = running;                      /* cancel_suspend() */
	      waits = false;
	      break
	   :: !got && seen != DONE ->
#else
	   :: !got ->
#endif
	      next[self] = seen;
	      put_into_chain(self)
	   :: got -> break
	   od;
#ifdef CHAINED_BEFORE_ANNOUNCED
	   if
	   :: waits -> state[self] = suspending
	   :: else
	   fi;
#endif
	   if
	   :: waits -> suspend_self(self)
	   :: else
	   fi
	:: else
	fi;
	atomic {
	  back[self]++;
	  assert(is_done && back[self] == 1);
	  joined++;
	  if
	  :: joined == JOINERS -> free_unit()
	  :: else
	  fi;
	  gone[self] = true;
	  next[self] = 0
	}
}

proctype Detacher()
{
	bool got;
	byte seen;
	visit();
#ifdef DETACH_STORES
	atomic { touch_unit(); seen = waiters }
	got = (seen == NOBODY);
	if
	:: got -> atomic { touch_unit(); waiters = DETACHED }
	:: else
	fi;
#else
	atomic {                                          /* compare-exchange */
	  touch_unit();
	  seen = waiters;
	  got = (seen == NOBODY);
	  if
	  :: got -> waiters = DETACHED
	  :: else
	  fi
	}
#endif
	if
	:: !got && seen == DONE -> free_unit()
	:: else
	fi
}

inline resume(joiner)
{
	atomic {
	  touch(joiner);                                  /* root, worker: read before the exchange */
	  before = state[joiner];
	  state[joiner] = ready
	}
	assert(before == suspending || before == suspended);
	if
#ifdef RESUMER_ENQUEUES_ALWAYS
	:: true -> enqueue(joiner)
#else
	:: before == suspended -> enqueue(joiner)
	:: else
#endif
	fi
}

/* end_free_standing(), on the side of the scheduler. */
proctype End()
{
	byte chain, joiner;
	mtype before;
	bool alone;
	atomic { touch_unit(); is_done = true }
	inside = true;
	alone = private;
	if
	:: alone ->
	   atomic { touch_unit(); chain = waiters }
	   if
	   :: chain == NOBODY -> atomic { touch_unit(); waiters = DONE }
	   :: else -> alone = false
	   fi
	:: else
	fi;
	inside = false;
	/* tell_waiters() */
	if
	:: alone -> goto told
	:: else
	fi;
	atomic { touch_unit(); chain = waiters }
	if
	:: chain == DETACHED
	:: else ->
#ifdef END_STORES_DONE
	   atomic { touch_unit(); waiters = DONE }
#else
#ifdef END_TRUSTS_FIRST_LOOK
	   atomic { touch_unit(); waiters = DONE }
#else
	   atomic { touch_unit(); chain = waiters; waiters = DONE }
#endif
#ifdef LOOKS_AFTER_TELLING
	   touch_unit();
#endif
#endif
	fi;
	if
	:: chain == NOBODY
	:: chain == DETACHED -> free_unit()
	:: else ->
	   do
	   :: chain == NOBODY -> break
	   :: else ->
	      joiner = chain;
#ifdef NEXT_AFTER_RESUME
	      resume(joiner);
	      atomic { touch(joiner); chain = next[joiner] }
#else
	      atomic { touch(joiner); chain = next[joiner] }
	      resume(joiner)
#endif
	   od
	fi;
told:
	skip
}

init
{
	byte joiner = 1;
	atomic {
	  run End();
#ifdef DETACHER
	  run Detacher();
#else
	  do
	  :: joiner <= JOINERS -> run Joiner(joiner); joiner++
	  :: else -> break
	  od
#endif
	}
	_nr_pr == 1;
	assert(freed)
}
