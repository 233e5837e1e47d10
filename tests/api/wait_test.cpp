// Yielding, suspending, sleeping, migrating.
#include "support.h"

#include <thread>

namespace weft::test {
namespace {

class WaitTest : public ApiTest {};

using Clock = std::chrono::steady_clock;

TEST_P(WaitingTest, YieldsToTheOther) {
  Jobs jobs;
  std::atomic<int> turn{0};
  constexpr int turns = 200;
  const auto play = [&](int own) {
    for (int i = 0; i < turns; ++i) {
      while (turn != own) ASSERT_EQ(weft_yield(), WEFT_OK);
      turn = 1 - own;
    }
  };
  jobs.start(GetParam(), [&] { play(0); });
  jobs.start(GetParam(), [&] { play(1); });
  jobs.join();
}

TEST_P(WaitingTest, YieldsToOneThatHasNotStarted) {
  Jobs jobs;
  std::atomic<bool> go{false};
  for (int i = 0; i < 10; ++i)
    jobs.start(GetParam(), [&] {
      while (!go) weft_yield();
    });
  jobs.start(WEFT_ROC_L, [&] { go = true; });
  jobs.join();
}

// On one worker, that yielding is fair: nobody gets far ahead.
TEST_P(WaitingTest, YieldsInTurn) {
  weft_pool* pool = make_pool();
  OwnScheduler own(WEFT_BASIC, {pool});
  constexpr int members = 4;
  int steps[members] = {};
  int most = 0;
  Jobs jobs;
  for (int member = 0; member < members; ++member)
    jobs.start(never_preempted(with(GetParam(), pool)), [&, member] {
      while (steps[member] < 100) {
        ++steps[member];
        weft_yield();
        for (const int step : steps)
          if (step > 0 && steps[member] - step > most) most = steps[member] - step;
      }
    });
  jobs.join();
  EXPECT_LE(most, 2);
}

TEST_P(WaitingTest, ARootThatYieldsRunsUnits) {
  Jobs jobs;
  std::atomic<int> ended{0};
  for (int i = 0; i < 20; ++i)
    jobs.start(GetParam(), [&] {
      weft_yield();
      ++ended;
    });
  EXPECT_TRUE(eventually([&] { return ended == 20; }));
}

TEST_F(WaitTest, ARootWithASchedulerOfItsOwnThatYieldsRunsItsUnits) {
  weft_pool* pool = make_pool();
  OwnScheduler own(WEFT_BASIC, {pool});
  Jobs jobs;
  std::atomic<int> ended{0};
  for (int i = 0; i < 20; ++i) jobs.start(with(WEFT_ROC_L, pool), [&] { ++ended; });
  EXPECT_TRUE(eventually([&] { return ended == 20; }, std::chrono::seconds(10)));
}

// ---------------------------------------------------------------- suspend and resume

TEST_P(WaitingTest, IsResumed) {
  Jobs jobs;
  std::atomic<int> ended{0};
  weft_unit* unit = jobs.start(GetParam(), [&] {
    EXPECT_EQ(weft_suspend(), WEFT_OK);
    ++ended;
  });
  EXPECT_TRUE(eventually([&] { return weft_unit_state(unit) == WEFT_SUSPENDED; }));
  weft_sleep(1000000);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(weft_resume(unit), WEFT_OK);
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(weft_resume(unit), WEFT_ERR_STATE) << "it is done";
}

TEST_P(WaitingTest, AResumeThatCameBeforeIsNotLost) {
  Jobs jobs;
  std::atomic<bool> began{false};
  std::atomic<bool> go{false};
  std::atomic<int> passed{0};
  weft_unit* unit = jobs.start(GetParam(), [&] {
    began = true;
    while (!go) weft_yield();
    EXPECT_EQ(weft_suspend(), WEFT_OK);
    ++passed;
    EXPECT_EQ(weft_suspend(), WEFT_OK);
    ++passed;
  });
  EXPECT_TRUE(eventually([&] { return began.load(); }));
  EXPECT_EQ(weft_resume(unit), WEFT_OK);
  EXPECT_EQ(weft_resume(unit), WEFT_ERR_STATE) << "it has been resumed already";
  go = true;
  EXPECT_TRUE(eventually([&] { return weft_unit_state(unit) == WEFT_SUSPENDED; }));
  EXPECT_EQ(passed, 1) << "a resume is for one suspend";
  EXPECT_EQ(weft_resume(unit), WEFT_OK);
  jobs.join();
  EXPECT_EQ(passed, 2);
}

TEST_P(WaitingTest, ResumesItself) {
  Jobs jobs;
  jobs.start(GetParam(), [] {
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(weft_resume(weft_unit_self()), WEFT_OK);
      EXPECT_EQ(weft_suspend(), WEFT_OK);
    }
  });
  jobs.join();
}

TEST_F(WaitTest, OneThatHasNotStartedIsResumed) {
  weft_pool* pool = make_pool();
  OwnScheduler own(WEFT_BASIC, {pool});
  Jobs jobs;
  weft_unit* unit = jobs.start(with(WEFT_ROC_L, pool), [] { weft_suspend(); });
  EXPECT_EQ(weft_resume(unit), WEFT_OK);
  EXPECT_EQ(weft_resume(unit), WEFT_ERR_STATE);
  jobs.join();
}

TEST_F(WaitTest, AResumeThatWasNotUsedEndsWithTheUnit) {
  Jobs jobs;
  std::atomic<bool> go{false};
  std::atomic<int> passed{0};
  weft_unit* unit = jobs.start(WEFT_ROC_L, [&] {
    while (!go) weft_yield();
  });
  EXPECT_EQ(weft_resume(unit), WEFT_OK);
  go = true;
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  EXPECT_EQ(weft_unit_revive(unit, Jobs::run, jobs.keep([&] {
              weft_suspend();
              ++passed;
            })),
            WEFT_OK);
  EXPECT_TRUE(eventually([&] { return weft_unit_state(unit) == WEFT_SUSPENDED || passed == 1; }));
  EXPECT_EQ(passed, 0);
  EXPECT_EQ(weft_resume(unit), WEFT_OK);
  jobs.join();
}

TEST_F(WaitTest, RootsDoNotSuspend) { EXPECT_EQ(weft_suspend(), WEFT_ERR_STATE); }

// Each suspend is answered by one resume, from whichever worker, at whatever moment.
TEST_P(WaitingTest, ResumesRaceWithSuspends) {
  const unsigned rounds = scaled(2000);
  Jobs jobs;
  std::atomic<weft_unit*> ping{nullptr};
  std::atomic<weft_unit*> pong{nullptr};
  const auto play = [&](std::atomic<weft_unit*>& own, std::atomic<weft_unit*>& other, bool first) {
    own = weft_unit_self();
    while (other == nullptr) weft_yield();
    for (unsigned i = 0; i < rounds; ++i) {
      if (!first) {
        ASSERT_EQ(weft_suspend(), WEFT_OK);
      }
      ASSERT_EQ(weft_resume(other), WEFT_OK);
      if (first) {
        ASSERT_EQ(weft_suspend(), WEFT_OK);
      }
    }
  };
  jobs.start(GetParam(), [&] { play(ping, pong, true); });
  jobs.start(GetParam(), [&] { play(pong, ping, false); });
  jobs.join();
}

TEST_P(WaitingTest, IsResumedByThreads) {
  constexpr int count = 100;
  Jobs jobs;
  std::vector<weft_unit*> units;
  std::atomic<int> ended{0};
  for (int i = 0; i < count; ++i)
    units.push_back(jobs.start(GetParam(), [&] {
      weft_suspend();
      ++ended;
    }));
  std::vector<std::thread> threads;
  for (int part = 0; part < 4; ++part)
    threads.emplace_back([&, part] {
      for (int i = part; i < count; i += 4) EXPECT_EQ(weft_resume(units[static_cast<std::size_t>(i)]), WEFT_OK);
    });
  for (std::thread& thread : threads) thread.join();
  jobs.join();
  EXPECT_EQ(ended, count);
}

// ---------------------------------------------------------------- sleep

// How long it takes until so many have slept, each for 10 ms.
Clock::duration time_of_sleepers(weft_technique technique, int sleepers) {
  const auto begin = Clock::now();
  Jobs jobs;
  for (int i = 0; i < sleepers; ++i)
    jobs.start(technique, [] {
      const auto before = Clock::now();
      EXPECT_EQ(weft_sleep(10000000), WEFT_OK);
      EXPECT_GE(Clock::now() - before, std::chrono::milliseconds(10));
    });
  jobs.join();
  return Clock::now() - begin;
}

// One after another they would need more each time; that a busy machine makes them late once says nothing.
TEST_P(WaitingTest, Sleeps) {
  constexpr int sleepers = 50;
  bool at_once = false;
  for (int round = 0; round < 20 && !at_once; ++round)
    at_once = time_of_sleepers(GetParam(), sleepers) < std::chrono::milliseconds(10 * sleepers * 3 / 4);
  EXPECT_TRUE(at_once) << "they sleep all at once";
}

TEST_F(WaitTest, ARootSleeps) {
  const auto before = Clock::now();
  EXPECT_EQ(weft_sleep(5000000), WEFT_OK);
  EXPECT_GE(Clock::now() - before, std::chrono::milliseconds(5));
  EXPECT_EQ(weft_sleep(0), WEFT_OK);
}

TEST_F(WaitTest, ARootThatSleepsDoesNotKeepTheWorker) {
  Jobs jobs;
  std::atomic<bool> ran{false};
  jobs.start(WEFT_ROC_L, [&] { ran = true; });
  EXPECT_EQ(weft_sleep(50000000), WEFT_OK);
  // Another worker may have taken it, and be kept by a busy machine; or this one is kept for so long before it sleeps.
  // (Bug: where there is no other, it had to have run by then.)
  const auto limit = Clock::now() + std::chrono::seconds(10);
  while (!ran && Clock::now() < limit) EXPECT_EQ(weft_sleep(50000000), WEFT_OK);
  EXPECT_TRUE(ran);
}

// Whether units that sleep longer and longer, by so much each, go on in that order; the one that sleeps longest is
// started first.
bool sleeps_end_in_their_order(std::uint64_t step_ns) {
  Jobs jobs;
  std::atomic<int> order{0};
  int place[5] = {};
  for (int i = 4; i >= 0; --i)
    jobs.start(WEFT_FULL_L, [&, i] {
      weft_sleep(static_cast<std::uint64_t>(i) * step_ns + 5000000);
      place[i] = order++;
    });
  jobs.join();
  for (int i = 0; i < 5; ++i)
    if (place[i] != i) return false;
  return true;
}

// Each reckons from when it begins to sleep: one that is kept for longer than a step before that is late by right, and
// so are two that end in the same one. (Bug: all steps were of 20 ms, for which a busy machine gives no CPU often.)
TEST_F(WaitTest, SleepsEndInTheirOrder) {
  if (weft_worker_count() > 1) GTEST_SKIP() << "two that end late go on at the same time on two workers";
  bool in_order = false;
  for (std::uint64_t round = 1; round <= 10 && !in_order; ++round)
    in_order = sleeps_end_in_their_order(round * 20 * 1000000);
  EXPECT_TRUE(in_order);
}

// The longest sleep there is does not end at once because a sum has run over.
TEST_F(WaitTest, SleepsForEver) {
  static std::atomic<bool> ended{false};
  weft_unit* unit = nullptr;
  ASSERT_EQ(weft_unit_create(
                [](void*) {
                  weft_sleep(UINT64_MAX);
                  ended = true;
                },
                nullptr, nullptr, &unit),
            WEFT_OK);
  weft_sleep(20000000);
  EXPECT_FALSE(ended);
  if (ended) weft_unit_free(unit);
}

// ---------------------------------------------------------------- migrate

TEST_P(WaitingTest, MigratesAtItsNextSchedulingPoint) {
  weft_pool* pool = make_pool();
  OwnWorker worker(WEFT_BASIC_WAIT, {pool});
  Jobs jobs;
  jobs.start(GetParam(), [&] {
    weft_worker* before = weft_worker_self();
    EXPECT_NE(before, worker.get());
    EXPECT_EQ(weft_unit_migrate(weft_unit_self(), pool), WEFT_OK);
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(weft_yield(), WEFT_OK);
      EXPECT_EQ(weft_worker_self(), worker.get());
    }
    EXPECT_EQ(weft_sleep(1000), WEFT_OK);
    EXPECT_EQ(weft_worker_self(), worker.get());
  });
  jobs.join();
  worker.join();
}

