/* The work-stealing deque of src/core/pool/deque.h, on a machine with store buffers (TSO, as x86-64).
 *
 * The owner pushes ITEMS elements and pops in between, as it likes; two thieves steal until the owner says
 * that all is over. The owner's plain stores (the slot, bottom_) go through a store buffer that is
 * emptied at any time; its sequentially consistent store of bottom_ in pop() and its compare-exchange empty
 * it. Thieves store nothing but by compare-exchange.
 *
 * Checked: no element is taken twice; at the end each has been taken once; a thief never takes an empty
 * slot. The ring is large enough not to wrap, and growth is left out (it changes no index).
 *
 * Wrong on purpose:
 *   POP_WITHOUT_FENCE         pop's store of bottom_ stays in the store buffer (no fence B)
 *   POP_WITHOUT_EXCHANGE      pop takes the last element without the compare-exchange C
 *   STEAL_READS_BOTTOM_FIRST  steal reads bottom_ before top_
 */
#define ITEMS 3
#define SLOTS 4

byte top = 1;                   /* indices start at 1, so that bottom - 1 is never negative */
byte bottom = 1;
byte slot[SLOTS];               /* 0: nothing was ever stored there */
byte taken[SLOTS];
bool over = false;

/* The owner's store buffer, first in first out: 0 is bottom_, i > 0 is slot i. */
chan buffer = [4] of { byte, byte };

inline store(place, value) { buffer!place, value }

inline apply(place, value)
{
	if
	:: place == 0 -> bottom = value
	:: else -> slot[place - 1] = value
	fi
}

active proctype Memory()
{
	byte place, value;
	do
	:: atomic { buffer?place, value -> apply(place, value); place = 0; value = 0 }
	:: over && empty(buffer) -> break
	od
}

inline take(element)
{
	assert(element != 0);
	taken[element - 1]++;
	assert(taken[element - 1] == 1)
}

active proctype Owner()
{
	byte my_bottom = 1;         /* the owner alone writes bottom_ */
	byte mine[SLOTS];           /* what it has stored: it sees its own stores at once */
	byte pushed = 0;
	byte seen_top, element;
	bool got;
	do
	:: pushed < ITEMS ->                              /* push() */
	   pushed++;
	   mine[my_bottom - 1] = pushed;
	   store(my_bottom, pushed);                      /* the slot of index my_bottom */
	   my_bottom++;
	   store(0, my_bottom)
	:: true ->                                        /* pop() */
	   seen_top = top;
	   if
	   :: seen_top > my_bottom - 1 ->
	      if
	      :: pushed == ITEMS -> break                 /* empty, for good */
	      :: else
	      fi
	   :: else ->
	      my_bottom--;
	      store(0, my_bottom);
#ifndef POP_WITHOUT_FENCE
	      empty(buffer);                              /* fence B */
#endif
	      seen_top = top;
	      if
	      :: seen_top < my_bottom ->
	         atomic { element = mine[my_bottom - 1]; take(element); element = 0 }
	      :: seen_top == my_bottom ->
#ifdef POP_WITHOUT_EXCHANGE
	         got = true;
	         top = seen_top + 1;
#else
	         empty(buffer);
	         atomic {                                 /* compare-exchange C */
	           got = (top == seen_top);
	           if :: got -> top = seen_top + 1 :: else fi
	         }
#endif
	         if
	         :: got -> atomic { element = mine[my_bottom - 1]; take(element); element = 0; got = false }
	         :: else
	         fi;
	         my_bottom++;
	         store(0, my_bottom)
	      :: else ->
	         my_bottom++;
	         store(0, my_bottom)
	      fi
	   fi
	od;
	empty(buffer);
	over = true
}

proctype Thief()
{
	byte my_top, my_bottom, element;
	bool got;
	do
	:: !over ->
#ifdef STEAL_READS_BOTTOM_FIRST
	   my_bottom = bottom;
	   my_top = top;
#else
	   my_top = top;
	   my_bottom = bottom;                            /* B, A */
#endif
	   if
	   :: my_top >= my_bottom
	   :: else ->
	      element = slot[my_top - 1];
	      atomic {                                    /* compare-exchange C */
	        got = (top == my_top);
	        if :: got -> top = my_top + 1 :: else fi
	      }
	      if
	      :: got -> atomic { take(element); got = false }
	      :: else
	      fi
	   fi;
	   my_top = 0; my_bottom = 0; element = 0
	:: over -> break
	od
}

init
{
	byte element = 0;
	atomic { run Thief(); run Thief() }
	_nr_pr == 3;                                      /* both thieves have ended, so the owner has too */
	do
	:: element < ITEMS -> assert(taken[element] == 1); element++
	:: else -> break
	od
}
