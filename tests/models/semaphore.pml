/* The semaphore (src/core/sync/semaphore.h): one word, a queue in the parking lot; waits that are given up, and waits
 * for the first of several events (src/core/sync/select.h, claims in src/core/parking_lot.cpp).
 *
 * The word says how many permits there are, and whether somebody may be parked, which is set and cleared under the lock
 * of the queue. Released permits are anybody's: who releases one wakes one, who competes with those that come.
 *
 * Configurations; RELEASES permits are released, one by one:
 *   (none)   one waits with a limit, one without
 *   CHOOSES  one waits for a permit or a flag, whichever is first, one for a permit
 *
 * Checked: when nothing moves any more, nobody is parked where there is a permit; no permit is lost, or taken twice.
 *
 * Wrong on purpose:
 *   COUNTS_CLAIMED      who releases a permit takes one for woken whom the flag has claimed
 *   LOOKS_AT_ALL_FIRST  whom a permit has woken looks at the flag before the permit
 *   TRUSTS_THE_WAKE_UP  who is woken takes a permit for granted
 *   SEEN_OUTSIDE        whether there is none is looked at before the lock of the queue is taken
 *   CLEARS_ALWAYS       who releases a permit clears the mark although others are parked
 *   TIMER_ASKS_NOBODY   a wait is over by its time although a release has woken it, and takes no look
 */
#define TIMED 0
#define PATIENT 1
#define CHOOSING 2
#define NOBODY 3
#define USERS 2
#ifndef RELEASES
#define RELEASES 1
#endif
#define PARKED 16
#define PERMITS (PARKED - 1)

byte word = 0;
bool queue_locked = false;
chan queue = [USERS] of { byte };
bool linked[3];
bool woken[3];
bool flag = false;
bool at_flag = false;                    /* CHOOSING stands in its queue, too (one step, as its being set) */
bool claimed = false;                    /* Selection::claimed, */
bool by_permit = false;                  /* by who has released a permit */
byte taken_permits = 0;

inline lock_queue() { atomic { !queue_locked -> queue_locked = true } }
inline unlock_queue() { queue_locked = false }

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

inline try_acquire()
{
	seen = word;
	do
	:: (seen & PERMITS) == 0 -> break
	:: else ->
	   compare_exchange(seen - 1);
	   if
	   :: done -> has_it = true; taken_permits++; break
	   :: else
	   fi
	od
}

/* none_left(): `stays`. */
inline look_for_none()
{
	stays = false;
	seen = word;
	do
	:: (seen & PERMITS) != 0 -> break
	:: else ->
	   compare_exchange(seen | PARKED);
	   if
	   :: done -> stays = true; break
	   :: else
	   fi
	od
}

inline queue_up()
{
#ifdef SEEN_OUTSIDE
	look_for_none();
	lock_queue();
#else
	lock_queue();
	look_for_none();
#endif
	if
	:: stays -> atomic { queue ! me; linked[me] = true }
	:: else
	fi;
	unlock_queue()
}

/* By who gives up, or leaves the queue for another reason. */
inline leave_queue()
{
	lock_queue();
	d_step {
	  was_linked = linked[me];
	  if
	  :: linked[me] -> queue ?? eval(me); linked[me] = false
	  :: else
	  fi
	};
	unlock_queue()
}

proctype Acquirer(byte me)
{
	byte seen;
	bool done, has_it, stays, was_linked, gives_up;
	do
	:: true ->
	   try_acquire();
	   if
	   :: has_it || gives_up -> break
	   :: else
	   fi;
	   queue_up();
end:
	   if
	   :: !stays
	   :: stays && woken[me] -> woken[me] = false
	   :: stays && me == TIMED ->
	      leave_queue();
#ifdef TIMER_ASKS_NOBODY
	      break
#else
	      if
	      :: was_linked -> break
	      :: else -> woken[me]; woken[me] = false; gives_up = true    /* the next look at the clock says so */
	      fi
#endif
	   fi;
#ifdef TRUSTS_THE_WAKE_UP
	   if
	   :: stays -> word = word - 1; has_it = true; taken_permits++; break
	   :: else
	   fi
#endif
	od
}

/* wait_any() */
proctype Chooser(byte me)
{
	byte seen;
	bool done, has_it, stays, was_linked;
	do
	:: flag -> break
	:: true ->
	   try_acquire();
	   if
	   :: has_it -> break
	   :: else
	   fi;
	   claimed = false;
	   queue_up();
	   if
	   :: stays ->
	      atomic {
	        if
	        :: flag && !claimed -> claimed = true; woken[me] = true
	        :: else -> at_flag = true
	        fi
	      };
end:
	      woken[me];
	      woken[me] = false;
	      at_flag = false;
	      leave_queue();
#ifndef LOOKS_AT_ALL_FIRST
	      if
	      :: by_permit -> by_permit = false; try_acquire()
	      :: else
	      fi;
	      if
	      :: has_it -> break
	      :: else
	      fi
#endif
	   :: else
	   fi
	od
}

proctype Setter()
{
	atomic {
	  flag = true;
	  if
	  :: at_flag && !claimed -> claimed = true; woken[CHOOSING] = true
	  :: else
	  fi
	}
}

/* Whom claim() lets resume: not one whom another event has claimed. */
inline take_one()
{
	d_step {
	  do
	  :: len(queue) > 0 ->
	     queue ? first;
	     linked[first] = false;
	     if
	     :: first == CHOOSING && claimed ->
#ifdef COUNTS_CLAIMED
	        first = NOBODY; break
#else
	        skip
#endif
	     :: else ->
	        by_permit = first == CHOOSING;
	        claimed = claimed || by_permit;
	        break
	     fi
	  :: else -> first = NOBODY; break
	  od
	}
}

proctype Releaser()
{
	byte seen, first;
	bool done;
	seen = word;
	do
	:: (seen & PARKED) != 0 ->
	   lock_queue();
	   take_one();
	   seen = word;
	   do
	   :: true ->
#ifdef CLEARS_ALWAYS
	      compare_exchange((seen & PERMITS) + 1);
#else
	      compare_exchange((seen & PERMITS) + 1 + (len(queue) > 0 -> PARKED : 0));
#endif
	      if
	      :: done -> break
	      :: else
	      fi
	   od;
	   unlock_queue();
	   if
	   :: first < NOBODY -> woken[first] = true
	   :: else
	   fi;
	   break
	:: else ->
	   compare_exchange(seen + 1);
	   if
	   :: done -> break
	   :: else
	   fi
	od
}

active proctype Check()
{
	timeout ->
	assert((word & PERMITS) + taken_permits == RELEASES);
	assert((word & PERMITS) == 0 || len(queue) == 0)
}

init
{
	atomic {
	  run Acquirer(PATIENT);
#ifdef CHOOSES
	  run Chooser(CHOOSING); run Setter();
#else
	  run Acquirer(TIMED);
#endif
	  run Releaser();
#if RELEASES == 2
	  run Releaser()
#endif
	}
}
