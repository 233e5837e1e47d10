// Joining with a time limit: what it answers, and that end and timer may come at the same moment.
#include "support.h"

#include <thread>

namespace weft::test {
namespace {

class TimedJoinTest : public ApiTest {};

constexpr std::uint64_t microsecond = 1000;
constexpr std::uint64_t millisecond = 1000 * microsecond;
constexpr std::uint64_t long_time = 60000 * millisecond;  // longer than any test takes

bool waits(const weft_unit* unit) { return weft_unit_state(unit) == WEFT_SUSPENDED; }

std::uint64_t now() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

// How often the unit has left its worker.
std::uint64_t deviations_of(const weft_unit* unit) {
  weft_unit_statistics statistics{};
  EXPECT_EQ(weft_unit_get_statistics(unit, &statistics), WEFT_OK);
  return statistics.deviations;
}

TEST_P(WaitingTest, IsJoinedInTimeOrNot) {
  Jobs jobs;
  weft_unit* unit = jobs.start(GetParam(), [] { weft_suspend(); });
  EXPECT_TRUE(eventually([&] { return waits(unit); }));
  for (const std::uint64_t limit : {std::uint64_t{1}, millisecond, 3 * millisecond}) {
    const std::uint64_t began = now();
    EXPECT_EQ(weft_unit_timed_join(unit, limit), WEFT_ERR_TIMEOUT);
    EXPECT_GE(now() - began, limit);
    EXPECT_EQ(weft_unit_state(unit), WEFT_SUSPENDED);
  }
  EXPECT_EQ(weft_resume(unit), WEFT_OK);
  EXPECT_EQ(weft_unit_timed_join(unit, long_time), WEFT_OK);
  EXPECT_EQ(weft_unit_state(unit), WEFT_DONE);
  for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1}, long_time, WEFT_FOREVER})
    EXPECT_EQ(weft_unit_timed_join(unit, limit), WEFT_OK) << "it is done already";
}

TEST_P(WaitingTest, JoinsInTimeOrNot) {
  Jobs jobs;
  weft_unit* unit = jobs.start(WEFT_ROC_L, [] { weft_suspend(); });
  std::atomic<int> late{-1};
  std::atomic<int> early{-1};
  std::atomic<int> own{-1};
  weft_unit* joiner = jobs.start(GetParam(), [&] {
    own = weft_unit_timed_join(weft_unit_self(), 1);
    late = weft_unit_timed_join(unit, millisecond);
    early = weft_unit_timed_join(unit, long_time);
  });
  EXPECT_TRUE(eventually([&] { return late != -1 && waits(joiner); }));
  EXPECT_EQ(early, -1);
  EXPECT_EQ(weft_resume(unit), WEFT_OK);
  jobs.join();
  EXPECT_EQ(own, WEFT_ERR_ARGUMENT);
  EXPECT_EQ(late, WEFT_ERR_TIMEOUT);
  EXPECT_EQ(early, WEFT_OK);
}

TEST_F(TimedJoinTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(weft_unit_timed_join(nullptr, 0), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_unit_timed_join(nullptr, WEFT_FOREVER), WEFT_ERR_ARGUMENT);
}

TEST_F(TimedJoinTest, ZeroNeverWaits) {
  weft_pool* pool = make_pool();
  OwnScheduler own(WEFT_BASIC, {pool});
  Jobs jobs;
  bool ran = false;
  weft_unit* unit = jobs.start(with(WEFT_ROC_L, pool), [&] { ran = true; });
  EXPECT_EQ(weft_unit_timed_join(unit, 0), WEFT_ERR_TIMEOUT);
  EXPECT_FALSE(ran);
  EXPECT_EQ(weft_unit_timed_join(unit, WEFT_FOREVER), WEFT_OK);
  EXPECT_TRUE(ran);
}

