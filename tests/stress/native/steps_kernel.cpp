// Units that sleep in the kernel until another unit wakes them, or look in between whether it is their turn, and so
// must not keep their worker from it.
#include "check.h"
#include "files.h"
#include "step.h"

#include <weft/io.h>

#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>

namespace native {
namespace {

struct Sleeping {
  FilePair files;
  unsigned sleepers;
  bool says_so;  // to weft, by weft_blocking()
  std::atomic<unsigned> woken{0};
};

void read_byte(void* file) {
  pollfd one{*static_cast<int*>(file), POLLIN, 0};
  char byte = 0;
  while (read(one.fd, &byte, 1) != 1) {
    MUST(errno == EAGAIN || errno == EINTR);
    (void)poll(&one, 1, -1);
  }
}

void write_bytes(Actor& actor, const Sleeping& sleeping) {
  for (unsigned left = sleeping.sleepers; left > 0; --left) {
    dwell(actor);
    size_t count = 0;
    OK(weft_write(sleeping.files.writer, "x", 1, &count));
  }
}

void sleep_or_wake(Actor& actor) {
  auto& sleeping = shared_of<Sleeping>(actor);
  at("read()");
  if (actor.job->index == sleeping.sleepers) return write_bytes(actor, sleeping);
  if (sleeping.says_so)
    OK(weft_blocking(read_byte, &sleeping.files.reader));
  else
    read_byte(&sleeping.files.reader);
  sleeping.woken.fetch_add(1);
}

void sleep_until_woken(Actor& actor, bool says_so) {
  Sleeping sleeping{FilePair(actor.random), actor.random.between(1, 4), says_so};
  if (!sleeping.files.is_open()) return;
  Team team(actor, {.body = sleep_or_wake, .shared = &sleeping, .waits = true, .sleeps = !says_so});
  // Who does not say so is in one pool with the others, and of one priority (spin_together).
  const bool at_once = !says_so || actor.random.one_in(2);
  at_once ? team.create_many(sleeping.sleepers + 1) : team.create(sleeping.sleepers + 1);
  team.end();
  SAME(sleeping.woken.load(), sleeping.sleepers);
}

}  // namespace

void block_for_another(Actor& actor) { sleep_until_woken(actor, true); }

// They say nothing to weft: KLT-switching takes their worker away.
void sleep_for_another(Actor& actor) { sleep_until_woken(actor, false); }

namespace {

struct Polling {
  unsigned pollers;
  unsigned turns;
  std::atomic<unsigned> turn{0};
};

void pause_by(unsigned way) {
  switch (way) {
    case 0:
      usleep(1);
      return;
    case 1:
      usleep(200);
      return;
    case 2:
      sched_yield();
      return;
    case 3:
      OK(weft_yield());
      return;
    default:
      return;  // it spins
  }
}

void take_turns(Actor& actor) {
  auto& polling = shared_of<Polling>(actor);
  at("its turn");
  const unsigned way = actor.random.below(5);
  for (unsigned turn = actor.job->index; turn < polling.turns; turn += polling.pollers) {
    while (polling.turn.load() != turn) pause_by(way);
    polling.turn.fetch_add(1);
  }
}

}  // namespace

// Each has its own way to wait for its turn. All in the same pool, of the same priority (spin_together).
void poll_in_turn(Actor& actor) {
  const unsigned pollers = actor.random.between(2, 8);
  Polling polling{pollers, pollers * actor.random.between(1, 3)};
  Team team(actor, {.body = take_turns, .shared = &polling, .waits = true, .sleeps = true});
  team.create_many(pollers);
  team.end();
  SAME(polling.turn.load(), polling.turns);
}

}  // namespace native
