/* The readers-writer lock (src/core/sync/rwlock.h): one word, a queue in the parking lot, and waits that are given up.
 *
 * Outside of the lock of the queue the word changes by compare-exchange alone, and not while it says that somebody is
 * parked. Whoever releases the lock then hands it over under the lock of the queue: it reads the word, takes those that
 * come next out of the queue, and stores what the word is to be.
 *
 * Configurations:
 *   (none)   a reader that stays until another one has been inside, and a writer that gives up: by itself that must let
 *            in the readers behind it
 *   WRITERS  two writers, of which one gives up, and a reader
 *
 * Checked: a writer is inside alone; all come to their end, where those that give up may have had the lock or not; then
 * the word says that the lock is free, and the queue is empty.
 *
 * Wrong on purpose:
 *   GIVES_UP_QUIETLY    who gives up hands nothing over
 *   TIMER_ASKS_NOBODY   a wait is over by its time although the lock has been handed over to it
 *   READERS_PASS        readers join others that are inside although somebody is parked
 *   ANNOUNCED_OUTSIDE   the word says that somebody is parked before the lock of the queue is taken
 *   STORED_OUTSIDE      the word is stored when the lock of the queue has been released
 */
#define USERS 3
#define WRITER 16
#define PARKED 32
#define READER 1

byte word = 0;
bool queue_locked = false;
chan queue = [USERS] of { byte, byte };  /* who, and its share */
bool linked[USERS];                      /* stands there */
bool woken[USERS];
byte readers = 0, writers = 0;           /* inside */
bool been_inside = false;                /* the reader that the other one waits for */
byte ended = 0;

#define FITS(held, share) ((share == WRITER && held == 0) || (share == READER && (held & WRITER) == 0))
#ifdef READERS_PASS
#define JOINS(seen, share) (((seen & PARKED) == 0 || share == READER) && FITS((seen & (PARKED - 1)), share))
#else
#define JOINS(seen, share) ((seen & PARKED) == 0 && FITS(seen, share))
#endif

inline lock_queue() { atomic { !queue_locked -> queue_locked = true } }
inline unlock_queue() { queue_locked = false }

inline look() { seen = word }

/* `done` says whether it was still what had been seen; else that is known anew. */
inline compare_exchange(wanted)
{
	d_step {
	  done = word == seen;
	  if
	  :: done -> word = wanted
	  :: else -> seen = word
	  fi
	}
}

inline try_lock(share)
{
	look();
	do
	:: !JOINS(seen, share) -> break
	:: else ->
	   compare_exchange(seen + share);
	   if
	   :: done -> has_it = true; break
	   :: else
	   fi
	od
}

/* join_or_announce() */
inline join_or_announce(share)
{
	look();
	do
	:: JOINS(seen, share) ->
	   compare_exchange(seen + share);
	   if
	   :: done -> has_it = true; break
	   :: else
	   fi
	:: else ->
	   compare_exchange(seen | PARKED);
	   if
	   :: done -> break
	   :: else
	   fi
	od
}

inline take_those_that_fit()
{
	d_step {
	  held = (seen & (PARKED - 1)) - released;
	  do
	  :: len(queue) > 0 ->
	     queue ? <first, first_share>;
	     if
	     :: FITS(held, first_share) ->
	        queue ? first, first_share;
	        held = held + first_share;
	        taken[first] = true;
	        linked[first] = false
	     :: else -> break
	     fi
	  :: else -> break
	  od;
	  if
	  :: len(queue) > 0 -> held = held | PARKED
	  :: else
	  fi;
	  first = 0; first_share = 0
	}
}

inline resume_taken()
{
	d_step {
	  first = 0;
	  do
	  :: first < USERS -> woken[first] = woken[first] || taken[first]; taken[first] = false; first++
	  :: else -> break
	  od;
	  first = 0; held = 0; seen = 0; done = false
	}
}

inline hand_over(share)
{
	released = share;
	lock_queue();
	look();
	do
	:: (seen & PARKED) != 0 ->
	   take_those_that_fit();
#ifdef STORED_OUTSIDE
	   unlock_queue();
	   word = held;
#else
	   word = held;
	   unlock_queue();
#endif
	   break
	:: else ->
	   compare_exchange(seen - released);
	   if
	   :: done -> unlock_queue(); break
	   :: else
	   fi
	od;
	released = 0;
	resume_taken()
}

inline unlock(share)
{
	look();
	do
	:: (seen & PARKED) != 0 -> hand_over(share); break
	:: else ->
	   compare_exchange(seen - share);
	   if
	   :: done -> break
	   :: else
	   fi
	od
}

/* The timer: it may come at any time, and has its say under the lock of the queue. */
inline expire(share)
{
	lock_queue();
	d_step {
#ifdef TIMER_ASKS_NOBODY
	  gives_up = true;
#else
	  gives_up = linked[me];
#endif
	  if
	  :: linked[me] -> queue ?? eval(me), share; linked[me] = false
	  :: else
	  fi
	};
	unlock_queue()
}

inline wait_for(share, timed)
{
#ifdef ANNOUNCED_OUTSIDE
	join_or_announce(share);
	lock_queue();
#else
	lock_queue();
	join_or_announce(share);
#endif
	if
	:: has_it -> unlock_queue()
	:: else ->
	   atomic { queue ! me, share; linked[me] = true };
	   unlock_queue();
	   if
	   :: woken[me] -> has_it = true
	   :: timed ->
	      expire(share);
	      if
	      :: gives_up
#ifndef GIVES_UP_QUIETLY
	         ->
	         if
	         :: (word & PARKED) != 0 -> hand_over(0)
	         :: else
	         fi
#endif
	      :: else -> woken[me]; has_it = true
	      fi
	   fi
	fi
}

proctype User(byte me, share; bool timed, stays)
{
	byte seen, held, released, first, first_share;
	bool done, has_it, gives_up;
	bool taken[USERS];
	try_lock(share);
	if
	:: has_it
	:: else -> wait_for(share, timed)
	fi;
	d_step { seen = 0; done = false };
	assert(has_it || timed);
	if
	:: has_it ->
	   d_step {
	     if
	     :: share == WRITER -> writers++
	     :: else -> readers++
	     fi;
	     assert(writers == 0 || (writers == 1 && readers == 0))
	   };
	   if
	   :: stays -> been_inside
	   :: else -> been_inside = been_inside || share == READER
	   fi;
	   d_step {
	     if
	     :: share == WRITER -> writers--
	     :: else -> readers--
	     fi
	   };
	   unlock(share)
	:: else
	fi;
	skip;
	d_step {
	  ended++;
	  assert(ended < USERS || (word == 0 && len(queue) == 0))
	}
}

init
{
	atomic {
#ifdef WRITERS
	  run User(0, WRITER, false, false);
	  run User(1, WRITER, true, false);
	  run User(2, READER, false, false)
#else
	  run User(0, READER, false, true);
	  run User(1, WRITER, true, false);
	  run User(2, READER, false, false)
#endif
	}
}