// Of the pools that it is told of, each is one that a worker serves.
TEST_P(WaitingTest, IsToldToMigrateWhileItYields) {
  weft_pool* pools[2] = {make_pool(), make_pool()};
  OwnWorker one(WEFT_BASIC_WAIT, {pools[0]});
  OwnWorker other(WEFT_BASIC_WAIT, {pools[1]});
  std::atomic<bool> stop{false};
  Jobs jobs;
  weft_unit* unit = jobs.start(with(GetParam(), pools[0]), [&] {
    while (!stop) weft_yield();
  });
  const unsigned count = scaled(5000);
  for (unsigned i = 0; i < count; ++i) EXPECT_EQ(weft_unit_migrate(unit, i % 3 == 2 ? nullptr : pools[i % 2]), WEFT_OK);
  EXPECT_EQ(weft_unit_migrate(unit, pools[0]), WEFT_OK);
  stop = true;
  jobs.join();
}

TEST_F(WaitTest, OneThatIsSuspendedMigrates) {
  weft_pool* pool = make_pool();
  OwnWorker worker(WEFT_BASIC_WAIT, {pool});
  Jobs jobs;
  weft_worker* where = nullptr;
  weft_unit* unit = jobs.start(WEFT_ROC_L, [&] {
    weft_suspend();
    where = weft_worker_self();
  });
  EXPECT_TRUE(eventually([&] { return weft_unit_state(unit) == WEFT_SUSPENDED; }));
  EXPECT_EQ(weft_unit_migrate(unit, pool), WEFT_OK);
  EXPECT_EQ(weft_resume(unit), WEFT_OK);
  jobs.join();
  EXPECT_EQ(where, worker.get());
}

