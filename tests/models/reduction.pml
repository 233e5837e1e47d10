/* The reductions of a team: src/faces/openmp/reduction.cpp and reduction_lock.h.
 *
 * MEMBERS members go through ROUNDS reductions without a barrier in between, and each adds its part of each: by itself,
 * under the lock, or by another one, to which it has offered it. A record may lie where the one of the round before
 * lay. The words that are shared are changed by exchange and compare-exchange, and what else is read is published
 * through them, so steps that are atomic and in order are a faithful picture. Spinning is left out, but for a look at
 * the lock that a waiting member may or may not have.
 *
 * Checked: each part is added once, to the sum of its own reduction; one member at a time writes the sums; nobody
 * touches the record of a member that has gone on; everybody goes on (no other valid end state).
 *
 * Wrong on purpose:
 *   MIXES_REDUCTIONS       who has taken a record out does not look which reduction it is of
 *   TAKES_BACK_BLINDLY     the owner stores nullptr over whatever is offered, and thinks that it was its own
 *   ADDS_BEFORE_TAKING     the part is added before the record is taken out
 *   ANSWERS_BEFORE_ADDING  the answer comes before the part is added
 *   SLEEPS_UNANNOUNCED     a member sleeps at the lock without a note in its word
 *   UNLOCK_WAKES_ONE       unlock() wakes one of those who sleep
 *   LOOKS_OUTSIDE          a member looks at its record before it has the lock of the queue, and not under it
 *   KEEPS_THE_LOCK         a member that has got the lock when its record was taken keeps it
 */
#ifndef MEMBERS
#define MEMBERS 3
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

#define NOBODY 0
#define EVERYBODY ((1 << MEMBERS) - 1)

mtype = { open, open_asleep, added, refused };

byte word = 0;                  /* of the lock: 0 free, 1 held, 2 held and somebody may sleep */
byte offered = NOBODY;          /* whose record */
byte writers = 0;               /* between lock and unlock */
byte sum[ROUNDS];               /* whose parts it has */

/* The records. */
bool exists[MEMBERS + 1];
mtype state[MEMBERS + 1] = open;
byte which[MEMBERS + 1];
byte part[MEMBERS + 1];         /* whose parts it has */

bool at_lock[MEMBERS + 1];      /* sleeps in that queue */
bool at_record[MEMBERS + 1];
bool woken[MEMBERS + 1];
byte through = 0;

#define is_open(member) (state[member] == open || state[member] == open_asleep)
#define touch(member) assert(exists[member])

inline wake(member) { woken[member] = true; at_lock[member] = false; at_record[member] = false }

inline unlock()
{
	atomic { writers--; before = word; word = 0 }
	if
	:: before == 2 ->
	   atomic {
	     other = 1;
	     do
	     :: other <= MEMBERS ->
	        if
	        :: at_lock[other] ->
	           wake(other);
#ifdef UNLOCK_WAKES_ONE
	           break
#endif
	        :: else
	        fi;
	        other++
	     :: else -> break
	     od
	   }
	:: else
	fi
}

inline got_lock() { atomic { writers++; assert(writers == 1) } }

inline answer(member, how)
{
	atomic { touch(member); answered = state[member]; state[member] = how }
	if
	:: answered == open_asleep ->
	   atomic {                                       /* its address alone is used */
	     if
	     :: at_record[member] -> wake(member)
	     :: else
	     fi
	   }
	:: else
	fi
}

inline add(member)
{
	touch(member);
	atomic { assert((part[self] & part[member]) == 0); part[self] = part[self] | part[member] }
}

inline take_in(member)
{
	touch(member);
	if
#ifndef MIXES_REDUCTIONS
	:: which[member] != round -> answer(member, refused)
	:: which[member] == round ->
#else
	:: true ->
#endif
#ifdef ANSWERS_BEFORE_ADDING
	   answer(member, added);
	   add(member)
#else
#ifndef ADDS_BEFORE_TAKING
	   add(member);
#endif
	   answer(member, added)
#endif
	fi
}

/* Sleeps at its record, or at both places. */
inline sleep_at_record()
{
#ifdef LOOKS_OUTSIDE
	wanted = is_open(self);
	if
	:: wanted -> atomic { at_record[self] = true; state[self] = (is_open(self) -> open_asleep : state[self]) }
	:: else
	fi
#else
	atomic {
	  wanted = is_open(self);
	  if
	  :: wanted -> state[self] = open_asleep; at_record[self] = true
	  :: else
	  fi
	}
#endif
}

