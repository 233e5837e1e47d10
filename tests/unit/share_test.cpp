// src/core/pool/share.h: claims partition the range, and publishing finds a place for every share.
#include "core/find.h"
#include "core/idle.h"
#include "core/pool/share.h"

#include <thread>
#include <vector>

#include "core/worker.h"
#include "support.h"

namespace weft::test {
namespace {

using core::Share;

TEST(Share, ClaimsFromTheLowEnd) {
  Share share;
  EXPECT_EQ(share.left(), 0U);
  EXPECT_FALSE(share.has_work());
  EXPECT_EQ(share.claim(1).count, 0U);  // never opened
  share.open(1, 10);
  EXPECT_EQ(share.left(), 9U);
  Share::Run run = share.claim(4);
  EXPECT_EQ(run.first, 1U);
  EXPECT_EQ(run.count, 4U);
  EXPECT_EQ(share.claim(0).count, 0U);
  run = share.claim(100);
  EXPECT_EQ(run.first, 5U);
  EXPECT_EQ(run.count, 5U);
  EXPECT_EQ(share.claim(1).count, 0U);
  share.open(7, 7);
  EXPECT_EQ(share.claim(1).count, 0U);
}

TEST(Share, TheWholeWidthOfNumbers) {
  Share share;
  share.open(0, Share::most);
  EXPECT_EQ(share.left(), Share::most);
  EXPECT_EQ(share.claim(Share::most - 1).count, Share::most - 1);
  const Share::Run last = share.claim(Share::most);
  EXPECT_EQ(last.first, Share::most - 1);
  EXPECT_EQ(last.count, 1U);
}

TEST(Share, SaysWhetherHelpIsWanted) {
  Share share;
  share.wants_help = [](const Share&) { return true; };
  EXPECT_TRUE(share.has_work());
}

// The same share is opened again and again while claimers hold on to it, as a hot team's is.
TEST(Share, EveryNumberOnceThoughRecycled) {
  const unsigned rounds = scaled(20000);
  const unsigned size = 64;
  const unsigned claimers = 4;
  Share share;
  std::vector<std::atomic<unsigned>> taken(size);
  std::atomic<unsigned> claimed{0};
  std::atomic<bool> over{false};
  const auto claim = [&](unsigned most) {
    const Share::Run run = share.claim(most);
    for (unsigned number = run.first; number < run.first + run.count; ++number)
      taken[number].fetch_add(1, std::memory_order_relaxed);
    claimed.fetch_add(run.count, std::memory_order_release);
    return run.count;
  };
  std::vector<std::thread> threads;
  for (unsigned claimer = 0; claimer < claimers; ++claimer)
    threads.emplace_back([&, claimer] {
      while (!over.load(std::memory_order_acquire))
        if (claim(1 + claimer * 3) == 0) std::this_thread::yield();
    });
  for (unsigned round = 0; round < rounds; ++round) {
    claimed.store(0, std::memory_order_relaxed);
    share.open(0, size);
    while (claim(1) != 0) {
    }
    while (claimed.load(std::memory_order_acquire) != size) std::this_thread::yield();
    for (unsigned number = 0; number < size; ++number) {
      ASSERT_EQ(taken[number].load(std::memory_order_relaxed), 1U) << "number " << number << " in round " << round;
      taken[number].store(0, std::memory_order_relaxed);
    }
  }
  over.store(true, std::memory_order_release);
  for (std::thread& thread : threads) thread.join();
}

struct CoreShareTest : CoreTest {};

// More shares than places: the rest goes into a list, and all can be withdrawn in any order.
TEST_F(CoreShareTest, PublishesMoreThanThereArePlaces) {
  core::Worker& worker = core::worker_here();
  const unsigned count = 3 * core::Worker::most_published;
  static Share shares[3 * core::Worker::most_published];  // static: late thieves may still look
  for (Share& share : shares) core::publish(worker, share);
  EXPECT_EQ(worker.overflowing.load(), count - core::Worker::most_published);
  for (unsigned step = 0; step < count; ++step) core::unpublish(shares[step * 8 % count]);  // 8 and 21: coprime
  EXPECT_EQ(worker.overflowing.load(), 0U);
  core::unpublish(shares[0]);  // again: nothing
}

struct Counted {
  Share share;
  std::atomic<unsigned> run{0};
};

// Idle workers take from a share that is published, until it is used up.
TEST_F(CoreShareTest, IdleWorkersTake) {
  static Counted counted;
  const unsigned size = 1000;
  counted.share.take = [](Share& share, core::Worker&) {
    const Share::Run run = share.claim(7);
    reinterpret_cast<Counted&>(share).run.fetch_add(run.count, std::memory_order_relaxed);
    return run.count != 0;
  };
  core::Worker& worker = core::worker_here();
  counted.share.open(0, size);
  core::publish(worker, counted.share);
  core::notify();
  if (core::runtime.workers > 1) {
    EXPECT_TRUE(eventually([&] { return counted.run.load() == size; }));
  } else {
    while (counted.share.take(counted.share, worker)) {
    }
  }
  EXPECT_EQ(counted.run.load(), size);
  core::unpublish(counted.share);
}

}  // namespace
}  // namespace weft::test
