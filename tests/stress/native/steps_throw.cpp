// Exceptions: units wait while they handle one, and in destructors that one calls, by weft.hpp; and each finds its own
// again, on whichever thread it goes on.
#include "check.h"
#include "step.h"

#include <weft/weft.hpp>

#include <chrono>
#include <exception>

namespace native {
namespace {

struct Thrown {
  std::uint64_t mark;
};

void wait_a_little(Actor& actor) {
  if (!actor.waits) return;
  switch (actor.random.below(3)) {
    case 0:
      return weft::this_unit::yield();
    case 1:
      return weft::this_unit::sleep_for(std::chrono::nanoseconds(actor.random.below(50'000)));
    default:
      return;
  }
}

// Of a frame that an exception leaves.
class WaitsAtItsEnd {
 public:
  WaitsAtItsEnd(Actor& actor, unsigned& ended) : actor_(actor), ended_(ended), uncaught_(std::uncaught_exceptions()) {}
  ~WaitsAtItsEnd() {
    wait_a_little(actor_);
    SAME(std::uncaught_exceptions(), uncaught_ + 1);
    ++ended_;
  }
  WaitsAtItsEnd(const WaitsAtItsEnd&) = delete;
  WaitsAtItsEnd& operator=(const WaitsAtItsEnd&) = delete;

 private:
  Actor& actor_;
  unsigned& ended_;
  int uncaught_;
};

[[gnu::noinline]] void throw_through(Actor& actor, unsigned frames, unsigned& ended, std::uint64_t mark) {
  if (frames == 0) throw Thrown{mark};
  const WaitsAtItsEnd waits(actor, ended);
  throw_through(actor, frames - 1, ended, mark);
}

[[gnu::noinline]] bool is_handled(std::uint64_t mark) {
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const Thrown& thrown) {
    return thrown.mark == mark;
  }
}

void throw_and_catch(Actor& actor, unsigned depth) {
  const std::uint64_t mark = actor.random.next();
  const unsigned frames = actor.random.below(5);
  unsigned ended = 0;
  try {
    throw_through(actor, frames, ended, mark);
    fail("steps_throw.cpp: nothing was thrown", 0, 0);
  } catch (const Thrown& thrown) {
    SAME(ended, frames);
    wait_a_little(actor);
    if (depth > 0) throw_and_catch(actor, depth - 1);
    wait_a_little(actor);
    MUST(thrown.mark == mark && is_handled(mark));
  }
}

// A unit that nobody knows but its creator, and that hands on what it has thrown, or what it returns.
weft::Unit<std::uint64_t> spawn_one(Actor& actor, std::uint64_t mark) {
  weft::Attributes attributes;
  attributes.pool = actor.ground.pool;
  attributes.technique = actor.random.one_in(2) ? WEFT_ROC_L : WEFT_FULL;
  attributes.name = "steps_throw.cpp: spawn()";
  attributes.preemption = WEFT_PREEMPT_NONE;
  return weft::spawn(attributes, [mark, random = actor.random.fork()]() mutable {
    weft::this_unit::sleep_for(std::chrono::nanoseconds(random.below(50'000)));
    if (random.one_in(2)) throw Thrown{mark};
    return mark;
  });
}

void join_in_handler(Actor& actor) {
  const std::uint64_t mark = actor.random.next();
  const std::uint64_t other = actor.random.next();
  try {
    throw Thrown{mark};
  } catch (const Thrown& thrown) {
    weft::Unit<std::uint64_t> unit = spawn_one(actor, other);
    try {
      MUST(unit.join() == other);
    } catch (const Thrown& thrown_there) {
      wait_a_little(actor);
      MUST(thrown_there.mark == other && is_handled(other));
    }
    MUST(thrown.mark == mark && is_handled(mark));
  }
}

void throw_several(Actor& actor) {
  for (unsigned left = actor.random.between(1, 3); left > 0; --left) {
    throw_and_catch(actor, actor.random.below(3));
    if (actor.waits && actor.random.one_in(2)) join_in_handler(actor);
  }
  SAME(std::uncaught_exceptions(), 0);
  MUST(std::current_exception() == nullptr);
}

}  // namespace

void throw_exceptions(Actor& actor) {
  run_team(actor, {.body = throw_several, .throws = true}, actor.random.between(1, 5));
}

}  // namespace native
