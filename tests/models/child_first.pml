/* Child-first units: spawn_child(), offer_parent() and take_parent_back() of src/core/technique/child_first.h, with
 * C-RoC-E (c_roc.cpp), the deques, and what the schedulers do with those that deviate (technique/switch.cpp).
 *
 * Worker 0 starts a parent by a call (its way back: into that scheduler's frame), which spawns a child. The
 * child offers the parent in the deque, may create a further unit, may deviate, tells the parent that
 * it may go on, and ends. Worker 1 steals. A parent that goes on without its child may suspend until it is told,
 * may end, and its descriptor may be used for the further unit. Pop and steal are one step each (deque.pml).
 *
 * Checked: whoever runs the parent finds its context saved, and runs it alone; the child goes back only to a parent
 * that nobody has continued, with what it writes there (Spawn) still in place; a unit whose frames below are gone
 * never returns into them; the child's stack is freed once, with nobody on it; both come to their end.
 *
 * Wrong on purpose:
 *   PUSHED_BEFORE_SAVED  the parent is offered before its context is saved
 *   PARENT_NOT_DIVERTED  a parent that comes back by way of a scheduler keeps its way back
 *   CHILD_NOT_DIVERTED   a child that deviates keeps its way back
 *   PARENT_ENDS_CHILD    the parent ends the child whoever has continued it
 *   TAKES_ANY_PARENT     the child goes back if what it pops is the parent, whatever has become of it meanwhile
 *   CHILD_GOES_BACK      the child goes back without a look
 */
#define SLOTS 4
#define NOTHING 0
#define PARENT 1                /* the address of the parent's descriptor, whoever has it now */
#define FURTHER 2

byte slot[8];                   /* the deques: SLOTS for each worker */
byte top[2], bottom[2];

/* The parent. */
bool started = false;
bool saved = false;             /* its context lies in memory, and nobody is on its stack */
bool at_spawn = false;          /* that context is the one inside spawn_child() */
bool suspended = false, told = false;
bool diverted = false;
bool ended = false, reused = false;
byte running = 0;
bool spawn_there = false;       /* the Spawn in its frame */
bool linked = false;            /* Unit::next is the child */
bool frame_kept = false;        /* the scheduler's frame that called it still waits there */

/* The child. */
bool child_ready = false, child_context = false, child_diverted = false, child_ended = false;
byte on_child_stack = 0;
byte freed = 0;                 /* the child's stack */

bool further_made = false;

inline push(who, unit)
{
	atomic { slot[who * SLOTS + bottom[who]] = unit; bottom[who]++ }
}

inline free_child_stack()
{
	atomic { assert(on_child_stack == 0); freed++; assert(freed == 1) }
}

inline tell_parent(who)
{
	atomic {                                          /* resume() */
	  told = true;
	  if
	  :: suspended -> suspended = false; push(who, PARENT)
	  :: else
	  fi
	}
}

/* The parent has left spawn_child(): what it does until its end. */
inline rest_of_parent(who)
{
	waits = false;
	if
	:: atomic {
	     !told ->                                     /* settled at once: suspend.pml */
	     if
	     :: who == 0 -> frame_kept = false            /* the scheduler goes on */
	     :: else
	     fi;
	     waits = true; running--; saved = true; at_spawn = false; suspended = true
	   }
	:: true
	fi;
	if
	:: waits
	:: else ->
	   if
	   :: !diverted -> assert(who == 0 && frame_kept)  /* the return */
	   :: else
	   fi;
	   atomic { running--; ended = true }
	fi
}

inline continue_parent(who)
{
	atomic { assert(saved && running == 0); saved = false; running++ }
	if
	:: at_spawn ->                                    /* spawn_child(), !child_came_back */
	   spawn_there = false;
	   linked = false;
#ifdef PARENT_ENDS_CHILD
	   free_child_stack();
#endif
#ifndef PARENT_NOT_DIVERTED
	   diverted = true;                               /* note_first_deviation() */
#endif
	   at_spawn = false
	:: else
	fi;
	rest_of_parent(who)
}

