// Deadlines: waits end in time, and exactly once, whoever is first.
#include <thread>

#include "both.h"
#include "core/parking_lot.h"
#include "core/sync/barrier.h"
#include "core/sync/condition.h"
#include "core/sync/fair_mutex.h"
#include "core/sync/mutex.h"
#include "core/sync/semaphore.h"
#include "core/timer.h"
#include "os/clock.h"

namespace weft::test {
namespace {

struct TimerTest : CoreTest {};

constexpr std::uint64_t millisecond = 1000 * 1000;
constexpr std::uint64_t microsecond = 1000;

std::uint64_t in(std::uint64_t nanoseconds) { return core::deadline_after(nanoseconds); }

TEST_F(TimerTest, DeadlinesDoNotOverflow) {
  EXPECT_EQ(core::deadline_after(core::never), core::never);
  EXPECT_EQ(core::deadline_after(core::never - 1), core::never);
  EXPECT_GE(core::deadline_after(0), os::now_ns() - 1000 * millisecond);
}

TEST_F(TimerTest, SleepsAsLongAsToldAndNotMuchLonger) {
  in_both(8, 2, [](unsigned number) {
    const std::uint64_t length = (1 + number) * millisecond;
    const std::uint64_t began = os::now_ns();
    core::sleep_until(began + length);
    const std::uint64_t slept = os::now_ns() - began;
    EXPECT_GE(slept, length);
    EXPECT_LT(slept, length + 5000 * millisecond);
  });
}

TEST_F(TimerTest, SleepersDoNotKeepTheWorker) {
  Jobs jobs;
  std::atomic<bool> over{false};
  std::atomic<unsigned> ran{0};
  jobs.start([&] {
    // Until one has run: on a busy machine 20 ms may pass before that by right.
    for (const std::uint64_t limit = in(10000 * millisecond); ran == 0 && os::now_ns() < limit;)
      core::sleep_until(in(millisecond));
    over = true;
  });
  for (int number = 0; number < 10; ++number) jobs.start([&] { ran += over ? 0 : 1; });
  jobs.join();
  EXPECT_GT(ran.load(), 0U);
}

TEST_F(TimerTest, SleepUntilThePastIsAYield) {
  core::sleep_until(0);
  core::sleep_until(os::now_ns());
}

// Woken in the order of the deadlines, in whatever order they came.
TEST_F(TimerTest, ManySleepersWakeInOrder) {
  const unsigned count = 200;
  std::vector<std::atomic<std::uint64_t>> woke(count);
  Jobs jobs;
  const std::uint64_t start = os::now_ns() + 5 * millisecond;
  for (unsigned number = 0; number < count; ++number)
    jobs.start([&, number] {
      const unsigned place = number * 77 % count;  // 77 and 200 have no common divisor
      core::sleep_until(start + place * 20 * microsecond);
      woke[place] = os::now_ns();
    });
  jobs.join();
  for (unsigned place = 0; place < count; ++place) EXPECT_GE(woke[place].load(), start + place * 20 * microsecond);
}

TEST_F(TimerTest, ParkTimesOut) {
  const auto always = [](const void*) { return true; };
  int object = 0;
  in_both(4, 2, [&](unsigned) {
    const std::uint64_t deadline = in(2 * millisecond);
    EXPECT_EQ(core::park_until(&object, always, nullptr, deadline), core::ParkResult::timed_out);
    EXPECT_GE(os::now_ns(), deadline);
  });
  EXPECT_EQ(core::unpark(&object), 0U);
  EXPECT_EQ(core::park_until(&object, always, nullptr, 0), core::ParkResult::timed_out);
  const auto never_wanted = [](const void*) { return false; };
  EXPECT_EQ(core::park_until(&object, never_wanted, nullptr, in(millisecond)), core::ParkResult::not_wanted);
}

TEST_F(TimerTest, ParkIsWokenBeforeItsDeadline) {
  const auto always = [](const void*) { return true; };
  int object = 0;
  Jobs jobs;
  jobs.start(
      [&] { EXPECT_EQ(core::park_until(&object, always, nullptr, in(60000 * millisecond)), core::ParkResult::woken); });
  while (core::unpark(&object) == 0) core::yield();
}

// Timer and unparker at the same moment: one of them resumes the unit, and both agree on who.
TEST_F(TimerTest, TimeoutAgainstUnpark) {
  const unsigned rounds = scaled(3000);
  const auto always = [](const void*) { return true; };
  int object = 0;
  std::atomic<bool> over{false};
  std::atomic<unsigned> woken{0};
  std::atomic<unsigned> unparked{0};
  Jobs jobs;
  jobs.start([&] {
    while (!over) {
      unparked += core::unpark(&object, 1);
      core::yield();
    }
  });
  {
    Jobs waiters;
    for (unsigned unit = 0; unit < 3; ++unit)
      waiters.start([&, unit] {
        for (unsigned round = 0; round < rounds / 3; ++round) {
          const std::uint64_t deadline = in((round * 7 + unit) % 40 * microsecond);
          if (core::park_until(&object, always, nullptr, deadline) == core::ParkResult::woken) ++woken;
        }
      });
  }
  over = true;
  jobs.join();
  EXPECT_EQ(woken.load(), unparked.load());
}

template <class M>
void expect_timed_lock() {
  M mutex;
  ASSERT_TRUE(mutex.try_lock());
  in_both(3, 1, [&](unsigned) {
    EXPECT_FALSE(mutex.try_lock_until(in(millisecond)));
    EXPECT_FALSE(mutex.try_lock_until(0));
  });
  EXPECT_TRUE(mutex.unlock());
  EXPECT_TRUE(mutex.try_lock_until(in(millisecond)));
  EXPECT_TRUE(mutex.unlock());
  EXPECT_FALSE(mutex.unlock());
  EXPECT_FALSE(mutex.held());
}

TEST_F(TimerTest, MutexTimesOut) { expect_timed_lock<core::Mutex>(); }
TEST_F(TimerTest, FairMutexTimesOut) { expect_timed_lock<core::FairMutex>(); }

// Waiters that give up in between lose nothing for the others.
template <class M>
void contend_with_timeouts() {
  M mutex;
  unsigned count = 0;
  std::atomic<unsigned> had{0};
  in_both(12, 2, [&](unsigned number) {
    for (unsigned round = 0; round < scaled(400); ++round) {
      const bool patient = (round + number) % 3 == 0;
      if (!mutex.try_lock_until(patient ? core::never : in(number * microsecond))) continue;
      ++count;
      ++had;
      if (round % 16 == 0) core::yield();
      mutex.unlock();
    }
  });
  EXPECT_EQ(count, had.load());
  EXPECT_FALSE(mutex.held());
}

TEST_F(TimerTest, MutexWithImpatientWaiters) { contend_with_timeouts<core::Mutex>(); }
TEST_F(TimerTest, FairMutexWithImpatientWaiters) { contend_with_timeouts<core::FairMutex>(); }

TEST_F(TimerTest, FairMutexIsHandedOverInOrder) {
  core::FairMutex mutex;
  std::vector<unsigned> order;
  mutex.lock();
  Jobs jobs;
  for (unsigned number = 0; number < 5; ++number) {
    const core::Unit& unit = jobs.start([&, number] {
      mutex.lock();
      order.push_back(number);
      mutex.unlock();
    });
    yield_until_suspended(unit);
  }
  EXPECT_TRUE(order.empty());
  mutex.unlock();
  jobs.join();
  EXPECT_EQ(order, (std::vector<unsigned>{0, 1, 2, 3, 4}));
}

TEST_F(TimerTest, ConditionTimesOutAndHoldsTheMutexAgain) {
  core::Mutex mutex;
  core::Condition condition;
  in_both(3, 1, [&](unsigned) {
    mutex.lock();
    EXPECT_FALSE(condition.wait_until(mutex, in(millisecond)));
    EXPECT_TRUE(mutex.held());
    EXPECT_FALSE(condition.wait_until(mutex, 0));
    EXPECT_TRUE(mutex.held());
    mutex.unlock();
  });
  EXPECT_FALSE(condition.awaited());
}

TEST_F(TimerTest, SemaphoreWithImpatientWaiters) {
  core::Semaphore semaphore(2);
  in_both(12, 2, [&](unsigned number) {
    for (unsigned round = 0; round < scaled(400); ++round) {
      const bool patient = (round + number) % 3 == 0;
      if (!semaphore.try_acquire_until(patient ? core::never : in(number * microsecond))) continue;
      if (round % 8 == 0) core::yield();
      semaphore.release();
    }
  });
  EXPECT_EQ(semaphore.permits(), 2U);
}

TEST_F(TimerTest, BarrierTakesBackWhoGivesUp) {
  core::Barrier barrier(3);
  EXPECT_EQ(barrier.wait_until(in(millisecond)), core::Barrier::Outcome::timed_out);
  EXPECT_EQ(barrier.arrived(), 0U);
  EXPECT_FALSE(barrier.try_arrive_last());
  std::atomic<unsigned> last{0};
  in_both(2, 1, [&](unsigned) {
    for (unsigned round = 0; round < scaled(300); ++round) {
      // More and more patient, or they might miss each other for ever.
      auto outcome = core::Barrier::Outcome::timed_out;
      for (std::uint64_t patience = round % 50 * microsecond; outcome == core::Barrier::Outcome::timed_out;
           patience += 20 * microsecond) {
        outcome = barrier.wait_until(in(patience));
        if (outcome == core::Barrier::Outcome::timed_out) core::yield();
      }
      last += outcome == core::Barrier::Outcome::passed_last ? 1 : 0;
    }
  });
  EXPECT_EQ(last.load(), scaled(300));
}

TEST_F(TimerTest, ServesAForkedChild) {
  if (thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer lets no forked child start threads";
  core::sleep_until(in(millisecond));
  const auto units_sleep = [] {
    Jobs jobs;
    for (int number = 0; number < 3; ++number) jobs.start([] { core::sleep_until(in(millisecond)); });
    jobs.join();
    core::sleep_until(in(millisecond));
    return true;
  };
  EXPECT_EQ(in_child(units_sleep), 0);
}

}  // namespace
}  // namespace weft::test
