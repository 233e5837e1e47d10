// Workers that the program makes, and those that carry its threads.
#include "support.h"

#include <sched.h>

#include <algorithm>
#include <set>
#include <thread>

namespace weft::test {
namespace {

class WorkerTest : public ApiTest {};

constexpr std::uint64_t long_enough = 60'000'000'000;

TEST_F(WorkerTest, ARootHasOne) {
  weft_worker* worker = weft_worker_self();
  ASSERT_NE(worker, nullptr);
  EXPECT_EQ(weft_worker_self(), worker);
  weft_worker* other = nullptr;
  unsigned index = 0;
  std::thread([&] {
    other = weft_worker_self();
    index = weft_worker_index(other);
  }).join();
  EXPECT_NE(other, worker);
  EXPECT_NE(index, weft_worker_index(worker));
}

TEST_F(WorkerTest, UnitsRunOnWorkers) {
  Jobs jobs;
  for (const weft_technique technique : all_techniques)
    jobs.start(technique, [] { EXPECT_NE(weft_worker_self(), nullptr); });
  jobs.join();
}

TEST_F(WorkerTest, ManyAreMadeAndJoined) {
  for (int round = 0; round < 10; ++round) {
    weft_pool* pool = make_pool();
    std::vector<std::unique_ptr<OwnWorker>> workers;
    std::set<unsigned> numbers;
    for (int i = 0; i < 8; ++i) {
      workers.push_back(std::make_unique<OwnWorker>(WEFT_BASIC_WAIT, std::vector<weft_pool*>{make_pool()}));
      numbers.insert(weft_worker_index(workers.back()->get()));
    }
    EXPECT_EQ(numbers.size(), 8U);
    workers.clear();
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
  }
}

TEST_F(WorkerTest, SeveralServeOnePool) {
  weft_pool* pool = make_pool();
  weft_scheduler* schedulers[4] = {};
  weft_worker* workers[4] = {};
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(weft_scheduler_create(i % 2 == 0 ? WEFT_BASIC_WAIT : WEFT_RANDOM_WS, 1, &pool, &schedulers[i]), WEFT_OK);
    ASSERT_EQ(weft_worker_create(schedulers[i], &workers[i]), WEFT_OK);
  }
  for (int round = 0; round < 5; ++round) {
    Jobs jobs;
    std::atomic<unsigned> ran{0};
    const unsigned count = scaled(2600);
    for (unsigned i = 0; i < count; ++i)
      jobs.start(with(all_techniques[i % 13], pool), [&, i] {
        pause_if_possible(all_techniques[i % 13]);
        ++ran;
      });
    jobs.join();
    EXPECT_EQ(ran, count);
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(weft_worker_join(workers[i]), WEFT_OK);
    EXPECT_EQ(weft_scheduler_free(schedulers[i]), WEFT_OK);
  }
  EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

// One scheduler, many workers.
TEST_F(WorkerTest, JoinWaitsUntilThePoolsAreEmpty) {
  for (const weft_scheduler_kind kind : {WEFT_BASIC, WEFT_BASIC_WAIT, WEFT_BY_PRIORITY, WEFT_RANDOM_WS}) {
    weft_pool* pool = make_pool();
    Jobs jobs;
    std::atomic<int> ran{0};
    {
      OwnWorker worker(kind, {pool});
      for (int i = 0; i < 200; ++i)
        jobs.start_detached(with(all_techniques[i % 9], pool), [&, i] {
          pause_if_possible(all_techniques[i % 9]);
          ++ran;
        });
      worker.join();
      EXPECT_EQ(weft_pool_size(pool), 0U);
      EXPECT_EQ(ran, 200);
    }
  }
}

// weft_scheduler_stops() stopped a scheduler of the user's own as soon as somebody joined its worker.
TEST_F(WorkerTest, JoinWaitsUntilThePoolsOfTheUsersOwnAreEmpty) {
  for (int round = 0; round < 20; ++round) {
    weft_pool* pool = make_pool();
    Jobs jobs;
    std::atomic<int> ran{0};
    for (int i = 0; i < 20; ++i)
      jobs.start_detached(with(all_techniques[i % 9], pool), [&, i] {
        pause_if_possible(all_techniques[i % 9]);
        ++ran;
      });
    OwnWorker worker(run_pools, nullptr, true, {pool});
    worker.join();
    EXPECT_EQ(weft_pool_size(pool), 0U);
    EXPECT_EQ(ran, 20);
  }
}

TEST_F(WorkerTest, ArgumentsThatMakeNoSense) {
  weft_pool* pool = make_pool();
  weft_scheduler* scheduler = nullptr;
  weft_worker* worker = nullptr;
  ASSERT_EQ(weft_scheduler_create(WEFT_BASIC, 1, &pool, &scheduler), WEFT_OK);
  EXPECT_EQ(weft_worker_create(nullptr, &worker), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_worker_create(scheduler, nullptr), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_worker_join(nullptr), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_worker_bind(nullptr, 0), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_worker_set_scheduler(nullptr, nullptr), WEFT_ERR_ARGUMENT);
  EXPECT_NE(weft_worker_join(weft_worker_self()), WEFT_OK) << "a root's own";
  EXPECT_EQ(worker, nullptr);
  EXPECT_EQ(weft_scheduler_free(scheduler), WEFT_OK);
  EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

// Bug: two that joined the same one both gave back its slot.
TEST_F(WorkerTest, OneOfTwoJoinsIt) {
  weft_pool* pool = make_pool();
  OwnWorker own(WEFT_BASIC_WAIT, {pool});
  std::atomic<bool> go{false};
  Jobs jobs;
  jobs.start(with(WEFT_ROC_L, pool), [&go] {
    while (!go) std::this_thread::yield();
  });
  weft_worker* const worker = own.release();
  std::atomic<int> joined{0}, refused{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      const int error = weft_worker_join(worker);
      if (error == WEFT_OK) ++joined;
      if (error == WEFT_ERR_STATE) ++refused;
    });
  EXPECT_TRUE(eventually([&refused] { return refused == 1; }, std::chrono::seconds(20)));
  EXPECT_EQ(joined, 0);
  go = true;
  for (std::thread& thread : threads) thread.join();
  jobs.join();
  EXPECT_EQ(joined, 1);
  EXPECT_EQ(refused, 1);
}

// Bug: whoever joined one of weft's own ended it, and nobody made another.
TEST_F(WorkerTest, JoinIsNotForWeftsOwn) {
  if (weft_worker_count() == 1) GTEST_SKIP() << "there is none but the root's";
  Jobs jobs;
  weft_worker* worker = start_on_another(jobs, [] {});
  ASSERT_TRUE(eventually([worker] { return is_asleep(worker); }));
  ASSERT_EQ(weft_worker_join(worker), WEFT_ERR_STATE);
  std::atomic<bool> go{false};
  weft_worker* busy = start_on_another(jobs, [&go] {
    while (!go) std::this_thread::yield();
  });
  ASSERT_EQ(weft_worker_join(busy), WEFT_ERR_STATE);
  go = true;
  jobs.join();
  // All are still there: as many units as workers wait for each other, without telling weft.
  std::atomic<unsigned> there{0};
  for (unsigned i = 0; i < weft_worker_count(); ++i)
    jobs.start(WEFT_ROC_L, [&there] {
      ++there;
      while (there < weft_worker_count()) std::this_thread::yield();
    });
  jobs.join();
}

// Bug: one that fell asleep before it had run anything was taken for one that runs whatever there is, and slept on.
TEST_F(WorkerTest, ANewOneIsWokenForThePoolsOfItsScheduler) {
  for (const weft_scheduler_kind kind : {WEFT_BASIC_WAIT, WEFT_RANDOM_WS}) {
    weft_pool* pool = make_pool();
    const OwnWorker worker(kind, {pool});
    ASSERT_TRUE(eventually([&worker] { return is_asleep(worker.get()); }));
    Jobs jobs;
    weft_unit* unit = jobs.start(with(WEFT_ROC_L, pool), [] {});
    ASSERT_EQ(weft_unit_timed_join(unit, long_enough), WEFT_OK);
  }
}

// Bug: one of weft's own slept as if it ran whatever there is, and was not woken for the pools of its scheduler.
TEST_F(WorkerTest, OneOfWeftsOwnIsWokenForThePoolsOfItsScheduler) {
  if (weft_worker_count() == 1) GTEST_SKIP() << "there is none but the root's";
  for (const weft_scheduler_kind kind : {WEFT_BASIC_WAIT, WEFT_RANDOM_WS}) {
    weft_pool* pool = make_pool();
    weft_scheduler* scheduler = nullptr;
    ASSERT_EQ(weft_scheduler_create(kind, 1, &pool, &scheduler), WEFT_OK);
    const auto change_to = [](weft_scheduler* next) {
      EXPECT_EQ(weft_worker_set_scheduler(weft_worker_self(), next), WEFT_OK);
    };
    Jobs jobs;
    weft_worker* worker = start_on_another(jobs, [=] { change_to(scheduler); });
    for (int round = 0; round < 3; ++round) {
      ASSERT_TRUE(eventually([worker] { return is_asleep(worker); }));
      weft_unit* unit = jobs.start(with(WEFT_ROC_L, pool), [worker] { EXPECT_EQ(weft_worker_self(), worker); });
      ASSERT_EQ(weft_unit_timed_join(unit, long_enough), WEFT_OK);
    }
    jobs.start(never_preempted(with(WEFT_ROC_L, pool)), [=] { change_to(nullptr); });
    jobs.join();
    EXPECT_EQ(weft_scheduler_free(scheduler), WEFT_OK);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
  }
}

TEST_F(WorkerTest, GetsAnotherScheduler) {
  weft_pool* first = make_pool();
  weft_pool* second = make_pool();
  weft_scheduler* one = nullptr;
  weft_scheduler* other = nullptr;
  ASSERT_EQ(weft_scheduler_create(WEFT_BASIC, 1, &first, &one), WEFT_OK);
  ASSERT_EQ(weft_scheduler_create(WEFT_BASIC_WAIT, 1, &second, &other), WEFT_OK);
  weft_worker* const self = weft_worker_self();
  for (int round = 0; round < 10; ++round) {
    Jobs jobs;
    int ran = 0;
    EXPECT_EQ(weft_worker_set_scheduler(self, one), WEFT_OK);
    weft_unit* now = jobs.start(with(WEFT_ROC_L, first), [&] { ++ran; });
    weft_unit* later = jobs.start(with(WEFT_ROC_L, second), [&] { ++ran; });
    EXPECT_EQ(weft_unit_join(now), WEFT_OK);
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(weft_unit_state(later), WEFT_CREATED);
    EXPECT_EQ(weft_worker_set_scheduler(self, other), WEFT_OK);
    EXPECT_EQ(weft_scheduler_free(other), WEFT_ERR_STATE);
    jobs.join();
    EXPECT_EQ(ran, 2);
    EXPECT_EQ(weft_worker_set_scheduler(self, nullptr), WEFT_OK);
    jobs.start(WEFT_ROC_L, [] {});
    jobs.join();
  }
  EXPECT_EQ(weft_scheduler_free(one), WEFT_OK);
  EXPECT_EQ(weft_scheduler_free(other), WEFT_OK);
  EXPECT_EQ(weft_pool_free(first), WEFT_OK);
  EXPECT_EQ(weft_pool_free(second), WEFT_OK);
}

TEST_F(WorkerTest, GetsAnotherSchedulerFromAUnit) {
  weft_pool* first = make_pool();
  weft_pool* second = make_pool();
  weft_scheduler* other = nullptr;
  ASSERT_EQ(weft_scheduler_create(WEFT_BASIC, 1, &second, &other), WEFT_OK);
  {
    OwnScheduler own(WEFT_BASIC, {first});
    Jobs jobs;
    std::atomic<bool> ran{false};
    weft_unit* later = jobs.start(with(WEFT_ROC_L, second), [&] { ran = true; });
    // (Bug: one that was preempted afterwards lay in a pool that nobody served any more.)
    jobs.start(never_preempted(with(WEFT_ROC_L, first)),
               [&] { EXPECT_EQ(weft_worker_set_scheduler(weft_worker_self(), other), WEFT_OK); });
    EXPECT_EQ(weft_unit_join(later), WEFT_OK);
    EXPECT_TRUE(ran);
    jobs.join();
    EXPECT_EQ(weft_worker_set_scheduler(weft_worker_self(), own.get()), WEFT_OK);
    EXPECT_EQ(weft_scheduler_free(other), WEFT_OK);
  }
  EXPECT_EQ(weft_pool_free(second), WEFT_OK);
}

// Units that a worker had before it got a scheduler of its own are not lost: others run them, or it does later.
TEST_F(WorkerTest, LeavesNothingBehindWithTheOldScheduler) {
  Jobs jobs;
  std::atomic<int> ran{0};
  for (int i = 0; i < 20; ++i) jobs.start(WEFT_ROC_L, [&] { ++ran; });
  weft_pool* pool = make_pool();
  {
    OwnScheduler own(WEFT_BASIC, {pool});
    Jobs inner;
    inner.start(with(WEFT_ROC_L, pool), [] {});
    inner.join();
  }
  jobs.join();
  EXPECT_EQ(ran, 20);
}

// Its scheduler is not the one that it was created with.
TEST_F(WorkerTest, IsJoinedAfterItWentBackToTheDefault) {
  OwnWorker worker(WEFT_BASIC_WAIT, {make_pool()});
  weft_pool* pool = nullptr;
  ASSERT_EQ(weft_scheduler_pool(worker.scheduler(), 0, &pool), WEFT_OK);
  {
    Jobs jobs;
    jobs.start(never_preempted(with(WEFT_ROC_L, pool)),
               [] { EXPECT_EQ(weft_worker_set_scheduler(weft_worker_self(), nullptr), WEFT_OK); });
  }
  EXPECT_EQ(weft_worker_join(worker.release()), WEFT_OK);
}

// Bug: where somebody was joining it already, the end of the user's own scheduler was a crash.
TEST_F(WorkerTest, IsJoinedWhileItGoesBackFromTheUsersOwnToTheDefault) {
  for (const bool stateless : {true, false}) {
    weft_pool* pool = make_pool();
    OwnWorker worker(run_pools, nullptr, stateless, {pool});
    Jobs jobs;
    jobs.start(never_preempted(with(WEFT_ROC_L, pool)), [&worker] {
      while (weft_scheduler_stops(worker.scheduler()) == 0) std::this_thread::yield();  // until somebody joins it
      EXPECT_EQ(weft_worker_set_scheduler(weft_worker_self(), nullptr), WEFT_OK);
    });
    EXPECT_EQ(weft_worker_join(worker.release()), WEFT_OK);
  }
}

TEST_F(WorkerTest, IsBound) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int cpus = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    ++cpus;
    weft_pool* pool = make_pool();
    OwnWorker worker(WEFT_BASIC_WAIT, {pool});
    ASSERT_EQ(weft_worker_bind(worker.get(), cpu), WEFT_OK);
    Jobs jobs;
    for (int i = 0; i < 20; ++i)
      jobs.start(with(WEFT_ROC_L, pool), [cpu] {
        EXPECT_EQ(sched_getcpu(), cpu);
        weft_yield();
        EXPECT_EQ(sched_getcpu(), cpu);
      });
    jobs.join();
    EXPECT_EQ(weft_worker_bind(worker.get(), -1), WEFT_OK);
    jobs.start(with(WEFT_ROC_L, pool), [&] {
      cpu_set_t mask;
      EXPECT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
      EXPECT_TRUE(CPU_EQUAL(&mask, &allowed));
    });
    jobs.join();
    if (cpus == 2) break;
  }
  EXPECT_EQ(weft_worker_bind(weft_worker_self(), 1 << 20), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_worker_bind(weft_worker_self(), -2), WEFT_ERR_ARGUMENT);
}

