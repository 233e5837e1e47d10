/* The end of a free-standing unit, and those who wait for it: the word Unit::waiters of src/core/create.cpp
 * (wait_for_end, end_free_standing, tell_waiters, detach) with resume() and resume_all() of src/core/ready.cpp.
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
 * With TIMED, joiners from 2 on join with a limit of time: they wait in the parking lot, in the queue of the unit's
 * address, and a bit of the word says so. A timer may take each out, at any time. Joiner 1 frees the unit, as soon as
 * it is back and the others stand in the queue or are back too; so these must not look at the unit any more.
 *
 * Wrong on purpose:
 *   LOOKS_AFTER_TELLING    the ended unit is touched again after it has said that it is done
 *   END_STORES_DONE        the end is stored, not exchanged, over whoever has come meanwhile
 *   NEXT_AFTER_RESUME      resume_all() reads the link of a joiner that it has resumed
 *   CHAINS_ONTO_DONE       a joiner does not look whether the unit is done before it puts itself into the chain
 *   CHAINED_BEFORE_ANNOUNCED  a joiner puts itself into the chain before it has announced that it suspends
 *   RESUMER_ENQUEUES_ALWAYS   a joiner is put into a pool although it is still on its stack
 *   COMES_WITHOUT_A_VISIT  joiners leave the worker private
 *   LETS_NO_END            they visit, and do not wait for an end that has begun before
 *   QUEUES_UNSEEN          (TIMED) a joiner looks at the word before it has the queue's lock, and not under it
 *   END_EXCHANGES          (TIMED) the end exchanges where it has seen no bit, and does not look for one afterwards
 *   CHAIN_DROPS_THE_BIT    (TIMED) a joiner without a limit puts itself over the bit
 *   TIMER_ASKS_NOBODY      (TIMED) the timer resumes the joiner whether or not it stands in the queue
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

byte next[JOINERS + 1];         /* of the joiners; 0 ends the chain */
mtype state[JOINERS + 1] = running;
bool saved[JOINERS + 1];        /* its context lies in memory, and nobody is on its stack */
byte in_pool[JOINERS + 1];
byte back[JOINERS + 1];         /* how often it has come back from its wait */
bool gone[JOINERS + 1];
byte joined = 0;

bool parked = false;            /* a bit of the word: some have been in the queue */
bool lock = false;              /* of the queue */
bool queued[JOINERS + 1];
bool shown[JOINERS + 1];        /* has been in the queue, or is back */
bool armed[JOINERS + 1];        /* its timer may expire */
bool timed_out[JOINERS + 1];

inline take_lock() { atomic { !lock; lock = true } }

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
	private = false
#else
	skip
#endif
}

/* Whoever has come while an end is between its mark and the word lets it write that. */
inline let_end()
{
#ifndef LETS_NO_END
	atomic { !(is_done && waiters == NOBODY && !parked) -> touch_unit() }
#else
	skip
#endif
}

/* compare_exchange_weak(seen, self): in `got` whether it worked; else `seen` is what stands there. */
inline put_into_chain(self)
{
	atomic {
	  touch_unit();
	  got = (waiters == seen && parked == seen_parked);
	  if
	  :: got ->
	     waiters = self;
#ifdef CHAIN_DROPS_THE_BIT
	     parked = false
#endif
	  :: else -> seen = waiters; seen_parked = parked
	  fi
	}
}

proctype Joiner(byte self)
{
	byte seen;
	bool seen_parked;
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
	   let_end();
	   atomic { touch_unit(); seen = waiters; seen_parked = parked }
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
#ifndef TIMED
	  if
	  :: joined == JOINERS -> free_unit()
	  :: else
	  fi;
#endif
	  gone[self] = true;
	  next[self] = 0
	}
#ifdef TIMED
	for (seen : 2 .. JOINERS) { shown[seen] }
	free_unit()
#endif
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

