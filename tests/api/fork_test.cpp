// fork(2) in a unit, or by who holds something: the child has who forked, as a root, and nobody else.
#include "support.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <pthread.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <weft/sync.h>

namespace weft::test {
namespace {

constexpr unsigned limit_in_seconds = 60;  // of a child

// Forks. In the child: goes on with `body`, and ends when that returns, or by a signal after a while. In the parent:
// its status.
int status_of_child(const std::function<void()>& body, bool goes_back = false) {
  fflush(nullptr);  // the child may come to its exit()
  const pid_t child = fork();
  if (child == 0) {
    alarm(limit_in_seconds);
    body();
    if (goes_back) return -1;
    _exit(0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

void skip_under_sanitizers() {
  if (address_sanitizer) GTEST_SKIP() << "its allocator does not survive a fork beside busy threads";
  if (thread_sanitizer) GTEST_SKIP() << "starts no threads in a forked child";
}

class ForkTest : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    skip_under_sanitizers();
  }
};

class ForkTechniqueTest : public TechniqueTest {
 protected:
  void SetUp() override {
    TechniqueTest::SetUp();
    skip_under_sanitizers();
    parent_ = getpid();
    ASSERT_EQ(pipe(told_), 0);
  }
  void TearDown() override {
    // A child that has come back here would go on with all other tests.
    if (getpid() != parent_) _exit(99);
    close(told_[0]);
    close(told_[1]);
    TechniqueTest::TearDown();
  }

  // What the child's destructors have written.
  std::string told() {
    close(std::exchange(told_[1], -1));
    char text[16];
    const ssize_t length = read(told_[0], text, sizeof text);
    return {text, static_cast<std::size_t>(length > 0 ? length : 0)};
  }

  pid_t parent_ = 0;
  int told_[2] = {-1, -1};
};
WEFT_INSTANTIATE_TECHNIQUES(ForkTechniqueTest);

// The unit's function returns in the child, after it has waited there and before the fork, or not.
struct Returns {
  bool waits_before;
  bool waits_in_child;
  unsigned flags;
};

// Bug: the child went on with the parent's frames under the unit; it hung, crashed, or came back to main's code.
TEST_P(ForkTechniqueTest, TheEndOfTheUnitEndsTheChild) {
  const weft_technique technique = GetParam();
  weft_key key;
  ASSERT_EQ(weft_key_create([](void* pipe) { EXPECT_EQ(write(*static_cast<int*>(pipe), "x", 1), 1); }, &key), WEFT_OK);
  unsigned ended = 0;
  for (const Returns& way : {Returns{false, false, 0}, Returns{false, true, 0}, Returns{true, false, 0},
                             Returns{false, false, WEFT_OWN_TLS}, Returns{true, true, WEFT_OWN_TLS}}) {
    if (way.waits_before && !may_wait(technique)) continue;
    int status = -1;
    Jobs jobs;
    weft_unit_attr attr = with(technique);
    attr.flags = way.flags;
    jobs.start(attr, [&] {
      if (way.waits_before) weft_yield();
      status = status_of_child(
          [&] {
            if (way.waits_in_child) weft_yield();
            weft_key_set(key, &told_[1]);
          },
          true);
    });
    jobs.join();
    EXPECT_EQ(status, 0);
    ++ended;
  }
  EXPECT_EQ(told(), std::string(ended, 'x')) << "destructors in the children";
  EXPECT_EQ(weft_key_delete(key), WEFT_OK);
}

// Units before it and after it, so that it is run in a row; and by its joiner.
TEST_P(ForkTechniqueTest, TheEndOfTheUnitEndsTheChildWhoeverStartedIt) {
  const weft_technique technique = GetParam();
  int status[2] = {-1, -1};
  const auto forks = [&](int& answer) { answer = status_of_child([] {}, true); };
  {
    Jobs jobs;
    for (int number = 0; number < 4; ++number) jobs.start(technique, [] {});
    jobs.start(technique, [&] { forks(status[0]); });
    for (int number = 0; number < 4; ++number) jobs.start(technique, [] {});
    jobs.join();
  }
  Jobs joiners;
  joiners.start(WEFT_FULL, [&] {
    Jobs jobs;
    jobs.start(technique, [&] { forks(status[1]); });
    jobs.join();
  });
  joiners.join();
  EXPECT_EQ(status[0], 0);
  EXPECT_EQ(status[1], 0);
}

// Bug: the child slept for ever, as the unit waited for a worker that is not there, and had nearly all signals blocked.
TEST_P(ForkTechniqueTest, TheEndOfTheUnitEndsTheChildOfABlockingCall) {
  weft_key ends, kept;
  ASSERT_EQ(weft_key_create([](void* pipe) { EXPECT_EQ(write(*static_cast<int*>(pipe), "x", 1), 1); }, &ends), WEFT_OK);
  ASSERT_EQ(weft_key_create(nullptr, &kept), WEFT_OK);
  int status = -1;
  Jobs jobs;
  jobs.start(GetParam(), [&] {
    weft_key_set(kept, &status);
    weft_blocking(
        [](void* answer) {
          *static_cast<int*>(answer) = status_of_child(
              [] {
                sigset_t blocked;
                pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
                if (sigismember(&blocked, SIGTERM) != 0) _exit(5);
              },
              true);
        },
        &status);
    if (getpid() == parent_) return;
    void* value = nullptr;
    if (weft_key_get(kept, &value) != WEFT_OK || value != &status) _exit(6);
    weft_yield();
    weft_key_set(ends, &told_[1]);
  });
  jobs.join();
  EXPECT_EQ(status, 0);
  EXPECT_EQ(told(), "x") << "destructors in the child";
  EXPECT_EQ(weft_key_delete(ends), WEFT_OK);
  EXPECT_EQ(weft_key_delete(kept), WEFT_OK);
}

// By weft_unit_exit(); not by that of another unit, which runs on top of it.
TEST_P(ForkTechniqueTest, ExitOfTheUnitEndsTheChild) {
  if (!may_wait(GetParam())) return;
  int status = -1;
  Jobs jobs;
  const auto exits_after_another = [] {
    Jobs others;
    weft_unit_attr attr = with(WEFT_ROC_L);
    attr.worker = weft_worker_self();
    for (int number = 0; number < 100; ++number) others.start(attr, [] { weft_unit_exit(); });
    others.join();
    std::atexit([] { _exit(7); });
    weft_unit_exit();
  };
  jobs.start(GetParam(), [&] { status = status_of_child(exits_after_another); });
  jobs.join();
  EXPECT_EQ(status, 7 << 8);
}

// A destructor of the unit's values forks.
TEST_P(ForkTechniqueTest, TheEndOfADestructorThatForkedEndsTheChild) {
  static int status;
  status = -1;
  weft_key key;
  ASSERT_EQ(weft_key_create([](void*) { status = status_of_child([] {}, true); }, &key), WEFT_OK);
  Jobs jobs;
  jobs.start(GetParam(), [&] { weft_key_set(key, &key); });
  jobs.join();
  EXPECT_EQ(status, 0);
  EXPECT_EQ(weft_key_delete(key), WEFT_OK);
}

// By a scheduler of the program's own, on a worker of its own.
std::atomic<bool> scheduler_has_forked{false};
std::atomic<int> status_of_schedulers_child{-1};
void fork_and_run_pools(weft_scheduler* scheduler, void* data) {
  if (scheduler_has_forked.exchange(true)) return run_pools(scheduler, data);
  status_of_schedulers_child = status_of_child([] {}, true);
}

TEST_F(ForkTest, TheEndOfASchedulersFunctionEndsTheChild) {
  OwnWorker worker(fork_and_run_pools, nullptr, true, {make_pool()});
  EXPECT_TRUE(eventually([] { return status_of_schedulers_child != -1; }, std::chrono::seconds(2 * limit_in_seconds)));
  worker.join();
  EXPECT_EQ(status_of_schedulers_child, 0);
}

// Whether the thread's own stack is somewhere else than `address`.
void* lies_elsewhere(void* address) {
  pthread_attr_t attr;
  void* low = nullptr;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attr) != 0 || pthread_attr_getstack(&attr, &low, &size) != 0) return nullptr;
  pthread_attr_destroy(&attr);
  const auto place = static_cast<char*>(address);
  return place < static_cast<char*>(low) || place >= static_cast<char*>(low) + size ? address : nullptr;
}

// Ends the child.
[[noreturn]] void expect_stacks_elsewhere_than(void* address) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{256} << 10U, std::size_t{300} << 10U}) {
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    if (size != 0) pthread_attr_setstacksize(&attr, size);
    pthread_t threads[4];
    for (pthread_t& thread : threads)
      if (pthread_create(&thread, &attr, lies_elsewhere, address) != 0) _exit(2);
    for (const pthread_t thread : threads) {
      void* answer = nullptr;
      if (pthread_join(thread, &answer) != 0 || answer == nullptr) _exit(1);
    }
  }
  _exit(0);
}

