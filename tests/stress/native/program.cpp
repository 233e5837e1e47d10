#include "program.h"

#include "check.h"
#include "step.h"

#include <pthread.h>

#include <algorithm>

namespace native {

Program::Program(Random& random, Process process) : preempts(random.one_in(2)), is_child(process == Process::child) {
  program = this;
  for (unsigned kind = 0; kind < 4; ++kind) {
    guarded[kind].kind = kind;
    OK(weft_mutex_init(&guarded[kind].mutex, kind));
  }
  for (weft_key& key : keys) OK(weft_key_create(destroy_value, &key));
  for (unsigned left = random.below(is_child ? 2 : 4); left > 0; --left) {
    std::vector<weft_pool*> own;
    for (unsigned i = random.between(1, 3); i > 0; --i) own.push_back(make_pool(random, WEFT_MPMC));
    pools.insert(pools.end(), own.begin(), own.end());
    auto place = std::make_unique<Place>(random, own, Scheduling::May::run_any_technique, random.between(1, 2));
    workers.insert(workers.end(), place->workers.begin(), place->workers.end());
    places.push_back(std::move(place));
  }
}

namespace {

struct Root {
  Actor actor;
  unsigned number;
  unsigned steps;
  weft_latch* ends;
  pthread_t thread;
};

void* go_through_steps(void* argument) {
  auto& root = *static_cast<Root*>(argument);
  begin_root(root.number);
  do_steps(root.actor, root.steps);
  OK(weft_latch_count_down(root.ends, 1));
  end_root();
  return nullptr;
}

void run_roots(Random& random) {
  const unsigned count = random.between(1, 4);
  weft_latch ends;
  OK(weft_latch_init(&ends, count));
  std::vector<Root> roots;
  for (unsigned number = 1; number <= count; ++number)
    roots.push_back({{random.fork(), {&program->detached}}, number, random.between(3, 10), &ends, {}});
  for (Root& root : roots) SAME(pthread_create(&root.thread, nullptr, go_through_steps, &root), 0);
  Actor self{random.fork(), {&program->detached}};
  if (random.one_in(2)) do_steps(self, random.between(3, 10));
  OK(weft_latch_wait(&ends));
  for (Root& root : roots) pthread_join(root.thread, nullptr);
}

void check_counts() {
  SAME(program->ended.load(), program->created.load());
  for (Guarded& guarded : program->guarded) {
    SAME(guarded.value, guarded.expected.load());
    OK(weft_mutex_destroy(&guarded.mutex));
  }
  SAME(program->twins[0], program->writes.load());
  SAME(program->twins[1], program->writes.load());
  OK(weft_rwlock_destroy(&program->rwlock));
  std::uint32_t permits = 0;
  OK(weft_semaphore_count(&program->semaphore, &permits));
  SAME(permits, Program::permits);
  OK(weft_semaphore_destroy(&program->semaphore));
}

// But for the threads of weft's, which stay.
bool is_anybody_left() {
  weft_worker_info infos[512];
  const size_t count = std::min<size_t>(weft_workers(infos, 512), 512);
  const auto stays = [](const weft_worker_info& info) { return info.scheduler == nullptr && info.root == 0; };
  return std::count_if(infos, infos + count, stays) + 1 != static_cast<std::ptrdiff_t>(count);
}

void check_nothing_left() {
  at("waiting for the last units to end");
  while (weft_units(nullptr, 0) != 0) OK(weft_sleep(100'000));
  SAME(program->values.load(), 0);
  for (const weft_key key : program->keys) {
    OK(weft_key_delete(key));
    IS(weft_key_delete(key), WEFT_ERR_ARGUMENT);
  }
  SAME(weft_pools(nullptr, 0), 0);
  at("waiting for the last workers to end");
  while (is_anybody_left()) OK(weft_sleep(100'000));
}

void set_preemption(Random& random) {
  OK(weft_preempt_timer(static_cast<weft_timer>(random.below(4)), random.one_in(2) ? 100'000 : 1'000'000));
  const int error = weft_watchdog(random.one_in(4) ? 1 : 0);
  MUST(error == WEFT_OK || error == WEFT_ERR_UNSUPPORTED);
}

void close_places() {
  OK(weft_workers_set_active(weft_worker_count()));
  for (const auto& place : program->places) place->close();
}

}  // namespace

void run_child(Random& random) {
  begin_root(0);
  auto own = std::make_unique<Program>(random, Program::Process::child);
  Actor self{random.fork(), {&own->detached}};
  do_steps(self, random.between(1, 3));
  wait_for_detached(own->detached);
  check_counts();
  close_places();
}

long run_program(std::uint64_t seed) {
  Random random(seed);
  begin_root(0);
  OK(weft_init());
  auto own = std::make_unique<Program>(random, Program::Process::parent);
  if (own->preempts) set_preemption(random);
  run_roots(random);
  wait_for_detached(own->detached);
  check_counts();
  close_places();
  check_nothing_left();
  OK(weft_finalize());
  IS(weft_finalize(), WEFT_ERR_UNINITIALISED);
  return own->created.load();
}

}  // namespace native
