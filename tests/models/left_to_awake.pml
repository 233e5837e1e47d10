/* Who goes to what a spare worker leaves when it rests: the protocol at the head of src/core/idle.cpp (left_to_awake),
 * on a machine with store buffers (TSO, as x86-64). One worker is wanted, so a spare rests while another is awake.
 *
 * Roots are in regions of their own. One that steps aside (step_aside) puts itself into the inbox of a spare that it
 * found awake, or has woken, and sleeps until some spare comes to it. In the end each leaves its region.
 *
 * What a root stores when it leaves (`in_use`, Worker::active) stays in its store buffer until that is emptied, at
 * any time, by a locked instruction of the root, or by somebody's heavy fence (membarrier runs a barrier on every CPU).
 * A spare's own stores are followed by its heavy fence at once.
 *
 * Configurations:
 *   (none)          a spare that is about to rest; one root is aside already, two leave
 *   STEPPING_ASIDE  a spare and two roots, each of which may step aside
 *
 * Checked: when nothing moves any more, no root waits for its turn: spares may end asleep, roots may not.
 *
 * Wrong on purpose:
 *   NO_LOOK            a root that leaves does not look (as it was: they slept for ever)
 *   CLEARED_FOR_GOOD   it takes the mark away although others are awake, to whom it leaves what is there
 *   LIGHT_FENCE        it does not empty the others' store buffers before it looks who is awake
 *   SPARE_LIGHT_FENCE  a spare does not either
 */
#define WORKERS 4                /* the spare, 0, and roots */
#define NOBODY 4

bool in_use[WORKERS];            /* as others see it */
bool leaves[WORKERS];            /* in_use = false is in the root's store buffer */
bool aside[WORKERS];             /* parked: a root for its turn, */
bool rests[WORKERS];             /* a spare */
bool in_inbox[WORKERS];          /* the root is in the spare's inbox */
bool left_to_awake = false;

inline empty_buffer(root)
{
	d_step { in_use[root] = in_use[root] && !leaves[root]; leaves[root] = false }
}

inline heavy_fence()
{
	empty_buffer(1); empty_buffer(2); empty_buffer(3)
}

/* Store buffers are emptied at any time. */
active proctype Memory()
{
end:
	do
	:: leaves[1] -> empty_buffer(1)
	:: leaves[2] -> empty_buffer(2)
	:: leaves[3] -> empty_buffer(3)
	od
}

#define IS_AWAKE(worker) (in_use[worker] && !aside[worker] && !rests[worker])

/* One after the other: each look is a step of its own. A root knows what it has stored itself. */
inline look_at_spare()
{
	d_step {
	  if
	  :: IS_AWAKE(0) -> awake++; spare = 0
	  :: else
	  fi
	}
}

inline look_at_root(worker, self)
{
	d_step {
	  if
	  :: IS_AWAKE(worker) && !(worker == self && leaves[worker]) -> awake++
	  :: else
	  fi
	}
}

inline count_awake(self)
{
	d_step { awake = 0; spare = NOBODY };
	look_at_spare();
	look_at_root(1, self);
	look_at_root(2, self);
#ifndef STEPPING_ASIDE
	look_at_root(3, self)
#endif
}

#define SOMETHING_WAITS (in_inbox[1] || in_inbox[2] || in_inbox[3])

/* wake_resting_spare(): a compare-exchange, then a store. */
inline wake_resting_spare()
{
	atomic { woken = rests[0]; rests[0] = false }
	if
	:: woken -> in_use[0] = true
	:: else
	fi
}

proctype Spare()
{
	byte awake, spare;
	bool woken;
again:
	count_awake(0);
	if
	:: d_step { awake > 1 -> awake = 0; spare = 0 }; goto rest
	:: d_step { else -> awake = 0; spare = 0 }
	fi;
	if
	:: atomic { in_inbox[1] -> in_inbox[1] = false; aside[1] = false }; goto again
	:: atomic { in_inbox[2] -> in_inbox[2] = false; aside[2] = false }; goto again
	:: atomic { in_inbox[3] -> in_inbox[3] = false; aside[3] = false }; goto again
	:: !SOMETHING_WAITS
	fi;
rest:
	in_use[0] = false;
	rests[0] = true;
	left_to_awake = true;
#ifndef SPARE_LIGHT_FENCE
	heavy_fence();
#endif
	if
	:: SOMETHING_WAITS ->
	   count_awake(0);
	   if
	   :: d_step { awake < 1 -> awake = 0; spare = 0 }; wake_resting_spare()
	   :: d_step { else -> awake = 0; spare = 0 }
	   fi
	:: else
	fi;
	woken = false;
end:
	!rests[0];
	in_use[0] = true;
	goto again
}

proctype Root(byte me)
{
	byte awake, spare;
	bool woken;
#ifdef STEPPING_ASIDE
	if
	:: /* step_aside() */
	   count_awake(me);
	   if
	   :: spare == 0 && awake > 1
	   :: else ->
	      wake_resting_spare();
	      if
	      :: woken -> spare = 0
	      :: else
	      fi
	   fi;
	   if
	   :: spare == 0 ->
	      aside[me] = true;
	      in_inbox[me] = true;        /* a compare-exchange */
	      wake_resting_spare()
	   :: else                        /* nobody can stand in for it */
	   fi;
	   d_step { awake = 0; spare = 0; woken = false }
	:: skip
	fi;
#endif
	!aside[me];
	/* become_inactive() */
	leaves[me] = true;
#ifndef NO_LOOK
	if
	:: left_to_awake ->
	   atomic { empty_buffer(me); left_to_awake = false };
	   if
	   :: SOMETHING_WAITS ->
#ifndef CLEARED_FOR_GOOD
	      left_to_awake = true;
#endif
#ifndef LIGHT_FENCE
	      heavy_fence();
#endif
	      count_awake(me);
	      if
	      :: awake < 1 -> wake_resting_spare()
	      :: else
	      fi
	   :: else
	   fi
	:: else
	fi
#endif
}

init
{
	atomic {
	  in_use[0] = true;
	  in_use[1] = true; in_use[2] = true;
	  run Spare();
#ifndef STEPPING_ASIDE
	  aside[1] = true; in_inbox[1] = true;
	  in_use[3] = true;
	  run Root(3);
#endif
	  run Root(1); run Root(2)
	}
}