TEST_F(TimedJoinTest, StacklessUnitsDoNotWait) {
  Jobs jobs;
  weft_unit* unit = jobs.start(WEFT_ROC_L, [] { weft_suspend(); });
  weft_unit* done = jobs.start(WEFT_ROC_L, [] {});
  EXPECT_EQ(weft_unit_join(done), WEFT_OK);
  int errors[4] = {-1, -1, -1, -1};
  weft_unit* stackless = jobs.start(WEFT_STACKLESS, [&] {
    errors[0] = weft_unit_timed_join(unit, 0);
    errors[1] = weft_unit_timed_join(unit, 1);
    errors[2] = weft_unit_timed_join(unit, WEFT_FOREVER);
    errors[3] = weft_unit_timed_join(done, 1);
  });
  EXPECT_EQ(weft_unit_join(stackless), WEFT_OK);
  EXPECT_EQ(weft_resume(unit), WEFT_OK);
  jobs.join();
  EXPECT_EQ(errors[0], WEFT_ERR_TIMEOUT);
  EXPECT_EQ(errors[1], WEFT_ERR_STACKLESS);
  EXPECT_EQ(errors[2], WEFT_ERR_STACKLESS);
  EXPECT_EQ(errors[3], WEFT_OK);
}

TEST_F(TimedJoinTest, OfAPrivatePoolOnlyOnItsWorker) {
  weft_pool* pool = make_pool(WEFT_FIFO, WEFT_PRIV);
  OwnScheduler own(WEFT_BASIC, {pool});
  Jobs jobs;
  bool go = false;
  weft_unit* unit = jobs.start(with(WEFT_ROC_L, pool), [&] {
    while (!go) weft_yield();
  });
  int error = -1;
  int zero = -1;
  std::thread([&] {
    error = weft_unit_timed_join(unit, 1);
    zero = weft_unit_timed_join(unit, 0);
  }).join();
  EXPECT_EQ(error, WEFT_ERR_ACCESS);
  EXPECT_EQ(zero, WEFT_ERR_TIMEOUT);
  EXPECT_EQ(weft_unit_timed_join(unit, millisecond), WEFT_ERR_TIMEOUT);
  go = true;
  EXPECT_EQ(weft_unit_timed_join(unit, long_time), WEFT_OK);
}

// A joiner that polled would leave its worker again and again. (Bug: one whose time was over before it could wait, as
// it had no CPU, was to have left once.)
TEST_F(TimedJoinTest, DoesNotPoll) {
  Jobs jobs;
  weft_unit* unit = jobs.start(WEFT_ROC_L, [] { weft_suspend(); });
  weft_unit* joiner = jobs.start(never_preempted(with(WEFT_FULL)),
                                 [&] { EXPECT_EQ(weft_unit_timed_join(unit, 30 * millisecond), WEFT_ERR_TIMEOUT); });
  EXPECT_EQ(weft_unit_join(joiner), WEFT_OK);
  EXPECT_LE(deviations_of(joiner), 1U);
  EXPECT_EQ(weft_resume(unit), WEFT_OK);
  jobs.join();
}

