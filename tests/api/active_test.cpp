// Workers that are switched off and on at run time (weft_workers_set_active), by calls and by the signal.
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <set>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "support.h"

namespace weft::test {
namespace {

class ActiveTest : public ApiTest {
 protected:
  void TearDown() override {
    EXPECT_EQ(weft_workers_set_active(weft_worker_count()), WEFT_OK);
    ApiTest::TearDown();
  }
};

std::size_t workers_awake() {
  const std::vector<weft_worker_info> infos = worker_infos();
  return static_cast<std::size_t>(std::count_if(infos.begin(), infos.end(), [](const weft_worker_info& info) {
    return info.root == 0 && info.state != WEFT_WORKER_ASLEEP;
  }));
}

/// Runs units that take some time each; on how many workers they ran.
std::size_t workers_used(unsigned units) {
  std::vector<std::atomic<unsigned>> ran_on(1024);
  Jobs jobs;
  for (unsigned index = 0; index < units; ++index)
    jobs.start(WEFT_AUTO, [&] {
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
      while (std::chrono::steady_clock::now() < end) {
      }
      ++ran_on[weft_worker_index(weft_worker_self())];
      weft_yield();
    });
  jobs.join();
  return static_cast<std::size_t>(
      std::count_if(ran_on.begin(), ran_on.end(), [](const auto& count) { return count != 0; }));
}

/// Each waits, without telling weft, until all are there: as many workers as units are needed.
void meet(unsigned count) {
  std::atomic<unsigned> there{0};
  Jobs jobs;
  for (unsigned index = 0; index < count; ++index)
    jobs.start(WEFT_AUTO, [&] {
      ++there;
      while (there < count) std::this_thread::yield();
    });
  jobs.join();
}

TEST_F(ActiveTest, Arguments) {
  const unsigned workers = weft_worker_count();
  EXPECT_EQ(weft_workers_active(), workers);
  EXPECT_EQ(weft_workers_set_active(0), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_workers_set_active(workers + 1), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_workers_active(), workers);
  EXPECT_EQ(weft_workers_set_active(1), WEFT_OK);
  EXPECT_EQ(weft_workers_active(), 1U);
}

TEST_F(ActiveTest, OnlySoManyRunUnits) {
  const unsigned workers = weft_worker_count();
  meet(workers);  // all have started
  for (unsigned active : {1U, workers / 2 + 1, workers, 1U}) {
    ASSERT_EQ(weft_workers_set_active(active), WEFT_OK);
    ASSERT_TRUE(eventually([&] { return workers_awake() < active; })) << active;
    // A spare worker may stand in for one that the kernel does not run, and rests again.
    EXPECT_TRUE(eventually([&] { return workers_used(200) <= active; })) << active;
  }
  ASSERT_EQ(weft_workers_set_active(workers), WEFT_OK);
  meet(workers);
}

TEST_F(ActiveTest, AllButOne) {
  ASSERT_EQ(weft_workers_set_active(1), WEFT_OK);
  ASSERT_TRUE(eventually([] { return workers_awake() == 0; }));
  EXPECT_TRUE(eventually([] { return workers_used(200) == 1; }));
  ASSERT_EQ(weft_workers_set_active(weft_worker_count()), WEFT_OK);
  meet(weft_worker_count());
}

TEST_F(ActiveTest, UnitsThatWaitGoOnElsewhere) {
  meet(weft_worker_count());
  weft_barrier barrier = WEFT_BARRIER_INIT(32);
  std::atomic<unsigned> passed{0};
  Jobs jobs;
  for (unsigned index = 0; index < 31; ++index)
    jobs.start(WEFT_AUTO, [&] {
      for (unsigned round = 0; round < 20; ++round) EXPECT_EQ(weft_barrier_wait(&barrier, nullptr), WEFT_OK);
      ++passed;
    });
  for (unsigned round = 0; round < 20; ++round) {
    EXPECT_EQ(weft_workers_set_active(round % weft_worker_count() + 1), WEFT_OK);
    EXPECT_EQ(weft_barrier_wait(&barrier, nullptr), WEFT_OK);
  }
  jobs.join();
  EXPECT_EQ(passed, 31U);
  EXPECT_EQ(weft_barrier_destroy(&barrier), WEFT_OK);
}

void count_tree(std::atomic<unsigned>& leaves, unsigned depth) {
  if (depth == 0) {
    ++leaves;
    return;
  }
  Jobs jobs;
  for (int child = 0; child < 2; ++child) jobs.start(WEFT_AUTO, [&leaves, depth] { count_tree(leaves, depth - 1); });
}

TEST_F(ActiveTest, ChangedAllTheTime) {
  std::atomic<bool> over{false};
  const unsigned workers = weft_worker_count();
  const auto change = [&](unsigned seed) {
    for (unsigned round = seed; !over; ++round) {
      EXPECT_EQ(weft_workers_set_active(round * 2654435761U / 65536 % workers + 1), WEFT_OK);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  };
  std::thread one(change, 1);
  std::thread other(change, 77);
  std::atomic<unsigned> leaves{0};
  const unsigned trees = scaled(100);
  for (unsigned round = 0; round < trees; ++round) count_tree(leaves, 9);
  over = true;
  one.join();
  other.join();
  EXPECT_EQ(leaves, trees * 512);
  // The last one counts.
  ASSERT_EQ(weft_workers_set_active(1), WEFT_OK);
  ASSERT_TRUE(eventually([] { return workers_awake() == 0; }));
  EXPECT_TRUE(eventually([] { return workers_used(100) == 1; }));  // or a spare one has stood in, as above
}

// Waits as any thread does, of which weft is not told.
bool comes_true(const std::function<bool()>& condition, std::chrono::seconds within) {
  const auto limit = std::chrono::steady_clock::now() + within;
  while (!condition() && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

// Whether the worker that a unit computes on goes to sleep when it is switched off.
bool stops_in_the_midst() {
  weft_unit_attr attr = with(WEFT_ROC_L);
  attr.preemption = WEFT_PREEMPT_SIGNAL_YIELD;
  attr.flags = WEFT_OWN_TLS;
  std::atomic<weft_worker*> place{nullptr};
  std::atomic<bool> over{false};
  Jobs jobs;
  jobs.start(attr, [&] {
    place = weft_worker_self();
    while (!over.load(std::memory_order_relaxed)) asm volatile("");
  });
  // Weft is not told that this thread waits: nothing runs here.
  while (place == nullptr) std::this_thread::yield();
  EXPECT_EQ(weft_workers_set_active(1), WEFT_OK);
  const bool stops = comes_true([&place] { return is_asleep(place); }, std::chrono::seconds(5));
  over = true;
  jobs.join();
  EXPECT_EQ(weft_workers_set_active(weft_worker_count()), WEFT_OK);
  return stops;
}

// Bug: it computed on. It was interrupted, but left only if its slice was over, and looked at again only where others
// waited. If a spare worker has come to the unit, for one that the kernel did not run, that is the one that may go on.
TEST_F(ActiveTest, OneThatComputesIsInterrupted) {
  if (address_sanitizer || thread_sanitizer) GTEST_SKIP() << "nobody is interrupted";
  if (weft_worker_count() == 1) GTEST_SKIP() << "there is none but the root's";
  ASSERT_EQ(weft_watchdog(1), WEFT_OK);
  bool stops = false;
  for (int attempt = 0; attempt < 12 && !stops; ++attempt) stops = stops_in_the_midst();
  EXPECT_TRUE(stops);
  EXPECT_EQ(weft_watchdog(0), WEFT_OK);
}

// Bug: a worker with a scheduler of its own, which looked on for units of that, was taken for one that would run what
// waited. So nobody stood in for the root's, which slept in read() for a unit that lay in its own deque.
TEST_F(ActiveTest, OneWithPoolsOfItsOwnStandsInForNobody) {
  if (address_sanitizer || thread_sanitizer) GTEST_SKIP() << "there is no watchdog";
  ASSERT_EQ(weft_workers_set_active(1), WEFT_OK);
  ASSERT_TRUE(eventually([] { return workers_awake() == 0; }));
  EXPECT_EQ(weft_watchdog(1), WEFT_OK);  // from now on somebody stands in for a worker that sleeps;
  EXPECT_EQ(weft_watchdog(0), WEFT_OK);  // and nobody is interrupted
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const auto send = [&ends] { EXPECT_EQ(write(ends[1], "x", 1), 1); };
  std::atomic<bool> is_first{true};
  std::atomic<bool> has_sent{false};
  std::thread helper([&] {
    EXPECT_TRUE(comes_true([&has_sent] { return has_sent.load(); }, std::chrono::seconds(60)));
    if (!has_sent) send();
  });
  {
    const OwnWorker other(WEFT_BASIC, {make_pool()});
    Jobs jobs;
    for (int unit = 0; unit < 2; ++unit)
      jobs.start(WEFT_ROC_L, [&] {
        char byte = 0;
        if (is_first.exchange(false)) {
          EXPECT_EQ(read(ends[0], &byte, 1), 1);
        } else {
          has_sent = true;
          send();
        }
      });
    jobs.join();
  }
  helper.join();
  close(ends[0]);
  close(ends[1]);
}

// A worker that is on again before it has gone to sleep must not be lost.
TEST_F(ActiveTest, OffAndOnAtOnce) {
  const unsigned workers = weft_worker_count();
  meet(workers);
  std::atomic<bool> over{false};
  std::thread changes([&] {
    for (unsigned round = 0; !over; ++round) EXPECT_EQ(weft_workers_set_active(round % 2 == 0 ? 1 : workers), WEFT_OK);
    EXPECT_EQ(weft_workers_set_active(workers), WEFT_OK);
  });
  std::atomic<unsigned> leaves{0};
  for (unsigned round = 0; round < scaled(30); ++round) count_tree(leaves, 9);
  over = true;
  changes.join();
  meet(workers);
}

TEST_F(ActiveTest, PackingsFollow) {
  weft_pool* pools[4];
  weft_scheduler* schedulers[4];
  weft_packing* packing = nullptr;
  for (auto& pool : pools) pool = make_pool();
  ASSERT_EQ(weft_packing_create(4, pools, schedulers, &packing), WEFT_OK);
  EXPECT_EQ(weft_workers_set_active(1), WEFT_OK);
  EXPECT_EQ(weft_packing_active(packing), 1U);
  EXPECT_EQ(weft_workers_set_active(weft_worker_count()), WEFT_OK);
  EXPECT_EQ(weft_packing_active(packing), std::min(weft_worker_count(), 4U));
  for (auto* scheduler : schedulers) EXPECT_EQ(weft_scheduler_free(scheduler), WEFT_OK);
  EXPECT_EQ(weft_packing_free(packing), WEFT_OK);
  EXPECT_EQ(weft_workers_set_active(1), WEFT_OK);
  for (auto* pool : pools) EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

// A worker was woken for a unit that another one has to itself, and that one slept on.
TEST_F(ActiveTest, UnitsOfAPackingWaitForEachOther) {
  constexpr unsigned total = 8;
  weft_pool* pools[total];
  weft_scheduler* schedulers[total];
  weft_worker* workers[total];
  weft_packing* packing = nullptr;
  for (auto& pool : pools) pool = make_pool();
  ASSERT_EQ(weft_packing_create(total, pools, schedulers, &packing), WEFT_OK);
  for (unsigned index = 0; index < total; ++index)
    ASSERT_EQ(weft_worker_create(schedulers[index], &workers[index]), WEFT_OK);
  for (unsigned active : {3U, 5U, total}) {
    ASSERT_EQ(weft_packing_set_active(packing, active), WEFT_OK);
    weft_barrier barrier = WEFT_BARRIER_INIT(total);
    std::atomic<unsigned> passed{0};
    Jobs jobs;
    for (auto* pool : pools)
      jobs.start(with(WEFT_AUTO, pool), [&] {
        for (unsigned round = 0; round < 30; ++round) {
          if (round % 10 == 0) weft_sleep(1000 * 1000);
          weft_barrier_wait(&barrier, nullptr);
        }
        ++passed;
      });
    jobs.join();
    EXPECT_EQ(passed, total);
    EXPECT_EQ(weft_barrier_destroy(&barrier), WEFT_OK);
  }
  for (auto* worker : workers) EXPECT_EQ(weft_worker_join(worker), WEFT_OK);
  for (auto* scheduler : schedulers) EXPECT_EQ(weft_scheduler_free(scheduler), WEFT_OK);
  EXPECT_EQ(weft_packing_free(packing), WEFT_OK);
  for (auto* pool : pools) EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

// Bug: it stayed switched off for good, since one with a scheduler of its own is never switched on.
TEST_F(ActiveTest, OneThatIsGivenASchedulerWhileItIsSwitchedOffRunsItsUnits) {
  if (weft_worker_count() == 1) GTEST_SKIP() << "there is none but the root's";
  weft_pool* pool = make_pool();
  weft_scheduler* scheduler = nullptr;
  ASSERT_EQ(weft_scheduler_create(WEFT_BASIC_WAIT, 1, &pool, &scheduler), WEFT_OK);
  const auto change_to = [](weft_scheduler* next) {
    EXPECT_EQ(weft_worker_set_scheduler(weft_worker_self(), next), WEFT_OK);
  };
  {
    Jobs jobs;
    std::atomic<bool> is_off{false};
    weft_worker* worker = start_on_another(jobs, [&] {
      while (!is_off) std::this_thread::yield();
      change_to(scheduler);
    });
    EXPECT_EQ(weft_workers_set_active(1), WEFT_OK);
    is_off = true;
    for (const unsigned active : {1U, weft_worker_count(), 1U}) {
      EXPECT_EQ(weft_workers_set_active(active), WEFT_OK);
      weft_unit* unit = jobs.start(with(WEFT_AUTO, pool), [worker] { EXPECT_EQ(weft_worker_self(), worker); });
      ASSERT_EQ(weft_unit_timed_join(unit, 60'000'000'000), WEFT_OK) << active;
    }
    jobs.start(never_preempted(with(WEFT_AUTO, pool)), [&] { change_to(nullptr); });
  }
  EXPECT_EQ(weft_scheduler_free(scheduler), WEFT_OK);
  EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
  // With weft's default it is like any other again.
  EXPECT_TRUE(eventually([] { return workers_awake() == 0; }));
  EXPECT_EQ(weft_workers_set_active(weft_worker_count()), WEFT_OK);
  meet(weft_worker_count());
}

/// What `weft ctl` does: sends the value, and reads the answer.
std::string command(int value) {
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "weft-ctl/%d", getpid());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(length));
  const timeval limit{5, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0) << strerror(errno);
  sigval with{};
  with.sival_int = value;
  EXPECT_EQ(sigqueue(getpid(), SIGURG, with), 0);
  char answer[256] = {};
  EXPECT_GT(recv(fd, answer, sizeof answer - 1, 0), 0) << strerror(errno);
  close(fd);
  return answer;
}

TEST_F(ActiveTest, BySignal) {
  if (thread_sanitizer) GTEST_SKIP() << "puts signals off";
  const unsigned workers = weft_worker_count();
  const auto expected = [workers](unsigned active) {
    return "workers=" + std::to_string(workers) + " active=" + std::to_string(active) + " ";
  };
  const auto begins_with = [](const std::string& text, const std::string& begin) { return text.rfind(begin, 0) == 0; };
  errno = 54321;
  EXPECT_TRUE(begins_with(command(1), expected(1)));
  EXPECT_EQ(weft_workers_active(), 1U);
  EXPECT_TRUE(begins_with(command(-1), expected(1))) << "asks only";
  EXPECT_TRUE(begins_with(command(0), expected(workers)));
  EXPECT_TRUE(begins_with(command(1), expected(1)));
  EXPECT_TRUE(begins_with(command(1000000), expected(workers))) << "no more than there are";
  EXPECT_EQ(weft_workers_active(), workers);
  // Others' use of the signal changes nothing.
  raise(SIGURG);
  EXPECT_EQ(weft_workers_active(), workers);
}

TEST_F(ActiveTest, SignalsInTheMidstOfEverything) {
  if (thread_sanitizer) GTEST_SKIP() << "puts signals off";
  std::atomic<bool> over{false};
  std::thread sender([&] {
    for (int round = 0; !over; ++round) {
      sigval with{};
      with.sival_int = round % 3;
      sigqueue(getpid(), SIGURG, with);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
  std::atomic<unsigned> leaves{0};
  const unsigned trees = scaled(100);
  for (unsigned round = 0; round < trees; ++round) count_tree(leaves, 9);
  over = true;
  sender.join();
  EXPECT_EQ(leaves, trees * 512);
}

TEST_F(ActiveTest, AForkedChildBeginsWithAll) {
  if (address_sanitizer) GTEST_SKIP() << "its allocator does not survive a fork beside busy threads";
  if (thread_sanitizer) GTEST_SKIP() << "starts no threads in a forked child";
  ASSERT_EQ(weft_workers_set_active(1), WEFT_OK);
  const pid_t child = fork();
  if (child == 0) {
    if (weft_workers_active() != weft_worker_count()) _exit(2);
    meet(weft_worker_count());
    _exit(0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(weft_workers_active(), 1U);
}

// Bug: workers that had never been started were not for units that waited already when they were switched on.
TEST_F(ActiveTest, UnitsThatWaitHaveTheWorkersThatAreSwitchedOn) {
  if (address_sanitizer) GTEST_SKIP() << "its allocator does not survive a fork beside busy threads";
  if (thread_sanitizer) GTEST_SKIP() << "starts no threads in a forked child";
  if (weft_worker_count() < 2) GTEST_SKIP() << "nobody but the root";
  const pid_t child = fork();
  if (child == 0) {  // where no worker has been started yet
    weft_workers_set_active(1);
    std::atomic<bool> ran{false};
    Jobs jobs;
    jobs.start(WEFT_AUTO, [&] { ran = true; });
    weft_workers_set_active(weft_worker_count());
    for (int round = 0; !ran && round < 10000; ++round) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    _exit(ran ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace weft::test
