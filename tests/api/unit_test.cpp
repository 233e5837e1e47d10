// Units one by one: creating, running, what is known about them.
#include "support.h"

#include <cstring>
#include <thread>

namespace weft::test {
namespace {

class UnitTest : public ApiTest {};

TEST_P(TechniqueTest, RunsWithItsArgument) {
  std::atomic<int> ran{0};
  const weft_unit_attr attr = with(GetParam());
  weft_unit* unit = nullptr;
  ASSERT_EQ(weft_unit_create([](void* argument) { static_cast<std::atomic<int>*>(argument)->fetch_add(1); }, &ran,
                             &attr, &unit),
            WEFT_OK);
  ASSERT_NE(unit, nullptr);
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(weft_unit_state(unit), WEFT_DONE);
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK) << "it stays valid";
  EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
}

// Bug: a unit's state said so some instructions before it could be revived, or joined at once.
TEST_F(UnitTest, WhatIsDoneCanBeRevivedAndJoinedAtOnce) {
  if (weft_worker_count() == 1) GTEST_SKIP() << "the unit runs while the root looks at it";
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  weft_unit* unit = nullptr;
  const auto yields = [](void*) { weft_yield(); };
  ASSERT_EQ(weft_unit_create(yields, nullptr, nullptr, &unit), WEFT_OK);
  unsigned too_early = 0;
  for (unsigned round = 0; round < 5000 && std::chrono::steady_clock::now() < end; ++round) {
    while (weft_unit_state(unit) != WEFT_DONE) {
    }
    if (weft_unit_timed_join(unit, 0) != WEFT_OK) ++too_early;
    if (weft_unit_revive(unit, yields, nullptr) == WEFT_OK) continue;
    ++too_early;
    ASSERT_EQ(weft_unit_join(unit), WEFT_OK);
  }
  EXPECT_EQ(too_early, 0U);
  EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
}

TEST_P(TechniqueTest, RunsWithItsTechnique) {
  Jobs jobs;
  std::atomic<weft_technique> inside{WEFT_AUTO};
  weft_unit* unit = jobs.start(GetParam(), [&] { inside = weft_unit_technique(weft_unit_self()); });
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  EXPECT_NE(inside, WEFT_AUTO);
  if (GetParam() != WEFT_AUTO) {
    EXPECT_EQ(inside, GetParam());
  }
  EXPECT_EQ(weft_unit_technique(unit), inside);
}

TEST_P(TechniqueTest, KnowsItself) {
  Jobs jobs;
  weft_unit* inside = nullptr;
  weft_unit* again = nullptr;
  weft_state state = WEFT_DONE;
  weft_unit* unit = jobs.start(GetParam(), [&] {
    inside = weft_unit_self();
    state = weft_unit_state(inside);
    pause_if_possible(GetParam());
    again = weft_unit_self();
  });
  jobs.join();
  EXPECT_EQ(inside, unit);
  EXPECT_EQ(again, unit);
  EXPECT_EQ(state, WEFT_RUNNING);
  EXPECT_EQ(weft_unit_self(), nullptr);
}

TEST_P(TechniqueTest, RunsManyAfterOneAnother) {
  const unsigned count = scaled(1000);
  std::atomic<unsigned> ran{0};
  for (unsigned i = 0; i < count; ++i) {
    Jobs jobs;
    jobs.start(GetParam(), [&] { ++ran; });
  }
  EXPECT_EQ(ran, count);
}

TEST_P(TechniqueTest, CreatesMany) {
  constexpr std::size_t count = 500;
  static std::atomic<unsigned> ran[count];
  for (auto& one : ran) one = 0;
  std::vector<void*> arguments;
  for (auto& one : ran) arguments.push_back(&one);
  std::vector<weft_unit*> units(count);
  const weft_unit_attr attr = with(GetParam());
  const int error = weft_unit_create_many(
      count, [](void* argument) { static_cast<std::atomic<unsigned>*>(argument)->fetch_add(1); }, arguments.data(),
      &attr, units.data());
  if (child_first(GetParam())) {
    EXPECT_EQ(error, WEFT_ERR_ARGUMENT);
    EXPECT_EQ(units[0], nullptr) << "written on success only";
    return;
  }
  ASSERT_EQ(error, WEFT_OK);
  EXPECT_EQ(weft_unit_join_many(count, units.data()), WEFT_OK);
  for (auto& one : ran) EXPECT_EQ(one, 1U);
  EXPECT_EQ(weft_unit_free_many(count, units.data()), WEFT_OK);
}

TEST_P(TechniqueTest, IsRevived) {
  std::atomic<int> first{0};
  std::atomic<int> second{0};
  Jobs jobs;
  weft_unit* unit = jobs.start(GetParam(), [&] {
    pause_if_possible(GetParam());
    ++first;
  });
  void* other = jobs.keep([&] {
    pause_if_possible(GetParam());
    ++second;
  });
  EXPECT_EQ(weft_unit_set_name(unit, "phoenix"), WEFT_OK);
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  constexpr int revives = 50;
  for (int round = 1; round <= revives; ++round) {
    ASSERT_EQ(weft_unit_revive(unit, Jobs::run, other), WEFT_OK);
    ASSERT_EQ(weft_unit_join(unit), WEFT_OK);
    ASSERT_EQ(second, round);
  }
  EXPECT_EQ(first, 1);
  EXPECT_STREQ(weft_unit_name(unit), "phoenix");
  if (GetParam() != WEFT_AUTO) {
    EXPECT_EQ(weft_unit_technique(unit), GetParam());
  }
  weft_unit_statistics statistics{};
  EXPECT_EQ(weft_unit_get_statistics(unit, &statistics), WEFT_OK);
  EXPECT_EQ(statistics.starts, 1U + revives);
}

// Bug: a thread that had not used weft before never came back from freeing a unit that was done.
TEST_P(TechniqueTest, IsFreedByAThreadThatIsNew) {
  Jobs jobs;
  void* body = jobs.keep([] { pause_if_possible(GetParam()); });
  const weft_unit_attr attr = with(GetParam());
  weft_unit* units[3] = {};
  for (weft_unit*& unit : units) {
    ASSERT_EQ(weft_unit_create(Jobs::run, body, &attr, &unit), WEFT_OK);
    ASSERT_EQ(weft_unit_join(unit), WEFT_OK);
  }
  std::thread([&] { EXPECT_EQ(weft_unit_free(units[0]), WEFT_OK); }).join();
  std::thread([&] { EXPECT_EQ(weft_unit_free_many(1, &units[1]), WEFT_OK); }).join();
  std::thread([&] { EXPECT_EQ(weft_unit_detach(units[2]), WEFT_OK); }).join();
}

TEST_P(WaitingTest, CountsItsDeviations) {
  Jobs jobs;
  weft_unit* unit = jobs.start(never_preempted(with(GetParam())), [] {
    for (int i = 0; i < 5; ++i) weft_yield();
    weft_suspend();
  });
  EXPECT_TRUE(eventually([&] { return weft_unit_state(unit) == WEFT_SUSPENDED; }));
  EXPECT_EQ(weft_resume(unit), WEFT_OK);
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  weft_unit_statistics statistics{};
  EXPECT_EQ(weft_unit_get_statistics(unit, &statistics), WEFT_OK);
  EXPECT_EQ(statistics.starts, 1U);
  EXPECT_EQ(statistics.deviations, 6U);
  EXPECT_LE(statistics.worker_moves, 6U + 1);
}

TEST_P(TechniqueTest, CountsNoDeviationsWhereThereAreNone) {
  Jobs jobs;
  weft_unit* unit = jobs.start(never_preempted(with(GetParam())), [] {});
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  weft_unit_statistics statistics{7, 7, 7};
  EXPECT_EQ(weft_unit_get_statistics(unit, &statistics), WEFT_OK);
  EXPECT_EQ(statistics.starts, 1U);
  EXPECT_EQ(statistics.deviations, 0U);
}

WEFT_INSTANTIATE_TECHNIQUES(TechniqueTest);
WEFT_INSTANTIATE_WAITING(WaitingTest);

void nothing(void*) {}

TEST_F(UnitTest, AttributesMayBeMissing) {
  weft_unit* unit = nullptr;
  ASSERT_EQ(weft_unit_create(nothing, nullptr, nullptr, &unit), WEFT_OK);
  EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
  weft_unit* units[10];
  ASSERT_EQ(weft_unit_create_many(10, nothing, nullptr, nullptr, units), WEFT_OK);
  EXPECT_EQ(weft_unit_free_many(10, units), WEFT_OK);
  EXPECT_EQ(weft_unit_create_many(0, nothing, nullptr, nullptr, nullptr), WEFT_OK);
}

TEST_F(UnitTest, RefusesArgumentsThatMakeNoSense) {
  weft_unit* unit = nullptr;
  EXPECT_EQ(weft_unit_create(nullptr, nullptr, nullptr, &unit), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_unit_create_many(1, nullptr, nullptr, nullptr, &unit), WEFT_ERR_ARGUMENT);
  for (const int technique : {-1, 13, 1000}) {
    const weft_unit_attr attr = with(static_cast<weft_technique>(technique));
    EXPECT_EQ(weft_unit_create(nothing, nullptr, &attr, &unit), WEFT_ERR_ARGUMENT) << technique;
    EXPECT_EQ(weft_unit_create_many(1, nothing, nullptr, &attr, &unit), WEFT_ERR_ARGUMENT) << technique;
  }
  weft_unit_attr attr = with(WEFT_ROC_L);
  attr.flags = 1U << 20U;
  EXPECT_EQ(weft_unit_create(nothing, nullptr, &attr, &unit), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_unit_join(nullptr), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_unit_free(nullptr), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_unit_detach(nullptr), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_unit_revive(nullptr, nothing, nullptr), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_unit_cancel(nullptr), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_resume(nullptr), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_unit_migrate(nullptr, nullptr), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_unit_set_name(nullptr, "x"), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_unit_join_many(1, nullptr), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_unit_free_many(1, nullptr), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_unit_join_many(0, nullptr), WEFT_OK);
  EXPECT_EQ(weft_unit_free_many(0, nullptr), WEFT_OK);
  weft_unit_statistics statistics{};
  EXPECT_EQ(weft_unit_get_statistics(nullptr, &statistics), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(unit, nullptr) << "written on success only";
}

TEST_F(UnitTest, AsksForAKindOfPreemption) {
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  EXPECT_EQ(attr.preemption, WEFT_PREEMPT_DEFAULT);
  weft_unit* unit = nullptr;
  for (const weft_technique technique : all_techniques) {
    attr.technique = technique;
    for (const weft_preemption kind :
         {WEFT_PREEMPT_DEFAULT, WEFT_PREEMPT_SIGNAL_YIELD, WEFT_PREEMPT_KLT_SWITCH, WEFT_PREEMPT_NONE}) {
      attr.preemption = kind;
      if (technique == WEFT_STACKLESS && (kind == WEFT_PREEMPT_SIGNAL_YIELD || kind == WEFT_PREEMPT_KLT_SWITCH)) {
        EXPECT_EQ(weft_unit_create(nothing, nullptr, &attr, &unit), WEFT_ERR_STACKLESS);
        continue;
      }
      ASSERT_EQ(weft_unit_create(nothing, nullptr, &attr, &unit), WEFT_OK) << technique;
      EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
    }
    unit = nullptr;
    memset(&attr.preemption, 1, sizeof attr.preemption);  // no such kind, as C lets it be
    EXPECT_EQ(weft_unit_create(nothing, nullptr, &attr, &unit), WEFT_ERR_ARGUMENT) << technique;
    EXPECT_EQ(unit, nullptr);
  }
  attr = WEFT_UNIT_ATTR_INIT;
  attr.preemption = WEFT_PREEMPT_SIGNAL_YIELD;
  attr.stack_size = 8192;
  EXPECT_EQ(weft_unit_create(nothing, nullptr, &attr, &unit), WEFT_ERR_ARGUMENT) << "a signal needs room";
}

TEST_F(UnitTest, AStacklessUnitThatMayBlockIsRefused) {
  weft_unit_attr attr = with(WEFT_STACKLESS);
  attr.flags = WEFT_MAY_BLOCK;
  weft_unit* unit = nullptr;
  EXPECT_EQ(weft_unit_create(nothing, nullptr, &attr, &unit), WEFT_ERR_STACKLESS);
  EXPECT_EQ(weft_unit_create_many(1, nothing, nullptr, &attr, &unit), WEFT_ERR_STACKLESS);
  EXPECT_EQ(unit, nullptr);
  attr.technique = WEFT_ROC_L;
  ASSERT_EQ(weft_unit_create(nothing, nullptr, &attr, &unit), WEFT_OK);
  EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
}

TEST_F(UnitTest, TellsItsState) {
  weft_pool* pool = make_pool();
  weft_unit* unit = nullptr;
  {
    OwnScheduler own(WEFT_BASIC, {pool});
    std::atomic<bool> go{false};
    Jobs jobs;
    // It is to be seen suspended, not put back before.
    unit = jobs.start(never_preempted(with(WEFT_ROC_L, pool)), [&] {
      weft_suspend();
      while (!go) weft_yield();
    });
    EXPECT_EQ(weft_unit_state(unit), WEFT_CREATED);
    while (weft_unit_state(unit) == WEFT_CREATED) weft_yield();
    EXPECT_EQ(weft_unit_state(unit), WEFT_SUSPENDED);
    EXPECT_EQ(weft_resume(unit), WEFT_OK);
    EXPECT_EQ(weft_unit_state(unit), WEFT_READY);
    weft_yield();
    EXPECT_EQ(weft_unit_state(unit), WEFT_READY) << "it yields all the time";
    go = true;
    EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
    EXPECT_EQ(weft_unit_state(unit), WEFT_DONE);
  }
}

TEST_F(UnitTest, HasAName) {
  weft_unit_attr attr = with(WEFT_FULL);
  static const char name[] = "Penelope";
  attr.name = name;
  Jobs jobs;
  bool same = false;
  weft_unit* named = jobs.start(attr, [&] { same = weft_unit_name(weft_unit_self()) == name; });
  weft_unit* nameless = jobs.start(WEFT_FULL, [] {});
  EXPECT_STREQ(weft_unit_name(nameless), "");
  EXPECT_STREQ(weft_unit_name(named), name);
  EXPECT_EQ(weft_unit_join(named), WEFT_OK);
  EXPECT_TRUE(same) << "it is not copied";
  EXPECT_EQ(weft_unit_set_name(nameless, "Laertes"), WEFT_OK);
  EXPECT_STREQ(weft_unit_name(nameless), "Laertes");
  EXPECT_EQ(weft_unit_set_name(nameless, nullptr), WEFT_OK);
  EXPECT_STREQ(weft_unit_name(nameless), "");
}

TEST_F(UnitTest, TechniqueOfAnAutoUnitIsChosenAtItsStart) {
  weft_pool* pool = make_pool();
  OwnScheduler own(WEFT_BASIC, {pool});
  Jobs jobs;
  weft_unit* unit = jobs.start(with(WEFT_AUTO, pool), [] {});
  EXPECT_EQ(weft_unit_technique(unit), WEFT_AUTO);
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  EXPECT_NE(weft_unit_technique(unit), WEFT_AUTO);
}

TEST_F(UnitTest, ReviveIsForTheDone) {
  Jobs jobs;
  weft_unit* unit = jobs.start(WEFT_ROC_L, [] { weft_suspend(); });
  EXPECT_EQ(weft_unit_revive(unit, nothing, nullptr), WEFT_ERR_STATE);
  EXPECT_TRUE(eventually([&] { return weft_unit_state(unit) == WEFT_SUSPENDED; }));
  EXPECT_EQ(weft_unit_revive(unit, nothing, nullptr), WEFT_ERR_STATE);
  EXPECT_EQ(weft_resume(unit), WEFT_OK);
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  EXPECT_EQ(weft_unit_revive(unit, nullptr, nullptr), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_unit_revive(unit, nothing, nullptr), WEFT_OK);
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
}

// As far as it goes.
TEST_F(UnitTest, CountsManyStarts) {
  if (thread_sanitizer || address_sanitizer) GTEST_SKIP() << "takes long";
  weft_unit* unit = nullptr;
  const weft_unit_attr attr = with(WEFT_STACKLESS);
  ASSERT_EQ(weft_unit_create(nothing, nullptr, &attr, &unit), WEFT_OK);
  constexpr unsigned revives = 70000;
  for (unsigned i = 0; i < revives; ++i) {
    ASSERT_EQ(weft_unit_join(unit), WEFT_OK);
    ASSERT_EQ(weft_unit_revive(unit, nothing, nullptr), WEFT_OK);
  }
  ASSERT_EQ(weft_unit_join(unit), WEFT_OK);
  weft_unit_statistics statistics{};
  EXPECT_EQ(weft_unit_get_statistics(unit, &statistics), WEFT_OK);
  EXPECT_EQ(statistics.starts, 65535U);
  EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
}

}  // namespace
}  // namespace weft::test