TEST_F(TimedJoinTest, OneThatWasNotJoinedInTimeIsDetached) {
  constexpr std::uint64_t limit = 100 * millisecond;
  unsigned seen_in_time = 0;  // the joiner, while it waited: not each time, where the machine is busy
  for (const weft_technique technique : all_techniques) {
    if (!may_wait(technique)) continue;
    Jobs jobs;
    std::atomic<weft_unit*> self{nullptr};
    std::atomic<bool> ended{false};
    weft_unit* unit = nullptr;
    const weft_unit_attr attr = with(technique);
    void* body = jobs.keep([&] {
      self = weft_unit_self();
      weft_suspend();
      ended = true;
    });
    ASSERT_EQ(weft_unit_create(Jobs::run, body, &attr, &unit), WEFT_OK);
    EXPECT_EQ(weft_unit_timed_join(unit, millisecond), WEFT_ERR_TIMEOUT);
    const std::uint64_t began = now();
    weft_unit* joiner = jobs.start(WEFT_ROC_L, [&] { EXPECT_EQ(weft_unit_timed_join(unit, limit), WEFT_ERR_TIMEOUT); });
    // Not before it has come to that, however late. (Bug: where it had not begun in time, it joined what was detached.)
    EXPECT_TRUE(eventually([&] { return waits(joiner) || weft_unit_state(joiner) == WEFT_DONE; }));
    const int error = weft_unit_detach(unit);
    if (now() - began < limit) {
      ++seen_in_time;
      EXPECT_EQ(error, WEFT_ERR_STATE) << "somebody joins it";
    }
    EXPECT_EQ(weft_unit_join(joiner), WEFT_OK);
    if (error != WEFT_OK) {
      EXPECT_EQ(weft_unit_detach(unit), WEFT_OK);
    }
    EXPECT_TRUE(eventually([&] { return self != nullptr; }));
    EXPECT_EQ(weft_resume(self), WEFT_OK);
    EXPECT_TRUE(eventually([&] { return ended.load(); }));
  }
  EXPECT_GT(seen_in_time, 0U);
}

TEST_F(TimedJoinTest, OneThatWasNotJoinedInTimeIsRevived) {
  Jobs jobs;
  std::atomic<int> runs{0};
  weft_unit* unit = jobs.start(WEFT_ROC_L, [&] {
    weft_suspend();
    ++runs;
  });
  for (int round = 1; round <= 20; ++round) {
    EXPECT_EQ(weft_unit_timed_join(unit, 100 * microsecond), WEFT_ERR_TIMEOUT);
    EXPECT_EQ(weft_resume(unit), WEFT_OK);
    EXPECT_EQ(weft_unit_timed_join(unit, long_time), WEFT_OK);
    EXPECT_EQ(runs, round);
    if (round == 20) break;
    EXPECT_EQ(weft_unit_revive(unit, Jobs::run, jobs.keep([&] {
                weft_suspend();
                ++runs;
              })),
              WEFT_OK);
  }
}

TEST_P(WaitingTest, IsJoinedByManyWithAndWithoutLimits) {
  Jobs jobs;
  std::atomic<bool> ended{false};
  std::atomic<int> came_late{0};
  std::atomic<int> joined{0};
  weft_unit* unit = jobs.start(GetParam(), [&] {
    weft_suspend();
    ended = true;
  });
  const auto join = [&](std::uint64_t limit) {
    if (limit < long_time) {
      EXPECT_EQ(weft_unit_timed_join(unit, limit), WEFT_ERR_TIMEOUT);
      ++came_late;
      return;
    }
    EXPECT_EQ(weft_unit_timed_join(unit, limit), WEFT_OK);
    EXPECT_TRUE(ended);
    ++joined;
  };
  const std::uint64_t limits[] = {millisecond, long_time, WEFT_FOREVER};
  for (const weft_technique technique : all_techniques) {
    if (!may_wait(technique)) continue;
    for (const std::uint64_t limit : limits) jobs.start(technique, [&join, limit] { join(limit); });
  }
  std::vector<std::thread> threads;
  for (const std::uint64_t limit : limits) threads.emplace_back(join, limit);
  join(millisecond);
  EXPECT_TRUE(eventually([&] { return came_late == 12 + 1 + 1; }));
  EXPECT_EQ(joined, 0);
  EXPECT_EQ(weft_resume(unit), WEFT_OK);
  join(long_time);
  for (std::thread& thread : threads) thread.join();
  jobs.join();
  EXPECT_EQ(joined, 2 * 12 + 2 + 1);
}