/* park() with a deadline, and note_parked() */
proctype TimedJoiner(byte self)
{
	bool waits;
	bool resumed_early;
	atomic { touch_unit(); waits = (waiters != DONE) }
	if
	:: waits ->
	   state[self] = suspending;
	   visit();
#ifdef QUEUES_UNSEEN
	   let_end();
	   atomic {
	     touch_unit();
	     waits = (waiters != DONE);
	     if
	     :: waits -> parked = true
	     :: else
	     fi
	   }
	   take_lock();
#else
	   take_lock();
	   let_end();
	   atomic {
	     touch_unit();
	     waits = (waiters != DONE);
	     if
	     :: waits -> parked = true
	     :: else
	     fi
	   }
#endif
	   if
	   :: waits -> atomic { queued[self] = true; shown[self] = true }
	   :: else -> state[self] = running
	   fi;
	   lock = false;
	   if
	   :: waits -> armed[self] = true; suspend_self(self); armed[self] = false
	   :: else
	   fi
	:: else
	fi;
	atomic {
	  back[self]++;
	  assert((is_done || timed_out[self]) && back[self] == 1 && !queued[self]);
	  joined++;
	  shown[self] = true;
	  gone[self] = true
	}
}

/* Expires if and when it likes. */
proctype Timer(byte joiner)
{
	mtype before;
	bool mine;
	if
	:: armed[joiner] ->
	   take_lock();
	   atomic {
#ifdef TIMER_ASKS_NOBODY
	     mine = true;
#else
	     mine = queued[joiner];
#endif
	     if
	     :: mine -> queued[joiner] = false; timed_out[joiner] = true
	     :: else
	     fi
	   }
	   lock = false;
	   if
	   :: mine -> resume(joiner)
	   :: else
	   fi
	:: true
	fi
}

proctype Detacher()
{
	bool got;
	byte seen;
	visit();
	let_end();
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

/* end_free_standing(), on the side of the scheduler. */
proctype End()
{
	byte chain, joiner;
	mtype before;
	bool alone, parked_seen;
	bool taken[JOINERS + 1];
	atomic { touch_unit(); is_done = true }               /* the mark */
	alone = private;
	if
	:: alone ->
	   atomic { touch_unit(); chain = waiters; parked_seen = parked }
	   if
	   :: chain == NOBODY && !parked_seen -> atomic { touch_unit(); waiters = DONE }
	   :: else -> alone = false
	   fi
	:: else
	fi;
	/* tell_waiters() */
	if
	:: alone -> goto told
	:: else
	fi;
again:
	atomic { touch_unit(); chain = waiters; parked_seen = parked }
	if
	:: chain == DETACHED
#ifdef TIMED
	:: chain != DETACHED && parked_seen ->               /* tell_parked() */
	   take_lock();
	   atomic { touch_unit(); chain = waiters; waiters = DONE; parked = false }
	   for (joiner : 2 .. JOINERS) {
	     taken[joiner] = queued[joiner];
	     queued[joiner] = false
	   }
	   lock = false;
	   for (joiner : 2 .. JOINERS) {
	     if
	     :: taken[joiner] -> resume(joiner)
	     :: else
	     fi
	   }
#endif
	:: chain != DETACHED && !parked_seen ->
#ifdef END_STORES_DONE
	   atomic { touch_unit(); waiters = DONE }
#else
#ifdef END_TRUSTS_FIRST_LOOK
	   atomic { touch_unit(); waiters = DONE }
#else
	   atomic {                                       /* compare-exchange */
	     touch_unit();
#ifdef END_EXCHANGES
	     alone = true;
	     chain = waiters;
#else
	     alone = (waiters == chain && !parked);
#endif
	     if
	     :: alone -> waiters = DONE; parked = false
	     :: else
	     fi
	   }
	   if
	   :: !alone -> goto again
	   :: else
	   fi;
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
#ifdef TIMED
	  :: joiner > 1 && joiner <= JOINERS -> run TimedJoiner(joiner); run Timer(joiner); joiner++
	  :: joiner == 1 -> run Joiner(joiner); joiner++
#else
	  :: joiner <= JOINERS -> run Joiner(joiner); joiner++
#endif
	  :: else -> break
	  od
#endif
	}
	_nr_pr == 1;
	assert(freed)
}
