// Ways to end other than by return: exit, cancel, detach.
#include <csignal>
#include <pthread.h>
#include <thread>

#include "support.h"

namespace weft::test {
namespace {

class EndTest : public ApiTest {};

[[gnu::noinline]] void exit_deep(int depth) {
  volatile char ballast[256];
  ballast[0] = static_cast<char>(depth);
  if (depth == 0) weft_unit_exit();
  if (depth > 0) exit_deep(depth - 1);
  ballast[1] = ballast[0];
}

TEST_P(WaitingTest, ExitsAtOnce) {
  Jobs jobs;
  std::atomic<int> came{0};
  for (int i = 0; i < 20; ++i)
    jobs.start(GetParam(), [&] {
      ++came;
      weft_unit_exit();
    });
  jobs.join();
  EXPECT_EQ(came, 20);
}

TEST_P(WaitingTest, ExitsFromDeepDown) {
  Jobs jobs;
  std::atomic<int> came{0};
  std::atomic<int> returned{0};
  for (int i = 0; i < 20; ++i)
    jobs.start(GetParam(), [&] {
      ++came;
      exit_deep(100);
      ++returned;
    });
  jobs.join();
  EXPECT_EQ(came, 20);
  EXPECT_EQ(returned, 0);
}

// ThreadSanitizer counts the frames that are never returned to, and has room for some 60,000 on a stack.
TEST_P(WaitingTest, ManyExitFromDeepDown) {
  for (int round = 0; round < 1000; ++round) {
    Jobs jobs;
    jobs.start(GetParam(), [] { exit_deep(100); });
  }
}

TEST_P(WaitingTest, ExitsAfterItHasDeviated) {
  Jobs jobs;
  std::atomic<int> came{0};
  for (int i = 0; i < 20; ++i)
    jobs.start(GetParam(), [&] {
      weft_yield();
      ++came;
      exit_deep(10);
    });
  jobs.join();
  EXPECT_EQ(came, 20);
}

TEST_P(WaitingTest, RevivesWhatHasExited) {
  Jobs jobs;
  int ran = 0;
  weft_unit* unit = jobs.start(GetParam(), [&] {
    ++ran;
    exit_deep(3);
  });
  void* again = jobs.keep([&] {
    ++ran;
    weft_unit_exit();
  });
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(weft_unit_join(unit), WEFT_OK);
    ASSERT_EQ(weft_unit_revive(unit, Jobs::run, again), WEFT_OK);
  }
  jobs.join();
  EXPECT_EQ(ran, 21);
}

// The creator waits in the worker's deque, or has been stolen, when its child exits.
TEST_P(WaitingTest, ExitsAsAChild) {
  for (const weft_technique inner : all_techniques) {
    if (!may_wait(inner)) continue;
    Jobs jobs;
    bool went_on = false;
    jobs.start(GetParam(), [&] {
      Jobs children;
      children.start(inner, [] { weft_unit_exit(); });
      children.start(inner, [] {
        weft_yield();
        weft_unit_exit();
      });
      children.join();
      went_on = true;
    });
    jobs.join();
    EXPECT_TRUE(went_on) << weft_technique_name(inner);
  }
}

TEST_F(EndTest, RootsDoNotExit) {
  EXPECT_DEATH(
      {
        weft_init();
        weft_unit_exit();
      },
      "weft");
}

TEST_F(EndTest, StacklessUnitsDoNotExit) {
  EXPECT_DEATH(
      {
        weft_init();
        const weft_unit_attr attr = with(WEFT_STACKLESS);
        weft_unit* unit = nullptr;
        weft_unit_create([](void*) { weft_unit_exit(); }, nullptr, &attr, &unit);
        weft_unit_join(unit);
      },
      "weft");
}

// A destructor of the program's that needs some stack and takes its time. Made before weft's own, so called before it.
const pthread_key_t slow_to_end = [] {
  pthread_key_t key{};
  pthread_key_create(&key, [](void*) {
    volatile char ballast[8 * 1024];
    for (volatile char& byte : ballast) byte = -1;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    while (std::chrono::steady_clock::now() < end) continue;
  });
  return key;
}();

// It ends the kernel thread, and the worker with it. (Bug: the process ended with status 0, or hung, and no signal but
// SIGKILL ended it. Bug: a lender that was not yet asleep died of what was run on its stack.)
TEST_P(TechniqueTest, ThreadsAreNotEndedByUnits) {
  if (address_sanitizer || thread_sanitizer) GTEST_SKIP() << "they look at the end of a thread themselves";
  for (const unsigned flags : {0U, unsigned{WEFT_OWN_TLS}}) {
    if (flags != 0 && GetParam() == WEFT_STACKLESS) continue;
    const auto end_thread = [technique = GetParam(), flags] {
      weft_init();
      weft_unit_attr attr = with(technique);
      attr.flags = flags;
      weft_unit* unit = nullptr;
      const auto end_slowly = [](void*) {
        pthread_setspecific(slow_to_end, &slow_to_end);
        pthread_exit(nullptr);
      };
      weft_unit_create(end_slowly, nullptr, &attr, &unit);
      weft_unit_join(unit);
      _exit(0);
    };
    // A thread of its own: a stackless unit unwinds its caller's stack, and the test catches all that comes.
    EXPECT_EXIT(std::thread(end_thread).join(), ::testing::ExitedWithCode(1), "weft: pthread_exit") << flags;
  }
}

// Joins a unit that calls throws(), in a process of its own. (Bug: an exception from a stackless unit went through the
// scheduler to whoever had called that.)
void expect_end_by_exception(weft_technique technique, void (*throws)()) {
  const auto join = [technique, throws] {
    weft_init();
    const weft_unit_attr attr = with(technique);
    weft_unit* unit = nullptr;
    const auto entry = [](void* function) { reinterpret_cast<void (*)()>(function)(); };
    try {
      weft_unit_create(entry, reinterpret_cast<void*>(throws), &attr, &unit);
      weft_unit_join(unit);
    } catch (int) {
    }
    _exit(0);
  };
  EXPECT_EXIT(join(), ::testing::KilledBySignal(SIGABRT), "terminate called");
}

TEST_P(TechniqueTest, ExceptionsEndTheProcess) {
  expect_end_by_exception(GetParam(), [] { throw 1; });
}

TEST_P(TechniqueTest, ExceptionsOfKeyDestructorsEndTheProcess) {
  expect_end_by_exception(GetParam(), [] {
    weft_key key;
    weft_key_create([](void*) { throw 1; }, &key);
    weft_key_set(key, &key);
  });
}

TEST_P(TechniqueTest, ExceptionsOfBlockingCallsEndTheProcess) {
  expect_end_by_exception(GetParam(), [] {
    try {
      weft_blocking([](void*) { throw 1; }, nullptr);
    } catch (int) {
    }
  });
}

// ---------------------------------------------------------------- cancel

TEST_P(TechniqueTest, NeverStartsIfCancelledBefore) {
  if (child_first(GetParam())) return;  // has started when its handle is there
  weft_pool* pool = make_pool();
  OwnScheduler own(WEFT_BASIC, {pool});
  bool ran = false;
  Jobs jobs;
  weft_unit* unit = jobs.start(with(GetParam(), pool), [&] { ran = true; });
  EXPECT_EQ(weft_unit_cancel(unit), WEFT_OK);
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  EXPECT_EQ(weft_unit_state(unit), WEFT_DONE);
  EXPECT_FALSE(ran);
  // What asked it to end is forgotten when it is revived.
  EXPECT_EQ(weft_unit_revive(unit, Jobs::run, jobs.keep([&] { ran = true; })), WEFT_OK);
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  EXPECT_TRUE(ran);
}

TEST_P(WaitingTest, IsCancelledAtAYield) {
  Jobs jobs;
  std::atomic<bool> began{false};
  std::atomic<bool> ended{false};
  weft_unit* unit = jobs.start(GetParam(), [&] {
    began = true;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < limit) weft_yield();
    ended = true;
  });
  EXPECT_TRUE(eventually([&] { return began.load(); }));
  EXPECT_EQ(weft_unit_cancel(unit), WEFT_OK);
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  EXPECT_FALSE(ended);
}