// With one worker: it is busy with two units that hand a turn to and fro; and a spare, which stood in for it while its
// KLT slept in the kernel, has come to rest with a third one in its deque.
TEST_F(WaitTest, WhatASpareLeavesBehindRunsThoughOthersAreBusy) {
  if (address_sanitizer || thread_sanitizer) GTEST_SKIP() << "there is no watchdog";
  weft_mutex mutex = WEFT_MUTEX_INIT;
  weft_cond conditions[] = {WEFT_COND_INIT, WEFT_COND_INIT};
  std::atomic<bool> is_awake{false};
  std::atomic<bool> is_about_to_wait{false};
  std::atomic<bool> has_run{false};
  int turn = 0;
  const auto spin = [](Clock::duration time) {
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
    }
  };
  const auto limit = Clock::now() + std::chrono::seconds(10);
  const auto is_over = [&] { return has_run || Clock::now() > limit; };
  const auto play = [&](int own) {
    EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
    while (!is_over()) {
      while (turn != own && !is_over()) EXPECT_EQ(weft_cond_wait(&conditions[own], &mutex), WEFT_OK);
      turn = 1 - own;
      EXPECT_EQ(weft_cond_signal(&conditions[1 - own]), WEFT_OK);
    }
    EXPECT_EQ(weft_cond_signal(&conditions[1 - own]), WEFT_OK);
    EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
  };
  EXPECT_EQ(weft_watchdog(1), WEFT_OK);  // from now on somebody stands in for a worker that sleeps;
  EXPECT_EQ(weft_watchdog(0), WEFT_OK);  // and nobody is interrupted
  Jobs left;
  Jobs players;
  players.start(WEFT_ROC_L, [&] {
    left.start(WEFT_ROC_L, [&] { has_run = true; });
    while (!is_awake && !is_over()) {
    }
    spin(std::chrono::milliseconds(50));  // until the spare is not wanted any more
    is_about_to_wait = true;
    play(1);
  });
  players.start(WEFT_ROC_L, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    is_awake = true;
    while (!is_about_to_wait && !is_over()) {
    }
    spin(std::chrono::milliseconds(1));
    play(0);
  });
  players.join();
  EXPECT_TRUE(has_run);
  left.join();
}

