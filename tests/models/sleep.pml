/* Sleeping and waking: the protocol at the head of src/core/idle.cpp, on a machine with store buffers
 * (TSO, as x86-64).
 *
 * Two workers search, take, and sleep; publishers push work and do not run any themselves. Whoever has taken
 * a unit is busy until all units are taken: units may wait for one another, so one that stays behind while
 * a worker sleeps is a lost wake-up even if some worker would come to it later.
 *
 * A push onto a deque is a plain store: it stays in its process's store buffer until the buffer is emptied,
 * at any time, by a locked instruction of that process, or by the sleeper's heavy fence (membarrier runs a
 * barrier on every CPU). A put into an inbox is a compare-exchange, and visible at once. The worker's other
 * stores before a locked instruction are visible with it; counters are changed by locked instructions.
 *
 * Configurations:
 *   (none)        two publishers push one unit each, onto deques of their own
 *   CHAIN         one publisher puts two units into the inbox of worker 0, as resume_all() does; who takes the
 *                 inbox has both in hand for a while, seen by nobody, before it pushes one onto its own deque
 *   LEAVING_ROOT  one publisher of one unit, and a root that searches as it waits, and leaves without taking
 *                 (Searching::end)
 *
 * Checked: when nothing moves any more, every unit has been taken. `searchers` may be negative for a moment
 * (a woken worker may be faster than the waker's counting), and is 0 at the end, when all sleep.
 *
 * Wrong on purpose:
 *   NO_HEAVY_FENCE          the sleeper does not empty the publishers' store buffers
 *   NO_FENCE_IN_NOTIFY      notify_slow() reads searchers while the publication is still in the store buffer
 *   NO_HAND_ON              the last searcher that finds work does not look for more
 *   LEAVES_WITHOUT_A_LOOK   end() does not look either
 *   NO_NOTIFY_AFTER_UNPACK  units unpacked from an inbox are not announced again
 *   LAST_IS_EXACTLY_ONE     the last searcher is one that counts down from 1: a worker that is awake before its
 *                           waker has counted it finds 0
 *   COUNTED_LATE            the sleeper announces itself (sleepers) after its last look
 */
#define WORKERS 2
#ifdef LEAVING_ROOT
#define UNITS 1
#else
#define UNITS 2
#endif

#define OWNERS 5                /* processes with a deque: workers 0 and 1, publishers 2 and 3, the root 4 */

byte deque[OWNERS];             /* units that others can see */
byte buffered[OWNERS];          /* pushed, still in the store buffer of the owner */
byte inbox = 0;                 /* of worker 0 */
bool parked[WORKERS];
byte sleepers = 0;
short searchers = 0;
byte taken = 0;

inline empty_buffer(owner)
{
	atomic { deque[owner] = deque[owner] + buffered[owner]; buffered[owner] = 0 }
}

inline heavy_fence()
{
#ifndef NO_HEAVY_FENCE
	d_step {
	  deque[0] = deque[0] + buffered[0]; buffered[0] = 0;
	  deque[1] = deque[1] + buffered[1]; buffered[1] = 0;
	  deque[2] = deque[2] + buffered[2]; buffered[2] = 0;
	  deque[3] = deque[3] + buffered[3]; buffered[3] = 0;
	}
#endif
	skip
}

/* Store buffers are emptied at any time. */
active proctype Memory()
{
end:
	do
	:: buffered[0] > 0 -> empty_buffer(0)
	:: buffered[1] > 0 -> empty_buffer(1)
	:: buffered[2] > 0 -> empty_buffer(2)
	:: buffered[3] > 0 -> empty_buffer(3)
	od
}

/* any_work(): one pool after the other. The caller sees its own pushes. */
inline look(self)
{
	found = false;
	victim = 0;
	do
	:: victim < OWNERS ->
	   found = found || deque[victim] > 0 || (victim == self && buffered[victim] > 0);
	   victim++
	:: victim == OWNERS -> found = found || inbox > 0; break
	od;
	victim = 0
}

/* wake(): true in `found` if the worker was parked. */
inline wake(worker, self)
{
	atomic {
	  found = parked[worker];
	  if
	  :: found -> parked[worker] = false; empty_buffer(self)
	  :: else
	  fi
	}
	if
	:: found -> searchers++; sleepers--
	:: else
	fi
}

inline notify_slow(self)
{
#ifndef NO_FENCE_IN_NOTIFY
	empty_buffer(self);                               /* the full fence */
#endif
	if
	:: searchers > 0
	:: else ->
	   wake(0, self);
	   if
	   :: !found -> wake(1, self)
	   :: else
	   fi;
	   found = false
	fi
}