TEST_P(WaitingTest, IsCancelledAtACancelPoint) {
  Jobs jobs;
  std::atomic<bool> ended{false};
  weft_unit* unit = jobs.start(GetParam(), [&] {
    weft_cancel_point();
    weft_suspend();
    weft_cancel_point();
    ended = true;
  });
  EXPECT_TRUE(eventually([&] { return weft_unit_state(unit) == WEFT_SUSPENDED; }));
  EXPECT_EQ(weft_unit_cancel(unit), WEFT_OK);
  EXPECT_EQ(weft_resume(unit), WEFT_OK);
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  EXPECT_FALSE(ended);
}

TEST_P(WaitingTest, CancelsItself) {
  Jobs jobs;
  bool between = false;
  bool after = false;
  jobs.start(GetParam(), [&] {
    EXPECT_EQ(weft_unit_cancel(weft_unit_self()), WEFT_OK);
    between = true;
    weft_cancel_point();
    after = true;
  });
  jobs.join();
  EXPECT_TRUE(between);
  EXPECT_FALSE(after);
}

TEST_F(EndTest, CancelPointsAreForAll) {
  weft_cancel_point();
  Jobs jobs;
  bool ran = false;
  jobs.start(WEFT_STACKLESS, [&] {
    weft_cancel_point();
    ran = true;
  });
  jobs.join();
  EXPECT_TRUE(ran);
}