// The limits are about as long as the unit takes: end and timer come at the same moment, and each joiner comes back
// once.
TEST_P(WaitingTest, EndsWhenTheTimeIsOver) {
  const unsigned rounds = scaled(200);
  std::atomic<unsigned> in_time{0};
  std::atomic<unsigned> late{0};
  for (unsigned round = 0; round < rounds; ++round) {
    Jobs jobs;
    std::atomic<bool> ended{false};
    weft_unit* unit = jobs.start(GetParam(), [&] {
      weft_sleep(50 * microsecond);
      ended = true;
    });
    const auto join = [&](std::uint64_t limit) {
      const int error = weft_unit_timed_join(unit, limit);
      if (error == WEFT_OK) {
        EXPECT_TRUE(ended);
        ++in_time;
      } else {
        EXPECT_EQ(error, WEFT_ERR_TIMEOUT);
        ++late;
      }
    };
    for (unsigned i = 0; i < 6; ++i)
      jobs.start(WEFT_ROC_L, [&join, i, round] { join((30 + 10 * i + round % 10) * microsecond); });
    jobs.start(WEFT_FULL, [&] { EXPECT_EQ(weft_unit_join(unit), WEFT_OK); });
    join((45 + round % 10) * microsecond);
    jobs.join();
  }
  EXPECT_EQ(in_time + late, 7 * rounds);
}

// Whoever waits is not kept from its end by others who free the unit, and use its descriptor for the next one.
TEST_F(TimedJoinTest, TheUnitMayBeFreedByAnotherJoiner) {
  const unsigned rounds = scaled(300);
  for (unsigned round = 0; round < rounds; ++round) {
    Jobs jobs;
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_unit_create([](void*) { weft_suspend(); }, nullptr, nullptr, &unit), WEFT_OK);
    int error = -1;
    weft_unit* joiner = jobs.start(WEFT_ROC_L, [&] { error = weft_unit_timed_join(unit, long_time); });
    EXPECT_TRUE(eventually([&] { return waits(joiner) && waits(unit); }));
    EXPECT_EQ(weft_resume(unit), WEFT_OK);
    EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
    weft_unit* next = jobs.start(WEFT_ROC_L, [] { weft_suspend(); });
    EXPECT_EQ(weft_unit_timed_join(joiner, long_time), WEFT_OK);
    EXPECT_EQ(error, WEFT_OK);
    EXPECT_TRUE(eventually([&] { return waits(next); }));
    EXPECT_EQ(weft_resume(next), WEFT_OK);
    jobs.join();
  }
}

TEST_F(TimedJoinTest, JoinersOnSchedulersOfTheirOwn) {
  for (const bool custom : {false, true}) {
    weft_pool* pool = make_pool();
    const auto check = [&] {
      Jobs jobs;
      std::atomic<bool> go{false};
      weft_unit* unit = jobs.start(with(WEFT_ROC_L, pool), [&] {
        while (!go) weft_yield();
      });
      EXPECT_EQ(weft_unit_timed_join(unit, 2 * millisecond), WEFT_ERR_TIMEOUT);
      go = true;
      EXPECT_EQ(weft_unit_timed_join(unit, long_time), WEFT_OK);
      jobs.join();
    };
    if (custom) {
      OwnScheduler own(run_pools, nullptr, true, {pool});
      check();
    } else {
      OwnScheduler own(WEFT_BASIC_WAIT, {pool});
      check();
    }
  }
}

// Many on one unit, all with limits that pass while others come: the queue is taken apart from everywhere.
TEST_F(TimedJoinTest, ManyComeAndGo) {
  Jobs jobs;
  std::atomic<unsigned> late{0};
  weft_unit* unit = jobs.start(WEFT_ROC_L, [] { weft_suspend(); });
  const unsigned count = scaled(2000);
  for (unsigned i = 0; i < count; ++i)
    jobs.start(WEFT_AUTO, [&, i] {
      if (weft_unit_timed_join(unit, (1 + i * 7 % 100) * microsecond) == WEFT_ERR_TIMEOUT) ++late;
    });
  EXPECT_TRUE(eventually([&] { return late == count; }, std::chrono::seconds(50)));
  EXPECT_EQ(weft_resume(unit), WEFT_OK);
  jobs.join();
}

}  // namespace
}  // namespace weft::test
