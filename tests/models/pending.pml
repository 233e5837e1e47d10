/* The end of a parallel region: the word Team::pending of src/faces/openmp/region.cpp, with members, helpers,
 * and a master that waits (members_done, helper_done, drop_holders, tell_region_end, join_as_helper,
 * wait_for_members, end_tasks, close_region; wait_for in task_wait.h).
 *
 * HELPERS sets how many helpers there are.
 * One team serves REGIONS regions one after the other, as a hot team does. In each, two members besides the
 * master come to their end; each may make a task (the first opens the pool). Helpers hold a stale
 * pointer to the team for ever: they look at it at any time, join if the word says that tasks are in use, run
 * a task if there is one, and leave. The master waits first for the tasks, if there are any, then for the
 * holders, again if tasks came up meanwhile, and closes the team.
 *
 * Checked: nobody who counts as a holder touches a closed team, or one that serves another region than the
 * one it joined; the master is resumed only when it is suspending or suspended, and comes to the end of every
 * region (no other valid end state); at the end no task is left, the word is 0, and every member was run.
 *
 * The master claims members too once it is done with its own part. Where its own are the last, without tasks in use, it
 * looks at the word and stores 0, in two steps: the word must not change between them.
 *
 * But for that the word is changed by compare-exchange (acquire-release), so its changes are atomic steps here;
 * the lock of the task pool is one too, where nothing else is seen of what it guards. The master's looking before
 * it sleeps (keep_looking) only adds steps that change nothing, and is left out.
 *
 * Wrong on purpose:
 *   MARK_STAYS                the one who completes the team does not take away master_waits
 *   HELPER_JOINS_ALWAYS       a helper raises the word although no tasks are in use
 *   TOLD_AFTER_THE_LAST_STEP  a member looks for the waiting master after it has let go of the team
 *   MASTER_STORES_WITH_TASKS  the master stores 0 for the last member although tasks are in use
 */
#define MEMBERS 2
#ifndef HELPERS
#define HELPERS 1
#endif
#define REGIONS 2

/* The word. */
byte holders = 0;
byte members = 0;
bool tasks_in_use = false;
bool master_waits = false;

/* What else the team holds. */
bool open = false;              /* for checking only: the master is between open_region and close_region */
byte region = 0;                /* for checking only */
bool used = false;              /* tasks.used */
byte queued = 0;                /* tasks that wait to be run */
byte created = 0, completed = 0;
byte unclaimed = 0;             /* of the range */
bool listed = false;            /* the master as a waiter (end_waiter) */

mtype = { running, suspending, suspended, ready };
mtype master = running;
bool over = false;
byte ran = 0;

#define region_is_over (members == 0 && created == completed)

/* core::resume(*master), exactly once per suspension. */
inline resume_master()
{
	atomic {
	  assert(master == suspending || master == suspended);
	  master = ready
	}
}

inline suspend_master()
{
	atomic {
	  if
	  :: master == suspending -> master = suspended
	  :: else -> assert(master == ready)
	  fi
	}
	master == ready;
	master = running
}

inline check_held() { assert(open && mine == region) }

inline drop_holder()
{
	check_held();
	atomic {
	  assert(holders > 0);
	  holders--;
	  resumes = (holders == 0 && master_waits);
#ifndef MARK_STAYS
	  if :: resumes -> master_waits = false :: else fi
#endif
	}
	if
	:: resumes -> resume_master()
	:: else
	fi;
	resumes = false
}

inline tell_region_end()
{
	atomic {
	  resumes = (listed && region_is_over);
	  if :: resumes -> listed = false :: else fi
	}
	if
	:: resumes -> resume_master()
	:: else
	fi;
	resumes = false
}

inline run_member()
{
	check_held();
	if
	:: true                                        /* makes no task */
	:: atomic { true -> used = true; tasks_in_use = true }  /* open_pool(), under its lock */
	   atomic { created++; queued++ }
	fi;
	check_held()
}

inline members_done()
{
	if
	:: atomic {
	     !tasks_in_use ->
	     holders--; members--;
	     resumes = (holders == 0 && master_waits);
#ifndef MARK_STAYS
	     if :: resumes -> master_waits = false :: else fi
#endif
	   }
	   if
	   :: resumes -> resume_master()
	   :: else
	   fi;
	   resumes = false
	:: tasks_in_use ->
	   atomic { members-- }
#ifdef TOLD_AFTER_THE_LAST_STEP
	   drop_holder();
	   check_held();
	   tell_region_end()
#else
	   check_held();
	   tell_region_end();
	   drop_holder()
#endif
	fi
}