// Units that each create the next, until it is over.
struct Followers {
  weft_technique technique;
  const std::atomic<bool>& is_over;
  std::atomic<unsigned> ran{0};
  std::atomic<unsigned> ended{0};

  void start() {
    const weft_unit_attr attr = with(technique);
    const auto follow = [](void* followers) { static_cast<Followers*>(followers)->follow(); };
    EXPECT_EQ(weft_unit_create(follow, this, &attr, nullptr), WEFT_OK);
  }
  void follow() {
    ++ran;
    for (const auto end = Clock::now() + std::chrono::microseconds(20); Clock::now() < end;) {
    }
    if (is_over)
      ++ended;
    else
      start();
  }
};

// The same beside units that follow each other. (Bug: those of SS, SS-L and SC do so in a loop of their own.)
TEST_F(WaitTest, WhatASpareLeavesBehindRunsThoughUnitsFollowEachOther) {
  if (address_sanitizer || thread_sanitizer) GTEST_SKIP() << "there is no watchdog";
  EXPECT_EQ(weft_watchdog(1), WEFT_OK);
  EXPECT_EQ(weft_watchdog(0), WEFT_OK);
  for (const weft_technique technique : {WEFT_ROC_L, WEFT_SS, WEFT_SS_L, WEFT_SC}) {
    std::atomic<bool> is_awake{false};
    std::atomic<bool> is_over{false};
    std::atomic<bool> has_run{false};
    Followers followers{technique, is_over};
    weft_semaphore over = WEFT_SEMAPHORE_INIT(0);
    const auto limit = Clock::now() + std::chrono::seconds(5);
    std::thread clock([&] {
      while (!has_run && Clock::now() < limit) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      is_over = true;
      EXPECT_EQ(weft_semaphore_release(&over, 1), WEFT_OK);
    });
    {
      Jobs left;
      Jobs players;
      // A spare has this one, which ends when the spare is not wanted any more, and the root has others.
      players.start(WEFT_ROC_L, [&] {
        left.start(WEFT_ROC_L, [&] { has_run = true; });
        while ((!is_awake || followers.ran < 1000) && !is_over) {
        }
        for (const auto end = Clock::now() + std::chrono::milliseconds(50); Clock::now() < end;) {
        }
      });
      players.start(WEFT_ROC_L, [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        is_awake = true;
        followers.start();
        followers.start();
      });
      players.start(WEFT_ROC_L, [&] { EXPECT_EQ(weft_semaphore_acquire(&over), WEFT_OK); });
      players.join();
      EXPECT_TRUE(has_run) << plain_name(technique);
      left.join();
    }
    clock.join();
    EXPECT_TRUE(eventually([&] { return followers.ended == 2; }));
  }
}

