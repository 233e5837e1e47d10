// src/core/watchdog.h: units that spin or block, without a word to weft, until another unit has run.
#include "core/watchdog.h"

#include <cerrno>
#include <csignal>
#include <pthread.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "core/identities.h"
#include "spinner.h"
#include "support.h"

namespace weft::test {
namespace {

class Watchdog : public CoreTest {
 protected:
  void SetUp() override {
    if (core::sanitizer::active) GTEST_SKIP() << "off under sanitizers";
    if (!core::identities_enabled) GTEST_SKIP() << "code is left in the middle only with an identity of its own";
    begin_region();
  }
  void TearDown() override {
    core::worker_here().active = false;
    over_ = true;
    if (guard_.joinable()) guard_.join();
    CoreTest::TearDown();
  }
  // As a face does when it opens a region on a root.
  void begin_region() {
    core::worker_here().active = true;
    core::watch();
    guard_ = std::thread([this] {
      if (!eventually([this] { return over_.load(); }, std::chrono::seconds(120))) given_up = 1;
    });
  }

  std::atomic<int> arrived{0};
  std::atomic<int> given_up{0};

 private:
  std::atomic<bool> over_{false};
  std::thread guard_;
};

TEST_F(Watchdog, SpinningUnitsGiveWay) {
  const int count = static_cast<int>(std::min(core::runtime.workers.get(), 8U)) + 5;
  for (int round = 1; round <= 5; ++round) {
    Jobs jobs(round % 2 == 0 ? core::Technique::full_l : core::Technique::roc_l);
    for (int number = 0; number < count; ++number)
      jobs.start([&] {
        ++arrived;
        spin_until(&arrived, round * count, &given_up);
      });
  }
  EXPECT_EQ(given_up.load(), 0) << "only " << arrived.load() << " have run";
}

// The unit is left between any two instructions: its registers come back, and so do errno and __thread.
TEST_F(Watchdog, NothingIsLostWhereItIsInterrupted) {
  const int count = static_cast<int>(std::min(core::runtime.workers.get(), 8U)) + 3;
  std::atomic<int> wrong{0};
  static thread_local int variable;
  for (int round = 1; round <= 5; ++round) {
    Jobs jobs;
    for (int number = 1; number <= count; ++number)
      jobs.start([&, number] {
        errno = number;
        variable = number;
        ++arrived;
        wrong += compute_until(&arrived, round * count, &given_up, number);
        if (errno != number || variable != number) ++wrong;
      });
  }
  EXPECT_EQ(given_up.load(), 0);
  EXPECT_EQ(wrong.load(), 0);
}

// The mask belongs to the KLT: a unit that was interrupted on one and goes on on another takes none along.
TEST_F(Watchdog, SignalMasksStayWithTheirKlts) {
  sigset_t set, before, after;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &set, nullptr), 0);
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  const int root = klt();
  const int count = static_cast<int>(std::min(core::runtime.workers.get(), 8U)) + 5;
  std::atomic<int> wrong{0};
  for (int round = 1; round <= 10; ++round) {
    Jobs jobs;
    for (int number = 0; number < count; ++number)
      jobs.start([&] {
        ++arrived;
        spin_until(&arrived, round * count, &given_up);
        // Weft's own KLTs block the program's signals, the root does not.
        for (int again = 0; again < 3; ++again) {
          sigset_t here;
          const int place = klt();
          pthread_sigmask(SIG_SETMASK, nullptr, &here);
          if (place != klt()) continue;
          if ((sigismember(&here, SIGTERM) == 1) != (place != root) || sigismember(&here, SIGUSR2) != 1) ++wrong;
          core::yield();
        }
      });
    jobs.join();
    pthread_sigmask(SIG_SETMASK, nullptr, &after);
    for (int signal = 1; signal < 64; ++signal)
      if (sigismember(&before, signal) != sigismember(&after, signal)) {
        ++wrong;
        ADD_FAILURE() << "signal " << signal << " of the root's mask has changed in round " << round;
      }
  }
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  EXPECT_EQ(given_up.load(), 0);
  EXPECT_EQ(wrong.load(), 0);
}

// A KLT that sleeps in the kernel is stood in for.
TEST_F(Watchdog, BlockedUnitsAreStoodInFor) {
  const unsigned count = std::min(core::runtime.workers.get(), 8U) + 2;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Jobs jobs;
  std::atomic<unsigned> read_some{0};
  // Started last is run first: the writer comes when all workers are asleep in read().
  jobs.start([&] {
    for (unsigned number = 0; number < count; ++number)
      if (write(ends[1], "x", 1) != 1) ADD_FAILURE();
  });
  for (unsigned number = 0; number < count; ++number)
    jobs.start([&] {
      char byte = 0;
      if (read(ends[0], &byte, 1) == 1 && byte == 'x') ++read_some;
    });
  jobs.join();
  EXPECT_EQ(read_some.load(), count);
  close(ends[0]);
  close(ends[1]);
}

// Bug: an interrupted root ran a unit on top of its own frames; where the unit wants a lock that the root
// holds, neither could go on. (The first one waits for it until the last one has begun, each on another KLT.)
TEST_F(Watchdog, ARootThatHoldsALockIsNotBuiltOver) {
  for (int round = 1; round <= 3; ++round) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const int workers = static_cast<int>(std::min(core::runtime.workers.get(), 8U));
    std::atomic<int> had_it{0};
    Jobs jobs;
    pthread_mutex_lock(&mutex);
    for (int number = 0; number < workers + 2; ++number)
      jobs.start([&] {
        ++arrived;
        timespec limit{};
        clock_gettime(CLOCK_REALTIME, &limit);
        limit.tv_sec += 60;
        if (pthread_mutex_timedlock(&mutex, &limit) != 0) return;
        ++had_it;
        pthread_mutex_unlock(&mutex);
      });
    spin_until(&arrived, round * (workers + 2), &given_up);
    pthread_mutex_unlock(&mutex);
    jobs.join();
    ASSERT_EQ(had_it.load(), workers + 2);
    ASSERT_EQ(given_up.load(), 0);
  }
}

// Without anything to watch it costs nothing.
TEST_F(Watchdog, RestsWhereNothingIsActive) {
  core::worker_here().active = false;
  EXPECT_TRUE(eventually([] { return core::watchdog_rests.load(); }));
}

}  // namespace
}  // namespace weft::test
