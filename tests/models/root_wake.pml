/* A root waits: suspend() of src/core/scheduler.cpp, resume() of ready.cpp and sleep() of idle.cpp, for a unit that is a
 * root.
 *
 * The root announces itself, shows itself, and runs its scheduler; finding nothing it parks: parked = 1,
 * heavy fence, a last look at its own state, sleep while parked. The resumer exchanges `ready` into the
 * state and then looks whether the root is parked. Another waker may wake it for work at any time (at
 * most WAKES times), which must not hurt. ROUNDS suspensions, the resumer of one being late into the next.
 *
 * Checked: the root always goes on (no other valid end state).
 *
 * The resumer's exchange is a full barrier on the machines that weft runs on, and the heavy fence is one
 * for the root; so no store buffers are modelled here (sleep.pml does).
 *
 * Wrong on purpose:
 *   NO_LAST_LOOK  the root does not look at its state between parking and sleeping
 */
#define ROUNDS 3
#define WAKES 2

mtype = { running, suspending, suspended, ready };
mtype state = running;
bool parked = false;
byte shown = 0;         /* suspensions that a resumer has not taken yet */
bool over = false;

proctype Root()
{
	byte round = 0;
	bool waits;
	do
	:: round < ROUNDS ->
	   round++;
	   state = suspending;
	   shown++;
	   atomic {                                       /* suspend(): compare-exchange */
	     waits = (state == suspending);
	     if :: waits -> state = suspended :: else -> assert(state == ready) fi
	   }
	   do
	   :: waits ->
	      if
	      :: state == ready -> break
	      :: state != ready ->
	         parked = true;
#ifndef NO_LAST_LOOK
	         if
	         :: state == ready -> parked = false       /* or a waker has taken it: the same here */
	         :: else
	         fi;
#endif
	         !parked                                   /* the futex */
	      fi
	   :: else -> break
	   od;
	   assert(state == ready);
	   state = running
	:: round == ROUNDS -> break
	od;
	over = true
}

proctype Resumer()
{
	byte count = 0;
	mtype before;
	do
	:: count < ROUNDS ->
	   atomic { shown > 0 -> shown--; count++ }
	   atomic { before = state; state = ready }
	   assert(before == suspending || before == suspended);
	   if
	   :: atomic { parked -> parked = false }          /* wake(): compare-exchange */
	   :: !parked
	   fi
	:: count == ROUNDS -> break
	od
}

proctype Waker()
{
	byte count = 0;
	do
	:: count < WAKES -> count++;
	   if
	   :: atomic { parked -> parked = false }
	   :: true
	   fi
	:: count == WAKES -> break
	od
}

init
{
	atomic { run Root(); run Resumer(); run Waker() }
}
