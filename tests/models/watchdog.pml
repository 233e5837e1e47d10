/* The watchdog: that members which wait in ways of their own go on, as src/core/stuck.cpp sees to.
 *
 * A root holds a mutex of libc's across a barrier with UNITS members. Each of these comes to the barrier; all but the
 * first spin until all have, pass, and sleep in the kernel for the mutex; the first does so at once. The root can go
 * on when all have come; then it spins until all have passed, and gives the mutex back. There is one worker, the root's, whose KLT is KLT 0 when
 * it is not lent (core/lend.h: to KLT 1), and a spare one on KLT 2, which rests.
 *
 * The watchdog does a thing only where that changes something: so if nothing can happen any more, and somebody is
 * not done, spin finds an end state that is not valid.
 *
 * Wrong on purpose:
 *   NOT_MOVED      a member that sleeps on the KLT of a root that could go on stays there
 *   NOT_STOOD_IN   nobody stands in for a worker whose KLT sleeps in the kernel
 *   ROOT_STAYS     a root that spins does not leave its CPU to others
 *   SENT_ONCE      a signal that is under way counts as sent although another KLT carries the worker by now
 *   TAKEN_FIRST    a member that is interrupted is shown to others only when its worker has found something else
 */
#ifndef UNITS
#define UNITS 2
#endif
#define none 255

mtype = { nothing, spins, sleeps };

mtype does[2] = nothing;       /* what each worker is seen to do, without a scheduling point */
byte carrier[2];               /* the KLT of each */
bool signalled[3];             /* pending at the KLT */
byte sent_to[2] = none;        /* the KLT with a signal under way for the worker */
chan ready = [UNITS] of { byte };
bool announced[UNITS], has_passed[UNITS];
byte arrived = 0;
byte passed = 0;
byte done = 0;
bool locked = true;
bool root_ready = false, root_runs = false, root_done = false;
bool spare_rests = true;

#define over (done == UNITS && root_done)
#define root_waits_for_klt (root_ready && !root_runs && !root_done)

proctype Worker(byte w)
{
	byte u = none;
scheduler:
	does[w] = nothing;
	if
	:: w == 0 && root_waits_for_klt -> goto root
	:: !(w == 0 && root_waits_for_klt) && nempty(ready) ->
	   if
	   :: ready?u -> goto runs
	   :: empty(ready) -> goto scheduler
	   fi
	:: w == 1 && does[0] != sleeps -> spare_rests = true; (!spare_rests || over); goto scheduler
	:: over -> goto ends
	fi;
runs:
	if
	:: w == 0 -> carrier[0] = 0
	:: w == 0 -> carrier[0] = 1                          /* lent */
	:: w == 1
	fi;
	atomic {
		if
		:: !announced[u] ->
		   announced[u] = true;
		   arrived++;
		   root_ready = (arrived == UNITS)
		:: else
		fi;
		does[w] = spins
	}
	if
	:: arrived == UNITS || u == 0
	:: atomic { signalled[carrier[w]] -> signalled[carrier[w]] = false; sent_to[w] = none }
#ifdef TAKEN_FIRST
	   does[w] = nothing;
	   nempty(ready);
#endif
	   ready!u;
	   u = none;
	   if
	   :: w == 0 -> carrier[0] = 0                       /* what is pending at KLT 1 waits there */
	   :: else
	   fi;
	   goto scheduler
	fi;
	atomic {
		if
		:: !has_passed[u] -> has_passed[u] = true; passed++
		:: else
		fi;
		does[w] = sleeps
	}
asleep:
	if
	:: atomic { !locked -> locked = true }
	   does[w] = nothing;
	   locked = false;
	   done++;
	   u = none;
	   if
	   :: w == 0 -> carrier[0] = 0
	   :: else
	   fi;
	   goto scheduler
	:: atomic { signalled[carrier[w]] -> signalled[carrier[w]] = false; sent_to[w] = none }
	   if
	   :: w == 0 && root_waits_for_klt -> ready!u; u = none; carrier[0] = 0; goto scheduler
	   :: else
	   fi;
	   goto asleep                                        /* what sleeps in libc is not left elsewhere */
	fi;
root:
	atomic { root_runs = true; does[0] = spins }
spinning:
	if
	:: passed == UNITS
	:: atomic { signalled[0] -> signalled[0] = false }
#ifndef ROOT_STAYS
	   sent_to[0] = none;
	   spare_rests = false;                               /* it steps aside: its turn comes again */
#endif
	   goto spinning
	fi;
	does[0] = nothing;
	locked = false;
	root_done = true;
	goto scheduler;
ends:
	skip
}

#define work_waits(w) (nempty(ready) || (w == 0 && root_waits_for_klt))
#ifdef SENT_ONCE
#define under_way(w) (sent_to[w] != none)
#else
#define under_way(w) (sent_to[w] == carrier[w])
#endif

inline interrupt(w)
{
	sent_to[w] = carrier[w];
	signalled[carrier[w]] = true
}

proctype Watchdog()
{
end:
	do
	:: atomic { does[0] == spins && work_waits(0) && !under_way(0) -> interrupt(0) }
	:: atomic { does[1] == spins && work_waits(1) && !under_way(1) -> interrupt(1) }
#ifndef NOT_STOOD_IN
	:: atomic { does[0] == sleeps && nempty(ready) && spare_rests -> spare_rests = false }
#endif
#ifndef NOT_MOVED
	:: atomic { does[0] == sleeps && root_waits_for_klt && !under_way(0) -> interrupt(0) }
#endif
	:: over -> break
	od
}

init
{
	byte index = 0;
	atomic {
		do
		:: index < UNITS -> ready!index; index++
		:: else -> break
		od;
		carrier[1] = 2;
		run Worker(0);
		run Worker(1);
		run Watchdog()
	}
}