// Bug: a unit with thread-local storage of its own keeps that of the worker's KLT, and libc took the stack of that for
// free in the child of who forked on it.
TEST_F(ForkTest, TheStackUnderAStacklessUnitIsNotGivenToThreadsOfTheChild) {
  weft_pool* pool = make_pool();
  OwnWorker worker(WEFT_BASIC_WAIT, {pool});
  weft_unit_attr attr = with(WEFT_FULL, pool);
  attr.flags = WEFT_OWN_TLS;
  Jobs jobs;
  weft_unit* keeper = jobs.start(attr, [] { weft_suspend(); });
  ASSERT_TRUE(eventually([keeper] { return weft_unit_state(keeper) == WEFT_SUSPENDED; }));
  int status = -1;
  Jobs forking;
  forking.start(with(WEFT_STACKLESS, pool), [&status] {
    int here = 0;
    status = status_of_child([&here] { expect_stacks_elsewhere_than(&here); });
  });
  forking.join();
  EXPECT_EQ(status, 0);
  EXPECT_EQ(weft_resume(keeper), WEFT_OK);
  jobs.join();
  worker.join();
}

// The prepare handler of pthread_atfork(3) locks, those of parent and child unlock.
void unlock_in_child(weft_mutex& mutex, int& status) {
  EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
  EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
  status = status_of_child([&mutex] {
    if (weft_mutex_try_lock(&mutex) != WEFT_OK) _exit(1);
    for (int depth = 0; depth < 3; ++depth)
      if (weft_mutex_unlock(&mutex) != WEFT_OK) _exit(2);
    if (weft_mutex_unlock(&mutex) != WEFT_ERR_OWNER) _exit(3);
    Jobs jobs;
    jobs.start(WEFT_FULL, [&mutex] { _exit(weft_mutex_try_lock(&mutex) == WEFT_OK ? 0 : 4); });
    jobs.join();
  });
  EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
  EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
}

