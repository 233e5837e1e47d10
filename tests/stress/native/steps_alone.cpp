// What an actor does by itself, and with what all share.
#include "check.h"
#include "program.h"
#include "step.h"

#include <unistd.h>

#include <algorithm>

namespace native {
namespace {

void compute_for(std::uint64_t nanoseconds) {
  const std::uint64_t end = now() + nanoseconds;
  while (now() < end) {
  }
}

void sleep_in_the_kernel(void* microseconds) { usleep(*static_cast<useconds_t*>(microseconds)); }

void compute_undisturbed(Actor& actor) {
  OK(weft_preempt_disable());
  compute_for(actor.random.below(200'000));
  if (actor.waits) OK(weft_yield());
  OK(weft_preempt_enable());
}

}  // namespace

// Mostly short, and sometimes longer than a slice.
void compute(Actor& actor) { compute_for(actor.random.one_in(8) ? 3'000'000 : actor.random.below(60'000)); }

void yield(Actor& actor) {
  for (unsigned left = actor.random.below(4); left > 0; --left)
    IS(weft_yield(), actor.waits ? WEFT_OK : WEFT_ERR_STACKLESS);
}

void sleep(Actor& actor) {
  const std::uint64_t time = actor.random.below(300'000);
  const std::uint64_t start = now();
  IS(weft_sleep(time), actor.waits ? WEFT_OK : WEFT_ERR_STACKLESS);
  if (actor.waits) MUST(now() - start >= time);
}

void block(Actor& actor) {
  useconds_t time = actor.random.below(300);
  OK(weft_blocking(sleep_in_the_kernel, &time));
}

void dwell(Actor& actor) {
  switch (actor.random.below(8)) {
    case 0:
      return yield(actor);
    case 1:
      if (actor.waits) OK(weft_sleep(actor.random.below(50'000)));
      return;
    case 2:
      return block(actor);
    case 3:
      return compute_for(actor.random.below(30'000));
    case 4:
      return compute_undisturbed(actor);
    case 5:
      return use_file(actor);
    default:
      return;
  }
}

namespace {

// In a child the parent's pools are among them, whose locks may have been taken when it forked.
void look_at_pools() {
  weft_pool_info pools[16];
  const size_t count = weft_pools(pools, 16);
  for (size_t i = 0; i < std::min<size_t>(count, 16); ++i) MUST(pools[i].pool != nullptr);
}

}  // namespace

// What the queries show is of the past; but it makes sense.
void look(Actor& actor) {
  weft_unit_info units[32];
  const size_t unit_count = weft_units(units, 32);
  if (actor.job != nullptr) MUST(unit_count >= 1);
  for (size_t i = 0; i < std::min<size_t>(unit_count, 32); ++i) MUST(units[i].state != WEFT_DONE);
  if (!program->is_child) look_at_pools();
  weft_worker_info workers[64];
  const size_t worker_count = std::min<size_t>(weft_workers(workers, 64), 64);
  for (size_t i = 1; i < worker_count; ++i) MUST(workers[i].index > workers[i - 1].index);
}

void be_switched_off(Actor& actor) {
  OK(weft_workers_set_active(actor.random.between(1, weft_worker_count())));
  MUST(weft_workers_active() >= 1 && weft_workers_active() <= weft_worker_count());
}

namespace {

// Without waiting, within a limit of time, or however long it takes.
template <class Object>
bool take(Actor& actor, Object* object, int (*attempt)(Object*), int (*timed)(Object*, std::uint64_t),
          int (*wait)(Object*)) {
  const std::uint64_t limit = actor.random.below(100'000);
  const unsigned how = actor.random.below(3);
  if (how == 0 || !actor.waits) {
    const int error = attempt(object);
    MUST(error == WEFT_OK || error == WEFT_ERR_BUSY || error == WEFT_ERR_EMPTY);
    return error == WEFT_OK;
  }
  if (how == 1) return IN_TIME(limit, timed(object, limit));
  OK(wait(object));
  return true;
}

bool lock(Actor& actor, weft_mutex* mutex) {
  return take(actor, mutex, weft_mutex_try_lock, weft_mutex_timed_lock, weft_mutex_lock);
}

bool lock_to_read(Actor& actor, weft_rwlock* rwlock) {
  return take(actor, rwlock, weft_rwlock_try_read_lock, weft_rwlock_timed_read_lock, weft_rwlock_read_lock);
}

bool lock_to_write(Actor& actor, weft_rwlock* rwlock) {
  return take(actor, rwlock, weft_rwlock_try_write_lock, weft_rwlock_timed_write_lock, weft_rwlock_write_lock);
}

bool select_permit(Actor& actor, weft_semaphore* semaphore) {
  const std::uint64_t limit = actor.random.below(100'000);
  weft_flag never = WEFT_FLAG_INIT;
  const weft_event events[] = {{WEFT_EVENT_FLAG, &never}, {WEFT_EVENT_SEMAPHORE, semaphore}};
  size_t which = 2;
  const bool taken = IN_TIME(limit, weft_select(2, events, limit, &which));
  SAME(which, taken ? 1 : 2);
  OK(weft_flag_destroy(&never));
  return taken;
}

bool take_permit(Actor& actor, weft_semaphore* semaphore) {
  if (actor.waits && actor.random.one_in(4)) return select_permit(actor, semaphore);
  return take(actor, semaphore, weft_semaphore_try_acquire, weft_semaphore_timed_acquire, weft_semaphore_acquire);
}

void change_under(Actor& actor, Guarded* first, unsigned others) {
  if (!lock(actor, &first->mutex)) return;
  const long value = first->value;
  const bool recursive = (first->kind & WEFT_MUTEX_RECURSIVE) != 0;
  IS(weft_mutex_try_lock(&first->mutex), recursive ? WEFT_OK : WEFT_ERR_BUSY);
  if (recursive) OK(weft_mutex_unlock(&first->mutex));
  if (others > 0 && actor.random.one_in(2))
    change_under(actor, first + 1, others - 1);
  else
    dwell(actor);
  first->value = value + 1;
  first->expected.fetch_add(1);
  OK(weft_mutex_unlock(&first->mutex));
}

void write_twins(Actor& actor) {
  SAME(program->writers.fetch_add(1), 0);
  ++program->twins[0];
  dwell(actor);
  ++program->twins[1];
  program->writes.fetch_add(1);
  SAME(program->writers.fetch_sub(1), 1);
}

void read_twins(Actor& actor) {
  const long first = program->twins[0];
  SAME(program->twins[1], first);
  dwell(actor);
  SAME(program->twins[1], first);
  SAME(program->writers.load(), 0);
}

}  // namespace

// In order, where it is several.
void use_mutexes(Actor& actor) {
  for (unsigned left = actor.random.between(1, 4); left > 0; --left) {
    const unsigned first = actor.random.below(4);
    change_under(actor, program->guarded + first, 3 - first);
  }
}

void use_rwlock(Actor& actor) {
  const bool writes = actor.random.one_in(3);
  if (!(writes ? lock_to_write(actor, &program->rwlock) : lock_to_read(actor, &program->rwlock))) return;
  writes ? write_twins(actor) : read_twins(actor);
  OK(weft_rwlock_unlock(&program->rwlock));
}

void use_semaphore(Actor& actor) {
  if (!take_permit(actor, &program->semaphore)) return;
  MUST(program->permits_taken.fetch_add(1) < Program::permits);
  dwell(actor);
  program->permits_taken.fetch_sub(1);
  OK(weft_semaphore_release(&program->semaphore, 1));
}

namespace {

struct Value {
  weft_key key;
  std::atomic<long>* counter;
  bool yields;          // in its destructor
  unsigned times_left;  // that its destructor sets it again
};

void end_value(Value* value) {
  MUST(value->counter->fetch_sub(1) >= 1);
  delete value;
}

}  // namespace

void destroy_value(void* data) {
  auto value = static_cast<Value*>(data);
  if (value->yields) {
    const int error = weft_yield();
    MUST(error == WEFT_OK || error == WEFT_ERR_STACKLESS);
  }
  if (value->times_left == 0) return end_value(value);
  --value->times_left;
  OK(weft_key_set(value->key, value));
}

// Nobody waits for the destructors of a unit that is not joined, which may therefore not yield: its pool may be freed.
void use_key(Actor& actor) {
  std::atomic<long>& counter = actor.job->counter_of_values();
  const weft_key key = program->keys[actor.random.below(Program::key_count)];
  void* old = nullptr;
  OK(weft_key_get(key, &old));
  if (old == nullptr) {
    const bool yields = !actor.job->detached && actor.random.one_in(3);
    counter.fetch_add(1);
    OK(weft_key_set(key, new Value{key, &counter, yields, actor.random.below(4)}));
    return;
  }
  auto value = static_cast<Value*>(old);
  MUST(value->counter == &counter && value->key.index == key.index);
  if (actor.random.one_in(2)) return;
  OK(weft_key_set(key, nullptr));
  end_value(value);
}

void migrate(Actor& actor) {
  const bool nowhere = program->pools.empty() || actor.random.one_in(4);
  weft_pool* pool = nowhere ? nullptr : actor.random.one_of(program->pools);
  OK(weft_unit_migrate(weft_unit_self(), pool));
  OK(weft_yield());
  actor.ground.leave_pool();
}

}  // namespace native
