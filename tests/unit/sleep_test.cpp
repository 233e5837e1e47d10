// The head of src/core/idle.cpp: idle workers sleep, and no wake-up is lost.
#include <pthread.h>
#include <thread>
#include <vector>

#include "core/active.h"
#include "core/idle.h"
#include "core/preempt.h"
#include "core/ready.h"
#include "core/spares.h"
#include "core/sync/semaphore.h"
#include "os/barrier.h"
#include "support.h"

namespace weft::test {
namespace {

struct Sleep : CoreTest {};

// In a second, of which a worker that spins would use all. ThreadSanitizer has a thread of its own, which wakes a
// hundred times, at 20 us and more for each on virtual machines.
constexpr unsigned long long most_when_idle_ns = (thread_sanitizer ? 100ULL : 20ULL) * 1000 * 1000;

void wake_everybody() {
  std::atomic<unsigned> run{0};
  Jobs jobs;
  for (unsigned number = 0; number < 4 * core::runtime.workers; ++number)
    jobs.start([&run] {
      ++run;
      nap(std::chrono::microseconds(200));
    });
}

// Who spins does so in each window; on a busy machine something ends late now and then.
unsigned long long used_in_an_idle_second() {
  unsigned long long used = most_when_idle_ns;
  for (int window = 0; window < 10 && used >= most_when_idle_ns; ++window) {
    const unsigned long long before = process_cpu_time();
    nap(std::chrono::seconds(1));
    used = process_cpu_time() - before;
  }
  return used;
}

TEST_F(Sleep, AnIdleProcessUsesNoCpu) {
  wake_everybody();
  nap(std::chrono::milliseconds(100));
  EXPECT_LT(used_in_an_idle_second(), most_when_idle_ns) << "ns of CPU time in one idle second";
}

TEST_F(Sleep, ARootThatWaitsUsesNoCpu) {
  core::Semaphore semaphore;
  std::thread waiter([&] { semaphore.acquire(); });
  nap(std::chrono::milliseconds(100));
  EXPECT_LT(used_in_an_idle_second(), most_when_idle_ns);
  semaphore.release();
  waiter.join();
}

// One unit, started by a thread that then does not help: a sleeper must be woken for it, every time.
TEST_F(Sleep, AUnitWakesASleeper) {
  core::worker_here();
  if (core::runtime.workers < 2) GTEST_SKIP() << "nobody but the root";
  const unsigned rounds = scaled(4000);
  const TimeLimit limit;
  std::uint32_t random = 1;
  for (unsigned round = 0; round < rounds && !limit.is_over(); ++round) {
    std::atomic<bool> ran{false};
    core::WholeUnit unit;
    struct Mark {
      static void set(void* argument) { static_cast<std::atomic<bool>*>(argument)->store(true); }
    };
    make_joinable(unit, Mark::set, &ran);
    random = random * 1664525U + 1013904223U;
    // Around the moment at which the worker of the round before goes to sleep.
    if (round % 4 == 0)
      nap(std::chrono::microseconds((random >> 16U) % 200));
    else
      for (unsigned spin = (random >> 16U) % 4096; spin > 0; --spin) arch::relax();
    core::start(unit);
    ASSERT_TRUE(eventually_spinning([&] { return ran.load(); })) << "lost in round " << round;
    join(unit);
  }
}

// Units that wait for one another without yielding: each needs a KLT of its own. As many as there are
// workers to be woken must run at the same time, however the units were published.
struct Rendezvous {
  explicit Rendezvous(unsigned wanted) : size(wanted) {}
  void meet() {
    ++here;
    if (!eventually_spinning([this] { return here.load() >= size; }, std::chrono::seconds(60))) failed = true;
  }
  const unsigned size;
  std::atomic<unsigned> here{0};
  std::atomic<bool> failed{false};
};

unsigned others() { return std::min(core::runtime.workers - 1, 7U); }

TEST_F(Sleep, ABurstOfStartsWakesAsManyAsItNeeds) {
  core::worker_here();
  if (core::runtime.workers < 2) GTEST_SKIP() << "nobody but the root";
  const TimeLimit limit;
  for (unsigned round = 0; round < scaled(300) && !limit.is_over(); ++round) {
    Rendezvous rendezvous(others());
    Jobs jobs;
    for (unsigned number = 0; number < others(); ++number) jobs.start([&] { rendezvous.meet(); });
    ASSERT_TRUE(eventually_spinning([&] { return rendezvous.here.load() >= others(); }))
        << "only " << rendezvous.here.load() << " of " << others() << " run, in round " << round;
    jobs.join();
    ASSERT_FALSE(rendezvous.failed);
    if (round % 8 == 0) nap(std::chrono::microseconds(500));
  }
}

// Bug: a worker took all units of its inbox into its own deque and told nobody.
TEST_F(Sleep, ABurstOfResumesWakesAsManyAsItNeeds) {
  core::worker_here();
  if (core::runtime.workers < 3) GTEST_SKIP() << "needs two workers besides the root";
  const TimeLimit limit;
  for (unsigned round = 0; round < scaled(300) && !limit.is_over(); ++round) {
    const unsigned size = others();
    Rendezvous rendezvous(size);
    std::vector<std::atomic<core::Unit*>> places(size);
    Jobs jobs;
    // All suspended on one worker, so that all are resumed into one inbox.
    core::Unit& starter = jobs.start([&] {
      for (auto& place : places)
        jobs.start([&] {
          suspend_in(place);
          rendezvous.meet();
        });
      for (auto& place : places)
        while (place.load() == nullptr) core::yield();
    });
    join(starter);
    core::Unit* chain = nullptr;
    for (auto& place : places) {
      core::Unit* unit = place.exchange(nullptr);
      unit->next = chain;
      chain = unit;
    }
    if (round % 2 == 0) nap(std::chrono::microseconds(round % 7 * 40));
    core::resume_all(chain);
    ASSERT_TRUE(eventually_spinning([&] { return rendezvous.here.load() >= size; }))
        << "only " << rendezvous.here.load() << " of " << size << " run, in round " << round;
    jobs.join();
    ASSERT_FALSE(rendezvous.failed);
  }
}

// Work that is published while a searcher that the publisher relies on finds something else.
TEST_F(Sleep, TwoPublishersAtOnce) {
  core::worker_here();
  if (core::runtime.workers < 3) GTEST_SKIP() << "needs two workers besides the root";
  const unsigned rounds = scaled(3000);
  std::atomic<unsigned> round_of[2] = {};
  const TimeLimit limit;
  std::atomic<bool> over{false};
  std::atomic<unsigned> lost{0};
  const auto publisher = [&](unsigned mine) {
    for (unsigned round = 1; round <= rounds && lost == 0; ++round) {
      if (limit.is_over()) over = true;
      round_of[mine] = round;
      while (round_of[1 - mine].load() < round && lost == 0 && !over) std::this_thread::yield();
      if (over) return;
      std::atomic<bool> ran{false};
      core::WholeUnit unit;
      make_joinable(
          unit, [](void* argument) { static_cast<std::atomic<bool>*>(argument)->store(true); }, &ran);
      for (unsigned spin = round * (7 + mine * 4) % 512; spin > 0; --spin) arch::relax();
      core::start(unit);
      if (!eventually_spinning([&] { return ran.load(); })) ++lost;
      join(unit);
    }
  };
  std::thread other([&] { publisher(1); });
  publisher(0);
  other.join();
  EXPECT_EQ(lost.load(), 0U);
}

// Whether a unit that ran under a root that yielded could name another one to come next.
bool names_another_under(core::Worker& worker) {
  core::set_active_workers(1);
  EXPECT_TRUE(eventually([] { return workers_awake() == 0; }));
  // Left alone for a while, the worker's deque is its own: only then can a unit be named.
  for (int round = 0; round < 20 && !worker.privacy.is_private(); ++round) {
    Jobs jobs;
    for (int number = 0; number < 2000; ++number) jobs.start([] {});
  }
  std::atomic<bool> named_ran{false};
  Jobs jobs;
  core::Unit& named = jobs.start([&] { named_ran = true; });
  bool could_be_named = false;
  jobs.start([&] { could_be_named = core::yield_to(named); });
  core::yield();
  core::set_active_workers(core::runtime.workers);
  EXPECT_TRUE(eventually([&] { return named_ran.load(); }));
  jobs.join();
  return could_be_named;
}

// Bug: a unit that runs under a root that yields named another one to come next; the root kept that in hand while it
// went on with its own code, where nobody else could have it. (That other one comes first where it is the turn of the
// oldest, as each 5 ms: then once more.)
TEST_F(Sleep, ARootThatGoesOnKeepsNoUnitInHand) {
  core::Worker& worker = core::worker_here();
  if (core::runtime.workers < 2) GTEST_SKIP() << "nobody but the root";
  wake_everybody();
  const bool can_be_named = !core::sanitizer::active && os::membarrier_works;
  bool could_be_named = names_another_under(worker);
  for (int attempt = 1; attempt < 20 && can_be_named && !could_be_named; ++attempt)
    could_be_named = names_another_under(worker);
  EXPECT_TRUE(could_be_named || !can_be_named);
}

// Bug: a worker with a unit in hand, which could not be switched to, ran what a spare had left behind first; and if
// that spun for the one in hand, nobody came to it.
TEST_F(Sleep, WhatASpareLeftRunsWithNothingInHand) {
  core::Worker& worker = core::worker_here();
  if (core::runtime.workers < 2) GTEST_SKIP() << "nobody but the root";
  for (int round = 0; round < 5 && !HasFailure(); ++round) {
    wake_everybody();
    core::set_active_workers(1);
    ASSERT_TRUE(eventually([] { return workers_awake() == 0; }));
    core::Worker* spare = core::get_spare();
    ASSERT_NE(spare, nullptr);
    ASSERT_TRUE(eventually([spare] { return spare->parked.load() == core::Parked::spare_rests; }));
    // What lies in the root's deque is for others, too: only then is a unit taken out before it is looked at.
    std::thread([&worker] { const core::Privacy::Visit visit(&worker.privacy); }).join();
    constexpr unsigned count = 100;
    std::atomic<unsigned> begun{0};
    Jobs jobs;
    core::Unit& left = jobs.prepare([&] {
      core::set_active_workers(core::runtime.workers);
      EXPECT_TRUE(eventually_spinning([&] { return begun.load() == count; })) << begun.load();
    });
    spare->inbox.put(&left);
    core::left_to_awake = true;
    for (unsigned number = 0; number < count; ++number)
      jobs.start([&begun] {
        ++begun;
        // So that it is somebody else's turn before all have begun (core/find.h, is_turn_of_others).
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
        while (std::chrono::steady_clock::now() < end) {
        }
        core::yield();
      });
    jobs.join();
  }
  core::set_active_workers(core::runtime.workers);
}

// Bug: a spare worker with one unit ended and the next taken out already (SS-L and SC do so) saw that too many were
// awake, and rested with that unit in hand, where nobody else could have it.
struct SpareTest : TechniqueTest {};
INSTANTIATE_TEST_SUITE_P(Techniques, SpareTest, ::testing::Values(core::Technique::ss_l, core::Technique::sc),
                         technique_name);

TEST_P(SpareTest, RestsWithNothingInHand) {
  core::worker_here();
  core::set_active_workers(1);
  for (unsigned round = 0; round < scaled(20); ++round) {
    constexpr unsigned all = 0b1111;
    std::atomic<unsigned> ran{0};  // a bit for each
    // Two wait until the others are where they shall be. The watchdog would leave them while they do, in sched_yield(),
    // and they could go on anywhere. (Bug: one went on on the worker that it waited for.)
    std::atomic<core::Worker*> spare{nullptr};
    std::atomic<bool> spare_has_some{false};
    std::atomic<bool> root_runs_some{false};
    std::thread root([&] {
      Jobs jobs(GetParam());
      // The two that the spare worker takes.
      jobs.start([&] {
        {
          const core::HeldOff stays_here;
          spare = core::this_worker();
          spare_has_some = true;
          eventually_spinning([&] { return root_runs_some.load(); });
        }
        ran |= 1U;
      });
      jobs.start([&] { ran |= 2U; });
      // And those that are left to the root when it waits.
      jobs.start([&] { ran |= 4U; });
      jobs.start([&] {
        {
          const core::HeldOff stays_here;
          root_runs_some = true;
          // It rests, or sleeps as others do, if the watchdog has seen a KLT of these without a CPU.
          eventually_spinning([&] {
            const core::Worker* other = spare.load();
            return ran.load() != 0 && other != nullptr && other->parked.load() != core::Parked::awake;
          });
        }
        ran |= 8U;
      });
      // One that comes while too many are awake still rests again.
      for (int tries = 0; tries < 10 && !spare_has_some; ++tries) {
        ASSERT_NE(core::get_spare(), nullptr);
        eventually([&] { return spare_has_some.load(); }, std::chrono::seconds(1));
      }
      EXPECT_TRUE(spare_has_some);
      jobs.join();
    });
    const bool all_ran = eventually([&] { return ran.load() == all; }, std::chrono::seconds(60));
    EXPECT_TRUE(all_ran) << "of " << ran.load() << ", in round " << round;
    while (!all_ran && ran.load() != all) {
      core::get_spare();
      nap(std::chrono::milliseconds(1));
    }
    root.join();
    if (!all_ran) break;
  }
  core::set_active_workers(core::runtime.workers);
}

}  // namespace
}  // namespace weft::test
