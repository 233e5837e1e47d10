/* Suspend against resume: the states of src/core/unit.h, as changed by suspend() in src/core/scheduler.cpp,
 * resume() in ready.cpp and settle() in settle.cpp.
 *
 * One unit suspends ROUNDS times. Each time it announces itself (suspending), shows itself in `place`,
 * and switches away; its worker saves the context and settles. One of two resumers takes it from `place`
 * at any moment after that, before or after the switch. Two workers run what is in the pool.
 *
 * Checked: the unit is in the pool at most once, never before its context is saved, and never runs on two
 * workers; a resumer always finds it suspending or suspended; it comes to its end (no lost resume: the
 * model has no other valid end state).
 *
 * The word `state` is changed by exchange and compare-exchange (acquire-release), and what else is read
 * here is published through it, so steps that are atomic and in order are a faithful picture.
 *
 * Wrong on purpose:
 *   RESUMER_ENQUEUES_ALWAYS  the resumer puts the unit into the pool although it was suspending
 *   WORKER_STORES_SUSPENDED  the worker stores `suspended` without looking whether a resumer was there
 *   SHOWN_BEFORE_ANNOUNCED   the unit shows itself before it has announced itself
 */
#define ROUNDS 3

mtype = { ready, running, suspending, suspended, done };
mtype state = ready;
byte in_pool = 1;       /* how often the unit is in the pool */
bool saved = true;      /* its context lies in memory, and nobody is on its stack */
bool shown = false;     /* it stands in the place where resumers look */
byte runs = 0;          /* workers that run it */
byte round = 0;

inline enqueue()
{
	in_pool++;
	assert(in_pool == 1)
}

inline announce() { state = suspending }
inline show_itself() { assert(!shown); shown = true }

proctype Worker()
{
	bool was_resumed;
	do
	:: atomic { in_pool > 0 -> in_pool--; assert(saved); assert(runs == 0); runs++; saved = false }
	   state = running;
	   if
	   :: round == ROUNDS ->
	      atomic { state = done; runs-- }
	   :: else ->
	      round++;
#ifdef SHOWN_BEFORE_ANNOUNCED
	      show_itself();
	      announce();
#else
	      announce();
	      show_itself();
#endif
	      atomic { runs--; saved = true }         /* leave_unit(): switched away, on the scheduler's stack */
#ifdef WORKER_STORES_SUSPENDED
	      state = suspended
#else
	      atomic {                                /* settle(): compare-exchange */
	        was_resumed = (state != suspending);
	        if
	        :: was_resumed -> assert(state == ready)
	        :: else -> state = suspended
	        fi
	      }
	      if
	      :: was_resumed -> atomic { enqueue(); was_resumed = false }
	      :: else
	      fi
#endif
	   fi
	:: state == done -> break
	od
}

proctype Resumer()
{
	mtype before;
	do
	:: atomic { shown -> shown = false }
	   atomic { before = state; state = ready }       /* resume(): exchange */
	   assert(before == suspending || before == suspended);
	   if
#ifdef RESUMER_ENQUEUES_ALWAYS
	   :: true -> atomic { enqueue() }
#else
	   :: before == suspended -> atomic { enqueue() }
	   :: else
#endif
	   fi
	:: state == done -> break
	od
}

init
{
	atomic { run Worker(); run Worker(); run Resumer(); run Resumer() }
}
