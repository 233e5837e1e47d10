// Who joins whom.
#include "support.h"

#include <thread>

namespace weft::test {
namespace {

class JoinTest : public ApiTest {};

TEST_P(WaitingTest, DoesNotJoinItself) {
  Jobs jobs;
  int joined = -1;
  int freed = -1;
  jobs.start(GetParam(), [&] {
    joined = weft_unit_join(weft_unit_self());
    freed = weft_unit_free(weft_unit_self());
  });
  jobs.join();
  EXPECT_EQ(joined, WEFT_ERR_ARGUMENT);
  EXPECT_EQ(freed, WEFT_ERR_ARGUMENT);
}

TEST_P(WaitingTest, IsJoinedByMany) {
  Jobs jobs;
  std::atomic<bool> ended{false};
  std::atomic<int> joined{0};
  weft_unit* unit = jobs.start(GetParam(), [&] {
    weft_suspend();
    ended = true;
  });
  const auto join = [&] {
    EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
    EXPECT_TRUE(ended);
    ++joined;
  };
  for (const weft_technique technique : all_techniques) {
    if (!may_wait(technique)) continue;
    for (int i = 0; i < 3; ++i) jobs.start(technique, join);
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(join);
  EXPECT_EQ(weft_sleep(1000000), WEFT_OK);
  EXPECT_EQ(joined, 0);
  EXPECT_EQ(weft_resume(unit), WEFT_OK);
  join();
  for (std::thread& thread : threads) thread.join();
  jobs.join();
  EXPECT_EQ(joined, 12 * 3 + 4 + 1);
}

TEST_P(WaitingTest, JoinsTheDoneAndTheUndone) {
  Jobs jobs;
  std::atomic<int> ended{0};
  jobs.start(GetParam(), [&] {
    weft_unit* units[30];
    int next = 0;
    Jobs children;
    for (int i = 0; i < 30; ++i)
      units[next++] = children.start(all_techniques[i % 13], [&, i] {
        if (i % 2 == 0) pause_if_possible(all_techniques[i % 13]);
        ++ended;
      });
    EXPECT_EQ(weft_unit_join_many(30, units), WEFT_OK);
    EXPECT_EQ(ended, 30);
    EXPECT_EQ(weft_unit_join_many(30, units), WEFT_OK);
  });
  jobs.join();
}

TEST_F(JoinTest, StacklessUnitsDoNotWait) {
  Jobs jobs;
  weft_unit* other = jobs.start(WEFT_ROC_L, [] { weft_suspend(); });
  int errors[8];
  weft_unit* tries = jobs.start(WEFT_STACKLESS, [&] {
    errors[0] = weft_unit_join(other);
    errors[1] = weft_unit_free(other);
    errors[2] = weft_unit_join_many(1, &other);
    errors[3] = weft_unit_free_many(1, &other);
    errors[4] = weft_yield();
    errors[5] = weft_suspend();
    errors[6] = weft_sleep(1);
    errors[7] = WEFT_ERR_STACKLESS;
  });
  EXPECT_EQ(weft_unit_join(tries), WEFT_OK);  // `other` has not ended until then
  EXPECT_TRUE(eventually([&] { return weft_unit_state(other) == WEFT_SUSPENDED; }));
  EXPECT_EQ(weft_resume(other), WEFT_OK);
  jobs.join();
  for (const int error : errors) EXPECT_EQ(error, WEFT_ERR_STACKLESS);
}

TEST_F(JoinTest, StacklessUnitsCreateAndResume) {
  for (const weft_technique technique : all_techniques) {
    Jobs jobs;
    Jobs children;
    std::atomic<bool> ran{false};
    weft_unit* waits = jobs.start(WEFT_FULL, [] { weft_suspend(); });
    weft_unit* creator = jobs.start(WEFT_STACKLESS, [&] {
      children.start(technique, [&] {
        pause_if_possible(technique);
        ran = true;
      });
      EXPECT_EQ(weft_resume(waits), WEFT_OK);
    });
    EXPECT_EQ(weft_unit_join(creator), WEFT_OK);
    children.join();
    EXPECT_TRUE(ran) << weft_technique_name(technique);
  }
}

TEST_F(JoinTest, JoinsOnAnotherRoot) {
  for (int round = 0; round < 20; ++round) {
    for (const weft_technique technique : all_techniques) {
      Jobs jobs;
      std::atomic<bool> ran{false};
      weft_unit* unit = jobs.start(technique, [&] {
        pause_if_possible(technique);
        ran = true;
      });
      std::thread([&] {
        EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
        EXPECT_TRUE(ran);
      }).join();
    }
  }
}

TEST_F(JoinTest, PrivateUnitsAreJoinedWhereTheyWereCreated) {
  weft_pool* pool = make_pool(WEFT_FIFO, WEFT_PRIV);
  OwnScheduler own(WEFT_BASIC, {pool});
  Jobs jobs;
  weft_unit* unit = jobs.start(with(WEFT_ROC_L, pool), [] {});
  int joined = -1;
  int freed = -1;
  std::thread([&] {
    joined = weft_unit_join(unit);
    freed = weft_unit_free(unit);
  }).join();
  EXPECT_EQ(joined, WEFT_ERR_ACCESS);
  EXPECT_EQ(freed, WEFT_ERR_ACCESS);
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
}

// A unit frees what waits for others, over several levels.
TEST_P(WaitingTest, JoinsInAChain) {
  constexpr int length = 50;
  Jobs jobs;
  weft_unit* units[length + 1];
  std::atomic<int> ended{0};
  units[0] = jobs.start(GetParam(), [&] {
    weft_suspend();
    ++ended;
  });
  for (int i = 1; i <= length; ++i)
    units[i] = jobs.start(GetParam(), [&, before = units[i - 1], i] {
      EXPECT_EQ(weft_unit_join(before), WEFT_OK);
      EXPECT_EQ(ended++, i);
    });
  EXPECT_TRUE(eventually([&] { return weft_unit_state(units[0]) == WEFT_SUSPENDED; }));
  EXPECT_EQ(weft_resume(units[0]), WEFT_OK);
  EXPECT_EQ(weft_unit_join(units[length]), WEFT_OK);
  EXPECT_EQ(ended, length + 1);
}

}  // namespace
}  // namespace weft::test