// Bug: whatever thread had its number by then was bound.
TEST_F(WorkerTest, OneThatHasEndedIsNotBound) {
  OwnWorker own(WEFT_BASIC_WAIT, {make_pool()});
  weft_worker* worker = own.release();
  EXPECT_EQ(weft_worker_join(worker), WEFT_OK);
  EXPECT_EQ(weft_worker_bind(worker, -1), WEFT_ERR_STATE);
}

// ---------------------------------------------------------------- roots

// Bug: what a thread had held off at its end, the next one in its place had, too.
TEST_F(WorkerTest, ARootBeginsWithNothingHeldOff) {
  std::thread([] { EXPECT_EQ(weft_preempt_disable(), WEFT_OK); }).join();
  std::thread([] { EXPECT_EQ(weft_preempt_enable(), WEFT_ERR_STATE); }).join();
}

TEST_F(WorkerTest, ManyRootsAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<unsigned> ran{0};
  const unsigned rounds = scaled(20);
  for (unsigned root = 0; root < 16; ++root)
    threads.emplace_back([&, root] {
      EXPECT_EQ(weft_init(), WEFT_OK);
      for (unsigned round = 0; round < rounds; ++round) {
        Jobs jobs;
        for (unsigned i = 0; i < 26; ++i) {
          const weft_technique technique = all_techniques[(i + root) % 13];
          jobs.start(technique, [&, technique] {
            pause_if_possible(technique);
            if (may_wait(technique)) {
              Jobs children;
              children.start(WEFT_AUTO, [&] { ++ran; });
            }
            ++ran;
          });
        }
        jobs.join();
      }
      EXPECT_EQ(weft_finalize(), WEFT_OK);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran, 16 * rounds * (26 + 24));
}

TEST_F(WorkerTest, RootsComeAndGo) {
  for (int round = 0; round < 50; ++round)
    std::thread([] {
      Jobs jobs;
      for (const weft_technique technique : all_techniques)
        jobs.start(technique, [technique] { pause_if_possible(technique); });
    }).join();
}

// A root may end before its units do.
TEST_F(WorkerTest, ARootLeavesUnitsToOthers) {
  for (int round = 0; round < 20; ++round) {
    Jobs jobs;
    std::atomic<int> ran{0};
    std::thread([&] {
      for (const weft_technique technique : all_techniques)
        jobs.start(technique, [&, technique] {
          pause_if_possible(technique);
          ++ran;
        });
    }).join();
    jobs.join();
    EXPECT_EQ(ran, 13);
  }
}

// Bug: where weft had no worker of its own, one of the program's that had the slot of a thread that had ended ran the
// units of that: those that it had left, and those that waited. Nobody took them from there.
TEST_F(WorkerTest, ANewOneRunsNothingThatARootHasLeft) {
  weft_pool* pool = make_pool();
  weft_scheduler* scheduler = nullptr;
  weft_worker* worker = nullptr;
  weft_flag over = WEFT_FLAG_INIT;
  std::atomic<weft_worker*> of_left{nullptr}, of_waiting{nullptr};
  Jobs jobs;
  std::thread([&] {
    const weft_unit* waiting = jobs.start(WEFT_FULL, [&] {
      EXPECT_EQ(weft_flag_wait(&over), WEFT_OK);
      of_waiting = weft_worker_self();
    });
    while (weft_unit_state(waiting) != WEFT_SUSPENDED) EXPECT_EQ(weft_yield(), WEFT_OK);
    jobs.start(WEFT_FULL, [&] { of_left = weft_worker_self(); });
  }).join();
  ASSERT_EQ(weft_scheduler_create(WEFT_BASIC_WAIT, 1, &pool, &scheduler), WEFT_OK);
  ASSERT_EQ(weft_worker_create(scheduler, &worker), WEFT_OK);
  EXPECT_EQ(weft_flag_set(&over), WEFT_OK);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // meanwhile nobody else may be there for them
  jobs.join();
  EXPECT_NE(of_left.load(), worker);
  EXPECT_NE(of_waiting.load(), worker);
  EXPECT_EQ(weft_worker_join(worker), WEFT_OK);
  EXPECT_EQ(weft_scheduler_free(scheduler), WEFT_OK);
  EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

// ---------------------------------------------------------------- units for a worker

weft_unit_attr at(weft_worker* worker, weft_technique technique = WEFT_AUTO) {
  weft_unit_attr attr = with(technique);
  attr.worker = worker;
  return attr;
}

class AtWorkerTest : public TechniqueTest {};

TEST_P(AtWorkerTest, AUnitGoesToTheFirstPoolOfItsScheduler) {
  const OwnWorker worker(WEFT_BASIC_WAIT, {make_pool(), make_pool(WEFT_LIFO)});
  const weft_unit_attr attr = at(worker.get(), GetParam());
  std::atomic<int> ran{0};
  Jobs jobs;
  if (child_first(GetParam())) {
    weft_unit* unit = nullptr;
    EXPECT_EQ(weft_unit_create([](void*) {}, nullptr, &attr, &unit), WEFT_ERR_ARGUMENT) << "it begins here";
    return;
  }
  const auto body = [&] {
    EXPECT_EQ(weft_worker_self(), worker.get());
    pause_if_possible(GetParam());
    EXPECT_EQ(weft_worker_self(), worker.get());
    ++ran;
  };
  for (int i = 0; i < 20; ++i) jobs.start(attr, body);
  std::vector<void*> kept(20, jobs.keep(body));
  std::vector<weft_unit*> units(20);
  EXPECT_EQ(weft_unit_create_many(20, Jobs::run, kept.data(), &attr, units.data()), WEFT_OK);
  EXPECT_EQ(weft_unit_free_many(20, units.data()), WEFT_OK);
  jobs.join();
  EXPECT_EQ(ran, 40);
}

TEST_P(AtWorkerTest, AUnitGoesToOneWithWeftsScheduler) {
  if (child_first(GetParam())) return;
  std::atomic<int> ran{0};
  Jobs jobs;
  weft_worker* const self = weft_worker_self();
  std::thread([&] {  // not the worker's own KLT
    const weft_unit_attr attr = at(self, GetParam());
    for (int i = 0; i < 20; ++i) jobs.start(attr, [&ran] { ++ran; });
  })
      .join();
  jobs.join();
  EXPECT_EQ(ran, 20);
}

WEFT_INSTANTIATE_TECHNIQUES(AtWorkerTest);

// A unit without a pool that a worker of the program's runs, as it was set free there; and its child.
struct OnItsWay {
  weft_flag free = WEFT_FLAG_INIT;
  std::atomic<weft_unit*> child{nullptr};
};

void wait_and_create(void* argument) {
  auto& it = *static_cast<OnItsWay*>(argument);
  EXPECT_EQ(weft_flag_wait(&it.free), WEFT_OK);
  weft_unit* child = nullptr;
  EXPECT_EQ(weft_unit_create([](void*) { EXPECT_EQ(weft_sleep(50'000'000), WEFT_OK); }, nullptr, nullptr, &child),
            WEFT_OK);
  it.child.store(child);
}

// Bug: the child went into the pool of that worker, and was never run again once the owner had freed it.
TEST_F(WorkerTest, AChildOfAUnitWithoutAPoolHasNoneEither) {
  OnItsWay it;
  weft_unit* unit = nullptr;
  ASSERT_EQ(weft_unit_create(wait_and_create, &it, nullptr, &unit), WEFT_OK);
  ASSERT_TRUE(eventually([unit] {
    weft_yield();
    return weft_unit_state(unit) == WEFT_SUSPENDED;
  }));
  {
    weft_pool* pool = make_pool();
    const OwnWorker worker(WEFT_BASIC_WAIT, {pool});
    weft_unit_attr attr = with(WEFT_AUTO, pool);
    weft_unit* setter = nullptr;
    ASSERT_EQ(weft_unit_create([](void* flag) { EXPECT_EQ(weft_flag_set(static_cast<weft_flag*>(flag)), WEFT_OK); },
                               &it.free, &attr, &setter),
              WEFT_OK);
    ASSERT_EQ(weft_unit_free(setter), WEFT_OK);
  }
  EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
  EXPECT_EQ(weft_unit_free(it.child.load()), WEFT_OK);
}

// A child-first unit of another pool begins on its creator's worker; and its child.
struct Passing {
  weft_pool* elsewhere;
  weft_unit* unit = nullptr;
  weft_unit* child = nullptr;
};

void create_that_sleeps(void* passing) {
  EXPECT_EQ(weft_unit_create([](void*) { EXPECT_EQ(weft_sleep(50'000'000), WEFT_OK); }, nullptr, nullptr,
                             &static_cast<Passing*>(passing)->child),
            WEFT_OK);
}

void create_of_another_pool(void* argument) {
  auto& passing = *static_cast<Passing*>(argument);
  const weft_unit_attr attr = with(WEFT_C_FULL, passing.elsewhere);
  EXPECT_EQ(weft_unit_create(create_that_sleeps, &passing, &attr, &passing.unit), WEFT_OK);
}

// Bug: the child went into the pool of that worker, and was never run again once the owner had freed it.
TEST_F(WorkerTest, AChildOfAUnitOfAnotherPoolIsNotLeftBehind) {
  weft_pool* elsewhere = make_pool();
  const OwnWorker other(WEFT_BASIC_WAIT, {elsewhere});
  Passing passing{elsewhere};
  {
    weft_pool* pool = make_pool();
    const OwnWorker worker(WEFT_BASIC_WAIT, {pool});
    const weft_unit_attr attr = with(WEFT_FULL_L, pool);
    weft_unit* creator = nullptr;
    ASSERT_EQ(weft_unit_create(create_of_another_pool, &passing, &attr, &creator), WEFT_OK);
    ASSERT_EQ(weft_unit_free(creator), WEFT_OK);
    ASSERT_EQ(weft_unit_join(passing.unit), WEFT_OK);
  }
  EXPECT_EQ(weft_unit_free(passing.unit), WEFT_OK);
  EXPECT_EQ(weft_unit_free(passing.child), WEFT_OK);
}

// Bug: whoever sent it there was taken for the producer.
TEST_F(WorkerTest, AUnitGoesIntoAPoolOfOneProducer) {
  for (const bool many : {false, true}) {
    const OwnWorker worker(WEFT_BASIC_WAIT, {make_pool(WEFT_DEQUE, WEFT_SPMC)});
    std::string ran;
    std::atomic<bool> first_is_there{false}, other_is_there{false};
    Jobs jobs;
    Jobs of_worker;
    jobs.start(never_preempted(at(worker.get(), WEFT_FULL)), [&] {
      const weft_unit_attr attr = never_preempted(with(WEFT_FULL));
      of_worker.start(attr, [&ran] { ran += '1'; });
      first_is_there = true;
      while (!other_is_there) std::this_thread::yield();
      of_worker.start(attr, [&ran] { ran += '2'; });
    });
    while (!first_is_there) std::this_thread::yield();
    const weft_unit_attr attr = never_preempted(at(worker.get(), WEFT_FULL));
    const auto body = [&ran] { ran += 'o'; };
    weft_unit* unit = nullptr;
    if (many) {
      void* kept = jobs.keep(body);
      EXPECT_EQ(weft_unit_create_many(1, Jobs::run, &kept, &attr, &unit), WEFT_OK);
    } else {
      jobs.start(attr, body);
    }
    other_is_there = true;
    if (many) {
      EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
    }
    jobs.join();
    of_worker.join();
    EXPECT_EQ(ran, "21o");
  }
}

TEST_F(WorkerTest, AUnitForAWorkerThatCannotHaveIt) {
  const auto nothing = [](void*) {};
  weft_unit* unit = nullptr;
  weft_pool* pool = make_pool();
  weft_unit_attr attr = at(weft_worker_self());
  attr.pool = pool;
  EXPECT_EQ(weft_unit_create(nothing, nullptr, &attr, &unit), WEFT_ERR_ARGUMENT) << "a pool and a worker";
  EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
  {
    const OwnWorker worker(run_pools, nullptr, false, {make_pool()});
    for (const weft_technique technique : {WEFT_SS, WEFT_SS_L, WEFT_SC}) {
      attr = at(worker.get(), technique);
      EXPECT_EQ(weft_unit_create(nothing, nullptr, &attr, &unit), WEFT_ERR_SCHEDULER) << "it is stateful";
      EXPECT_EQ(weft_unit_create_many(1, nothing, nullptr, &attr, &unit), WEFT_ERR_SCHEDULER);
    }
  }
  {
    const OwnWorker worker(WEFT_BASIC_WAIT, {make_pool(WEFT_FIFO, WEFT_PRIV)});
    attr = at(worker.get());
    EXPECT_EQ(weft_unit_create(nothing, nullptr, &attr, &unit), WEFT_ERR_ACCESS);
  }
  {
    const OwnScheduler own(WEFT_BASIC, {make_pool(WEFT_FIFO, WEFT_PRIV)});
    attr = at(weft_worker_self());
    EXPECT_EQ(weft_unit_create(nothing, nullptr, &attr, &unit), WEFT_OK) << "its own";
    EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
    unit = nullptr;
  }
  weft_worker* ended = nullptr;
  std::thread([&ended] { ended = weft_worker_self(); }).join();
  attr = at(ended);
  EXPECT_EQ(weft_unit_create(nothing, nullptr, &attr, &unit), WEFT_ERR_STATE);
  EXPECT_EQ(unit, nullptr);
}

}  // namespace
}  // namespace weft::test
