/* What a loop has in hand, and others take from it while it does not get on: src/core/hand.h.
 *
 * The loop starts the numbers 0..NUMBERS-1, and VISITORS look into its hand at any moment. The loop's stores go through
 * a store buffer, first in, first out, which a locked instruction of its own and a visitor's heavy fence empty; a
 * visitor's own stores lie between locked instructions, and nothing is read behind them, so for those there is none.
 *
 * Checked: each number is started once; no visitor looks at a hand whose loop has left it; everybody comes to an end.
 *
 * Wrong on purpose:
 *   NO_HEAVY_FENCE         the visitor goes on with what it sees
 *   TAKES_WITHOUT_A_LOOK   the loop does not look for visitors when it has noted what it takes
 *   LOOKS_AT_THE_END_ONCE  nor at the end of the hand, which it has seen before
 *   LEAVES_WITHOUT_A_LOOK  it does not look for visitors when it has taken the hand off the list
 *   LOCKS_AND_TAKES        where it has seen a visitor it waits for the lock, and does not look whose the number is
 */
#define NUMBERS 3
#define VISITORS 2

byte next = 0, end = NUMBERS;
bool listed = false, visited = false, locked = false;
bool exists = true;

bool next_buffered = false, list_buffered = false;   /* at most one store of each lies there */
byte next_value;
bool list_value;
bool next_is_first;

byte started[NUMBERS];
byte through = 0;

inline flush_next() { next = next_value; next_buffered = false }
inline flush_list() { listed = list_value; list_buffered = false }
inline flush_one()
{
	if
	:: next_buffered && (next_is_first || !list_buffered) -> flush_next()
	:: list_buffered && (!next_is_first || !next_buffered) -> flush_list()
	fi
}
inline flush_all() { do :: next_buffered || list_buffered -> flush_one() :: else -> break od }

inline store_next(value)
{
	atomic {
		do :: next_buffered -> flush_one() :: else -> break od;
		next_value = value; next_buffered = true; next_is_first = !list_buffered
	}
}
inline store_list(value)
{
	atomic {
		do :: list_buffered -> flush_one() :: else -> break od;
		list_value = value; list_buffered = true; next_is_first = next_buffered
	}
}

inline start(number) { atomic { assert(started[number] == 0); started[number]++ } }

active proctype buffer()
{
	do
	:: atomic { next_buffered || list_buffered -> flush_one() }
	:: atomic { through == VISITORS + 1 && !next_buffered && !list_buffered -> break }
	od
}

active proctype loop()
{
	byte number = 0;
	bool sees_visitor;
	bool is_mine;

	store_list(true);
	do
	:: number == end -> break
	:: else ->
	   store_next(number + 1);
#ifdef TAKES_WITHOUT_A_LOOK
	   sees_visitor = false;
#else
	   sees_visitor = visited;
#endif
#ifdef LOOKS_AT_THE_END_ONCE
	   is_mine = true;
#else
	   is_mine = number < end;
#endif
	   if
	   :: sees_visitor || !is_mine ->
	      atomic { !locked -> locked = true; flush_all() }
#ifdef LOCKS_AND_TAKES
	      is_mine = true;
#else
	      is_mine = number < end;
#endif
	      locked = false
	   :: else
	   fi;
	   if
	   :: is_mine -> start(number); number++
	   :: else -> store_next(end); break
	   fi
	od;

	store_list(false);
#ifndef LEAVES_WITHOUT_A_LOOK
	if
	:: visited -> atomic { !locked -> locked = true; flush_all() }; locked = false
	:: else
	fi;
#endif
	exists = false;
	through++
}

active [VISITORS] proctype visitor()
{
	byte first = NUMBERS, last = NUMBERS;

	atomic { !locked -> locked = true }
	visited = true;
#ifndef NO_HEAVY_FENCE
	atomic { flush_all() }
#endif
	if
	:: listed ->
	   assert(exists);
	   first = next;
	   assert(exists);
	   last = end;
	   if
	   :: first < last -> assert(exists); end = first
	   :: else -> first = last
	   fi
	:: else
	fi;
	visited = false;
	locked = false;
	do
	:: first < last -> start(first); first++
	:: else -> break
	od;
	through++
}

active proctype check()
{
	byte number = 0;
	through == VISITORS + 1;
	do
	:: number < NUMBERS -> assert(started[number] == 1); number++
	:: else -> break
	od
}
