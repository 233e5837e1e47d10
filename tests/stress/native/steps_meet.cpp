// Units that wait for each other. What one of them writes before it is waited for is plain memory, and the others read
// it.
#include "check.h"
#include "step.h"

#include <array>

namespace native {
namespace {

struct Meeting {
  weft_barrier barrier;
  unsigned parties;
  unsigned rounds;
  std::vector<unsigned> arrivals;  // of each round, one for each party
  std::atomic<unsigned> lasts{0};
};

int pass_barrier(Actor& actor, weft_barrier* barrier) {
  int last = -1;
  std::uint64_t limit = actor.random.below(50'000);
  if (actor.random.one_in(4))
    while (!IN_TIME(limit, weft_barrier_timed_wait(barrier, limit, &last))) limit = 2 * limit + 1000;
  else
    OK(weft_barrier_wait(barrier, &last));
  return last;
}

void come_to_meeting(Actor& actor) {
  auto& meeting = shared_of<Meeting>(actor);
  for (unsigned round = 0; round < meeting.rounds; ++round) {
    unsigned* arrivals = &meeting.arrivals[round * meeting.parties];
    arrivals[actor.job->index] = round + 1;
    const int last = pass_barrier(actor, &meeting.barrier);
    for (unsigned party = 0; party < meeting.parties; ++party) SAME(arrivals[party], round + 1);
    MUST(last == 0 || last == 1);
    meeting.lasts.fetch_add(static_cast<unsigned>(last));
    if (actor.random.one_in(3)) dwell(actor);
  }
}

}  // namespace

void meet_at_barrier(Actor& actor) {
  Meeting meeting{{}, actor.random.between(2, 9), actor.random.between(1, 5), {}};
  meeting.arrivals.resize(size_t{meeting.parties} * meeting.rounds);
  OK(weft_barrier_init(&meeting.barrier, meeting.parties));
  run_team(actor, {.body = come_to_meeting, .shared = &meeting, .waits = true}, meeting.parties);
  SAME(meeting.lasts.load(), meeting.rounds);
  OK(weft_barrier_destroy(&meeting.barrier));
}

namespace {

struct Buffer {
  unsigned items;  // of each producer, and of each consumer
  unsigned capacity;
  weft_mutex mutex;
  weft_cond not_full = WEFT_COND_INIT;
  weft_cond not_empty = WEFT_COND_INIT;
  unsigned count = 0;
  unsigned passed = 0;
};

void wait_on(Actor& actor, weft_cond* condition, weft_mutex* mutex) {
  const std::uint64_t limit = actor.random.below(100'000);
  if (actor.random.one_in(2))
    OK(weft_cond_wait(condition, mutex));
  else
    (void)IN_TIME(limit, weft_cond_timed_wait(condition, mutex, limit));
}

void pass_items(Actor& actor) {
  auto& buffer = shared_of<Buffer>(actor);
  const bool produces = actor.job->index % 2 == 0;
  weft_cond* own = produces ? &buffer.not_full : &buffer.not_empty;
  weft_cond* others = produces ? &buffer.not_empty : &buffer.not_full;
  for (unsigned i = 0; i < buffer.items; ++i) {
    OK(weft_mutex_lock(&buffer.mutex));
    while (buffer.count == (produces ? buffer.capacity : 0)) wait_on(actor, own, &buffer.mutex);
    buffer.count += produces ? 1U : ~0U;
    buffer.passed += produces ? 0 : 1;
    MUST(buffer.count <= buffer.capacity);
    const bool early = actor.random.one_in(2);
    if (early) OK(weft_cond_broadcast(others));
    OK(weft_mutex_unlock(&buffer.mutex));
    if (!early) OK(weft_cond_signal(others));
  }
}

}  // namespace

void pass_through_buffer(Actor& actor) {
  Buffer buffer{actor.random.between(1, 20), actor.random.between(1, 3), {}};
  const unsigned pairs = actor.random.between(1, 3);
  OK(weft_mutex_init(&buffer.mutex, actor.random.below(4)));
  run_team(actor, {.body = pass_items, .shared = &buffer, .waits = true}, 2 * pairs);
  SAME(buffer.count, 0);
  SAME(buffer.passed, pairs * buffer.items);
  OK(weft_cond_destroy(&buffer.not_full));
  OK(weft_cond_destroy(&buffer.not_empty));
  OK(weft_mutex_destroy(&buffer.mutex));
}

namespace {

// Each object is set once. The first four of the team set them, and the others wait.
struct Once {
  static constexpr unsigned setters = 4;
  static constexpr std::uint32_t permits = 10;
  unsigned written[setters] = {};  // by each, before it sets anything
  void* values[setters] = {};
  unsigned value = 0;
  weft_flag flag = WEFT_FLAG_INIT;
  weft_eventual eventual = WEFT_EVENTUAL_INIT_BUFFER(&value, sizeof value);
  weft_future future = WEFT_FUTURE_INIT(setters, values, see_values, this);
  weft_latch latch = WEFT_LATCH_INIT(setters);
  weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(0);
  unsigned callbacks = 0;
  std::atomic<std::uint32_t> taken{0};