/* The same, `by_master`. */
inline members_of_master_done()
{
#ifdef MASTER_STORES_WITH_TASKS
	atomic { alone = (members == 1) };
#else
	atomic { alone = (holders == 1 && members == 1 && !tasks_in_use && !master_waits) };
#endif
	if
	:: alone ->
	   atomic {
	     assert(holders == 1 && members == 1 && !tasks_in_use && !master_waits);
	     holders = 0; members = 0
	   }
	:: else -> members_done()
	fi;
	alone = false
}

proctype Member()
{
	byte mine;
	bool resumes = false;
	do
	:: over -> break
	:: atomic { unclaimed > 0 -> unclaimed--; mine = region; ran++ }
	   run_member();
	   members_done()
	od
}

proctype Helper()
{
	byte mine;
	bool resumes = false;
	bool got = false;
	do
	:: over -> break
	:: atomic {
#ifdef HELPER_JOINS_ALWAYS
	     !over -> holders++; mine = region
#else
	     tasks_in_use -> holders++; mine = region      /* join_as_helper() */
#endif
	   }
	   check_held();
	   atomic {
	     if
	     :: queued > 0 -> queued--; got = true
	     :: else
	     fi
	   }
	   if
	   :: got ->                                       /* runs it; then helper_done() */
	      check_held();
	      atomic { completed++; got = false }
	      check_held();
	      tell_region_end()
	   :: else                                        /* woke nobody */
	   fi;
	   drop_holder()
	od
}

/* end_tasks(): wait_for(RegionEnd), running tasks while there are any. */
inline end_tasks()
{
	do
	:: region_is_over -> break
	:: else ->
	   atomic {
	     if
	     :: queued > 0 -> queued--; got = true
	     :: else
	     fi
	   }
	   if
	   :: got -> atomic { completed++; got = false }
	   :: else ->
	      /* under the pool's lock */
	      atomic {
	        if
	        :: region_is_over || queued > 0
	        :: else -> master = suspending; listed = true
	        fi
	      }
	      if
	      :: master == suspending || master == ready -> suspend_master()
	      :: master == running
	      fi
	   fi
	od;
	used = false;
	atomic { tasks_in_use = false }
}

inline wait_for_members()
{
	do
	:: holders == 0 -> break
	:: holders != 0 ->
	   master = suspending;
	   atomic {
	     if
	     :: holders != 0 -> master_waits = true
	     :: else -> master = running                  /* cancel_suspend() */
	     fi
	   }
	   if
	   :: master != running -> suspend_master()
	   :: else
	   fi
	od
}

proctype Master()
{
	byte mine;
	bool got = false, resumes = false, alone = false;
	do
	:: region < REGIONS ->
	   /* prepare_region() and start_members() */
	   atomic {
	     assert(holders == 0 && members == 0 && !tasks_in_use && !master_waits);
	     region++;
	     holders = MEMBERS; members = MEMBERS;
	     created = 0; completed = 0;
	     open = true
	   }
	   unclaimed = MEMBERS;
	   if
	   :: atomic { true -> used = true; tasks_in_use = true }
	      atomic { created++; queued++ }
	   :: true
	   fi;
	   /* close_region(): first those that nobody has claimed */
	   do
	   :: atomic { unclaimed > 0 -> unclaimed--; mine = region; ran++ }
	      run_member();
	      members_of_master_done()
	   :: unclaimed == 0 -> break
	   od;
	   if
	   :: used -> end_tasks()
	   :: !used
	   fi;
	   wait_for_members();
	   if
	   :: used -> end_tasks(); wait_for_members()
	   :: !used
	   fi;
	   atomic {
	     assert(queued == 0 && created == completed);
	     assert(holders == 0 && members == 0 && !tasks_in_use && !master_waits);
	     assert(ran == MEMBERS * region);
	     open = false
	   }
	:: region == REGIONS -> break
	od;
	over = true
}

init
{
	byte index = 0;
	atomic {
	  run Master();
	  do
	  :: index < MEMBERS -> run Member(); index++
	  :: else -> break
	  od;
	  index = 0;
	  do
	  :: index < HELPERS -> run Helper(); index++
	  :: else -> break
	  od
	}
}
