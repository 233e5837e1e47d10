// Units that an actor creates.
#include "check.h"
#include "program.h"
#include "step.h"

namespace native {
namespace {

// The unit may be elsewhere, or have begun: then nothing has happened.
void yield_to_any(Actor& actor, const Team& team) {
  weft_unit* unit = actor.random.one_of(team.units);
  at("weft_yield_to()");
  const int error = weft_yield_to(unit);
  MUST(error == WEFT_ERR_STATE || (error == WEFT_OK && actor.job != nullptr));
}

}  // namespace

void create_units(Actor& actor) {
  Team team(actor, {.body = do_anything});
  const unsigned count = actor.random.between(1, 6);
  if (actor.random.one_in(3)) team.create_many(count);
  if (team.units.empty() || actor.random.one_in(3)) team.create(count);
  if (actor.random.one_in(3)) yield_to_any(actor, team);
  team.join();
  team.check();
  if (actor.random.one_in(3)) {
    for (unsigned left = actor.random.between(1, 3); left > 0; --left) {
      team.revive();
      team.join();
      team.check();
    }
  }
  team.free();
}

void create_unjoined(Actor& actor) {
  if (actor.ground.may_detach) create_detached(actor, do_anything, actor.random.between(1, 4));
}

namespace {

// Stackless ones come to an end by themselves: one that does not would keep its worker from whoever cancels it.
void go_on_until_cancelled(Actor& actor) {
  const bool endless = shared_of<bool>(actor) && actor.waits;
  for (unsigned i = 0; endless || i < 20; ++i) {
    if (actor.waits) OK(weft_sleep(actor.random.below(20'000)));
    if (actor.random.one_in(4)) use_key(actor);
    if (actor.waits && actor.random.one_in(2))
      OK(weft_yield());
    else
      weft_cancel_point();
  }
}

void check_cancelled(const Job& job, weft_unit* unit, bool cancelled) {
  SAME(weft_unit_state(unit), WEFT_DONE);
  MUST(job.starts.load() <= 1 && job.ends.load() <= job.starts.load());
  if (!cancelled) SAME(job.ends.load(), 1);
  SAME(job.values.load(), 0);
}

}  // namespace

void cancel_units(Actor& actor) {
  bool endless = actor.random.one_in(2);
  Team team(actor, {.body = go_on_until_cancelled, .shared = &endless});
  team.create(actor.random.between(1, 4));
  std::vector<bool> cancelled;
  for (weft_unit* unit : team.units) {
    dwell(actor);
    cancelled.push_back(endless || !actor.random.one_in(4));
    if (cancelled.back()) OK(weft_unit_cancel(unit));
  }
  team.join();
  for (size_t i = 0; i < team.units.size(); ++i) {
    check_cancelled(*team.jobs[i], team.units[i], cancelled[i]);
    program->created.fetch_sub(1 - team.jobs[i]->ends.load());
  }
  team.free();
}

namespace {

struct Spinning {
  unsigned count;
  std::atomic<unsigned> arrived{0};
};

void spin_for_others(Actor& actor) {
  auto& spinning = shared_of<Spinning>(actor);
  spinning.arrived.fetch_add(1);
  while (spinning.arrived.load() < spinning.count) {
  }
}

}  // namespace

// They are preempted, and each of them goes behind the others: all in the same pool, of the same priority.
void spin_together(Actor& actor) {
  Spinning spinning{actor.random.between(2, 4)};
  Team team(actor, {.body = spin_for_others, .shared = &spinning, .waits = true, .spins = true});
  team.create_many(spinning.count);
  team.end();
}

namespace {

void count_in(Actor& actor) { shared_of<std::atomic<unsigned>>(actor).fetch_add(1); }

}  // namespace

// A pool that no worker has: what was put there comes out again, once, and runs when it is put elsewhere.
void drain_pool(Actor& actor) {
  const auto access = actor.job == nullptr ? static_cast<weft_access>(actor.random.below(5)) : WEFT_MPMC;
  weft_pool* pool = make_pool(actor.random, access);
  weft_pool* elsewhere = actor.random.one_of(program->pools);
  const unsigned count = actor.random.between(1, 20);
  std::atomic<unsigned> counted{0};
  Actor creator{actor.random.fork(), actor.ground};
  creator.ground.pool = pool;
  creator.ground.confined = true;
  Team team(creator, {.body = count_in, .shared = &counted, .parent_first = true, .stays = true});
  actor.random.one_in(2) ? team.create_many(count) : team.create(count);
  SAME(weft_pool_size(pool), count);
  IS(weft_pool_free(pool), WEFT_ERR_STATE);
  std::vector<weft_unit*> popped(count);
  size_t first = 0;
  if (actor.random.one_in(2)) OK(weft_pool_pop_many(pool, count / 2 + 1, popped.data(), &first));
  for (size_t i = first; i < count; ++i) OK(weft_pool_pop(pool, &popped[i]));
  weft_unit* none = nullptr;
  IS(weft_pool_pop(pool, &none), WEFT_ERR_EMPTY);
  SAME(counted.load(), 0);
  OK(weft_pool_push_many(elsewhere, count, popped.data()));
  team.join();
  team.check();
  SAME(counted.load(), count);
  team.free();
  OK(weft_pool_free(pool));
}

}  // namespace native
