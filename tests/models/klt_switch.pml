/* KLT-switching: who carries a worker, as src/core/klt_switch.cpp and carrier.cpp hand it on.
 *
 * KLTS KLTs, WORKERS workers of which each is carried from the beginning, UNITS units in one pool. A KLT that carries a
 * worker takes a unit and runs it; the unit may be preempted at any time, at most PREEMPTIONS times, if there is
 * a free KLT. Then its KLT sleeps with it, and the other one carries the worker on and shows the unit to all. Who comes to
 * a unit that holds a KLT gives that the worker, and sleeps itself. Where such a unit is next, the KLT of the one that is
 * preempted gives the worker to it directly, and it shows that other unit.
 *
 * Checked: a worker is carried by one KLT at a time, and so is a unit; each worker's own pool of KLTs is used by one
 * at a time; a KLT is called only when it sleeps or is about to; and all units end (no other valid end state).
 *
 * Wrong on purpose:
 *   SHOWN_EARLY    the preempted side puts the unit into the pool itself, before it says that it holds a KLT
 *   SLEEPS_LATE    its word says `asleep` only after it has given the worker away: the call is lost
 *   GIVEN_EARLY    who resumes gives the worker away before it goes into that worker's pool
 *   NO_HAND_OVER   who resumes a KLT keeps the worker itself
 *   PASSED_EARLY   who gives the worker to the next unit directly puts its own into the pool itself
 */
#define KLTS 4
#define WORKERS 2
#define UNITS 2
#define PREEMPTIONS 3
#define none 255

bool called[KLTS];
byte mail[KLTS];               /* the worker that it shall carry */
byte to_show[KLTS];            /* the unit that was left before it was called, for it to put into the pool */
byte carriers[WORKERS];
byte at_pool[WORKERS];         /* who is at the worker's own pool of KLTs */
byte runners[UNITS];
byte holds[UNITS];             /* the KLT that the unit was left on */
chan ready = [UNITS] of { byte };
chan idle[WORKERS] = [KLTS] of { byte };
byte preemptions = 0;
byte done = 0;

inline carry(w)
{
	atomic { carriers[w]++; assert(carriers[w] == 1) }
}

inline call(k, w)
{
	atomic { assert(!called[k]); mail[k] = w; called[k] = true }
}

proctype Klt(byte self; byte first)
{
	byte w = first, u = none, other = none, next = none;
	if
	:: w != none -> goto scheduler
	:: else
	fi;
parked:
	if
	:: called[self] -> called[self] = false; w = mail[self]; u = to_show[self]; to_show[self] = none
	:: done == UNITS -> goto over
	fi;
	carry(w);
	if
	:: u != none -> ready!u; u = none                   /* settle(): off its stack, for all to see */
	:: else
	fi;
scheduler:
	if
	:: ready?u ->
	   if
	   :: holds[u] != none ->
	      other = holds[u];
	      holds[u] = none;
#ifdef NO_HAND_OVER
	      call(other, w);
	      u = none;
	      goto scheduler;
#endif
#ifndef GIVEN_EARLY
	      atomic { at_pool[w]++; assert(at_pool[w] == 1) }
	      idle[w]!self;
	      at_pool[w]--;
#endif
	      carriers[w]--;
	      call(other, w);
#ifdef GIVEN_EARLY
	      atomic { at_pool[w]++; assert(at_pool[w] == 1) }
	      idle[w]!self;
	      at_pool[w]--;
#endif
	      u = none;
	      goto parked
	   :: else -> goto runs
	   fi
	:: done == UNITS -> goto over
	fi;
runs:
	atomic { runners[u]++; assert(runners[u] == 1) }
	do
	:: atomic { preemptions < PREEMPTIONS && nempty(idle[w]) -> preemptions++ };
	   atomic { at_pool[w]++; assert(at_pool[w] == 1) }
	   idle[w]?other;
	   at_pool[w]--;
#ifdef SHOWN_EARLY
	   ready!u;
#else
	   to_show[other] = u;
#endif
	   holds[u] = self;
	   runners[u]--;
	   carriers[w]--;
	   call(other, w);
#ifdef SLEEPS_LATE
	   called[self] = false;
#endif
	   goto asleep
	:: atomic { preemptions < PREEMPTIONS && nempty(ready) -> ready?next; preemptions++ };
	   if
	   :: holds[next] == none -> ready!next
	   :: else ->
	      other = holds[next];
	      holds[next] = none;
#ifdef PASSED_EARLY
	      ready!u;
#else
	      to_show[other] = u;
#endif
	      holds[u] = self;
	      runners[u]--;
	      carriers[w]--;
	      call(other, w);
	      goto asleep
	   fi
	:: runners[u]--; u = none; done++; goto scheduler
	od;
asleep:
	if
	:: called[self] -> called[self] = false
	:: done == UNITS -> goto over                               /* only with the unit run by nobody: see the count */
	fi;
	w = mail[self];
	carry(w);
	if
	:: to_show[self] != none -> ready!to_show[self]; to_show[self] = none
	:: else
	fi;
	goto runs;
over:
	skip
}

init
{
	byte index = 0;
	atomic {
		do
		:: index < KLTS -> to_show[index] = none; index++
		:: else -> break
		od;
		index = 0;
		do
		:: index < UNITS -> holds[index] = none; ready!index; index++
		:: else -> break
		od;
		carriers[0] = 1;
		carriers[1] = 1;
		idle[0]!2;
		idle[1]!3;
		run Klt(0, 0);
		run Klt(1, 1);
		run Klt(2, none);
		run Klt(3, none)
	}
}