  static void see_values(void** values, uint32_t count, void* once) {
    SAME(count, setters);
    for (uint32_t i = 0; i < count; ++i) MUST(values[i] != nullptr);
    ++static_cast<Once*>(once)->callbacks;
  }
};

void set_once(Actor& actor, Once& once) {
  const unsigned index = actor.job->index;
  dwell(actor);
  once.written[index] = index + 1;
  OK(weft_future_set(&once.future, &once.written[index]));
  OK(weft_latch_count_down(&once.latch, 1));
  OK(weft_semaphore_release(&once.semaphore, index + 1));
  if (index == 1) OK(weft_flag_set(&once.flag));
  const unsigned value = 4321;
  if (index == 2) OK(weft_eventual_set(&once.eventual, &value, sizeof value));
}

void see_all(const Once& once) {
  for (unsigned i = 0; i < Once::setters; ++i) SAME(once.written[i], i + 1);
}

bool has_happened(const weft_event& event, Once& once) {
  switch (event.kind) {
    case WEFT_EVENT_FLAG:
      return weft_flag_test(&once.flag) == WEFT_OK;
    case WEFT_EVENT_EVENTUAL:
      return weft_eventual_test(&once.eventual, nullptr, nullptr) == WEFT_OK;
    case WEFT_EVENT_FUTURE:
      return weft_future_test(&once.future) == WEFT_OK;
    case WEFT_EVENT_LATCH:
      return weft_latch_test(&once.latch) == WEFT_OK;
    default:
      return false;  // another may take the permit
  }
}

// More than 8 events too, and the same one several times.
void select_once(Actor& actor, Once& once, std::uint64_t limit) {
  void* objects[] = {&once.flag, &once.eventual, &once.future, &once.latch, &once.semaphore};
  std::array<weft_event, 10> events;
  const size_t count = actor.random.between(1, events.size());
  for (size_t i = 0; i < count; ++i) {
    const unsigned kind = actor.random.below(i + 1 == count ? 5 : 4);
    events[i] = {static_cast<weft_event_kind>(kind), objects[kind]};
  }
  size_t ready = 0;
  while (ready < count && !has_happened(events[ready], once)) ++ready;
  size_t which = count;
  if (!IN_TIME(limit, weft_select(count, events.data(), limit, &which))) {
    SAME(which, count);
    SAME(ready, count);
    return;
  }
  MUST(which < count && which <= ready);
  if (events[which].kind == WEFT_EVENT_SEMAPHORE)
    once.taken.fetch_add(1);
  else
    MUST(has_happened(events[which], once));
}

void wait_once(Actor& actor, Once& once, std::uint64_t limit) {
  void* value = nullptr;
  size_t size = 0;
  switch (actor.random.below(5)) {
    case 0:
      if (IN_TIME(limit, weft_flag_timed_wait(&once.flag, limit))) SAME(once.written[1], 2);
      return;
    case 1:
      if (!IN_TIME(limit, weft_eventual_timed_wait(&once.eventual, limit, &value, &size))) return;
      MUST(value == &once.value && size == sizeof once.value && once.value == 4321);
      SAME(once.written[2], 3);
      return;
    case 2:
      if (!IN_TIME(limit, weft_future_timed_wait(&once.future, limit))) return;
      SAME(once.callbacks, 1);
      for (void* written : once.values) MUST(written != nullptr);
      return see_all(once);
    case 3:
      if (IN_TIME(limit, weft_latch_timed_wait(&once.latch, limit))) see_all(once);
      return;
    default:
      return select_once(actor, once, limit);
  }
}

void set_or_wait(Actor& actor) {
  auto& once = shared_of<Once>(actor);
  if (actor.job->index < Once::setters) return set_once(actor, once);
  for (unsigned i = 0; i < 4; ++i)
    wait_once(actor, once, actor.random.one_in(2) ? WEFT_FOREVER : actor.random.below(100'000));
}

}  // namespace

// A semaphore of 10 permits could keep the last waiter of many for ever; there are no more than 5, each with 2 at most.
void wait_for_once(Actor& actor) {
  Once once;
  run_team(actor, {.body = set_or_wait, .shared = &once, .waits = true}, Once::setters + actor.random.between(1, 2));
  std::uint32_t permits = 0;
  OK(weft_semaphore_count(&once.semaphore, &permits));
  SAME(permits + once.taken.load(), Once::permits);
  SAME(once.callbacks, 1);
  see_all(once);
  IS(weft_future_set(&once.future, &once), WEFT_ERR_STATE);
  IS(weft_eventual_set(&once.eventual, &once, 1), WEFT_ERR_STATE);
  IS(weft_latch_count_down(&once.latch, 1), WEFT_ERR_STATE);
  OK(weft_flag_destroy(&once.flag));
  OK(weft_eventual_destroy(&once.eventual));
  OK(weft_future_destroy(&once.future));
  OK(weft_latch_destroy(&once.latch));
  OK(weft_semaphore_destroy(&once.semaphore));
}

namespace {

struct Ring {
  unsigned rounds;
  const std::vector<weft_unit*>* units = nullptr;
  weft_latch complete = WEFT_LATCH_INIT(1);
  unsigned token = 0;  // of whoever has been resumed
};

void pass_token(Actor& actor) {
  auto& ring = shared_of<Ring>(actor);
  OK(weft_latch_wait(&ring.complete));
  const auto size = static_cast<unsigned>(ring.units->size());
  for (unsigned round = 0; round < ring.rounds; ++round) {
    if (actor.random.one_in(4)) dwell(actor);
    OK(weft_suspend());
    SAME(ring.token, round * size + actor.job->index);
    if (++ring.token == size * ring.rounds) return;
    weft_unit* next = (*ring.units)[(actor.job->index + 1) % size];
    if (actor.random.one_in(2))
      OK(weft_resume(next));
    else
      OK(weft_resume_to(next));
  }
}

}  // namespace

// Each suspends until the one before it resumes it, which may come first.
void resume_in_ring(Actor& actor) {
  Ring ring{actor.random.between(1, 10)};
  Team team(actor, {.body = pass_token, .shared = &ring, .waits = true});
  ring.units = &team.units;
  team.create(actor.random.between(2, 6));
  OK(weft_latch_count_down(&ring.complete, 1));
  OK(weft_resume(team.units[0]));
  const auto size = static_cast<unsigned>(team.units.size());
  team.end();
  SAME(ring.token, size * ring.rounds);
}

namespace {

struct Joined {
  weft_unit* unit;
  const Job* job;
};

void join_other(Actor& actor) {
  const auto& joined = shared_of<Joined>(actor);
  const std::uint64_t limit = actor.random.below(100'000);
  if (actor.random.one_in(2))
    OK(weft_unit_join(joined.unit));
  else
    join_in_time(joined.unit, limit);
  SAME(joined.job->ends.load(), 1);
  MUST(joined.job->left != 0);
}

}  // namespace

// Any number may join the same unit, and each sees what that has left.
void join_one(Actor& actor) {
  Team one(actor, {.body = do_anything});
  one.create(1);
  Joined joined{one.units[0], one.jobs[0].get()};
  run_team(actor, {.body = join_other, .shared = &joined, .waits = true}, actor.random.between(1, 5));
  one.end();
}

}  // namespace native
