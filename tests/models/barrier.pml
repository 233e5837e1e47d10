/* The barrier of a team: src/faces/openmp/team_barrier.cpp, with wait_for of task_wait.h and count_completed_elsewhere
 * of task_pool.cpp.
 *
 * MEMBERS members go through ROUNDS barriers. Before each, one may create a task; so may a task, up to TASKS in all. A
 * member runs what lies in its own deque before it arrives, and anything that it finds while it waits. A task may leave
 * its completion to the outsider, who fulfils its event. A worker that is idle wakes a member that sleeps while tasks
 * lie somewhere.
 *
 * Checked: a round is released once, and when it is, all members have arrived and no task is pending; nobody runs a
 * task then; each member comes to the end (no other valid end state), so that no wake-up is lost.
 *
 * Each change of the word is an atomic step; the look of a member that has arrived for a moment only adds steps that
 * change nothing, and is left out. Deques are counts: taking from one is an atomic step.
 *
 * Wrong on purpose:
 *   STAYS_COUNTED        one that runs a task of another while it waits is still counted as arrived
 *   NO_SECOND_LOOK       one that has found a task does not look whether the round has changed meanwhile
 *   TELLS_NOTHING_ANEW   one that arrives anew does not tell of what it has created and completed meanwhile
 *   RESET_AFTER_ROUND    the round changes before the word is 0
 *   NO_LOOK_AT_THE_WORD  one that goes to sleep does not look whether all is complete
 *   NO_MARK              nor leaves a mark
 *   OUTSIDER_TELLS_LESS  an event's fulfilment is not told
 */
#ifndef MEMBERS
#define MEMBERS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef TASKS
#define TASKS 3
#endif

/* The word. */
byte counted = 0;
short tasks = 0;
bool mark = false;

byte round = 0;
byte queued[MEMBERS];
short untold[MEMBERS];
bool listed[MEMBERS], asleep[MEMBERS];
byte detached = 0;  /* tasks whose event is not fulfilled */
bool locked = false;

/* For checking only. */
byte pending = 0, made = 0, running = 0, ended = 0;
byte through[MEMBERS];

#define complete (counted == MEMBERS && tasks == 0)
#define any_queued (queued[0] + queued[1] + (MEMBERS > 2 -> queued[MEMBERS - 1] : 0) != 0)

inline make_task(who)
{
	atomic { made < TASKS; made++; pending++; untold[who]++ };
	queued[who]++
}

inline begin_round()
{
	assert(pending == 0 && running == 0);
#ifdef RESET_AFTER_ROUND
	round++;
	atomic { counted = 0; tasks = 0; mark = false }
#else
	atomic { counted = 0; tasks = 0; mark = false };
	round++
#endif
}

inline wake_all()
{
	atomic { !locked -> locked = true };
	d_step {
	  other = 0;
	  do
	  :: other < MEMBERS -> listed[other] = false; asleep[other] = false; other++
	  :: else -> break
	  od;
	  locked = false;
	  other = 0
	}
}

/* One step takes the task, whoever's it is. */
inline run_task(who)
{
	if
	:: make_task(who)
	:: true
	fi;
	if
	:: atomic { detached++; running-- }
	:: atomic { untold[who]--; pending--; running-- }
	fi
}

inline arrive(who)
{
	atomic {
	  counted++;
	  tasks = tasks + untold[who];
	  untold[who] = 0;
	  last = complete;
	  marked = mark
	};
	if
	:: last ->
	   begin_round();
	   if
	   :: marked -> wake_all()
	   :: else
	   fi
	:: else
	fi;
	last = false; marked = false
}

inline sleep_unless_over(who)
{
	atomic { !locked -> locked = true };
	if
	:: round != mine -> locked = false
	:: else ->
	   listed[who] = true;
	   atomic {
	     last = complete || counted == 0;
#ifndef NO_MARK
	     mark = true
#endif
	   };
#ifdef NO_LOOK_AT_THE_WORD
	   last = false;
#endif
	   if
	   :: last || round != mine || any_queued ->
	      last = false;
	      listed[who] = false;
	      locked = false
	   :: else ->
	      asleep[who] = true;
	      locked = false;
	      !asleep[who]
	   fi
	fi
}

proctype Member(byte me)
{
	byte mine, other = 0;
	bool here, last = false, marked = false;
	do
	:: through[me] == ROUNDS -> break
	:: else ->
	   if
	   :: make_task(me)
	   :: true
	   fi;
	   do
	   :: atomic { queued[me] != 0 -> queued[me]--; running++ }; run_task(me)
	   :: queued[me] == 0 -> break
	   od;
	   mine = round;
	   here = true;
	   arrive(me);
	   do
	   :: round != mine -> break
	   :: else ->
	      if
	      :: atomic { queued[0] != 0 -> queued[0]--; running++ }
	      :: atomic { queued[1] != 0 -> queued[1]--; running++ }
#if MEMBERS > 2
	      :: atomic { queued[2] != 0 -> queued[2]--; running++ }
#endif
	      :: else ->
	         if
	         :: !here ->
	            here = true;
#ifdef TELLS_NOTHING_ANEW
	            atomic { counted++; untold[me] = 0; last = complete; marked = mark };
	            if
	            :: last -> begin_round();
	               if
	               :: marked -> wake_all()
	               :: else
	               fi
	            :: else
	            fi;
	            last = false; marked = false
#else
#ifndef STAYS_COUNTED
	            arrive(me)
#else
	            counted--;
	            arrive(me)
#endif
#endif
	         :: else -> sleep_unless_over(me)
	         fi;
	         goto looked
	      fi;
	      if
#ifdef NO_SECOND_LOOK
	      :: here ->
#else
	      :: here && round == mine ->
#endif
	         here = false;
#ifndef STAYS_COUNTED
	         counted--
#endif
	      :: else
	      fi;
	      run_task(me);
looked:	      skip
	   od;
	   assert(here);
	   through[me]++
	od;
	ended++
}

proctype Outsider()
{
	byte other = 0;
	bool last = false;
	do
	:: detached != 0 ->
	   atomic { !locked -> locked = true };
	   atomic {
	     detached--;
	     pending--;
#ifndef OUTSIDER_TELLS_LESS
	     tasks--;
#endif
	     last = complete
	   };
	   if
	   :: last -> begin_round(); locked = false; last = false; wake_all()
	   :: else -> locked = false
	   fi
	:: detached == 0 && ended == MEMBERS -> break
	od
}

proctype Idle()
{
	do
	:: atomic { any_queued && !locked && asleep[0] -> listed[0] = false; asleep[0] = false }
	:: atomic { any_queued && !locked && asleep[1] -> listed[1] = false; asleep[1] = false }
	:: ended == MEMBERS -> break
	od
}

init
{
	atomic {
	  byte number = 0;
	  do
	  :: number < MEMBERS -> run Member(number); number++
	  :: else -> break
	  od;
	  run Outsider();
	  run Idle()
	}
}