inline run_unit(who, unit)
{
	if
	:: unit == PARENT && !reused -> continue_parent(who)
	:: else                                           /* the further unit: a call that ends */
	fi;
	unit = NOTHING
}

/* weft_unit_finish(): off its stack, into the scheduler's frame, which goes on. */
inline finish_child(who)
{
	atomic {
	  on_child_stack--;
	  if
	  :: who == 0 -> frame_kept = false
	  :: else
	  fi
	}
	free_child_stack();                               /* settle() */
	child_ended = true
}

inline make_further(who)
{
	atomic {
	  further_made = true;
	  if
	  :: ended -> reused = true; linked = false; push(who, PARENT)    /* the descriptor was free */
	  :: true -> push(who, FURTHER)
	  fi
	}
}

/* take_parent_back(): in `back` whether the child goes back to the parent. */
inline take_parent_back(who)
{
	back = false;
#ifdef CHILD_GOES_BACK
	back = true;
#else
	atomic {
	  if
	  :: bottom[who] > top[who] ->
	     bottom[who]--;
	     popped = slot[who * SLOTS + bottom[who]];
#ifdef TAKES_ANY_PARENT
	     back = (popped == PARENT);
#else
	     back = (popped == PARENT && linked);
#endif
	     if
	     :: !back -> bottom[who]++                    /* left to the scheduler */
	     :: else
	     fi;
	     popped = NOTHING
	  :: else
	  fi
	}
#endif
}

inline spawn(who)
{
	spawn_there = true;
	linked = true;
#ifdef PUSHED_BEFORE_SAVED
	push(who, PARENT);
#endif
	atomic { saved = true; at_spawn = true; running--; on_child_stack++ }
#ifndef PUSHED_BEFORE_SAVED
	push(who, PARENT);
#endif
	/* the child's own function */
	if
	:: make_further(who)
	:: true
	fi;
	if
	:: tell_parent(who)
	:: true
	fi;
	if
	:: true ->                                        /* leave_unit(): it yields */
	   atomic {
	     child_context = true;
#ifndef CHILD_NOT_DIVERTED
	     child_diverted = true;
#endif
	     on_child_stack--;
	     frame_kept = false;
	     child_ready = true
	   }
	:: true ->
	   if
	   :: !further_made -> make_further(who)
	   :: true
	   fi;
	   if
	   :: !told -> tell_parent(who)
	   :: else
	   fi;
	   take_parent_back(who);
	   if
	   :: back ->
	      assert(spawn_there);                        /* child_came_back = true */
	      atomic {                                    /* the return, to where spawn_child() has called */
	        assert(!reused && saved && at_spawn && running == 0);
	        saved = false; at_spawn = false; running++; on_child_stack--; linked = false
	      }
	      free_child_stack();                         /* end_undeviated() */
	      child_ended = true;
	      rest_of_parent(who)
	   :: else -> finish_child(who)
	   fi
	fi
}

inline continue_child(who)
{
	on_child_stack++;
	if
	:: !told -> tell_parent(who)
	:: else
	fi;
	assert(child_diverted);                           /* it returns */
	finish_child(who)
}

proctype Worker(byte self)
{
	byte unit = NOTHING, popped = NOTHING;
	bool back = false, waits = false;
	do
	:: atomic { self == 0 && !started -> started = true; running++; frame_kept = true }
	   spawn(self)
	:: atomic {                                       /* pop() */
	     bottom[self] > top[self] ->
	     bottom[self]--; unit = slot[self * SLOTS + bottom[self]]
	   }
	   run_unit(self, unit)
	:: atomic {                                       /* steal() */
	     bottom[1 - self] > top[1 - self] ->
	     unit = slot[(1 - self) * SLOTS + top[1 - self]]; top[1 - self]++
	   }
	   run_unit(self, unit)
	:: atomic { child_ready -> child_ready = false }
	   continue_child(self)
	:: started && ended && child_ended && top[0] == bottom[0] && top[1] == bottom[1] -> break
	od
}

init
{
	atomic { run Worker(0); run Worker(1) }
	_nr_pr == 1;
	assert(freed == 1 && running == 0)
}