inline sleep()
{
	if
	:: wanted -> atomic { woken[self]; woken[self] = false }
	:: else
	fi;
	atomic { at_lock[self] = false; at_record[self] = false; woken[self] = false }
}

/* ReductionLock::lock() */
inline wait_for_lock()
{
	do
	:: true ->
	   atomic { before = word; word = 2 }
	   if
	   :: before == 0 -> got_lock(); break
	   :: else
	   fi;
	   atomic { wanted = (word == 2); at_lock[self] = wanted }
	   sleep()
	od
}

inline wait_for_answer()
{
	do
	:: is_open(self) -> sleep_at_record(); sleep()
	:: else -> break
	od
}

inline wait_as_offered()
{
	holds = false;
	do
	:: is_open(self) && !holds ->
	   if
	   :: atomic { word == 0 -> word = 1 } holds = true; got_lock()
	   :: true ->
#ifdef SLEEPS_UNANNOUNCED
	      atomic {
	        before = word;
	        if :: word == 0 -> word = 1 :: else fi
	      }
#else
	      atomic { before = word; word = 2 }
#endif
	      if
	      :: before == 0 -> holds = true; got_lock()
	      :: else ->
#ifdef SLEEPS_UNANNOUNCED
	         atomic { wanted = (word != 0); at_lock[self] = wanted }
#else
	         atomic { wanted = (word == 2); at_lock[self] = wanted }
#endif
	         if
	         :: wanted -> sleep_at_record()
	         :: else
	         fi;
	         sleep()
	      fi
	   fi;
	   if
	   :: holds ->
#ifdef TAKES_BACK_BLINDLY
	      offered = NOBODY
#else
	      atomic {
	        taken = (offered == self);
	        if :: taken -> offered = NOBODY :: else fi
	      }
	      if
	      :: !taken ->
#ifdef KEEPS_THE_LOCK
	         wait_for_answer()
#else
	         unlock();
	         holds = false;
	         wait_for_answer()
#endif
	      :: else -> break
	      fi
#endif
	   :: else
	   fi
	:: else -> break
	od
}

proctype Member(byte self)
{
	byte round = 0, before, other, mate;
	mtype answered = open;
	bool holds, taken, wanted;
	do
	:: round < ROUNDS ->
	   atomic { exists[self] = true; state[self] = open; which[self] = round; part[self] = 1 << (self - 1) }
	   holds = false;
	   do
	   :: atomic { word == 0 -> word = 1 } holds = true; got_lock(); break
	   :: word != 0 ->
	      mate = offered;
	      if
	      :: mate != NOBODY ->
#ifdef ADDS_BEFORE_TAKING
	         if :: exists[mate] && which[mate] == round -> add(mate) :: else fi;
#endif
	         atomic {
	           taken = (offered == mate);
	           if :: taken -> offered = NOBODY :: else fi
	         }
	         if
	         :: taken -> take_in(mate)
	         :: else
	         fi
	      :: else ->
	         atomic {
	           taken = (offered == NOBODY);
	           if :: taken -> offered = self :: else fi
	         }
	         if
	         :: taken ->
	            wait_as_offered();
	            if
	            :: !holds && state[self] == refused -> wait_for_lock(); holds = true
	            :: else
	            fi;
	            break
	         :: else
	         fi
	      fi
	   od;
	   if
	   :: holds ->
	      assert((sum[round] & part[self]) == 0);
	      before = sum[round];
	      sum[round] = before | part[self];
	      unlock()
	   :: else
	   fi;
	   atomic {
	     exists[self] = false; state[self] = open; which[self] = 0; part[self] = 0; round++;
	     before = 0; other = 0; mate = 0; taken = false; wanted = false; holds = false; answered = open
	   }
	:: else -> break
	od;
	atomic {
	  through++;
	  if
	  :: through == MEMBERS ->
	     assert(sum[0] == EVERYBODY && sum[ROUNDS - 1] == EVERYBODY && offered == NOBODY && word == 0)
	  :: else
	  fi
	}
}

init
{
	byte count;
	atomic { for (count : 1 .. MEMBERS) { run Member(count) } }
}