// Bug: weft_units() listed them.
TEST_F(ForkTest, UnitsOfTheParentAreNoneOfTheChild) {
  Jobs jobs;
  weft_unit* waits = jobs.start(WEFT_FULL, [] { weft_suspend(); });
  while (weft_unit_state(waits) != WEFT_SUSPENDED) weft_yield();
  const auto has_its_own = [] {
    if (weft_units(nullptr, 0) != 0) _exit(1);
    weft_unit_attr attr = with(WEFT_FULL);
    weft_unit* unit = nullptr;
    if (weft_unit_create([](void*) { weft_suspend(); }, nullptr, &attr, &unit) != WEFT_OK) _exit(2);
    while (weft_unit_state(unit) != WEFT_SUSPENDED) weft_yield();
    if (weft_units(nullptr, 0) != 1) _exit(3);
  };
  const int status = status_of_child([&has_its_own] {
    has_its_own();
    _exit(status_of_child(has_its_own));
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(weft_resume(waits), WEFT_OK);
  jobs.join();
}

// Bug: the kernel went on noting, for the only KLT, what it did, beside the thread pointer of the root: on a stack that
// glibc takes for that of a thread which is gone, and gives back when there are others.
TEST_F(ForkTest, AStackThatIsGoneInTheChildIsNotWrittenTo) {
  int status = -1;
  std::thread root([&status] {
    Jobs jobs;
    weft_unit_attr attr = with(WEFT_FULL);
    attr.flags = WEFT_OWN_TLS;
    jobs.start(attr, [&status] {
      status = status_of_child([] {
        pthread_attr_t large;
        pthread_t thread;
        pthread_attr_init(&large);
        pthread_attr_setstacksize(&large, std::size_t{64} << 20U);  // more than glibc keeps of stacks that are free
        if (pthread_create(
                &thread, &large, [](void* argument) { return argument; }, nullptr) != 0)
          _exit(1);
        pthread_join(thread, nullptr);
        for (int i = 0; i < 100; ++i) usleep(1000);
      });
    });
    jobs.join();
  });
  root.join();
  EXPECT_EQ(status, 0);
}

// Bug: the child waited for one that it does not have.
TEST_F(ForkTest, WorkersOfTheParentHaveEndedInTheChild) {
  weft_pool* pool = nullptr;
  ASSERT_EQ(weft_pool_create(WEFT_FIFO, WEFT_MPMC, &pool), WEFT_OK);
  OwnWorker worker(WEFT_BASIC_WAIT, {pool});
  weft_worker* const own = weft_worker_self();
  const int status = status_of_child([&] {
    weft_unit* unit = nullptr;
    for (weft_worker* gone : {worker.get(), own}) {
      weft_unit_attr attr = with(WEFT_AUTO);
      attr.worker = gone;
      if (weft_worker_join(gone) != WEFT_ERR_STATE) _exit(1);
      if (weft_unit_create([](void*) {}, nullptr, &attr, &unit) != WEFT_ERR_STATE) _exit(2);
    }
  });
  EXPECT_EQ(status, 0);
  worker.join();
}

// Bug: in the child nobody held it, and nobody could.
TEST_F(ForkTest, ARecursiveMutexIsHeldByTheRootThatForked) {
  weft_mutex mutex = WEFT_MUTEX_INIT_KIND(WEFT_MUTEX_RECURSIVE);
  int status = -1;
  unlock_in_child(mutex, status);
  EXPECT_EQ(status, 0);
  status = status_of_child([&mutex] {
    int of_grandchild = -1;
    unlock_in_child(mutex, of_grandchild);
    _exit(of_grandchild);
  });
  EXPECT_EQ(status, 0);
}

TEST_P(ForkTechniqueTest, ARecursiveMutexIsHeldByTheUnitThatForked) {
  weft_mutex mutex = WEFT_MUTEX_INIT_KIND(WEFT_MUTEX_RECURSIVE);
  int status = -1;
  Jobs jobs;
  jobs.start(GetParam(), [&] { unlock_in_child(mutex, status); });
  jobs.join();
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace weft::test
