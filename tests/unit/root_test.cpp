// Roots: threads of the program that enter weft, at any time and in any number.
#include <climits>
#include <pthread.h>
#include <thread>
#include <vector>

#include "arch/thread_pointer.h"
#include "core/extras.h"
#include "core/ready.h"
#include "core/sanitizer.h"
#include "core/sync/barrier.h"
#include "core/sync/semaphore.h"
#include "support.h"

namespace weft::test {
namespace {

struct RootTest : CoreTest {};

thread_local int of_the_root = 0;

TEST_F(RootTest, EnterAtOnceAndStayThemselves) {
  const unsigned roots = 16;
  const unsigned rounds = scaled(200);
  std::atomic<unsigned> wrong{0};
  std::atomic<unsigned> run{0};
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < roots; ++number)
    threads.emplace_back([&, number] {
      const int number_of_klt = klt();
      void* pointer = arch::thread_pointer();
      const pthread_t self = pthread_self();
      of_the_root = static_cast<int>(number) + 1;
      for (unsigned round = 0; round < rounds; ++round) {
        Jobs jobs(round % 2 == 0 ? core::Technique::roc_l : core::Technique::full_l);
        for (int unit = 0; unit < 4; ++unit)
          jobs.start([&run, unit] {
            if (unit % 2 == 0) core::yield();
            ++run;
          });
        jobs.join();
        if (klt() != number_of_klt || arch::thread_pointer() != pointer || pthread_self() != self ||
            of_the_root != static_cast<int>(number) + 1)
          ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0U);
  EXPECT_EQ(run.load(), roots * rounds * 4);
}

TEST_F(RootTest, SlotsAreUsedAgain) {
  core::worker_here();
  for (int warm = 0; warm < 3; ++warm) std::thread([] { core::worker_here(); }).join();
  {
    Jobs jobs;
    for (int number = 0; number < 64; ++number) jobs.start([] { core::yield(); });
  }
  expect_idle();
  const unsigned before = core::runtime.slots.load();
  const unsigned missing = core::runtime.workers - 1 - core::runtime.started.load();  // may still start
  const unsigned count = scaled(1000);
  unsigned run = 0;
  for (unsigned number = 0; number < count; ++number)
    std::thread([&run] {
      Jobs jobs;
      jobs.start([&run] {
        core::yield();
        ++run;
      });
    }).join();
  EXPECT_EQ(run, count);
  EXPECT_LE(core::runtime.slots.load(), before + missing);
}

// A thread of the program ends with units in its pool, or suspended in its inbox: others run them.
TEST_F(RootTest, UnitsOutliveTheThreadThatStartedThem) {
  for (unsigned round = 0; round < scaled(200); ++round) {
    std::atomic<unsigned> run{0};
    Jobs jobs;
    std::thread([&] {
      for (int number = 0; number < 10; ++number)
        jobs.start([&run] {
          core::yield();
          ++run;
        });
    }).join();
    jobs.join();
    EXPECT_EQ(run.load(), 10U);
  }
}

// A unit suspended on the slot of a root that has ended is resumed into that slot's inbox.
TEST_F(RootTest, ResumedIntoASlotThatNobodyUses) {
  for (unsigned round = 0; round < scaled(100); ++round) {
    std::atomic<core::Unit*> places[4] = {};
    std::atomic<unsigned> went_on{0};
    Jobs jobs;
    std::thread([&] {
      for (auto& place : places)
        jobs.start([&] {
          suspend_in(place);
          ++went_on;
        });
      for (auto& place : places)
        while (place.load() == nullptr) core::yield();
    }).join();
    core::Unit* chain = nullptr;
    for (auto& place : places) {
      core::Unit* unit = place.exchange(nullptr);
      unit->next = chain;
      chain = unit;
    }
    core::resume_all(chain);
    jobs.join();
    EXPECT_EQ(went_on.load(), 4U);
  }
}

// Roots wait for one another with weft's barrier, and each comes back on its own KLT.
TEST_F(RootTest, MeetInABarrier) {
  const unsigned roots = 8;
  const unsigned rounds = scaled(500);
  core::Barrier barrier(roots);
  std::atomic<unsigned> last{0};
  std::atomic<unsigned> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < roots; ++number)
    threads.emplace_back([&] {
      const int number_of_klt = klt();
      for (unsigned round = 0; round < rounds; ++round) {
        if (barrier.arrive_and_wait()) ++last;
        if (klt() != number_of_klt) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(last.load(), rounds);
  EXPECT_EQ(wrong.load(), 0U);
}

// Threads that end right after they have resumed a root: the waker's late touches hit a slot that lives on.
TEST_F(RootTest, ShortLivedResumers) {
  for (unsigned round = 0; round < scaled(500); ++round) {
    core::Semaphore semaphore;
    std::thread waiter([&] { semaphore.acquire(); });
    std::thread resumer([&] { semaphore.release(); });
    resumer.join();
    waiter.join();
  }
}

// weft is used from the destructors of thread-local data, when the thread has left it already.
TEST_F(RootTest, EntersAgainWhileItEnds) {
  static std::atomic<unsigned> run;
  run = 0;
  pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key,
                               [](void*) {
                                 Jobs jobs;
                                 jobs.start([] { ++run; });
                               }),
            0);
  for (int round = 0; round < 20; ++round)
    std::thread([&] {
      core::worker_here();
      pthread_setspecific(key, &key);
    }).join();
  EXPECT_EQ(run.load(), 20U);
  pthread_key_delete(key);
}

// In the last round of its keys' destructors a thread comes to weft once more, after weft's own destructor. (Bug:
// nobody was told when it ended, and its slot was never left.)
TEST_F(RootTest, SlotsOfThoseThatComeAsTheyEndAreUsedAgain) {
  if (core::sanitizer::active) GTEST_SKIP() << "in that round threads have nothing of the sanitizers' any more";
  core::worker_here();  // weft's own key is the older one
  static std::atomic<unsigned> rounds;
  static std::atomic<unsigned> run;
  static pthread_key_t key;
  rounds = run = 0;
  ASSERT_EQ(pthread_key_create(&key,
                               [](void*) {
                                 ++rounds;
                                 Jobs jobs;
                                 jobs.start([] {
                                   core::yield();
                                   ++run;
                                 });
                                 jobs.join();
                                 pthread_setspecific(key, &key);
                               }),
            0);
  const unsigned before = core::runtime.slots.load();
  const unsigned count = 4 * (before + 32);
  for (unsigned number = 0; number < count; ++number) std::thread([] { pthread_setspecific(key, &key); }).join();
  EXPECT_EQ(rounds.load(), count * PTHREAD_DESTRUCTOR_ITERATIONS);
  EXPECT_EQ(run.load(), rounds.load());
  EXPECT_LT(core::runtime.slots.load(), before + count / 2);
  pthread_key_delete(key);
}

// The values that such a thread leaves are no others', and nor are their destructors.
TEST_F(RootTest, ThoseThatComeAsTheyEndLeaveNoValues) {
  if (core::sanitizer::active) GTEST_SKIP() << "in that round threads have nothing of the sanitizers' any more";
  core::worker_here();
  static std::atomic<unsigned> wrong;
  static std::atomic<unsigned> destroyed;
  static pthread_key_t key;
  static core::Key of_weft;
  wrong = destroyed = 0;
  ASSERT_TRUE(core::create_key([](void*) { ++destroyed; }, of_weft));
  ASSERT_EQ(pthread_key_create(&key,
                               [](void*) {
                                 void* value = &wrong;
                                 if (core::get_value(of_weft, &value) != core::KeyAnswer::ok || value != nullptr)
                                   ++wrong;
                                 if (core::set_value(of_weft, &key) != core::KeyAnswer::ok) ++wrong;
                                 pthread_setspecific(key, &key);
                               }),
            0);
  const unsigned count = 4 * (core::runtime.slots.load() + 32);
  for (unsigned number = 0; number < count; ++number) std::thread([] { pthread_setspecific(key, &key); }).join();
  EXPECT_EQ(wrong.load(), 0U);
  EXPECT_EQ(destroyed.load(), count * (PTHREAD_DESTRUCTOR_ITERATIONS - 1));
  pthread_key_delete(key);
  EXPECT_TRUE(core::delete_key(of_weft));
}

// Roots that live are none of those, however many there are.
TEST_F(RootTest, ManyThatLiveKeepTheirSlots) {
  const unsigned roots = 4 * 32;
  core::Barrier all(roots);
  std::atomic<unsigned> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < roots; ++number)
    threads.emplace_back([&] {
      core::Worker* const mine = &core::worker_here();
      all.arrive_and_wait();
      if (&core::worker_here() != mine || mine->klt.load() != klt()) ++wrong;
      all.arrive_and_wait();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0U);
}

}  // namespace
}  // namespace weft::test