TEST_F(EndTest, CancellingTheDoneIsNothing) {
  Jobs jobs;
  weft_unit* unit = jobs.start(WEFT_ROC_L, [] {});
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  EXPECT_EQ(weft_unit_cancel(unit), WEFT_OK);
}

TEST_F(EndTest, ManyAreCancelledWhereverTheyAre) {
  for (int round = 0; round < 10; ++round) {
    Jobs jobs;
    std::vector<weft_unit*> units;
    for (const weft_technique technique : all_techniques) {
      if (!may_wait(technique)) continue;
      for (int i = 0; i < 5; ++i)
        units.push_back(jobs.start(technique, [] {
          for (;;) weft_yield();
        }));
    }
    for (weft_unit* unit : units) EXPECT_EQ(weft_unit_cancel(unit), WEFT_OK);
    jobs.join();
  }
}

// ---------------------------------------------------------------- detach

TEST_P(TechniqueTest, NobodyNeedsToJoin) {
  Jobs jobs;
  std::atomic<unsigned> ran{0};
  const unsigned count = scaled(1000);
  for (unsigned i = 0; i < count; ++i)
    jobs.start_detached(with(GetParam()), [&] {
      pause_if_possible(GetParam());
      ++ran;
    });
  EXPECT_TRUE(eventually([&] { return ran == count; }));
}

TEST_P(TechniqueTest, IsDetachedAfterItsEnd) {
  std::atomic<int> ran{0};
  Jobs jobs;
  void* body = jobs.keep([&] { ++ran; });
  const weft_unit_attr attr = with(GetParam());
  for (int i = 0; i < 100; ++i) {
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_unit_create(Jobs::run, body, &attr, &unit), WEFT_OK);
    ASSERT_EQ(weft_unit_join(unit), WEFT_OK);
    ASSERT_EQ(weft_unit_detach(unit), WEFT_OK);
  }
  EXPECT_EQ(ran, 100);
}

TEST_P(WaitingTest, IsDetachedBeforeItsEnd) {
  std::atomic<int> ran{0};
  Jobs jobs;
  std::atomic<bool> go{false};
  void* body = jobs.keep([&] {
    while (!go) weft_yield();
    ++ran;
  });
  const weft_unit_attr attr = with(GetParam());
  for (int i = 0; i < 20; ++i) {
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_unit_create(Jobs::run, body, &attr, &unit), WEFT_OK);
    ASSERT_EQ(weft_unit_detach(unit), WEFT_OK);
  }
  go = true;
  EXPECT_TRUE(eventually([&] { return ran == 20; }));
}

TEST_P(TechniqueTest, IsDetachedAtItsEnd) {
  std::atomic<unsigned> ran{0};
  Jobs jobs;
  void* body = jobs.keep([&] { ++ran; });
  const weft_unit_attr attr = with(GetParam());
  const unsigned count = scaled(2000);
  for (unsigned i = 0; i < count; ++i) {
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_unit_create(Jobs::run, body, &attr, &unit), WEFT_OK);
    ASSERT_EQ(weft_unit_detach(unit), WEFT_OK);
  }
  EXPECT_TRUE(eventually([&] { return ran == count; }));
}

TEST_P(TechniqueTest, DetachesItself) {
  std::atomic<int> ran{0};
  Jobs jobs;
  void* body = jobs.keep([&] {
    EXPECT_EQ(weft_unit_detach(weft_unit_self()), WEFT_OK);
    pause_if_possible(GetParam());
    ++ran;
  });
  const weft_unit_attr attr = with(GetParam());
  for (int i = 0; i < 20; ++i) {
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_unit_create(Jobs::run, body, &attr, &unit), WEFT_OK);
  }
  EXPECT_TRUE(eventually([&] { return ran == 20; }));
}

}  // namespace
}  // namespace weft::test
