#include "job.h"

#include "check.h"
#include "program.h"

namespace native {
namespace {

thread_local std::uint64_t storage = 0;

// Not inlined, as at() is not.
[[gnu::noinline]] std::uint64_t& own_storage() { return storage; }

// By a pointer, for the compiler takes it for one that never ends.
void exit_from_below(unsigned frames) {
  void (*volatile deeper)(unsigned) = exit_from_below;
  if (frames == 0) weft_unit_exit();
  deeper(frames - 1);
}

std::uint64_t left_by(const Job& job, int start) { return job.seed ^ static_cast<std::uint64_t>(start); }

void run(Job& job) {
  const int start = job.starts.fetch_add(1) + 1;
  if (start > job.expected) fail("job.cpp: how often a unit has begun", start, job.expected);
  Actor actor{Random(job.seed + static_cast<std::uint64_t>(start)), job.ground, &job, job.technique != WEFT_STACKLESS};
  const bool exits = actor.waits && actor.random.one_in(6);
  const std::uint64_t mark = actor.random.next();
  if (job.own_storage) own_storage() = mark;
  note_progress();
  job.body(actor);
  if (job.own_storage && !sanitized) MUST(own_storage() == mark);
  at("its end");
  job.left = left_by(job, start);
  job.ends.fetch_add(1);
  program->ended.fetch_add(1);
  note_progress();
  if (job.detached) {
    std::atomic<long>& detached = *job.ground.detached;
    delete &job;
    detached.fetch_sub(1);
  }
  if (exits) exit_from_below(actor.random.below(20));
}

// WEFT_AUTO chooses for each function: for units that meet others, and for those that need not.
void enter_meeting(void* job) { run(*static_cast<Job*>(job)); }
void enter(void* job) { run(*static_cast<Job*>(job)); }
auto entry_of(const Job& job) { return job.shared != nullptr ? enter_meeting : enter; }

bool is_child_first(weft_technique technique) { return technique >= WEFT_C_FULL; }
bool needs_stateless(weft_technique technique) {
  return technique == WEFT_SS || technique == WEFT_SS_L || technique == WEFT_SC;
}

weft_technique draw_technique(Random& random, const Wish& wish, bool stateless) {
  for (;;) {
    const auto technique = static_cast<weft_technique>(random.below(WEFT_C_ROC_E + 1));
    if (wish.waits && technique == WEFT_STACKLESS) continue;
    if (wish.parent_first && is_child_first(technique)) continue;
    if (!stateless && needs_stateless(technique)) continue;
    return technique;
  }
}

void draw_where(Random& random, Job& job, weft_unit_attr& attr) {
  Ground& ground = job.ground;
  attr.priority = static_cast<int>(random.below(5)) - 2;
  attr.pool = ground.pool;
  if (ground.confined || (ground.pool != nullptr && !random.one_in(4)) || program->pools.empty()) return;
  const unsigned other = random.below(3);
  if (other == 0) return;
  if (other == 1) attr.pool = random.one_of(program->pools);
  if (other == 2 && is_child_first(job.technique)) return;
  if (other == 2) {
    attr.pool = nullptr;
    attr.worker = random.one_of(program->workers);
  }
  ground.leave_pool();
}

size_t draw_stack_size(Random& random) { return (sanitized ? 512UL : 64UL) << 10U << random.below(3); }

void draw_stack(Random& random, Job& job, weft_unit_attr& attr, bool is_joined) {
  if (job.technique == WEFT_SC || !random.one_in(4)) return;
  attr.stack_size = draw_stack_size(random);
  if (!is_joined || random.one_in(2)) return;
  job.stack.resize(attr.stack_size);
  attr.stack = job.stack.data();
}

void draw_preemption(Random& random, const Wish& wish, weft_unit_attr& attr) {
  if (attr.technique == WEFT_STACKLESS || (!program->preempts && !wish.stays)) return;
  if (wish.stays)
    attr.preemption = WEFT_PREEMPT_NONE;  // also where WEFT_PREEMPT says another kind of all that say none
  else if (wish.sleeps)
    attr.preemption = WEFT_PREEMPT_KLT_SWITCH;
  else if (wish.spins)
    attr.preemption = random.one_in(2) ? WEFT_PREEMPT_SIGNAL_YIELD : WEFT_PREEMPT_KLT_SWITCH;
  else
    attr.preemption = static_cast<weft_preemption>(wish.throws ? random.between(1, 3) : random.below(4));
  if (wish.throws && attr.preemption == WEFT_PREEMPT_SIGNAL_YIELD) attr.flags |= WEFT_OWN_TLS;
}

weft_unit_attr draw_attributes(Random& random, Job& job, const Wish& wish, bool is_alone) {
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.technique = job.technique = draw_technique(random, wish, job.ground.stateless);
  attr.name = "its beginning";
  draw_where(random, job, attr);
  if (random.one_in(3)) attr.priority = 0;
  draw_preemption(random, wish, attr);
  draw_stack(random, job, attr, is_alone && !wish.detached);
  if (random.one_in(8)) attr.flags |= WEFT_OWN_TLS;
  job.own_storage = (attr.flags & WEFT_OWN_TLS) != 0 || attr.preemption == WEFT_PREEMPT_KLT_SWITCH;
  return attr;
}

std::unique_ptr<Job> make_job(Actor& creator, const Wish& wish) {
  auto job = std::make_unique<Job>();
  job->seed = creator.random.next();
  job->ground = creator.ground;
  ++job->ground.depth;
  job->body = wish.body;
  job->shared = wish.shared;
  job->detached = wish.detached;
  job->expected = 1;
  return job;
}

// A unit without a pool may be created, and have gone on, on a worker whose scheduler is not stateless.
template <class Create>
void create_somehow(weft_technique technique, Create create) {
  at("creation");
  int error = create(technique);
  if (error == WEFT_ERR_SCHEDULER && needs_stateless(technique)) error = create(WEFT_ROC_L);
  expect("job.cpp: creation", error, WEFT_OK);
}

void check_job(const Job& job, weft_unit* unit) {
  SAME(weft_unit_state(unit), WEFT_DONE);
  SAME(job.starts.load(), job.expected);
  SAME(job.ends.load(), job.expected);
  MUST(job.left == left_by(job, job.expected));
  SAME(job.values.load(), 0);
  weft_unit_statistics statistics{};
  OK(weft_unit_get_statistics(unit, &statistics));
  SAME(statistics.starts, job.expected);
  if (job.technique == WEFT_STACKLESS) SAME(statistics.deviations, 0);
  const weft_technique technique = weft_unit_technique(unit);
  if (job.technique == WEFT_AUTO)
    MUST(technique == WEFT_ROC_L || technique == WEFT_FULL_L);
  else
    SAME(technique, job.technique);
}

void join_by_polling(weft_unit* unit) {
  while (weft_unit_state(unit) != WEFT_DONE) OK(weft_sleep(20'000));
  OK(weft_unit_join(unit));
}

}  // namespace

void join_in_time(weft_unit* unit, std::uint64_t limit) {
  while (!IN_TIME(limit, weft_unit_timed_join(unit, limit))) limit = longer(limit);
}

std::atomic<long>& Job::counter_of_values() { return detached ? program->values : values; }

void Team::create(unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    Job& job = *jobs.emplace_back(make_job(creator_, wish_));
    job.index = static_cast<unsigned>(jobs.size()) - 1;
    weft_unit_attr attr = draw_attributes(creator_.random, job, wish_, true);
    weft_unit* unit = nullptr;
    program->created.fetch_add(1);
    create_somehow(attr.technique, [&](weft_technique technique) {
      attr.technique = job.technique = technique;
      return weft_unit_create(entry_of(job), &job, &attr, &unit);
    });
    units.push_back(unit);
  }
}

void Team::create_many(unsigned count) {
  Job pattern;
  pattern.ground = creator_.ground;
  Wish wish = wish_;
  wish.parent_first = true;
  weft_unit_attr attr = draw_attributes(creator_.random, pattern, wish, false);
  std::vector<void*> arguments;
  const size_t before = units.size();
  for (unsigned i = 0; i < count; ++i) {
    Job& job = *jobs.emplace_back(make_job(creator_, wish_));
    job.index = static_cast<unsigned>(jobs.size()) - 1;
    job.ground.pool = pattern.ground.pool;
    job.ground.stateless = pattern.ground.stateless;
    job.own_storage = pattern.own_storage;
    arguments.push_back(&job);
  }
  program->created.fetch_add(count);
  units.resize(before + count);
  create_somehow(attr.technique, [&](weft_technique technique) {
    attr.technique = technique;
    for (size_t i = before; i < jobs.size(); ++i) jobs[i]->technique = technique;
    return weft_unit_create_many(count, entry_of(*jobs.back()), arguments.data(), &attr, units.data() + before);
  });
}

void Team::join() {
  Random& random = creator_.random;
  const unsigned how = random.below(5);
  if (how == 0) {
    OK(weft_unit_join_many(units.size(), units.data()));
    return;
  }
  for (size_t i = 0; i < units.size(); ++i) {
    weft_unit* unit = units[how == 1 ? units.size() - 1 - i : i];
    if (how == 2)
      join_in_time(unit, random.below(200'000));
    else if (how == 3)
      join_by_polling(unit);
    else
      OK(weft_unit_join(unit));
  }
}

void Team::revive() {
  for (size_t i = 0; i < units.size(); ++i) {
    ++jobs[i]->expected;
    program->created.fetch_add(1);
    OK(weft_unit_revive(units[i], entry_of(*jobs[i]), jobs[i].get()));
  }
}

void Team::check() const {
  for (size_t i = 0; i < units.size(); ++i) check_job(*jobs[i], units[i]);
}

void Team::free() {
  if (creator_.random.one_in(2))
    OK(weft_unit_free_many(units.size(), units.data()));
  else
    for (weft_unit* unit : units) OK(weft_unit_free(unit));
  units.clear();
}

void Team::end() {
  join();
  check();
  free();
}

void run_team(Actor& creator, const Wish& wish, unsigned count) {
  Team team(creator, wish);
  team.create(count);
  team.end();
}

void create_detached(Actor& creator, void (*body)(Actor& actor), unsigned count) {
  const Wish wish{.body = body, .detached = true};
  for (unsigned i = 0; i < count; ++i) {
    Job& job = *make_job(creator, wish).release();  // it deletes itself
    weft_unit_attr attr = draw_attributes(creator.random, job, wish, true);
    const auto entry = entry_of(job);
    const bool later = creator.random.one_in(2);
    weft_unit* unit = nullptr;
    program->created.fetch_add(1);
    creator.ground.detached->fetch_add(1);
    create_somehow(attr.technique, [&](weft_technique technique) {
      attr.technique = job.technique = technique;
      return weft_unit_create(entry, &job, &attr, later ? &unit : nullptr);
    });
    if (later) OK(weft_unit_detach(unit));
  }
}

void wait_for_detached(const std::atomic<long>& count) {
  while (count.load() != 0) OK(weft_sleep(30'000));
}

}  // namespace native
