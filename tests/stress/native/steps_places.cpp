// Pools and workers of an actor's own, which it gives up again: nothing may be left there.
#include "check.h"
#include "program.h"
#include "step.h"

#include <pthread.h>

namespace native {
namespace {

// A unit goes where workers are that nobody joins, so that the workers of two places never wait for each other.
void go_where_nobody_joins(Actor& actor) {
  if (actor.job == nullptr) return;
  OK(weft_unit_migrate(weft_unit_self(), program->pools[0]));
  OK(weft_yield());
}

std::vector<weft_pool*> make_pools(Random& random, unsigned count) {
  std::vector<weft_pool*> pools;
  for (unsigned i = 0; i < count; ++i) pools.push_back(make_pool(random, WEFT_MPMC));
  return pools;
}

// An actor beside the caller, whose units go there.
Actor there(Actor& actor, std::atomic<long>& detached, weft_pool* pool) {
  Actor other{actor.random.fork(), actor.ground, actor.job};
  other.ground.detached = &detached;
  other.ground.pool = pool;
  return other;
}

void close(Actor& actor, Place& place, const std::atomic<long>& detached) {
  wait_for_detached(detached);
  go_where_nobody_joins(actor);
  place.close();
}

}  // namespace

// Of a scheduler that does not know its pools, nobody waits for a unit that lies there at its end.
void open_place(Actor& actor) {
  std::atomic<long> detached{0};
  Place place(actor.random, make_pools(actor.random, actor.random.between(1, 3)), Scheduling::May::not_know_its_pools,
              actor.random.between(1, 2));
  Actor inside = there(actor, detached, actor.random.one_of(place.pools));
  inside.ground.stateless = place.scheduling.stateless;
  inside.ground.may_detach = place.scheduling.knows_pools;
  do_steps_here(inside, actor.random.between(1, 3));
  close(actor, place, detached);
}

namespace {

struct Private {
  weft_pool* pool;
  std::atomic<long>* detached;
};

void create_in_private(Actor& actor) {
  const auto& own = shared_of<Private>(actor);
  actor.ground.detached = own.detached;
  actor.ground.pool = own.pool;
  do_steps_here(actor, actor.random.between(1, 3));
}

}  // namespace

// A pool that one worker has to itself, and another one, by which a unit comes there that creates others in the first.
void open_private_place(Actor& actor) {
  std::atomic<long> detached{0};
  weft_pool* entrance = make_pool(actor.random, WEFT_MPMC);
  Private own{make_pool(actor.random, WEFT_PRIV), &detached};
  const bool own_first = actor.random.one_in(2);
  Place place(actor.random, own_first ? std::vector{own.pool, entrance} : std::vector{entrance, own.pool},
              Scheduling::May::be_stateful, 1);
  Actor inside = there(actor, detached, entrance);
  inside.ground.confined = true;
  inside.ground.stateless = place.scheduling.stateless;
  run_team(inside, {.body = create_in_private, .shared = &own, .waits = true, .parent_first = true}, 1);
  close(actor, place, detached);
}

// A root is the only producer; of pools with one consumer there is one worker.
void produce_alone(Actor& actor) {
  constexpr weft_access accesses[] = {WEFT_SPSC, WEFT_MPSC, WEFT_SPMC};
  const weft_access access = accesses[actor.random.below(3)];
  std::atomic<long> detached{0};
  Place place(actor.random, {make_pool(actor.random, access)}, Scheduling::May::be_stateful,
              access == WEFT_SPMC ? actor.random.between(1, 3) : 1);
  Actor producer = there(actor, detached, place.pools[0]);
  producer.ground.confined = true;
  producer.ground.stateless = place.scheduling.stateless;
  for (unsigned left = actor.random.between(1, 3); left > 0; --left) {
    Team team(producer, {.body = do_anything});
    producer.ground.may_create = access == WEFT_MPSC;
    actor.random.one_in(2) ? team.create(actor.random.between(1, 8)) : team.create_many(actor.random.between(1, 8));
    create_detached(producer, do_anything, actor.random.below(3));
    team.end();
  }
  close(actor, place, detached);
}

// The root's own worker has another scheduler for a while. Units without a pool may have come to its pools.
void change_scheduler(Actor& actor) {
  std::atomic<long> detached{0};
  const auto access = actor.random.one_in(2) ? WEFT_PRIV : WEFT_MPMC;
  std::vector<weft_pool*> pools{make_pool(actor.random, access)};
  if (actor.random.one_in(2)) pools.push_back(make_pool(actor.random, WEFT_MPMC));
  for (unsigned left = actor.random.between(1, 2); left > 0; --left) {
    const Scheduling scheduling(actor.random, pools, Scheduling::May::be_stateful);
    OK(weft_worker_set_scheduler(weft_worker_self(), scheduling.handle));
    Actor inside = there(actor, detached, pools[0]);
    inside.ground.confined = true;
    inside.ground.may_detach = false;
    inside.ground.stateless = scheduling.stateless;
    do_steps_here(inside, actor.random.between(1, 3));
    for (weft_pool* pool : pools)
      while (weft_pool_size(pool) > 0) OK(weft_sleep(20'000));
    OK(weft_worker_set_scheduler(weft_worker_self(), nullptr));
    scheduling.free();
  }
  for (weft_pool* pool : pools) OK(weft_pool_free(pool));
}

namespace {

void free_when_it_has_returned(const Scheduling& scheduling) {
  at("weft_scheduler_free()");
  int error = WEFT_ERR_STATE;
  while ((error = weft_scheduler_free(scheduling.handle)) == WEFT_ERR_STATE) OK(weft_sleep(50'000));
  expect("steps_places.cpp: weft_scheduler_free()", error, WEFT_OK);
}

}  // namespace

// A scheduler that is itself a unit: it runs its pools until they are empty, and is put there again for the rest.
void push_scheduler(Actor& actor) {
  std::atomic<long> detached{0};
  const std::vector<weft_pool*> pools = make_pools(actor.random, actor.random.between(1, 2));
  const Scheduling scheduling(actor.random, pools, Scheduling::May::be_stateful);
  Actor inside = there(actor, detached, pools[0]);
  inside.ground.stateless = scheduling.stateless;
  inside.ground.may_create = false;
  Team team(inside, {.body = do_anything});
  team.create(actor.random.between(1, 6));
  for (weft_unit* unit : team.units) {
    do OK(weft_scheduler_push(program->pools[0], scheduling.handle));
    while (!IN_TIME(150'000, weft_unit_timed_join(unit, 150'000)));
  }
  team.end();
  wait_for_detached(detached);
  free_when_it_has_returned(scheduling);
  for (weft_pool* pool : pools) OK(weft_pool_free(pool));
}

void pack_threads(Actor& actor) {
  std::atomic<long> detached{0};
  const std::vector<weft_pool*> pools = make_pools(actor.random, actor.random.between(2, 4));
  std::vector<weft_scheduler*> schedulers(pools.size());
  std::vector<weft_worker*> workers(pools.size());
  weft_packing* packing = nullptr;
  OK(weft_packing_create(pools.size(), pools.data(), schedulers.data(), &packing));
  for (size_t i = 0; i < pools.size(); ++i) OK(weft_worker_create(schedulers[i], &workers[i]));
  for (unsigned left = 3; left > 0; --left) {
    OK(weft_packing_set_active(packing, actor.random.between(1, static_cast<unsigned>(pools.size()))));
    Actor inside = there(actor, detached, actor.random.one_of(pools));
    do_steps_here(inside, 1);
  }
  wait_for_detached(detached);
  for (weft_worker* worker : workers) OK(weft_worker_join(worker));
  IS(weft_packing_free(packing), WEFT_ERR_STATE);
  for (weft_scheduler* scheduler : schedulers) OK(weft_scheduler_free(scheduler));
  OK(weft_packing_free(packing));
  for (weft_pool* pool : pools) OK(weft_pool_free(pool));
}

// For a place that has some: what lies at this one when it ends goes on elsewhere.
void add_worker(Actor& actor) {
  const Place& place = *actor.random.one_of(program->places);
  weft_worker* worker = nullptr;
  OK(weft_worker_create(place.scheduling.handle, &worker));
  if (actor.random.one_in(2)) OK(weft_worker_bind(worker, -1));
  do_steps_here(actor, actor.random.between(1, 2));
  OK(weft_worker_join(worker));
}

namespace {

struct Visit {
  Actor actor;
  weft_latch over = WEFT_LATCH_INIT(1);
};

void* visit(void* argument) {
  auto& [actor, over] = *static_cast<Visit*>(argument);
  do_steps(actor, 2);
  OK(weft_latch_count_down(&over, 1));
  return nullptr;
}

}  // namespace

// A thread that comes, and ends.
void start_root(Actor& actor) {
  Visit guest{{actor.random.fork(), actor.ground}};
  guest.actor.ground.leave_pool();
  ++guest.actor.ground.depth;
  pthread_t thread;
  SAME(pthread_create(&thread, nullptr, visit, &guest), 0);
  OK(weft_latch_wait(&guest.over));
  pthread_join(thread, nullptr);
}

}  // namespace native
