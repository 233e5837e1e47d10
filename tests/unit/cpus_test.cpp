// The number of workers follows that of the CPUs (core/cpus.h, core/active.h). Workers stay as many as there once were,
// so this is a program of its own.
#include <algorithm>
#include <thread>

#include "core/active.h"
#include "core/runtime.h"
#include "support.h"

namespace weft::test {
namespace {

constexpr unsigned most = 80;

class Cpus : public CoreTest {
 protected:
  void SetUp() override {
    core::worker_here();
    core::use_cpus(core::runtime.workers);
  }
  void TearDown() override {
    core::set_active_workers(core::runtime.workers);
    CoreTest::TearDown();
  }
};

unsigned active() { return core::runtime.active.load(); }

TEST_F(Cpus, MoreThanAtTheStart) {
  const unsigned before = core::runtime.workers;
  if (before > most / 2) GTEST_SKIP() << "as many threads again";
  for (unsigned more : {before + 1, before + 3}) {
    core::use_cpus(more);
    EXPECT_EQ(core::runtime.workers.get(), more);
    EXPECT_EQ(active(), more);
    EXPECT_EQ(core::worker_count(), more);
    meet(more);
  }
}

TEST_F(Cpus, FewerAndBack) {
  const unsigned workers = core::runtime.workers;
  meet(workers);  // all have started
  for (const unsigned cpus : {1U, workers / 2 + 1, workers, 1U, workers}) {
    core::use_cpus(cpus);
    EXPECT_EQ(active(), cpus);
    EXPECT_EQ(core::runtime.workers.get(), workers);
    EXPECT_TRUE(eventually([&] { return workers_awake() < cpus; })) << cpus;
    Jobs jobs;
    std::atomic<unsigned> ran{0};
    for (int number = 0; number < 200; ++number)
      jobs.start([&] {
        core::yield();
        ++ran;
      });
    jobs.join();
    EXPECT_EQ(ran, 200U);
  }
  meet(workers);
}

TEST_F(Cpus, WhatSomebodyHasAskedForStays) {
  const unsigned workers = core::runtime.workers;
  if (workers < 2) GTEST_SKIP() << "one worker cannot be fewer";
  core::set_active_workers(workers - 1);
  core::use_cpus(workers);
  EXPECT_EQ(active(), workers - 1) << "CPUs came";
  core::use_cpus(1);
  EXPECT_EQ(active(), 1U) << "and went";
  core::use_cpus(workers);
  EXPECT_EQ(active(), workers - 1);
  core::use_cpus(1);
  core::set_active_workers(workers - 1);
  EXPECT_EQ(active(), workers - 1) << "more than there are CPUs, if somebody says so";
  core::use_cpus(1);
  core::activate_all_workers();
  EXPECT_EQ(active(), workers) << "WEFT_NUM_WORKERS says how many that are";
  core::use_cpus(workers);
  EXPECT_EQ(active(), workers);
}

TEST_F(Cpus, NoMoreThanThereCanBe) {
  EXPECT_EQ(in_child([] {
              core::worker_here();
              core::use_cpus(100000);
              return core::runtime.workers == core::most_workers && active() == core::most_workers;
            }),
            0);
}

// Trees of units, which wait for each other, while CPUs come and go.
void count_tree(std::atomic<unsigned>& leaves, unsigned depth) {
  if (depth == 0) {
    ++leaves;
    return;
  }
  Jobs jobs;
  for (int child = 0; child < 2; ++child) jobs.start([&leaves, depth] { count_tree(leaves, depth - 1); });
  core::yield();
  jobs.join();
}

TEST_F(Cpus, ComeAndGoAtAnyTime) {
  std::atomic<bool> over{false};
  std::thread changer([&over] {
    unsigned cpus = 1;
    while (!over) {
      core::use_cpus(cpus = cpus * 7 % 11 % most + 1);
      nap(std::chrono::microseconds(100));
    }
  });
  const TimeLimit limit;
  for (unsigned round = 0; round < scaled(100) && !limit.is_over(); ++round) {
    std::atomic<unsigned> leaves{0};
    count_tree(leaves, 8);
    EXPECT_EQ(leaves, 256U);
  }
  over = true;
  changer.join();
}

// Bug: roots that had stepped aside, into the inbox of a worker that was switched off at that moment, waited for ever.
TEST_F(Cpus, GoWhileRootsStepAside) {
  constexpr unsigned roots = 3;
  std::atomic<unsigned> rounds{0};
  std::atomic<bool> over{false};
  const auto be_root = [&] {
    core::worker_here();
    while (!over) {
      std::atomic<unsigned> ran{0};
      Jobs jobs;
      for (int number = 0; number < 4; ++number)
        jobs.start([&ran] {
          core::yield();
          ++ran;
        });
      while (ran < 4) core::step_aside();
      jobs.join();
      ++rounds;
    }
  };
  std::thread threads[roots];
  for (std::thread& thread : threads) thread = std::thread(be_root);
  bool go_on = true;
  const TimeLimit limit;
  for (unsigned turn = 0; go_on && turn < scaled(2000) && !limit.is_over(); ++turn) {
    core::use_cpus(2);
    nap(std::chrono::microseconds(turn * 7 % 200));
    core::use_cpus(1);
    const unsigned before = rounds;
    go_on = eventually([&] { return rounds - before >= 2 * roots; });
  }
  EXPECT_TRUE(go_on) << "roots wait for ever";
  over = true;
  core::use_cpus(core::runtime.workers);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace weft::test
