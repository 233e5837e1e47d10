// src/os/distance.h, and the scheduler that steals by it. The machine is one of hwloc's synthetic ones.
#include "os/distance.h"

#include <cstdlib>
#include <thread>
#include <vector>

#include "core/create.h"
#include "core/find.h"
#include "core/own_scheduler.h"
#include "support.h"

namespace weft::test {
namespace {

struct DistanceTest : CoreTest {
  // Two packages with memory of their own; in each two L3 caches, four L2 caches, a core of two threads below each:
  // CPUs 0 and 1 are one core, 0 to 3 share an L3 cache, 0 to 7 a package.
  static void SetUpTestSuite() {
    EXPECT_FALSE(os::distances_known());
    EXPECT_EQ(os::distance(0, 1), os::farthest);
    setenv("HWLOC_SYNTHETIC", "pack:2 [numa] l3:2 l2:2 core:1 pu:2", 1);
    is_there = os::read_distances("libhwloc.so.15");
    unsetenv("HWLOC_SYNTHETIC");
  }
  void SetUp() override {
    if (!is_there) GTEST_SKIP() << "hwloc is not installed";
  }
  static inline bool is_there = false;
};

TEST_F(DistanceTest, IsThatOfWhatTheCpusShare) {
  EXPECT_TRUE(os::distances_known());
  EXPECT_EQ(os::distance(5, 5), 0U);
  EXPECT_EQ(os::distance(0, 1), 0U);
  EXPECT_EQ(os::distance(1, 0), 0U);
  EXPECT_EQ(os::distance(0, 2), 2U);
  EXPECT_EQ(os::distance(0, 4), 3U);
  EXPECT_EQ(os::distance(0, 8), 5U);
  EXPECT_EQ(os::distance(15, 14), 0U);
  EXPECT_EQ(os::distance(15, 7), 5U);
}

TEST_F(DistanceTest, OfCpusThatAreNotThere) {
  EXPECT_EQ(os::distance(0, 16), os::farthest);
  EXPECT_EQ(os::distance(-1, -1), os::farthest);
  EXPECT_EQ(os::distance(0, 1 << 20), os::farthest);
}

// A worker for as long as this lives, as if bound to that CPU.
class At {
 public:
  explicit At(int cpu)
      : thread_([this, cpu] {
          core::Worker& worker = core::worker_here();
          worker.cpu = cpu;
          worker_ = &worker;
          while (!over_) nap(std::chrono::microseconds(100));
          worker.cpu = -1;
        }) {
    while (worker_ == nullptr) std::this_thread::yield();
  }
  At(const At&) = delete;
  At& operator=(const At&) = delete;
  ~At() {
    over_ = true;
    thread_.join();
  }
  core::Worker& worker() const { return *worker_; }

 private:
  std::atomic<bool> over_{false};
  std::atomic<core::Worker*> worker_{nullptr};
  std::thread thread_;
};

TEST_F(DistanceTest, IsFollowedByThieves) {
  core::Worker& thief = core::worker_here();
  constexpr int cpus[] = {9, 4, 1, 2, 12, 6, 0, 3};  // of the victims; the thief is on CPU 0
  constexpr unsigned in_order[] = {0, 0, 2, 2, 3, 3, 5, 5};
  constexpr std::size_t victims = 8;
  std::vector<std::unique_ptr<At>> workers;
  std::vector<core::Scheduler*> schedulers;
  std::vector<core::Pool*> pools = {core::Pool::create(core::Order::fifo, core::Access::mpmc)};
  std::vector<core::WholeUnit> units(victims);
  for (std::size_t index = 0; index < victims; ++index) {
    core::Pool* pool = core::Pool::create(core::Order::fifo, core::Access::mpmc);
    pools.push_back(pool);
    workers.push_back(std::make_unique<At>(cpus[index]));
    schedulers.push_back(core::Scheduler::create(core::SchedulerKind::random_ws, 1, &pool, nullptr, nullptr, true));
    ++schedulers.back()->users;
    schedulers.back()->begin_on(workers.back()->worker());
  }
  core::Scheduler* scheduler =
      core::Scheduler::create(core::SchedulerKind::random_ws, pools.size(), pools.data(), nullptr, nullptr, true);
  const auto steal_all = [&] {
    for (std::size_t index = 0; index < victims; ++index) {
      units[index].details.priority = cpus[index];
      pools[index + 1]->push(&units[index]);
    }
    std::vector<unsigned> distances;
    for (std::size_t index = 0; index < victims; ++index) {
      core::Unit* unit = scheduler->next(thief);
      if (unit != nullptr) distances.push_back(os::distance(0, details(*unit).priority));
    }
    EXPECT_EQ(scheduler->next(thief), nullptr);
    return distances;
  };

  thief.cpu = 0;
  for (int round = 0; round < 50; ++round)
    EXPECT_EQ(steal_all(), std::vector<unsigned>(std::begin(in_order), std::end(in_order)));
  // One that is not bound takes them in any order.
  thief.cpu = -1;
  bool some_other_order = false;
  for (int round = 0; round < 50; ++round) {
    const std::vector<unsigned> distances = steal_all();
    EXPECT_EQ(distances.size(), victims);
    some_other_order = some_other_order || distances.front() != 0;
  }
  EXPECT_TRUE(some_other_order);

  scheduler->destroy();
  for (std::size_t index = 0; index < victims; ++index) {
    schedulers[index]->end_on(workers[index]->worker());
    EXPECT_EQ(pools[index + 1]->server.load(), nullptr);
    EXPECT_EQ(schedulers[index]->users.load(), 0U);
    schedulers[index]->destroy();
  }
  for (core::Pool* pool : pools) pool->destroy();
}

// The same under weft's default scheduler: the victims' own units.
TEST_F(DistanceTest, IsFollowedByThievesWithoutAScheduler) {
  core::Worker& thief = core::worker_here();
  constexpr int cpus[] = {9, 4, 1, 2, 12, 6, -1, 3};
  const std::vector<unsigned> in_order = {0, 2, 2, 3, 3, 5, 5, 5};
  std::vector<std::unique_ptr<At>> workers;
  for (const int cpu : cpus) workers.push_back(std::make_unique<At>(cpu));
  expect_idle();  // no worker of weft still looks for work
  const auto steal_all = [&] {
    std::vector<core::WholeUnit> units(std::size(cpus));
    std::vector<unsigned> distances;
    for (std::size_t index = 0; index < units.size(); ++index) {
      units[index].details.priority = cpus[index];
      workers[index]->worker().inbox.put(&units[index]);
    }
    for (std::size_t index = 0; index < units.size(); ++index) {
      const core::Found found = core::search(thief);
      if (found.unit != nullptr) distances.push_back(os::distance(0, details(*found.unit).priority));
    }
    EXPECT_FALSE(core::search(thief));
    return distances;
  };
  thief.cpu = 0;
  for (int round = 0; round < 20; ++round) EXPECT_EQ(steal_all(), in_order);
  thief.cpu = -1;
  bool some_other_order = false;
  for (int round = 0; round < 50; ++round) {
    const std::vector<unsigned> distances = steal_all();
    EXPECT_EQ(distances.size(), std::size(cpus));
    some_other_order = some_other_order || distances.front() != 0;
  }
  EXPECT_TRUE(some_other_order);
}

}  // namespace
}  // namespace weft::test
