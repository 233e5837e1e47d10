// The readers-writer lock: who may be inside with whom, and that nobody starves.
#include "core/sync/rwlock.h"

#include "both.h"

namespace weft::test {
namespace {

struct RwLockTest : CoreTest {};

TEST_F(RwLockTest, ReadersShareAndWritersDoNot) {
  core::RwLock lock;
  EXPECT_FALSE(lock.unlock());
  EXPECT_TRUE(lock.try_lock_shared());
  EXPECT_TRUE(lock.try_lock_shared());
  EXPECT_FALSE(lock.try_lock());
  EXPECT_TRUE(lock.unlock());
  EXPECT_TRUE(lock.unlock());
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock_shared());
  EXPECT_TRUE(lock.unlock());
  EXPECT_FALSE(lock.held());
}

TEST_F(RwLockTest, Excludes) {
  core::RwLock lock;
  std::atomic<int> readers{0};
  std::atomic<int> writers{0};
  std::atomic<unsigned> wrong{0};
  unsigned written = 0;
  in_both(14, 3, [&](unsigned number) {
    for (unsigned round = 0; round < scaled(600); ++round) {
      const bool writes = (round + number) % 4 == 0;
      const bool patient = round % 5 != 0;
      const std::uint64_t deadline = patient ? core::never : core::deadline_after(number * 1000);
      if (writes) {
        if (!lock.try_lock_until(deadline)) continue;
        if (++writers != 1 || readers != 0) ++wrong;
        ++written;
        if (round % 16 == 0) core::yield();
        --writers;
      } else {
        if (!lock.try_lock_shared_until(deadline)) continue;
        ++readers;
        if (writers != 0) ++wrong;
        if (round % 8 == 1) core::yield();
        --readers;
      }
      if (!lock.unlock()) ++wrong;
    }
  });
  EXPECT_EQ(wrong.load(), 0U);
  EXPECT_GT(written, 0U);
  EXPECT_FALSE(lock.held());
}

// Readers that overlap all the time: a writer comes in all the same, and so do readers among writers.
TEST_F(RwLockTest, NobodyStarves) {
  core::RwLock lock;
  for (const bool writer_is_lonely : {true, false}) {
    std::atomic<bool> over{false};
    Jobs crowd;
    for (int number = 0; number < 4; ++number)
      crowd.start([&] {
        while (!over) {
          writer_is_lonely ? lock.lock_shared() : lock.lock();
          core::yield();
          lock.unlock();
        }
      });
    Jobs lonely;
    lonely.start([&] {
      for (int round = 0; round < 20; ++round) {
        writer_is_lonely ? lock.lock() : lock.lock_shared();
        lock.unlock();
      }
    });
    lonely.join();
    over = true;
  }
}

// A writer that gives up: the readers behind it go on while others still read.
TEST_F(RwLockTest, TimeoutOfAWriterLetsReadersIn) {
  core::RwLock lock;
  lock.lock_shared();
  std::atomic<bool> writer_waits{false};
  Jobs jobs;
  jobs.start([&] {
    writer_waits = true;
    EXPECT_FALSE(lock.try_lock_until(core::deadline_after(20 * 1000 * 1000)));
  });
  while (!writer_waits) core::yield();
  jobs.start([&] {
    lock.lock_shared();
    lock.unlock();
  });
  jobs.join();
  EXPECT_TRUE(lock.unlock());
  EXPECT_FALSE(lock.held());
}

TEST_F(RwLockTest, MayBeFreedByTheLastHolder) {
  struct Guarded {
    core::RwLock lock;
    unsigned users = 3;
  };
  for (unsigned round = 0; round < scaled(1000); ++round) {
    auto guarded = new Guarded;
    const auto leave = [guarded] {
      guarded->lock.lock_shared();
      core::yield();
      guarded->lock.unlock();
      guarded->lock.lock();
      const bool last = --guarded->users == 0;
      guarded->lock.unlock();
      if (last) delete guarded;
    };
    Jobs jobs;
    for (int number = 0; number < 3; ++number) jobs.start(leave);
  }
}

}  // namespace
}  // namespace weft::test
