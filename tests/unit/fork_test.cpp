// In a forked child weft starts afresh: units run at once, whatever the parent was doing.
#include <thread>
#include <vector>

#include "core/create.h"
#include "core/extras.h"
#include "core/sync/barrier.h"
#include "core/sync/mutex.h"
#include "os/code_not_to_leave.h"
#include "os/libraries.h"
#include "support.h"

namespace weft::test {
namespace {

class Fork : public CoreTest {
 protected:
  void SetUp() override {
    if (thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer lets no forked child start threads";
  }
};

// Runs units of all kinds; true if all came to their end.
bool units_run() {
  std::atomic<unsigned> run{0};
  core::Barrier barrier(10);
  core::Mutex mutex;
  {
    Jobs jobs;
    for (int number = 0; number < 10; ++number)
      jobs.start([&] {
        core::yield();
        barrier.arrive_and_wait();
        mutex.lock();
        ++run;
        mutex.unlock();
      });
    std::thread([&] {
      Jobs of_another;
      of_another.start([&] { ++run; });
    }).join();
  }
  return run.load() == 11;
}

TEST_F(Fork, ChildRunsUnitsAfterTheParentHas) {
  for (unsigned round = 0; round < scaled(10); ++round) {
    ASSERT_TRUE(units_run());
    EXPECT_EQ(in_child(units_run), 0);
  }
  ASSERT_TRUE(units_run());
}

TEST_F(Fork, ChildOfAThreadThatNeverEntered) {
  ASSERT_TRUE(units_run());
  std::thread([] { EXPECT_EQ(in_child(units_run), 0); }).join();
}

TEST_F(Fork, ChildOfTheChild) {
  EXPECT_EQ(in_child([] { return units_run() && in_child(units_run) == 0 && units_run(); }), 0);
}

// Of a root, and of a unit, which goes on as a root.
TEST_F(Fork, ChildHasTheValuesOfWhatForked) {
  core::Key key{};
  ASSERT_TRUE(core::create_key(nullptr, key));
  const auto has = [key](int* expected) {
    void* value = nullptr;
    return core::get_value(key, &value) == core::KeyAnswer::ok && value == expected;
  };
  int of_root = 0;
  int of_unit = 0;
  ASSERT_EQ(core::set_value(key, &of_root), core::KeyAnswer::ok);
  EXPECT_EQ(in_child([&] { return has(&of_root); }), 0);
  EXPECT_TRUE(has(&of_root));
  core::Worker& worker = core::worker_here();
  core::Wish wish;
  struct Both {
    decltype(has)& asks;
    int* mine;
    core::Key key;
    int answer;
  } both{has, &of_unit, key, -1};
  const auto forks = [](void* argument) {
    auto& asked = *static_cast<Both*>(argument);
    core::set_value(asked.key, asked.mine);
    asked.answer = in_child([&] { return asked.asks(asked.mine); });
  };
  core::Unit* unit = core::make_unit(worker, forks, &both, wish);
  ASSERT_NE(unit, nullptr);
  core::launch(worker, *unit);
  core::wait_for_end(*unit);
  core::free_unit(core::worker_here(), *unit);
  EXPECT_EQ(both.answer, 0);
  EXPECT_TRUE(core::delete_key(key));
}

// glibc's lock over the list of libraries would stay locked in the child.
TEST_F(Fork, WhileLibrariesAreLookedAt) {
  if (address_sanitizer) GTEST_SKIP() << "its allocator does not survive a fork beside busy threads";
  static const auto look_slowly = [](dl_phdr_info*, std::size_t, void*) {
    for (std::atomic<int> turns{0}; turns < 1000; ++turns) {
    }
    return 0;
  };
  std::atomic<bool> over{false};
  std::thread busy([&over] {
    while (!over) os::for_each_object(look_slowly, nullptr);
  });
  for (unsigned round = 0; round < 20; ++round)
    EXPECT_EQ(in_child([] { return dl_iterate_phdr(look_slowly, nullptr) == 0; }), 0) << "round " << round;
  over = true;
  busy.join();
}

// A lock that another thread of the parent had is free in the child.
TEST_F(Fork, WhileCodeNotToLeaveIsLookedUp) {
  if (address_sanitizer) GTEST_SKIP() << "its allocator does not survive a fork beside busy threads";
  std::atomic<bool> over{false};
  std::vector<std::thread> busy;
  for (int number = 0; number < 2; ++number)
    busy.emplace_back([&over] {
      while (!over) os::refresh_code_not_to_leave();
    });
  for (unsigned round = 0; round < 20; ++round)
    EXPECT_EQ(in_child([] {
                os::refresh_code_not_to_leave();
                return true;
              }),
              0)
        << "round " << round;
  over = true;
  for (std::thread& thread : busy) thread.join();
}

// While workers search, sleep, map stacks, start KLTs and hold the locks of the core.
TEST_F(Fork, WhileOthersAreBusy) {
  if (address_sanitizer) GTEST_SKIP() << "its allocator does not survive a fork beside busy threads";
  std::atomic<bool> over{false};
  std::vector<std::thread> busy;
  for (int number = 0; number < 3; ++number)
    busy.emplace_back([&] {
      while (!over) units_run();
    });
  for (unsigned round = 0; round < scaled(30); ++round) EXPECT_EQ(in_child(units_run), 0) << "round " << round;
  over = true;
  for (std::thread& thread : busy) thread.join();
}

// A unit forks, on whichever KLT and identity it runs: the child uses weft from there.
TEST_F(Fork, FromAUnit) {
  if (address_sanitizer) GTEST_SKIP() << "its allocator does not survive a fork beside busy threads";
  std::atomic<int> status[4];
  Jobs jobs;
  for (auto& one : status)
    jobs.start([&one] {
      core::yield();
      one = in_child(units_run);
    });
  jobs.join();
  for (auto& one : status) EXPECT_EQ(one.load(), 0);
}

TEST_F(Fork, ThreadsOfTheParentArePresentAgainInTheChild) {
  ASSERT_TRUE(units_run());
  EXPECT_EQ(in_child([] {
              if (status_value("Threads") != 1) return false;
              if (!units_run()) return false;
              return core::runtime.workers == 1 || eventually([] { return status_value("Threads") >= 2; });
            }),
            0);
}

}  // namespace
}  // namespace weft::test