// By a thread that runs nothing itself, or has ended. (Bug: it lay there for as long as each worker had something of
// its own to do.)
TEST_F(WaitTest, WhatThreadsMakeReadyRunsThoughAllWorkersAreBusy) {
  if (weft_worker_count() > 8) GTEST_SKIP() << "takes long";
  for (const weft_technique technique : {WEFT_AUTO, WEFT_FULL, WEFT_SS_L, WEFT_C_ROC}) {
    for (const bool stays : {false, true}) {
      constexpr unsigned all = 16;
      weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(0);
      std::atomic<unsigned> ran{0};
      const auto limit = Clock::now() + std::chrono::seconds(10);
      const auto is_over = [&] { return ran == all || Clock::now() > limit; };
      std::vector<std::thread> threads;
      for (unsigned number = 0; number < all; ++number)
        threads.emplace_back([&] {
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          EXPECT_EQ(weft_semaphore_release(&semaphore, 1), WEFT_OK);
          while (stays && !is_over()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
      Jobs jobs;
      for (unsigned number = weft_worker_count(); number != 0; --number)
        jobs.start(WEFT_FULL, [technique, &is_over] {
          const weft_unit_attr attr = with(technique);
          while (!is_over()) {
            weft_unit* unit = nullptr;
            EXPECT_EQ(weft_unit_create([](void*) {}, nullptr, &attr, &unit), WEFT_OK);
            EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
          }
        });
      for (unsigned number = 0; number < all; ++number)
        jobs.start(WEFT_ROC_L, [&] {
          EXPECT_EQ(weft_semaphore_acquire(&semaphore), WEFT_OK);
          EXPECT_LT(Clock::now(), limit) << plain_name(technique) << (stays ? ", stays" : ", ends");
          ++ran;
        });
      jobs.join();
      for (std::thread& thread : threads) thread.join();
    }
  }
}

// What lies behind a unit that keeps its worker. (Bug: where others of Full and Full-L ended between the yields, it was
// always at such an end that it was time to look around.)
TEST_F(WaitTest, AUnitThatYieldsAgainAndAgainLetsItsWorkerLookAround) {
  if (address_sanitizer || thread_sanitizer) GTEST_SKIP() << "units yield in another way";
  if (weft_worker_count() != 2) GTEST_SKIP() << "a worker that has nothing to do looks, too";
  EXPECT_EQ(weft_watchdog(0), WEFT_OK);
  for (const weft_technique technique : {WEFT_AUTO, WEFT_FULL, WEFT_FULL_L, WEFT_ROC_L}) {
    std::atomic<bool> yields{false};
    std::atomic<bool> has_run{false};
    const auto limit = Clock::now() + std::chrono::seconds(10);
    const auto is_over = [&] { return has_run || Clock::now() > limit; };
    Jobs jobs;
    start_on_another(jobs, [&] {
      while (!yields && !is_over()) {
      }
      Jobs behind;
      behind.start(WEFT_ROC_L, [&] {
        EXPECT_LT(Clock::now(), limit) << plain_name(technique);
        has_run = true;
      });
      while (!is_over()) {
      }
    });
    jobs.start(WEFT_FULL, [&] {
      const weft_unit_attr attr = with(technique);
      for (unsigned round = 0; !is_over(); ++round) {
        EXPECT_EQ(weft_unit_create([](void*) {}, nullptr, &attr, nullptr), WEFT_OK);
        EXPECT_EQ(weft_yield(), WEFT_OK);
        if (round == 10000) yields = true;
      }
    });
    jobs.join();
  }
}

}  // namespace
}  // namespace weft::test
