/* Privacy: the protocol at the head of src/core/privacy.h, on a machine with store buffers (TSO, as x86-64).
 *
 * The owner touches what is guarded by enter() and leave(), ends one unit behind the mark (is_private_after()), and
 * turns private again, all in any order. Two visitors come twice each. `data` is what is guarded: plain load and store
 * by the owner while it is private, a locked instruction by everybody else. `word` is Unit::waiters, `mark` the unit's
 * state; one of the visitors puts itself in as a waiter.
 *
 * The owner's stores go through its store buffer, which is emptied at any time, by its own locked instructions, and by
 * a visitor's heavy fence. That of a visitor is left out: all that it stores are locked instructions, but for the last
 * store of the state, and then a locked one.
 *
 * Checked: no change of the data is lost, a waiter that is in is told, and nobody waits for ever.
 *
 * Wrong on purpose:
 *   NO_HEAVY_FENCE        a visitor that is not answered goes on without one
 *   WAITS_FOR_NO_INSIDE   a visitor does not wait until the owner is out
 *   ANSWERS_BY_STORE      the owner answers by a store, when the visitor may have stopped waiting for it
 *   CLOSES_WITHOUT_A_LOOK the owner turns private without a look at who is there
 *   LETS_NO_END           a visitor does not wait for an end that has begun
 *   LETS_END_IF_NOBODY    or only where the word says that nobody waits (with CALLED)
 *
 * CALLED: the unit was called by the one that joins it (technique/by_joiner.cpp), and the word says so from the start.
 */
mtype = { shared, private, ending, seen };
mtype = { to_inside, to_data, to_mark, to_word };

#define DONE_MARK 2
#define WAITER 1
#ifdef CALLED
#define AT_FIRST 4
#else
#define AT_FIRST 0
#endif

mtype state = private;
bool inside = false;
byte visits = 0;
byte data = 0;
bool mark = false;
byte word = AT_FIRST;

chan buffer = [6] of { mtype, byte };           /* the owner's store buffer */
byte buffered = 0;                              /* stores of the data in there */
byte changes = 0;                               /* of the data, that there have been */
bool is_in = false;                             /* the waiter */
bool is_told = false;
byte visitors_left = 2;

inline store(place, value)
{
	if
	:: place == to_inside -> inside = value
	:: place == to_data -> data = value; buffered--
	:: place == to_mark -> mark = value
	:: place == to_word -> word = value
	fi
}

inline empty_buffer()
{
	do
	:: nempty(buffer) -> buffer ? place, value; store(place, value)
	:: empty(buffer) -> break
	od;
	value = 0
}

active proctype Memory()
{
	mtype place;
	byte value;
end:
	do
	:: d_step { nempty(buffer) -> buffer ? place, value; store(place, value); value = 0 }
	od
}

inline answer()
{
	if
	:: found == ending ->
#ifdef ANSWERS_BY_STORE
	   state = seen
#else
	   atomic {
	     empty_buffer();
	     if
	     :: state == ending -> state = seen
	     :: else
	     fi
	   }
#endif
	:: else
	fi
}

inline touch()
{
	buffer ! to_inside, 1;
	found = state;
	if
	:: found == private ->
	   atomic {
	     if
	     :: buffered == 0 -> newest = data
	     :: else
	     fi
	   }
	   atomic { newest++; buffered++; changes++; buffer ! to_data, newest }
	   buffer ! to_inside, 0
	:: else ->
	   answer();
	   buffer ! to_inside, 0;
	   atomic { empty_buffer(); data++; changes++ }
	fi
}

inline end_unit()
{
	buffer ! to_mark, 1;
	found = state;
	if
	:: found == private && word == AT_FIRST -> buffer ! to_word, DONE_MARK
	:: else ->
	   answer();
	   atomic { empty_buffer(); is_told = (word == WAITER); word = DONE_MARK }
	fi;
	has_ended = true
}

inline close()
{
	atomic { empty_buffer(); state = private }    /* the store, and the fence behind it */
#ifndef CLOSES_WITHOUT_A_LOOK
	if
	:: visits == 0
	:: else ->
	   d_step {
	     if
	     :: state == private -> state = shared
	     :: else
	     fi
	   }
	fi
#endif
}

active proctype Owner()
{
	mtype place;
	mtype found;
	byte value;
	byte newest = 0;
	byte touches = 0;
	byte closes = 0;
	bool has_ended = false;
	do
	:: touches < 3 -> touch(); touches++
	:: !has_ended -> end_unit()
	:: closes < 2 && state == shared -> close(); closes++
	:: has_ended && visitors_left == 0 -> break
	od;
	atomic { empty_buffer() }
	assert(data == changes);
	assert(!is_in || is_told)
}

inline open()
{
	d_step {
	  is_first = (state == private);
	  if
	  :: is_first -> state = ending
	  :: else
	  fi
	}
	if
	:: is_first ->
	   if
	   :: state == seen
	   :: true ->                               /* it has waited long enough */
#ifndef NO_HEAVY_FENCE
	      atomic { empty_buffer() }
#endif
	      skip
	   fi;
#ifndef WAITS_FOR_NO_INSIDE
	   !inside;
#endif
	   state = shared
	:: else -> state == shared
	fi
}

proctype Visitor(bool waits)
{
	mtype place;
	byte value;
	byte count = 0;
	bool is_first;
	do
	:: count < 2 ->
	   count++;
	   visits++;
	   if
	   :: state != shared -> open()
	   :: else
	   fi;
	   d_step { data++; changes++ }
	   if
	   :: waits && count == 1 ->
#ifdef LETS_END_IF_NOBODY
	      !mark || word != 0;
#else
#ifndef LETS_NO_END
	      !mark || word == DONE_MARK;
#endif
#endif
	      d_step {
	        if
	        :: word == AT_FIRST -> word = WAITER; is_in = true
	        :: else
	        fi
	      }
	   :: else
	   fi;
	   visits--
	:: else -> break
	od;
	visitors_left--
}

init
{
	atomic {
	  run Visitor(true);
	  run Visitor(false)
	}
}