inline notify(self)
{
	if                                                /* after the light fence, which empties nothing */
	:: sleepers > 0 -> notify_slow(self)
	:: else
	fi
}

/* Searching::found() and end(): whether the last searcher looks again is the difference of the variants. */
inline stop_searching(self, looks)
{
#ifdef LAST_IS_EXACTLY_ONE
	atomic { last = (searchers == 1); searchers--; empty_buffer(self) }
#else
	atomic { last = (searchers <= 1); searchers--; empty_buffer(self) }
#endif
	if
	:: looks && (last || leaves) && sleepers > 0 ->
	   look(self);
	   if
	   :: found -> notify_slow(self)
	   :: else
	   fi
	:: else
	fi;
	last = false; found = false
}

/* An inbox is taken whole: what is left of it is in `hand`. */
inline take_inbox()
{
	atomic {
	  if
	  :: inbox > 0 -> hand = inbox - 1; inbox = 0; got = true
	  :: else
	  fi
	}
}

inline unpack(self)
{
	if
	:: hand > 0 ->
	   atomic { buffered[self] = buffered[self] + hand; hand = 0 }
#ifndef NO_NOTIFY_AFTER_UNPACK
	   notify(self)
#endif
	:: else
	fi
}

/* next_local(): one's own deque, then one's own inbox. */
inline take_local(self)
{
	atomic {
	  if
	  :: buffered[self] > 0 -> buffered[self]--; got = true
	  :: else ->
	     if
	     :: deque[self] > 0 -> deque[self]--; got = true
	     :: else
	     fi
	  fi
	}
	if
	:: !got && self == 0 -> take_inbox()
	:: else
	fi;
	unpack(self)
}

/* search(): the deques of others, then the inbox of worker 0. */
inline steal(self)
{
	victim = 0;
	do
	:: victim < OWNERS && !got ->
	   atomic {
	     if
	     :: deque[victim] > 0 -> deque[victim]--; got = true
	     :: else
	     fi
	   }
	   victim++
	:: else -> break
	od;
	victim = 0;
	if
	:: !got -> take_inbox()
	:: else
	fi;
	unpack(self)
}

proctype Worker(byte self)
{
	byte victim = 0;
	byte hand = 0;
	bool found, got, last;
	bool leaves = false;
	bool searching = false;
	do
	:: true ->                                        /* schedule() */
	   take_local(self);
	   if
	   :: !got ->
	      if
	      :: !searching -> searchers++; searching = true
	      :: else
	      fi;
	      steal(self)
	   :: else
	   fi;
	   if
	   :: got ->
	      if
	      :: searching ->
#ifdef NO_HAND_ON
	         stop_searching(self, false);
#else
	         stop_searching(self, true);
#endif
	         searching = false
	      :: else
	      fi;
	      got = false;
	      taken++;
	      taken == UNITS                              /* busy: the unit waits for all others */
	   :: else ->                                     /* sleep() */
#ifndef COUNTED_LATE
	      sleepers++;
#endif
	      parked[self] = true;
	      atomic { searchers--; empty_buffer(self) }
	      heavy_fence();
	      look(self);
#ifdef COUNTED_LATE
	      sleepers++;
#endif
	      if
	      :: found ->
	         atomic {
	           got = parked[self];
	           parked[self] = false
	         }
	         if
	         :: got -> searchers++; sleepers--        /* else a waker has counted it */
	         :: else
	         fi
	      :: else
	      fi;
	      found = false; got = false;
end_asleep:
	      !parked[self]
	      /* on as a searcher: counted by itself or by the waker */
	   fi
	od
}

proctype Publisher(byte self)
{
	byte victim;
	bool found;
#ifdef CHAIN
	inbox = 2;                                        /* a compare-exchange: visible at once */
#else
	buffered[self] = 1;
#endif
	notify(self)
}

#ifdef LEAVING_ROOT
proctype Root(byte self)
{
	byte victim = 0;
	bool found, last;
	bool leaves = true;
	searchers++;
	look(self);
	/* Whatever it has seen, it is ready now, and goes. */
#ifdef LEAVES_WITHOUT_A_LOOK
	stop_searching(self, false)
#else
	stop_searching(self, true)
#endif
}
#endif

/* Nothing moves any more. */
active proctype End()
{
	timeout ->
	  assert(taken == UNITS);
	  assert(searchers == 0);
	  assert(sleepers == WORKERS)
}

init
{
	atomic {
	  run Worker(0);
	  run Worker(1);
	  run Publisher(2);
#if !defined(CHAIN) && !defined(LEAVING_ROOT)
	  run Publisher(3);
#endif
#ifdef LEAVING_ROOT
	  run Root(4);
#endif
	}
}
