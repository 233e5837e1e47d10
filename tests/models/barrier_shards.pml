/* The tokens of a barrier with shards: src/core/sync/barrier.cpp, from count_arrival() to release().
 *
 * USERS come to a barrier of PARTIES again and again, each PASSES times and from either shard, since units move. One
 * of them may give up, once; one arrives only if it is the last. Who waits is not modelled but for the round that it
 * waits for the end of.
 *
 * Checked: who unlocks holds the lock; a round is released once, and then as many have arrived as there are parties,
 * and no token is left; when nothing moves any more, fewer wait than there are parties, and nobody waits for tokens.
 *
 * Wrong on purpose:
 *   LOOKS_UNLOCKED       one that has moved no token looks once more with no lock in its hand (as it was)
 *   TAKES_BACK_BLINDLY   one that gives up puts its token back though the last has just been taken
 *   LAST_BY_TOKENS       one that arrives only as the last does so though somebody puts a token back
 *   FORGETS_A_SHARD      who releases a round deals out tokens to a shard that nobody knows of
 */
#ifndef USERS
#define USERS 3
#endif
#ifndef PARTIES
#define PARTIES 2
#endif
#ifndef PASSES
#define PASSES 2
#endif
#define SHARDS 2
#define NOBODY 255

byte lock[SHARDS] = NOBODY;      /* by whom it is held */
byte tokens[SHARDS];
byte arrived[SHARDS];            /* in this round */
bool used[SHARDS];               /* under `moving` */
byte moving = NOBODY;
byte left = 1;                   /* how many shards have tokens */
byte round = 0;
byte waiting = 0;
bool releasing = false;

inline acquire(what)
{
	atomic { what == NOBODY -> what = _pid }
}

inline release_lock(what)
{
	atomic { assert(what == _pid); what = NOBODY }
}

/* Half of the tokens of the other shard come to this one. */
inline move_tokens(to)
{
	if
	:: used[1 - to] ->
	   acquire(lock[1 - to]);
	   if
	   :: tokens[1 - to] != 0 ->
	      left++;
	      d_step { tokens[to] = (tokens[1 - to] + 1) / 2; tokens[1 - to] = tokens[1 - to] - tokens[to] };
	      if
	      :: tokens[1 - to] == 0 -> left--
	      :: else
	      fi;
	   :: else
	   fi;
	   release_lock(lock[1 - to])
	:: else
	fi
}

/* The lock of the shard is held afterwards. */
inline count_arrival(here)
{
	acquire(lock[here]);
	do
	:: tokens[here] != 0 -> break
	:: else ->
	   release_lock(lock[here]);
	   left != 0;
	   acquire(moving);
	   used[here] = true;
	   acquire(lock[here]);
	   if
	   :: tokens[here] == 0 -> move_tokens(here)
	   :: else
	   fi;
#ifdef LOOKS_UNLOCKED
	   if
	   :: tokens[here] != 0 -> release_lock(moving); break
	   :: else -> release_lock(lock[here])
	   fi;
#endif
	   release_lock(moving)
	od;
	arrived[here]++;
	tokens[here]--;
	if
	:: tokens[here] == 0 -> atomic { left--; last = left == 0 }
	:: else
	fi
}

inline take_last_token_of(shard)
{
	if
	:: used[shard] && !last ->
	   acquire(lock[shard]);
	   if
	   :: tokens[shard] == 1 ->
#ifdef LAST_BY_TOKENS
	      atomic { left--; last = true };
#else
	      atomic {
	        if
	        :: left == 1 -> left = 0; last = true
	        :: else
	        fi
	      }
#endif
	      if
	      :: last -> tokens[shard] = 0; arrived[shard]++
	      :: else
	      fi
	   :: else
	   fi;
	   release_lock(lock[shard])
	:: else
	fi
}

inline take_last_token()
{
	acquire(moving);
	if
	:: left == 1 -> take_last_token_of(0); take_last_token_of(1)
	:: else
	fi;
	release_lock(moving)
}

inline deal_out(shard)
{
	if
	:: used[shard] ->
	   acquire(lock[shard]);
	   d_step {
	     sum = sum + arrived[shard];
	     tokens[shard] = arrived[shard];
	     arrived[shard] = 0;
	     dealt = dealt + (tokens[shard] != 0)
	   }
	:: else
	fi
}

inline let_in(shard)
{
	if
	:: used[shard] -> release_lock(lock[shard])
	:: else
	fi
}

/* All go on where the last one is, or each where it was. */
inline release_round(here)
{
	atomic { assert(!releasing); releasing = true };
	acquire(moving);
#ifndef FORGETS_A_SHARD
	used[here] = true;
#endif
	d_step { sum = 0; dealt = 0 };
	deal_out(0);
	deal_out(1);
	d_step {
	  assert(sum == PARTIES);
	  assert(left == 0);
	  assert(arrived[0] + arrived[1] == 0)
	};
	if
	:: d_step { tokens[0] = 0; tokens[1] = 0; tokens[here] = PARTIES; dealt = 1 }
	:: skip
	fi;
	d_step { round++; waiting = 0; releasing = false };
	left = dealt;
	d_step { sum = 0; dealt = 0 };
	let_in(0);
	let_in(1);
	release_lock(moving)
}

/* True: not counted any more. */
inline take_back_from(here)
{
	acquire(lock[here]);
	back = round == before;
	if
	:: back && tokens[here] == 0 ->
#ifdef TAKES_BACK_BLINDLY
	   left++
#else
	   atomic {
	     if
	     :: left == 0 -> back = false
	     :: else -> left++
	     fi
	   }
#endif
	:: else
	fi;
	if
	:: back -> d_step { tokens[here]++; arrived[here]--; waiting-- }
	:: else
	fi;
	release_lock(lock[here])
}

proctype User(bool hurries)
{
	byte passes, here, before, sum, dealt;
	bool last, back;
	do
	:: passes == PASSES -> break
	:: passes < PASSES ->
	   if
	   :: here = 0
	   :: here = 1
	   fi;
	   count_arrival(here);
	   atomic { before = round; waiting = waiting + !last };
	   release_lock(lock[here]);
	   if
	   :: last -> release_round(here)
	   :: else ->
	      if
	      :: hurries -> hurries = false; take_back_from(here)
	      :: skip
	      fi;
end:
	      (back || round != before)
	   fi;
	   d_step { passes++; last = false; back = false; before = 0; here = 0 }
	od
}

proctype Trier()
{
	byte sum, dealt;
	bool last;
	take_last_token();
	if
	:: last -> release_round(1)
	:: else
	fi
}

init
{
	atomic {
	  used[0] = true;
	  tokens[0] = PARTIES;
	  byte user = 0;
	  do
	  :: user < USERS -> run User(user == 0); user++
	  :: else -> break
	  od;
	  run Trier()
	}
	timeout -> assert(waiting < PARTIES)
}
