// src/core/sync and the parking lot, between ULTs and roots.
#include <thread>
#include <vector>

#include "arch/cpu.h"
#include "core/parking_lot.h"
#include "core/sync/barrier.h"
#include "core/sync/condition.h"
#include "core/sync/mutex.h"
#include "core/sync/semaphore.h"
#include "os/clock.h"
#include "support.h"

namespace weft::test {
namespace {

struct SyncTest : CoreTest {};

// The same closure in `units` ULTs and in `roots` threads of the program.
void in_both(unsigned units, unsigned roots, const std::function<void(unsigned)>& body) {
  Jobs jobs;
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < roots; ++number) threads.emplace_back([&body, number] { body(number); });
  for (unsigned number = 0; number < units; ++number) jobs.start([&body, number, roots] { body(roots + number); });
  jobs.join();
  for (std::thread& thread : threads) thread.join();
}

TEST_F(SyncTest, MutexExcludes) {
  core::Mutex mutex;
  const unsigned rounds = scaled(2000);
  unsigned count = 0;
  std::atomic<unsigned> inside{0};
  std::atomic<unsigned> wrong{0};
  in_both(16, 4, [&](unsigned) {
    for (unsigned round = 0; round < rounds; ++round) {
      mutex.lock();
      if (inside.fetch_add(1) != 0) ++wrong;
      ++count;
      if (round % 16 == 0) core::yield();  // held across a switch
      inside.fetch_sub(1);
      mutex.unlock();
    }
  });
  EXPECT_EQ(wrong.load(), 0U);
  EXPECT_EQ(count, 20 * rounds);
  EXPECT_TRUE(mutex.try_lock());
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock();
}

// Freed by whoever holds it last, as POSIX allows: unlock() must not touch it after it is free.
TEST_F(SyncTest, MutexMayBeFreedByTheLastHolder) {
  struct Guarded {
    core::Mutex mutex;
    unsigned users = 2;
  };
  for (unsigned round = 0; round < scaled(2000); ++round) {
    auto guarded = new Guarded;
    const auto leave = [guarded] {
      guarded->mutex.lock();
      const bool last = --guarded->users == 0;
      if (!last) core::yield();
      guarded->mutex.unlock();
      if (last) {
        guarded->mutex.~Mutex();
        std::fill_n(reinterpret_cast<unsigned char*>(guarded), sizeof *guarded, static_cast<unsigned char>(0x55));
        operator delete(guarded);
      }
    };
    Jobs jobs;
    jobs.start(leave);
    jobs.start(leave);
  }
}

// Ping-pong: each wake-up that is lost stops the game.
void ping_pong(const std::function<void(const std::function<void()>&, const std::function<void()>&)>& both,
               unsigned rounds) {
  core::Mutex mutex;
  core::Condition changed;
  unsigned turn = 0;
  const auto player = [&](unsigned mine) {
    for (unsigned round = 0; round < rounds; ++round) {
      mutex.lock();
      while (turn % 2 != mine) changed.wait(mutex);
      ++turn;
      mutex.unlock();
      changed.notify_one();
    }
  };
  both([&] { player(0); }, [&] { player(1); });
  EXPECT_EQ(turn, 2 * rounds);
}

TEST_F(SyncTest, PingPongOfTwoUnits) {
  ping_pong(
      [](const auto& one, const auto& other) {
        Jobs jobs;
        jobs.start(one);
        jobs.start(other);
      },
      scaled(20000));
}

TEST_F(SyncTest, PingPongOfUnitAndRoot) {
  ping_pong(
      [](const auto& one, const auto& other) {
        Jobs jobs;
        jobs.start(one);
        other();
      },
      scaled(20000));
}

TEST_F(SyncTest, PingPongOfTwoRoots) {
  ping_pong(
      [](const auto& one, const auto& other) {
        std::thread thread(one);
        other();
        thread.join();
      },
      scaled(5000));
}

TEST_F(SyncTest, BoundedBufferOnConditions) {
  core::Mutex mutex;
  core::Condition not_full, not_empty;
  unsigned held = 0;
  const unsigned most = 3;
  const unsigned rounds = scaled(2000);
  std::atomic<unsigned> taken{0};
  in_both(8, 4, [&](unsigned number) {
    for (unsigned round = 0; round < rounds; ++round) {
      mutex.lock();
      if (number % 2 == 0) {
        while (held == most) not_full.wait(mutex);
        ++held;
        mutex.unlock();
        not_empty.notify_one();
      } else {
        while (held == 0) not_empty.wait(mutex);
        --held;
        mutex.unlock();
        not_full.notify_one();
        ++taken;
      }
    }
  });
  EXPECT_EQ(held, 0U);
  EXPECT_EQ(taken.load(), 6 * rounds);
}

TEST_F(SyncTest, NotifyAllReleasesEverybody) {
  for (unsigned round = 0; round < scaled(100); ++round) {
    core::Mutex mutex;
    core::Condition changed;
    bool open = false;
    std::atomic<unsigned> waiting{0};
    std::atomic<unsigned> through{0};
    Jobs jobs;
    for (int number = 0; number < 20; ++number)
      jobs.start([&] {
        mutex.lock();
        ++waiting;
        while (!open) changed.wait(mutex);
        mutex.unlock();
        ++through;
      });
    while (waiting.load() != 20) core::yield();
    mutex.lock();
    open = true;
    mutex.unlock();
    changed.notify_all();
    jobs.join();
    EXPECT_EQ(through.load(), 20U);
  }
}

TEST_F(SyncTest, NotifyWithoutWaitersIsNothing) {
  core::Condition condition;
  condition.notify_one();
  condition.notify_all();
  EXPECT_EQ(core::unpark(&condition), 0U);
}

TEST_F(SyncTest, SemaphoreCounts) {
  core::Semaphore semaphore(2);
  EXPECT_TRUE(semaphore.try_acquire());
  EXPECT_TRUE(semaphore.try_acquire());
  EXPECT_FALSE(semaphore.try_acquire());
  semaphore.release(0);
  EXPECT_FALSE(semaphore.try_acquire());
  semaphore.release();
  semaphore.acquire();
  EXPECT_FALSE(semaphore.try_acquire());
}

TEST_F(SyncTest, SemaphoreLosesNoPermit) {
  core::Semaphore permits(3);
  std::atomic<int> inside{0};
  std::atomic<unsigned> too_many{0};
  in_both(16, 4, [&](unsigned number) {
    for (unsigned round = 0; round < scaled(1000); ++round) {
      permits.acquire();
      if (++inside > 3) ++too_many;
      if ((round + number) % 8 == 0) core::yield();
      --inside;
      permits.release();
    }
  });
  EXPECT_EQ(too_many.load(), 0U);
  for (int permit = 0; permit < 3; ++permit) EXPECT_TRUE(permits.try_acquire());
  EXPECT_FALSE(permits.try_acquire());
}

TEST_F(SyncTest, SemaphoreReleasesManyAtOnce) {
  for (unsigned round = 0; round < scaled(200); ++round) {
    core::Semaphore semaphore;
    Jobs jobs;
    for (int number = 0; number < 10; ++number) jobs.start([&] { semaphore.acquire(); });
    for (unsigned step = 0; step < round % 4; ++step) core::yield();
    semaphore.release(10);
  }
}

// Hand-over and back: the semaphore of the other side is all that each has.
TEST_F(SyncTest, SemaphorePingPong) {
  core::Semaphore there, back;
  const unsigned rounds = scaled(20000);
  unsigned value = 0;
  Jobs jobs;
  jobs.start([&] {
    for (unsigned round = 0; round < rounds; ++round) {
      there.acquire();
      ++value;
      back.release();
    }
  });
  for (unsigned round = 0; round < rounds; ++round) {
    there.release();
    back.acquire();
    ASSERT_EQ(value, round + 1);
  }
}

TEST_F(SyncTest, BarrierOfOneNeverWaits) {
  core::Barrier barrier(1);
  for (int round = 0; round < 10; ++round) EXPECT_TRUE(barrier.arrive_and_wait());
}

TEST_F(SyncTest, BarrierSeparatesRounds) {
  const unsigned parties = 20;
  const unsigned rounds = scaled(500);
  core::Barrier barrier(parties);
  std::vector<std::atomic<unsigned>> reached(parties);
  std::atomic<unsigned> wrong{0};
  std::atomic<unsigned> last{0};
  in_both(parties - 2, 2, [&](unsigned number) {
    for (unsigned round = 1; round <= rounds; ++round) {
      reached[number].store(round, std::memory_order_relaxed);
      if (barrier.arrive_and_wait()) ++last;
      for (auto& other : reached) {
        const unsigned value = other.load(std::memory_order_relaxed);
        if (value != round && value != round + 1) ++wrong;
      }
      barrier.arrive_and_wait();
    }
  });
  EXPECT_EQ(wrong.load(), 0U);
  EXPECT_EQ(last.load(), rounds);
}

// More users than parties, units and roots, some of them in a hurry: whoever gives up was not counted, and each round
// has its number of parties and one last.
TEST_F(SyncTest, BarrierCountsWhoPasses) {
  const unsigned parties = 6;
  const unsigned wanted = scaled(1000) * parties;
  core::Barrier barrier(parties);
  std::atomic<unsigned> passed{0};
  std::atomic<unsigned> last{0};
  std::atomic<unsigned> late{0};
  in_both(17, 2, [&](unsigned number) {
    std::uint64_t patience = 2000;
    while (passed.load(std::memory_order_relaxed) < wanted) {
      if (number % 4 == 3) core::yield();
      const bool is_patient = number % 3 != 0;
      const auto outcome = barrier.wait_until(os::now_ns() + (is_patient ? 20000000 : patience));
      if (outcome == core::Barrier::Outcome::timed_out) {
        ++late;
        patience += 1000;
        continue;
      }
      ++passed;
      if (outcome == core::Barrier::Outcome::passed_last) ++last;
    }
  });
  EXPECT_GE(passed.load(), wanted);
  EXPECT_EQ(passed.load(), last.load() * parties);
  EXPECT_EQ(barrier.arrived(), 0U);
}

// Short rounds, in which all go on where the last one is, and long ones, in which others take some of them away.
TEST_F(SyncTest, BarrierStaysRightWhereUnitsMove) {
  const unsigned parties = 64;
  const unsigned rounds = scaled(2000);
  core::Barrier barrier(parties);
  std::atomic<unsigned> inside{0};
  std::atomic<unsigned> wrong{0};
  std::atomic<unsigned> last{0};
  Jobs jobs;
  for (unsigned number = 0; number < parties; ++number)
    jobs.start([&, number] {
      for (unsigned round = 0; round < rounds; ++round) {
        if (inside.fetch_add(1, std::memory_order_relaxed) >= parties) ++wrong;
        if (round / 100 % 2 == 1 && (number + round) % 16 == 0) {
          const std::uint64_t end = os::now_ns() + 3000;
          while (os::now_ns() < end) arch::relax();
        }
        if (barrier.arrive_and_wait()) {
          ++last;
          if (inside.exchange(0, std::memory_order_relaxed) != parties) ++wrong;
        }
        barrier.arrive_and_wait();
        if (round % 64 == number) core::yield();
      }
    });
  jobs.join();
  EXPECT_EQ(wrong.load(), 0U);
  EXPECT_EQ(last.load(), rounds);
}

// In each round a thread that has not been in weft before, with a limit of time or only if it is the last: it has no
// worker until it waits.
void barrier_where_a_new_thread_comes_last(bool only_tries) {
  const unsigned units = 16;
  const unsigned rounds = scaled(100);
  core::Barrier barrier(units + 1);
  std::atomic<unsigned> last{0};
  Jobs jobs;
  for (unsigned number = 0; number < units; ++number)
    jobs.start([&] {
      for (unsigned round = 0; round < rounds; ++round) {
        const std::uint64_t end = os::now_ns() + 10000;
        while (os::now_ns() < end) arch::relax();
        barrier.arrive_and_wait();
      }
    });
  std::thread others([&] {
    for (unsigned round = 0; round < rounds; ++round) {
      std::thread comes_last([&] {
        while (barrier.arrived() < units) std::this_thread::yield();
        const bool is_last =
            only_tries ? barrier.try_arrive_last()
                       : barrier.wait_until(os::now_ns() + 30000000000ULL) == core::Barrier::Outcome::passed_last;
        if (is_last) ++last;
      });
      comes_last.join();
    }
  });
  jobs.join();
  others.join();
  EXPECT_EQ(last.load(), rounds);
}

TEST_F(SyncTest, BarrierWhereAThreadThatIsNewComesLast) { barrier_where_a_new_thread_comes_last(false); }

TEST_F(SyncTest, BarrierWhereAThreadThatIsNewTriesToComeLast) { barrier_where_a_new_thread_comes_last(true); }

// The last one out destroys the barrier while the others have hardly left it.
TEST_F(SyncTest, BarrierMayBeFreedAfterItsRound) {
  for (unsigned round = 0; round < scaled(1000); ++round) {
    auto barrier = new core::Barrier(3);
    std::atomic<unsigned> out{0};
    const auto party = [&] {
      barrier->arrive_and_wait();
      if (out.fetch_add(1) == 2) delete barrier;
    };
    Jobs jobs;
    jobs.start(party);
    jobs.start(party);
    party();
  }
}

TEST_F(SyncTest, ParkChecksUnderTheLock) {
  const auto never = [](const void*) { return false; };
  int object = 0;
  EXPECT_FALSE(core::park(&object, never, nullptr));
  EXPECT_EQ(core::unpark(&object), 0U);
}

// Two addresses in one bucket do not wake each other's waiters; first in, first out.
TEST_F(SyncTest, UnparksInOrderAndOnlyItsOwn) {
  struct Waited {
    std::atomic<bool> go{false};
  };
  std::vector<Waited> objects(3000);  // three per bucket
  std::vector<unsigned> order;
  core::Mutex order_lock;
  Jobs jobs;
  const auto wants = [](const void* argument) { return !static_cast<const std::atomic<bool>*>(argument)->load(); };
  for (unsigned number = 0; number < 3; ++number) {
    const core::Unit& unit = jobs.start([&, number] {
      core::park(&objects[0], wants, &objects[0].go);
      order_lock.lock();
      order.push_back(number);
      order_lock.unlock();
    });
    yield_until_suspended(unit);
  }
  for (unsigned number = 1; number < objects.size(); ++number) EXPECT_EQ(core::unpark(&objects[number]), 0U);
  for (unsigned number = 0; number < 3; ++number) {
    EXPECT_EQ(core::unpark(&objects[0], 1), 1U);
    while ((order_lock.lock(), order.size()) != number + 1) {
      order_lock.unlock();
      core::yield();
    }
    order_lock.unlock();
  }
  jobs.join();
  EXPECT_EQ(order, (std::vector<unsigned>{0, 1, 2}));
}

}  // namespace
}  // namespace weft::test
