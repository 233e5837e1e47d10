// Schedulers of all kinds, the user's own, and schedulers in pools.
#include "support.h"

#include <deque>
#include <chrono>
#include <thread>
#include <tuple>

namespace weft::test {
namespace {

class SchedulerTest : public ApiTest {};

constexpr weft_scheduler_kind kinds[] = {WEFT_BASIC, WEFT_BASIC_WAIT, WEFT_BY_PRIORITY, WEFT_RANDOM_WS};

void nothing(void*) {}

class KindTest : public ::testing::TestWithParam<std::tuple<weft_scheduler_kind, weft_technique>> {
 protected:
  void SetUp() override { ASSERT_EQ(weft_init(), WEFT_OK); }
  void TearDown() override { EXPECT_EQ(weft_finalize(), WEFT_OK); }
  weft_scheduler_kind kind() const { return std::get<0>(GetParam()); }
  weft_technique technique() const { return std::get<1>(GetParam()); }
};

TEST_P(KindTest, RunsOnAWorkerOfItsOwn) {
  weft_pool* pool = make_pool();
  OwnWorker worker(kind(), {pool});
  Jobs jobs;
  std::atomic<int> ran{0};
  for (int i = 0; i < 50; ++i)
    jobs.start(with(technique(), pool), [&] {
      // A child-first unit begins on its creator's worker.
      if (!child_first(technique())) {
        EXPECT_EQ(weft_worker_self(), worker.get());
      }
      pause_if_possible(technique());
      if (may_wait(technique())) {
        EXPECT_EQ(weft_worker_self(), worker.get());
      }
      ++ran;
    });
  jobs.join();
  EXPECT_EQ(ran, 50);
}

TEST_P(KindTest, RunsOnTheRoot) {
  weft_pool* first = make_pool();
  weft_pool* second = make_pool(WEFT_LIFO);
  OwnScheduler own(kind(), {first, second});
  Jobs jobs;
  int ran = 0;
  weft_worker* const self = weft_worker_self();
  for (int i = 0; i < 50; ++i)
    jobs.start(with(technique(), i % 3 == 0 ? second : first), [&] {
      EXPECT_EQ(weft_worker_self(), self);
      if (may_wait(technique())) weft_sleep(1000);
      EXPECT_EQ(weft_worker_self(), self);
      ++ran;  // by one worker only
    });
  jobs.join();
  EXPECT_EQ(ran, 50);
}

TEST_P(KindTest, RunsUnitsThatCreateUnits) {
  weft_pool* pool = make_pool();
  OwnWorker worker(kind(), {pool});
  Jobs jobs;
  std::atomic<int> ran{0};
  jobs.start(with(WEFT_ROC_L, pool), [&] {
    Jobs children;
    for (int i = 0; i < 10; ++i)
      children.start(with(technique(), pool), [&] {
        pause_if_possible(technique());
        ++ran;
      });
    children.join();
  });
  jobs.join();
  EXPECT_EQ(ran, 10);
}

std::string kind_name(const ::testing::TestParamInfo<std::tuple<weft_scheduler_kind, weft_technique>>& instance) {
  static const char* const names[] = {"Basic", "BasicWait", "ByPriority", "RandomWs"};
  return names[std::get<0>(instance.param)] + plain_name(std::get<1>(instance.param));
}

INSTANTIATE_TEST_SUITE_P(, KindTest,
                         ::testing::Combine(::testing::ValuesIn(kinds), ::testing::ValuesIn(all_techniques)),
                         kind_name);

TEST_F(SchedulerTest, TheFirstPoolComesFirst) {
  weft_pool* high = make_pool();
  weft_pool* low = make_pool();
  OwnScheduler own(WEFT_BY_PRIORITY, {high, low});
  Jobs jobs;
  int high_ran = 0;
  for (int i = 0; i < 100; ++i) jobs.start(with(WEFT_ROC_L, low), [&] { EXPECT_EQ(high_ran, 100); });
  for (int i = 0; i < 100; ++i) jobs.start(with(WEFT_ROC_L, high), [&] { ++high_ran; });
  jobs.join();
}

// WEFT_BASIC is fair to its other pools.
TEST_F(SchedulerTest, TheOtherPoolsHaveTheirTurn) {
  for (const weft_scheduler_kind kind : {WEFT_BASIC, WEFT_BASIC_WAIT}) {
    weft_pool* busy = make_pool();
    weft_pool* other = make_pool();
    OwnScheduler own(kind, {busy, other});
    Jobs jobs;
    bool go = false;
    jobs.start(with(WEFT_FULL, busy), [&] {
      while (!go) weft_yield();
    });
    jobs.start(with(WEFT_FULL, other), [&] { go = true; });
    jobs.join();
  }
}

TEST_F(SchedulerTest, OneStealsFromAnother) {
  weft_pool* first = make_pool(WEFT_DEQUE);
  weft_pool* second = make_pool(WEFT_DEQUE);
  weft_scheduler* schedulers[2] = {};
  weft_worker* workers[2] = {};
  weft_pool* const one_way[] = {first, second};
  weft_pool* const other_way[] = {second, first};
  ASSERT_EQ(weft_scheduler_create(WEFT_RANDOM_WS, 2, one_way, &schedulers[0]), WEFT_OK);
  ASSERT_EQ(weft_scheduler_create(WEFT_RANDOM_WS, 2, other_way, &schedulers[1]), WEFT_OK);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(weft_worker_create(schedulers[i], &workers[i]), WEFT_OK);
  {
    Jobs jobs;
    std::atomic<bool> go{false};
    std::atomic<int> ran{0};
    // Keeps the worker that has it: the other one has to run the rest.
    jobs.start(with(WEFT_ROC_L, first), [&] {
      const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (!go && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
      EXPECT_TRUE(go);
    });
    for (int i = 0; i < 10; ++i)
      jobs.start(with(WEFT_ROC_L, first), [&] {
        if (++ran == 10) go = true;
      });
    jobs.join();
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(weft_worker_join(workers[i]), WEFT_OK);
    EXPECT_EQ(weft_scheduler_free(schedulers[i]), WEFT_OK);
  }
  EXPECT_EQ(weft_pool_free(first), WEFT_OK);
  EXPECT_EQ(weft_pool_free(second), WEFT_OK);
}

TEST_F(SchedulerTest, KnowsItsPools) {
  weft_pool* pools[] = {make_pool(), make_pool()};
  weft_scheduler* scheduler = nullptr;
  ASSERT_EQ(weft_scheduler_create(WEFT_BASIC, 2, pools, &scheduler), WEFT_OK);
  weft_pool* pool = nullptr;
  EXPECT_EQ(weft_scheduler_pool(scheduler, 0, &pool), WEFT_OK);
  EXPECT_EQ(pool, pools[0]);
  EXPECT_EQ(weft_scheduler_pool(scheduler, 1, &pool), WEFT_OK);
  EXPECT_EQ(pool, pools[1]);
  EXPECT_EQ(weft_scheduler_pool(scheduler, 2, &pool), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(pool, pools[1]);
  EXPECT_EQ(weft_scheduler_free(scheduler), WEFT_OK);
  for (weft_pool* one : pools) EXPECT_EQ(weft_pool_free(one), WEFT_OK);
}

TEST_F(SchedulerTest, ArgumentsThatMakeNoSense) {
  weft_pool* pool = make_pool();
  weft_pool* none = nullptr;
  weft_scheduler* scheduler = nullptr;
  EXPECT_EQ(weft_scheduler_create(WEFT_BASIC, 1, &none, &scheduler), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_scheduler_create(WEFT_BASIC, 1, nullptr, &scheduler), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_scheduler_create(WEFT_BASIC, 1, &pool, nullptr), WEFT_ERR_ARGUMENT);
  volatile unsigned number = 7;
  EXPECT_EQ(weft_scheduler_create(static_cast<weft_scheduler_kind>(number), 1, &pool, &scheduler), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_scheduler_create_custom(nullptr, nullptr, 0, 1, &pool, &scheduler), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_scheduler_create_custom(run_pools, nullptr, 0, 1, &none, &scheduler), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_scheduler_free(nullptr), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_scheduler_push(pool, nullptr), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_scheduler_push(nullptr, scheduler), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_unit_run(nullptr), WEFT_ERR_ARGUMENT);
  Jobs jobs;
  jobs.start(with(WEFT_FULL), [] { EXPECT_EQ(weft_unit_run(weft_unit_self()), WEFT_ERR_STATE); });
  weft_unit* done = jobs.start(with(WEFT_FULL), [] {});
  EXPECT_EQ(weft_unit_join(done), WEFT_OK);
  EXPECT_EQ(weft_unit_run(done), WEFT_ERR_STATE);
  weft_unit* waits = jobs.start(with(WEFT_FULL), [] { EXPECT_EQ(weft_suspend(), WEFT_OK); });
  EXPECT_TRUE(eventually([waits] { return weft_unit_state(waits) == WEFT_SUSPENDED; }));
  EXPECT_EQ(weft_unit_run(waits), WEFT_ERR_STATE);
  EXPECT_EQ(weft_resume(waits), WEFT_OK);
  EXPECT_EQ(scheduler, nullptr);
  EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

// ---------------------------------------------------------------- the user's own

TEST_P(TechniqueTest, RunsUnderACustomSchedulerOnAWorker) {
  weft_pool* pool = make_pool();
  std::atomic<unsigned> entered{0};
  OwnWorker worker(run_pools, &entered, true, {pool});
  Jobs jobs;
  std::atomic<int> ran{0};
  for (int i = 0; i < 50; ++i)
    jobs.start(with(GetParam(), pool), [&] {
      pause_if_possible(GetParam());
      if (may_wait(GetParam())) {
        EXPECT_EQ(weft_worker_self(), worker.get());
      }
      ++ran;
    });
  jobs.join();
  EXPECT_EQ(ran, 50);
  worker.join();
  EXPECT_GE(entered, 1U);
}

TEST_P(TechniqueTest, RunsUnderACustomSchedulerOnTheRoot) {
  weft_pool* pool = make_pool();
  std::atomic<unsigned> entered{0};
  OwnScheduler own(run_pools, &entered, true, {pool});
  Jobs jobs;
  int ran = 0;
  for (int i = 0; i < 50; ++i)
    jobs.start(with(GetParam(), pool), [&] {
      pause_if_possible(GetParam());
      ++ran;
    });
  jobs.join();
  EXPECT_EQ(ran, 50);
  if (!child_first(GetParam())) {
    EXPECT_GE(entered, 1U);
  }
}

TEST_P(TechniqueTest, NeedsAStatelessSchedulerOrNot) {
  weft_pool* pool = make_pool();
  OwnScheduler own(run_pools, nullptr, false, {pool});
  const bool refused = GetParam() == WEFT_SS || GetParam() == WEFT_SS_L || GetParam() == WEFT_SC;
  const weft_unit_attr attr = with(GetParam(), pool);
  weft_unit* unit = nullptr;
  int error = weft_unit_create(nothing, nullptr, &attr, &unit);
  EXPECT_EQ(error, refused ? WEFT_ERR_SCHEDULER : WEFT_OK);
  if (error == WEFT_OK) {
    EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
  }
  if (refused) {
    EXPECT_EQ(weft_unit_create_many(1, nothing, nullptr, &attr, &unit), WEFT_ERR_SCHEDULER);
  }
  // And for a unit under it.
  Jobs jobs;
  jobs.start(with(WEFT_FULL_L, pool), [&] {
    error = weft_unit_create(nothing, nullptr, &attr, &unit);
    if (error == WEFT_OK) {
      EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
    }
  });
  jobs.join();
  EXPECT_EQ(error, refused ? WEFT_ERR_SCHEDULER : WEFT_OK);
}

// Whatever has been learned, under a scheduler with a state nothing is chosen that needs one without.
TEST_F(SchedulerTest, AutoHeedsTheScheduler) {
  weft_pool* pool = make_pool();
  OwnScheduler own(run_pools, nullptr, false, {pool});
  for (int i = 0; i < 300; ++i) {
    const weft_unit_attr attr = with(WEFT_AUTO, pool);
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_unit_create(nothing, nullptr, &attr, &unit), WEFT_OK);
    ASSERT_EQ(weft_unit_join(unit), WEFT_OK);
    const weft_technique technique = weft_unit_technique(unit);
    EXPECT_TRUE(technique != WEFT_SC && technique != WEFT_SS && technique != WEFT_SS_L)
        << weft_technique_name(technique);
    ASSERT_EQ(weft_unit_free(unit), WEFT_OK);
    if (HasFailure()) break;
  }
}

// One that keeps something on its stack from unit to unit: what a second entry would lose.
struct Counting {
  std::atomic<unsigned> entered{0};
  std::atomic<unsigned> most{0};
};

void run_counting(weft_scheduler* scheduler, void* data) {
  auto counting = static_cast<Counting*>(data);
  counting->entered.fetch_add(1);
  unsigned units = 0;
  weft_pool* pool = nullptr;
  EXPECT_EQ(weft_scheduler_pool(scheduler, 0, &pool), WEFT_OK);
  while (weft_scheduler_stops(scheduler) == 0) {
    weft_unit* unit = nullptr;
    if (weft_pool_pop_wait(pool, 100000, &unit) != WEFT_OK) continue;
    EXPECT_EQ(weft_unit_run(unit), WEFT_OK);
    counting->most = ++units;
  }
}

TEST_F(SchedulerTest, TheUsersOwnKeepsItsState) {
  Counting counting;
  weft_pool* pool = make_pool();
  {
    OwnWorker worker(run_counting, &counting, false, {pool});
    Jobs jobs;
    for (const weft_technique technique : {WEFT_STACKLESS, WEFT_FULL, WEFT_FULL_L, WEFT_ROC, WEFT_ROC_L})
      for (int i = 0; i < 20; ++i) {
        weft_unit_attr attr = with(technique, pool);
        attr.preemption = WEFT_PREEMPT_NONE;  // it would be run once more
        jobs.start(attr, [technique] { pause_if_possible(technique); });
      }
    jobs.join();
  }
  EXPECT_EQ(counting.entered, 1U);
  EXPECT_EQ(counting.most, 20U + 4 * 40);
}

// Bug: one that had been replaced went on until its pools were empty, and could be freed meanwhile.
TEST_F(SchedulerTest, TheUsersOwnEndsWhenItIsReplaced) {
  for (const bool stateless : {true, false}) {
    weft_pool* first = make_pool();
    weft_pool* second = make_pool();
    std::atomic<int> ended{0};
    const auto run = [](weft_scheduler* scheduler, void* data) {
      run_pools(scheduler, nullptr);
      ++*static_cast<std::atomic<int>*>(data);
    };
    weft_scheduler* one = nullptr;
    weft_scheduler* other = nullptr;
    weft_worker* worker = nullptr;
    ASSERT_EQ(weft_scheduler_create_custom(run, &ended, stateless ? 1 : 0, 1, &first, &one), WEFT_OK);
    ASSERT_EQ(weft_scheduler_create(WEFT_BASIC_WAIT, 1, &second, &other), WEFT_OK);
    Jobs jobs;
    jobs.start(never_preempted(with(WEFT_ROC_L, first)), [&] {
      EXPECT_EQ(weft_scheduler_stops(one), 0);
      EXPECT_EQ(weft_worker_set_scheduler(weft_worker_self(), other), WEFT_OK);
      EXPECT_EQ(weft_scheduler_stops(one), 1);
      EXPECT_EQ(weft_scheduler_free(one), WEFT_ERR_STATE) << "its function runs";
    });
    weft_unit* stays = jobs.start(with(WEFT_ROC_L, first), [] {});
    weft_unit* next = jobs.start(with(WEFT_ROC_L, second), [&ended] { EXPECT_EQ(ended, 1); });
    ASSERT_EQ(weft_worker_create(one, &worker), WEFT_OK);
    EXPECT_EQ(weft_unit_join(next), WEFT_OK);
    EXPECT_EQ(weft_unit_state(stays), WEFT_CREATED);
    EXPECT_EQ(weft_scheduler_free(one), WEFT_OK);
    EXPECT_EQ(weft_worker_join(worker), WEFT_OK);
    EXPECT_EQ(weft_scheduler_free(other), WEFT_OK);
    {
      const OwnScheduler own(WEFT_BASIC, {first});  // frees it, too
      jobs.join();
    }
    EXPECT_EQ(weft_pool_free(second), WEFT_OK);
  }
}

// What the code of a scheduler without pools creates.
struct Creator {
  weft_technique technique;
  std::atomic<int> ran{0};
  bool is_done = false;

  static void count(void* data) {
    auto& self = *static_cast<Creator*>(data);
    pause_if_possible(self.technique);
    ++self.ran;
  }
  void create() {
    const weft_unit_attr attr = with(technique);
    EXPECT_EQ(weft_unit_create(count, this, &attr, nullptr), WEFT_OK);
    EXPECT_EQ(weft_unit_create(count, this, nullptr, nullptr), WEFT_OK);
    if (child_first(technique)) return;
    void* const arguments[2] = {this, this};
    weft_unit* units[2] = {};
    EXPECT_EQ(weft_unit_create_many(2, count, arguments, &attr, units), WEFT_OK);
    for (weft_unit* unit : units) EXPECT_EQ(weft_unit_detach(unit), WEFT_OK);
  }
};

// Bug: without a pool of their own they were put where only the worker looks, which had a scheduler that does not.
TEST_P(TechniqueTest, RunsElsewhereIfTheSchedulerHasNoPools) {
  Creator creator{GetParam()};
  const auto run = [](weft_scheduler* scheduler, void* data) {
    auto& creates = *static_cast<Creator*>(data);
    if (!creates.is_done) creates.create();
    creates.is_done = true;
    while (weft_scheduler_stops(scheduler) == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  };
  const OwnWorker worker(run, &creator, true, {});
  const int created_there = child_first(GetParam()) ? 2 : 4;
  EXPECT_TRUE(eventually([&] { return creator.ran == created_there; }));
  if (child_first(GetParam())) return;
  weft_unit_attr attr = with(GetParam());
  attr.worker = worker.get();
  Jobs jobs;
  for (int i = 0; i < 2; ++i) {
    weft_unit* unit = jobs.start(attr, [] { pause_if_possible(GetParam()); });
    EXPECT_TRUE(eventually([unit] { return weft_unit_state(unit) == WEFT_DONE; }));
  }
}

// Bug: it lay at the worker, whose scheduler does not look there, and nobody else could take it.
TEST_P(TechniqueTest, RunsIfTheSchedulerHasNoPoolsAndNoOtherWorkerIsOn) {
  weft_workers_set_active(1);
  const auto run = [](weft_scheduler* scheduler, void*) {
    while (weft_scheduler_stops(scheduler) == 0) std::this_thread::yield();
  };
  const OwnScheduler own(run, nullptr, true, {});
  Jobs jobs;
  int ran = 0;
  for (int i = 0; i < 5; ++i)
    jobs.start(with(GetParam()), [&ran] {
      pause_if_possible(GetParam());
      ++ran;
    });
  jobs.join();
  EXPECT_EQ(ran, 5);
  weft_workers_set_active(weft_worker_count());
}

// ---------------------------------------------------------------- schedulers in pools

TEST_F(SchedulerTest, IsStackedInAPool) {
  for (const weft_scheduler_kind kind : kinds) {
    weft_pool* outer = make_pool();
    weft_pool* inner = make_pool();
    OwnScheduler own(WEFT_BASIC, {outer});
    weft_scheduler* scheduler = nullptr;
    ASSERT_EQ(weft_scheduler_create(kind, 1, &inner, &scheduler), WEFT_OK);
    {
      Jobs jobs;
      int ran = 0;
      for (int i = 0; i < 130; ++i)
        jobs.start(with(all_techniques[i % 13], inner), [&, i] {
          pause_if_possible(all_techniques[i % 13]);
          ++ran;
        });
      EXPECT_EQ(weft_scheduler_push(outer, scheduler), WEFT_OK);
      EXPECT_EQ(weft_pool_size(outer), 1U);
      EXPECT_EQ(weft_scheduler_free(scheduler), WEFT_ERR_STATE) << "it stands in a pool";
      jobs.join();
      EXPECT_EQ(ran, 130);
    }
    EXPECT_TRUE(eventually([&] {
      weft_sleep(100000);
      return weft_scheduler_free(scheduler) == WEFT_OK;
    })) << "kind "
        << kind;
    EXPECT_EQ(weft_pool_free(inner), WEFT_OK);
  }
}

TEST_F(SchedulerTest, TheUsersOwnIsStackedInAPool) {
  weft_pool* outer = make_pool();
  weft_pool* inner = make_pool();
  std::atomic<unsigned> entered{0};
  OwnScheduler own(WEFT_BASIC, {outer});
  weft_scheduler* scheduler = nullptr;
  ASSERT_EQ(weft_scheduler_create_custom(run_pools, &entered, 0, 1, &inner, &scheduler), WEFT_OK);
  for (unsigned round = 1; round <= 3; ++round) {
    Jobs jobs;
    int ran = 0;
    for (int i = 0; i < 50; ++i)
      jobs.start(with(WEFT_ROC_L, inner), [&] {
        weft_yield();
        ++ran;
      });
    EXPECT_EQ(weft_scheduler_push(outer, scheduler), WEFT_OK);
    jobs.join();
    EXPECT_EQ(ran, 50);
    EXPECT_EQ(entered, round);
  }
  EXPECT_TRUE(eventually([&] {
    weft_sleep(100000);
    return weft_scheduler_free(scheduler) == WEFT_OK;
  }));
  EXPECT_EQ(weft_pool_free(inner), WEFT_OK);
}

// Bug: one that came from elsewhere was pushed as those are that ran there, and beside these: some were lost.
TEST_F(SchedulerTest, UnitsMigrateToThePrivatePoolOfAStackedOne) {
  weft_pool* outer = make_pool();
  weft_pool* inner = make_pool(WEFT_FIFO, WEFT_PRIV);
  weft_scheduler* scheduler = nullptr;
  ASSERT_EQ(weft_scheduler_create(WEFT_BASIC, 1, &inner, &scheduler), WEFT_OK);
  {
    const OwnWorker worker(WEFT_BASIC_WAIT, {outer});
    Jobs jobs;
    constexpr int units = 500;
    std::atomic<int> left{units};
    jobs.start(with(WEFT_FULL, inner), [&] {
      while (left != 0) weft_yield();
    });
    EXPECT_EQ(weft_scheduler_push(outer, scheduler), WEFT_OK);
    for (int i = 0; i < units; ++i)
      jobs.start(WEFT_FULL, [&] {
        EXPECT_EQ(weft_unit_migrate(weft_unit_self(), inner), WEFT_OK);
        weft_yield();
        EXPECT_EQ(weft_worker_self(), worker.get());
        --left;
      });
    jobs.join();
    EXPECT_TRUE(eventually([&] {
      weft_sleep(100000);
      return weft_scheduler_free(scheduler) == WEFT_OK;
    }));
  }
  EXPECT_EQ(weft_pool_free(inner), WEFT_OK);
}

// Three deep.
TEST_F(SchedulerTest, IsStackedOnTheStacked) {
  weft_pool* pools[3] = {make_pool(), make_pool(), make_pool()};
  weft_scheduler* middle = nullptr;
  weft_scheduler* top = nullptr;
  ASSERT_EQ(weft_scheduler_create(WEFT_BASIC, 1, &pools[1], &middle), WEFT_OK);
  ASSERT_EQ(weft_scheduler_create(WEFT_BASIC, 1, &pools[2], &top), WEFT_OK);
  {
    OwnWorker worker(WEFT_BASIC_WAIT, {pools[0]});
    Jobs jobs;
    std::atomic<int> ran{0};
    for (int i = 0; i < 20; ++i)
      jobs.start(with(WEFT_ROC_L, pools[2]), [&] {
        weft_yield();
        ++ran;
      });
    EXPECT_EQ(weft_scheduler_push(pools[1], top), WEFT_OK);
    EXPECT_EQ(weft_scheduler_push(pools[0], middle), WEFT_OK);
    jobs.join();
    EXPECT_EQ(ran, 20);
  }
  EXPECT_EQ(weft_scheduler_free(top), WEFT_OK);
  EXPECT_EQ(weft_scheduler_free(middle), WEFT_OK);
  EXPECT_EQ(weft_pool_free(pools[1]), WEFT_OK);
  EXPECT_EQ(weft_pool_free(pools[2]), WEFT_OK);
}

// A scheduler of the user's own sees its pools and nothing else: what is resumed there must not be left with its
// worker.
TEST_P(WaitingTest, IsResumedUnderASchedulerOfTheUsersOwn) {
  weft_pool* pool = make_pool();
  OwnWorker worker(run_pools, nullptr, true, {pool});
  Jobs jobs;
  weft_unit* waiting = jobs.start(GetParam(), [] { weft_suspend(); });
  EXPECT_TRUE(eventually([&] { return weft_unit_state(waiting) == WEFT_SUSPENDED; }));
  jobs.start(with(WEFT_ROC_L, pool), [&] { EXPECT_EQ(weft_resume(waiting), WEFT_OK); });
  EXPECT_TRUE(eventually([&] { return weft_unit_state(waiting) == WEFT_DONE; }));
  jobs.join();
}

// Of several at once, and of one that yields, having left its pool.
TEST_P(WaitingTest, IsWokenUnderASchedulerOfTheUsersOwn) {
  weft_pool* pool = make_pool();
  OwnWorker worker(run_pools, nullptr, true, {pool});
  weft_latch latch = WEFT_LATCH_INIT(1);
  Jobs jobs;
  for (int i = 0; i < 3; ++i)
    jobs.start(with(GetParam(), pool), [&] {
      EXPECT_EQ(weft_unit_migrate(weft_unit_self(), nullptr), WEFT_OK);
      EXPECT_EQ(weft_latch_wait(&latch), WEFT_OK);
      EXPECT_EQ(weft_yield(), WEFT_OK);
    });
  jobs.start(with(WEFT_ROC_L, pool), [&] { EXPECT_EQ(weft_latch_count_down(&latch, 1), WEFT_OK); });
  jobs.join();
}

// Whoever resumes a unit is not the one producer of its pool.
TEST_P(WaitingTest, ComesBackIntoAPoolOfOneProducer) {
  for (const weft_order order : {WEFT_FIFO, WEFT_LIFO, WEFT_PRIORITY}) {
    weft_pool* pool = make_pool(order, WEFT_SPSC);
    OwnWorker worker(run_pools, nullptr, true, {pool});
    Jobs jobs;
    for (int i = 0; i < 5; ++i)
      jobs.start(with(GetParam(), pool), [&] {
        EXPECT_EQ(weft_yield(), WEFT_OK);
        EXPECT_EQ(weft_sleep(1000), WEFT_OK);
        EXPECT_EQ(weft_worker_self(), worker.get());
      });
    jobs.join();
  }
}

// What a thread that has ended has left behind is found by the only worker there is, although that is never without
// units of its own.
TEST_F(SchedulerTest, ALoneWorkerFindsWhatAThreadHasLeft) {
  std::atomic<bool> begun{false}, ran{false};
  const auto leave_one = [&] {
    begun = ran = false;
    return std::thread([&] {
      while (!begun) std::this_thread::yield();
      EXPECT_EQ(
          weft_unit_create([](void* told) { *static_cast<std::atomic<bool>*>(told) = true; }, &ran, nullptr, nullptr),
          WEFT_OK);
    });
  };
  const auto yields_until_it_ran = [&] {
    begun = true;
    while (!ran) weft_yield();
  };
  for (int before = 0; before < 4; ++before) {
    Jobs others;
    for (int i = 0; i < before; ++i) others.start(WEFT_AUTO, [] { weft_yield(); });
    others.join();
    std::thread thread = leave_one();
    Jobs jobs;
    jobs.start(WEFT_AUTO, yields_until_it_ran);
    jobs.join();
    thread.join();
  }
  for (int units = 0; units < 3; ++units) {
    std::thread thread = leave_one();
    Jobs jobs;
    for (int i = 0; i < units; ++i) jobs.start(WEFT_AUTO, yields_until_it_ran);
    yields_until_it_ran();
    jobs.join();
    thread.join();
  }
}

// A poller, in the pool of a worker whose scheduler thereby never finds it empty, lets a unit go on that has none.
TEST_F(SchedulerTest, WhatBecomesReadyThereWithoutAPoolIsNotKeptWaiting) {
  for (const weft_scheduler_kind kind : kinds) {
    weft_pool* pool = make_pool();
    OwnWorker worker(kind, {pool});
    weft_semaphore semaphore;
    ASSERT_EQ(weft_semaphore_init(&semaphore, 0), WEFT_OK);
    std::atomic<bool> waits{false}, told{false};
    Jobs jobs;
    jobs.start(WEFT_FULL, [&] {
      waits = true;
      EXPECT_EQ(weft_semaphore_acquire(&semaphore), WEFT_OK);
      told = true;
    });
    jobs.start(with(WEFT_FULL, pool), [&] {
      while (!waits) weft_yield();
      weft_sleep(1'000'000);  // until it does
      EXPECT_EQ(weft_semaphore_release(&semaphore, 1), WEFT_OK);
      while (!told) weft_yield();
    });
    jobs.join();
    EXPECT_EQ(weft_semaphore_destroy(&semaphore), WEFT_OK);
  }
}

// Each was on a worker of its own, with a scheduler that sleeps, and has left the pool of that for none.
TEST_F(SchedulerTest, ThoseOfManyWorkersGoOnTogether) {
  constexpr int many = 20;
  std::deque<OwnWorker> workers;
  weft_flag flag = WEFT_FLAG_INIT;
  std::atomic<int> waiting{0};
  Jobs jobs;
  for (int i = 0; i < many; ++i) {
    weft_pool* pool = make_pool();
    workers.emplace_back(WEFT_BASIC_WAIT, std::vector<weft_pool*>{pool});
    jobs.start(with(WEFT_FULL, pool), [&] {
      EXPECT_EQ(weft_unit_migrate(weft_unit_self(), nullptr), WEFT_OK);
      ++waiting;
      EXPECT_EQ(weft_flag_wait(&flag), WEFT_OK);
    });
  }
  while (waiting != many) weft_sleep(1'000'000);
  weft_sleep(10'000'000);  // until all of them sleep
  EXPECT_EQ(weft_flag_set(&flag), WEFT_OK);
  jobs.join();
  workers.clear();
  EXPECT_EQ(weft_flag_destroy(&flag), WEFT_OK);
}

// A scheduler's own code is no unit: it used to crash in whatever asks for the calling unit.
struct AsksAround {
  weft_unit* waits = nullptr;
  weft_mutex held = WEFT_MUTEX_INIT;
  weft_mutex recursive = WEFT_MUTEX_INIT_KIND(WEFT_MUTEX_RECURSIVE);
  weft_flag clear = WEFT_FLAG_INIT;
  weft_key key{};
  std::atomic<int> ran{0};
  std::atomic<bool> asked{false};

  void ask(weft_pool* pool) {
    EXPECT_EQ(weft_unit_self(), nullptr);
    EXPECT_EQ(weft_yield(), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_suspend(), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_sleep(1), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_yield_to(waits), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_unit_join(waits), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_unit_timed_join(waits, 1000), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_mutex_lock(&held), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_flag_timed_wait(&clear, 1000), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_mutex_try_lock(&held), WEFT_ERR_BUSY);
    EXPECT_EQ(weft_mutex_lock(&recursive), WEFT_OK);
    EXPECT_EQ(weft_mutex_lock(&recursive), WEFT_OK);
    EXPECT_EQ(weft_mutex_unlock(&recursive), WEFT_OK);
    EXPECT_EQ(weft_mutex_unlock(&recursive), WEFT_OK);
    void* value = nullptr;
    EXPECT_EQ(weft_key_set(key, this), WEFT_ERR_STATE);
    EXPECT_EQ(weft_key_get(key, &value), WEFT_ERR_STATE);
    EXPECT_EQ(weft_finalize(), WEFT_ERR_STATE);
    weft_cancel_point();
    for (const weft_technique technique : all_techniques) {
      // At its last step one that is preempted would go back into a pool that nobody serves any more.
      const weft_unit_attr attr = never_preempted(with(technique, pool));
      EXPECT_EQ(weft_unit_create([](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &ran, &attr, nullptr),
                WEFT_OK);
    }
    EXPECT_EQ(weft_resume(waits), WEFT_OK);
    asked = true;
  }
};

// Each waits in the kernel for all others, and takes its worker with it. Bug: who brought many units woke one worker.
TEST_F(SchedulerTest, ManyUnitsAtOnceWakeManyWorkers) {
  static constexpr unsigned count = 3;
  weft_pool* pool = make_pool();
  weft_scheduler* schedulers[count];
  weft_worker* workers[count];
  for (unsigned index = 0; index < count; ++index) {
    ASSERT_EQ(weft_scheduler_create(WEFT_BASIC_WAIT, 1, &pool, &schedulers[index]), WEFT_OK);
    ASSERT_EQ(weft_worker_create(schedulers[index], &workers[index]), WEFT_OK);
  }
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // they sleep by now, or it shows nothing
    static std::atomic<unsigned> begun;
    begun = 0;
    const weft_unit_attr attr = never_preempted(with(WEFT_FULL, pool));
    weft_unit* units[count];
    const auto meet = [](void*) {
      ++begun;
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (begun < count && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      EXPECT_EQ(begun, count);
    };
    ASSERT_EQ(weft_unit_create_many(count, meet, nullptr, &attr, units), WEFT_OK);
    EXPECT_EQ(weft_unit_free_many(count, units), WEFT_OK);
  }
  for (unsigned index = 0; index < count; ++index) {
    EXPECT_EQ(weft_worker_join(workers[index]), WEFT_OK);
    EXPECT_EQ(weft_scheduler_free(schedulers[index]), WEFT_OK);
  }
  EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST_F(SchedulerTest, ItsOwnCodeCannotWait) {
  AsksAround around;
  ASSERT_EQ(weft_key_create(nullptr, &around.key), WEFT_OK);
  ASSERT_EQ(weft_mutex_lock(&around.held), WEFT_OK);
  const auto run = [](weft_scheduler* scheduler, void* data) {
    auto& asks = *static_cast<AsksAround*>(data);
    weft_pool* pool = nullptr;
    EXPECT_EQ(weft_scheduler_pool(scheduler, 0, &pool), WEFT_OK);
    if (!asks.asked) asks.ask(pool);
    run_pools(scheduler, nullptr);
  };
  Jobs jobs;
  weft_unit* waits = jobs.start(WEFT_ROC_L, [] { EXPECT_EQ(weft_suspend(), WEFT_OK); });
  ASSERT_TRUE(eventually([&] { return weft_unit_state(waits) == WEFT_SUSPENDED; }));
  around.waits = waits;
  {
    OwnWorker worker(run, &around, true, {make_pool()});
    jobs.join();
    ASSERT_TRUE(eventually([&] { return around.ran == 13; }));
  }
  around.asked = false;
  weft_unit* again = jobs.start(WEFT_ROC_L, [] { EXPECT_EQ(weft_suspend(), WEFT_OK); });
  ASSERT_TRUE(eventually([&] { return weft_unit_state(again) == WEFT_SUSPENDED; }));
  around.waits = again;
  {
    OwnScheduler own(run, &around, true, {make_pool()});
    jobs.join();
    ASSERT_TRUE(eventually([&] { return around.ran == 26; }));
  }
  EXPECT_EQ(weft_mutex_unlock(&around.held), WEFT_OK);
  EXPECT_EQ(weft_key_delete(around.key), WEFT_OK);
}

// A pool of the user's own, which asks when it is looked into for the first time.
struct AskingPool {
  AsksAround around;
  std::deque<weft_unit*> units;
  weft_pool* self = nullptr;

  static void push(void* data, weft_unit* unit) { static_cast<AskingPool*>(data)->units.push_back(unit); }
  static weft_unit* pop(void* data) {
    auto& pool = *static_cast<AskingPool*>(data);
    if (!pool.around.asked) pool.around.ask(pool.self);
    if (pool.units.empty()) return nullptr;
    weft_unit* unit = pool.units.front();
    pool.units.pop_front();
    return unit;
  }
  static std::size_t size(void* data) { return static_cast<AskingPool*>(data)->units.size(); }
};

TEST_F(SchedulerTest, PoolsOfTheUsersOwnCannotWait) {
  AskingPool pool;
  AsksAround& around = pool.around;
  const weft_pool_functions functions = {AskingPool::push, AskingPool::pop, AskingPool::size, nullptr};
  ASSERT_EQ(weft_pool_create_custom(&functions, &pool, &pool.self), WEFT_OK);
  ASSERT_EQ(weft_key_create(nullptr, &around.key), WEFT_OK);
  ASSERT_EQ(weft_mutex_lock(&around.held), WEFT_OK);
  Jobs jobs;
  around.waits = jobs.start(WEFT_ROC_L, [] { EXPECT_EQ(weft_suspend(), WEFT_OK); });
  ASSERT_TRUE(eventually([&] { return weft_unit_state(around.waits) == WEFT_SUSPENDED; }));
  {
    OwnWorker worker(WEFT_BASIC, {pool.self});
    jobs.join();
    ASSERT_TRUE(eventually([&] { return around.ran == 13; }));
  }
  EXPECT_EQ(weft_mutex_unlock(&around.held), WEFT_OK);
  EXPECT_EQ(weft_key_delete(around.key), WEFT_OK);
}

// What lay at a worker was lost to everybody while it had a scheduler of the user's own, which looks only into its
// pools.
TEST_F(SchedulerTest, OneOfTheUsersOwnRunsWhatLiesAtItsWorker) {
  for (const bool with_pool : {true, false}) {
    Jobs jobs;
    std::atomic<int> ran{0};
    weft_unit* waits = jobs.start(WEFT_ROC_L, [&ran] {
      EXPECT_EQ(weft_suspend(), WEFT_OK);
      weft_yield();
      ++ran;
    });
    ASSERT_TRUE(eventually([&] { return weft_unit_state(waits) == WEFT_SUSPENDED; }));
    for (int i = 0; i < 10; ++i) jobs.start(WEFT_AUTO, [&ran] { ++ran; });
    const auto run = [](weft_scheduler* scheduler, void*) {
      weft_resume(weft_unit_self());  // nobody: refused
      run_pools(scheduler, nullptr);
    };
    const OwnScheduler own(run, nullptr, true,
                           with_pool ? std::vector<weft_pool*>{make_pool()} : std::vector<weft_pool*>{});
    EXPECT_EQ(weft_resume(waits), WEFT_OK);
    if (with_pool) {
      jobs.join();
      EXPECT_EQ(ran, 11);
    } else {
      EXPECT_EQ(weft_worker_set_scheduler(weft_worker_self(), nullptr), WEFT_OK);
      jobs.join();
      EXPECT_EQ(weft_worker_set_scheduler(weft_worker_self(), own.get()), WEFT_OK);
    }
  }
}

}  // namespace
}  // namespace weft::test
