// weft/sync.h: what it promises, and what it answers to bad use.
#include <cstring>

#include "both.h"
#include "weft/weft.h"

namespace weft::test {
namespace {

struct ApiSync : CoreTest {};

constexpr std::uint64_t millisecond = 1000 * 1000;

// The static initialisers are written against the layout of the core's classes.
TEST_F(ApiSync, StaticInitialisersAreWhatInitDoes) {
  weft_mutex mutex = WEFT_MUTEX_INIT_KIND(WEFT_MUTEX_FAIR | WEFT_MUTEX_RECURSIVE);
  EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
  EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
  EXPECT_EQ(weft_mutex_destroy(&mutex), WEFT_ERR_BUSY);
  EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
  EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
  EXPECT_EQ(weft_mutex_destroy(&mutex), WEFT_OK);

  weft_barrier barrier = WEFT_BARRIER_INIT(1);
  int last = 0;
  EXPECT_EQ(weft_barrier_wait(&barrier, &last), WEFT_OK);
  EXPECT_EQ(last, 1);

  weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(2);
  EXPECT_EQ(weft_semaphore_try_acquire(&semaphore), WEFT_OK);
  EXPECT_EQ(weft_semaphore_try_acquire(&semaphore), WEFT_OK);
  EXPECT_EQ(weft_semaphore_try_acquire(&semaphore), WEFT_ERR_EMPTY);

  weft_latch latch = WEFT_LATCH_INIT(2);
  EXPECT_EQ(weft_latch_test(&latch), WEFT_ERR_EMPTY);
  EXPECT_EQ(weft_latch_count_down(&latch, 2), WEFT_OK);
  EXPECT_EQ(weft_latch_test(&latch), WEFT_OK);

  char buffer[8] = {};
  weft_eventual eventual = WEFT_EVENTUAL_INIT_BUFFER(buffer, sizeof buffer);
  EXPECT_EQ(weft_eventual_set(&eventual, "123456789", 9), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_eventual_set(&eventual, "1234567", 8), WEFT_OK);
  EXPECT_STREQ(buffer, "1234567");

  void* values[2] = {};
  weft_future future = WEFT_FUTURE_INIT(2, values, nullptr, nullptr);
  EXPECT_EQ(weft_future_set(&future, buffer), WEFT_OK);
  EXPECT_EQ(weft_future_test(&future), WEFT_ERR_EMPTY);
  EXPECT_EQ(weft_future_set(&future, values), WEFT_OK);
  EXPECT_EQ(weft_future_test(&future), WEFT_OK);
  EXPECT_EQ(values[0], buffer);
  EXPECT_EQ(values[1], values);
}

TEST_F(ApiSync, NullIsAnArgumentError) {
  size_t which = 0;
  weft_event nothing = {WEFT_EVENT_FLAG, nullptr};
  for (const int error : {weft_mutex_init(nullptr, 0),
                          weft_mutex_lock(nullptr),
                          weft_mutex_unlock(nullptr),
                          weft_cond_signal(nullptr),
                          weft_cond_wait(nullptr, nullptr),
                          weft_barrier_init(nullptr, 1),
                          weft_barrier_wait(nullptr, nullptr),
                          weft_rwlock_read_lock(nullptr),
                          weft_rwlock_unlock(nullptr),
                          weft_semaphore_acquire(nullptr),
                          weft_semaphore_release(nullptr, 1),
                          weft_latch_wait(nullptr),
                          weft_latch_count_down(nullptr, 1),
                          weft_latch_arrive_and_wait(nullptr, 1),
                          weft_flag_set(nullptr),
                          weft_eventual_set(nullptr, nullptr, 0),
                          weft_eventual_wait(nullptr, nullptr, nullptr),
                          weft_future_set(nullptr, nullptr),
                          weft_future_wait(nullptr),
                          weft_select(0, &nothing, 0, &which),
                          weft_select(1, nullptr, 0, &which),
                          weft_select(1, &nothing, 0, &which),
                          weft_select(1, &nothing, 0, nullptr)})
    EXPECT_EQ(error, WEFT_ERR_ARGUMENT);
}

TEST_F(ApiSync, BadUseIsAnswered) {
  weft_mutex mutex = WEFT_MUTEX_INIT;
  EXPECT_EQ(weft_mutex_init(&mutex, 4), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_ERR_OWNER);
  weft_cond cond = WEFT_COND_INIT;
  EXPECT_EQ(weft_cond_wait(&cond, &mutex), WEFT_ERR_OWNER);
  weft_barrier barrier = WEFT_BARRIER_INIT(0);
  EXPECT_EQ(weft_barrier_wait(&barrier, nullptr), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_barrier_init(&barrier, 0), WEFT_ERR_ARGUMENT);
  weft_rwlock lock = WEFT_RWLOCK_INIT;
  EXPECT_EQ(weft_rwlock_unlock(&lock), WEFT_ERR_OWNER);
  weft_semaphore semaphore;
  EXPECT_EQ(weft_semaphore_init(&semaphore, WEFT_SEMAPHORE_MAX + 1), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_semaphore_init(&semaphore, WEFT_SEMAPHORE_MAX), WEFT_OK);
  EXPECT_EQ(weft_semaphore_release(&semaphore, 1), WEFT_ERR_LIMIT);
  weft_latch latch = WEFT_LATCH_INIT(1);
  EXPECT_EQ(weft_latch_count_down(&latch, 2), WEFT_ERR_STATE);
  weft_eventual eventual = WEFT_EVENTUAL_INIT;
  EXPECT_EQ(weft_eventual_test(&eventual, nullptr, nullptr), WEFT_ERR_EMPTY);
  EXPECT_EQ(weft_eventual_set(&eventual, &lock, sizeof lock), WEFT_OK);
  EXPECT_EQ(weft_eventual_set(&eventual, &lock, sizeof lock), WEFT_ERR_STATE);
  void* value = nullptr;
  size_t size = 0;
  EXPECT_EQ(weft_eventual_wait(&eventual, &value, &size), WEFT_OK);
  EXPECT_EQ(value, &lock);
  EXPECT_EQ(size, sizeof lock);
  weft_future future;
  EXPECT_EQ(weft_future_init(&future, 0, nullptr, nullptr, nullptr), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_future_init(&future, 1, nullptr, nullptr, nullptr), WEFT_OK);
  EXPECT_EQ(weft_future_set(&future, nullptr), WEFT_OK);
  EXPECT_EQ(weft_future_set(&future, nullptr), WEFT_ERR_STATE);
}

TEST_F(ApiSync, RecursiveMutexKnowsItsOwner) {
  for (const unsigned kind : {0U, static_cast<unsigned>(WEFT_MUTEX_FAIR)}) {
    weft_mutex mutex;
    ASSERT_EQ(weft_mutex_init(&mutex, kind | WEFT_MUTEX_RECURSIVE), WEFT_OK);
    EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
    EXPECT_EQ(weft_mutex_try_lock(&mutex), WEFT_OK);
    EXPECT_EQ(weft_mutex_timed_lock(&mutex, millisecond), WEFT_OK);
    in_both(2, 1, [&](unsigned) {
      EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_ERR_OWNER);
      EXPECT_EQ(weft_mutex_try_lock(&mutex), WEFT_ERR_BUSY);
      EXPECT_EQ(weft_mutex_timed_lock(&mutex, millisecond), WEFT_ERR_TIMEOUT);
    });
    for (int depth = 0; depth < 3; ++depth) EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
    EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_ERR_OWNER);
  }
}

TEST_F(ApiSync, EveryKindOfMutexExcludesAndWaits) {
  for (unsigned kind = 0; kind < 4; ++kind) {
    weft_mutex mutex;
    ASSERT_EQ(weft_mutex_init(&mutex, kind), WEFT_OK);
    weft_cond cond = WEFT_COND_INIT;
    const unsigned rounds = scaled(400);
    const unsigned parties = 8;
    unsigned turn = 0;
    in_both(parties - 2, 2, [&](unsigned number) {
      for (unsigned round = 0; round < rounds / parties; ++round) {
        weft_mutex_lock(&mutex);
        if ((kind & WEFT_MUTEX_RECURSIVE) != 0) weft_mutex_lock(&mutex);  // is given up wholly
        while (turn % parties != number) EXPECT_EQ(weft_cond_wait(&cond, &mutex), WEFT_OK);
        ++turn;
        weft_cond_broadcast(&cond);
        if ((kind & WEFT_MUTEX_RECURSIVE) != 0) weft_mutex_unlock(&mutex);
        EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
      }
    });
    EXPECT_EQ(turn, rounds / parties * parties);
    EXPECT_EQ(weft_mutex_destroy(&mutex), WEFT_OK);
    EXPECT_EQ(weft_cond_destroy(&cond), WEFT_OK);
  }
}

TEST_F(ApiSync, WaitsTimeOut) {
  weft_cond cond = WEFT_COND_INIT;
  weft_mutex mutex = WEFT_MUTEX_INIT;
  weft_barrier barrier = WEFT_BARRIER_INIT(100);
  weft_rwlock lock = WEFT_RWLOCK_INIT;
  weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(0);
  weft_latch latch = WEFT_LATCH_INIT(1);
  weft_flag flag = WEFT_FLAG_INIT;
  weft_eventual eventual = WEFT_EVENTUAL_INIT;
  weft_future future = WEFT_FUTURE_INIT(1, nullptr, nullptr, nullptr);
  ASSERT_EQ(weft_rwlock_write_lock(&lock), WEFT_OK);
  in_both(2, 1, [&](unsigned) {
    for (const std::uint64_t limit : {std::uint64_t{0}, millisecond}) {
      ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
      EXPECT_EQ(weft_cond_timed_wait(&cond, &mutex, limit), WEFT_ERR_TIMEOUT);
      EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
      EXPECT_EQ(weft_barrier_timed_wait(&barrier, limit, nullptr), WEFT_ERR_TIMEOUT);
      EXPECT_EQ(weft_rwlock_timed_read_lock(&lock, limit), WEFT_ERR_TIMEOUT);
      EXPECT_EQ(weft_rwlock_timed_write_lock(&lock, limit), WEFT_ERR_TIMEOUT);
      EXPECT_EQ(weft_semaphore_timed_acquire(&semaphore, limit), WEFT_ERR_TIMEOUT);
      EXPECT_EQ(weft_latch_timed_wait(&latch, limit), WEFT_ERR_TIMEOUT);
      EXPECT_EQ(weft_flag_timed_wait(&flag, limit), WEFT_ERR_TIMEOUT);
      EXPECT_EQ(weft_eventual_timed_wait(&eventual, limit, nullptr, nullptr), WEFT_ERR_TIMEOUT);
      EXPECT_EQ(weft_future_timed_wait(&future, limit), WEFT_ERR_TIMEOUT);
      const weft_event events[] = {{WEFT_EVENT_FLAG, &flag},
                                   {WEFT_EVENT_EVENTUAL, &eventual},
                                   {WEFT_EVENT_FUTURE, &future},
                                   {WEFT_EVENT_LATCH, &latch},
                                   {WEFT_EVENT_SEMAPHORE, &semaphore}};
      size_t which = 77;
      EXPECT_EQ(weft_select(5, events, limit, &which), WEFT_ERR_TIMEOUT);
      EXPECT_EQ(which, 77U);
    }
  });
  EXPECT_EQ(weft_barrier_destroy(&barrier), WEFT_OK);
  EXPECT_EQ(weft_rwlock_destroy(&lock), WEFT_ERR_BUSY);
}

// What a stackless unit can have at once it gets; nothing is changed where it would have to wait.
TEST_F(ApiSync, StacklessUnitsAreToldInsteadOfWaiting) {
  weft_cond cond = WEFT_COND_INIT;
  weft_mutex mutex = WEFT_MUTEX_INIT;
  weft_mutex held = WEFT_MUTEX_INIT;
  weft_barrier barrier = WEFT_BARRIER_INIT(2);
  weft_barrier alone = WEFT_BARRIER_INIT(1);
  weft_rwlock lock = WEFT_RWLOCK_INIT;
  weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(1);
  weft_latch latch = WEFT_LATCH_INIT(1);
  weft_flag flag = WEFT_FLAG_INIT;
  weft_eventual eventual = WEFT_EVENTUAL_INIT;
  weft_future future = WEFT_FUTURE_INIT(1, nullptr, nullptr, nullptr);
  ASSERT_EQ(weft_rwlock_write_lock(&lock), WEFT_OK);
  ASSERT_EQ(weft_mutex_lock(&held), WEFT_OK);
  Jobs jobs(core::Technique::stackless);
  jobs.start([&] {
    EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
    EXPECT_EQ(weft_cond_wait(&cond, &mutex), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
    EXPECT_EQ(weft_mutex_lock(&held), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_barrier_wait(&alone, nullptr), WEFT_OK);
    EXPECT_EQ(weft_barrier_wait(&barrier, nullptr), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_rwlock_read_lock(&lock), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_rwlock_timed_write_lock(&lock, millisecond), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_semaphore_acquire(&semaphore), WEFT_OK);
    EXPECT_EQ(weft_semaphore_acquire(&semaphore), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_latch_wait(&latch), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_flag_wait(&flag), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_eventual_wait(&eventual, nullptr, nullptr), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_future_wait(&future), WEFT_ERR_STACKLESS);
    const weft_event event = {WEFT_EVENT_FLAG, &flag};
    size_t which = 0;
    EXPECT_EQ(weft_select(1, &event, WEFT_FOREVER, &which), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_flag_set(&flag), WEFT_OK);
    EXPECT_EQ(weft_select(1, &event, WEFT_FOREVER, &which), WEFT_OK);
  });
  jobs.join();
  EXPECT_EQ(weft_barrier_destroy(&barrier), WEFT_OK);
}

TEST_F(ApiSync, DestroyFindsWaiters) {
  weft_cond cond = WEFT_COND_INIT;
  weft_mutex mutex = WEFT_MUTEX_INIT;
  weft_barrier barrier = WEFT_BARRIER_INIT(2);
  weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(0);
  weft_latch latch = WEFT_LATCH_INIT(1);
  weft_flag flag = WEFT_FLAG_INIT;
  weft_eventual eventual = WEFT_EVENTUAL_INIT;
  weft_future future = WEFT_FUTURE_INIT(1, nullptr, nullptr, nullptr);
  Jobs jobs;
  jobs.start([&] {
    weft_mutex_lock(&mutex);
    weft_cond_wait(&cond, &mutex);
    weft_mutex_unlock(&mutex);
  });
  jobs.start([&] { weft_barrier_wait(&barrier, nullptr); });
  jobs.start([&] { weft_semaphore_acquire(&semaphore); });
  jobs.start([&] { weft_latch_wait(&latch); });
  jobs.start([&] { weft_flag_wait(&flag); });
  jobs.start([&] { weft_eventual_wait(&eventual, nullptr, nullptr); });
  jobs.start([&] { weft_future_wait(&future); });
  const auto all = [&](int expected) {
    return weft_cond_destroy(&cond) == expected && weft_barrier_destroy(&barrier) == expected &&
           weft_semaphore_destroy(&semaphore) == expected && weft_latch_destroy(&latch) == expected &&
           weft_flag_destroy(&flag) == expected && weft_eventual_destroy(&eventual) == expected &&
           weft_future_destroy(&future) == expected;
  };
  while (!all(WEFT_ERR_BUSY)) core::yield();
  weft_mutex_lock(&mutex);
  weft_cond_signal(&cond);
  weft_mutex_unlock(&mutex);
  weft_barrier_wait(&barrier, nullptr);
  weft_semaphore_release(&semaphore, 1);
  weft_latch_count_down(&latch, 1);
  weft_flag_set(&flag);
  weft_eventual_set(&eventual, nullptr, 0);
  weft_future_set(&future, nullptr);
  jobs.join();
  EXPECT_TRUE(all(WEFT_OK));
}

TEST_F(ApiSync, EventualsAndFuturesAreUsedAgain) {
  int value = 0;
  weft_eventual eventual = WEFT_EVENTUAL_INIT_BUFFER(&value, sizeof value);
  unsigned called = 0;
  void* values[4] = {};
  weft_future future = WEFT_FUTURE_INIT(
      4, values, [](void**, uint32_t count, void* argument) { *static_cast<unsigned*>(argument) += count; }, &called);
  for (unsigned round = 0; round < scaled(300); ++round) {
    Jobs jobs;
    for (int number = 0; number < 4; ++number) {
      jobs.start([&, round] {
        void* found = nullptr;
        size_t size = 0;
        EXPECT_EQ(weft_eventual_wait(&eventual, &found, &size), WEFT_OK);
        EXPECT_EQ(*static_cast<int*>(found), static_cast<int>(round));
        EXPECT_EQ(size, sizeof value);
        EXPECT_EQ(weft_future_set(&future, &values), WEFT_OK);
      });
    }
    const int result = static_cast<int>(round);
    EXPECT_EQ(weft_eventual_set(&eventual, &result, sizeof result), WEFT_OK);
    EXPECT_EQ(weft_future_wait(&future), WEFT_OK);
    EXPECT_EQ(called, 4 * (round + 1));
    jobs.join();
    EXPECT_EQ(weft_eventual_reset(&eventual), WEFT_OK);
    EXPECT_EQ(weft_future_reset(&future), WEFT_OK);
  }
}

// A flag that is set and cleared at once lets go whoever waited, and nobody who comes later.
TEST_F(ApiSync, FlagLetsGoWhoWaited) {
  weft_flag flag = WEFT_FLAG_INIT;
  for (unsigned round = 0; round < scaled(300); ++round) {
    Jobs jobs;
    jobs.start([&] { EXPECT_EQ(weft_flag_wait(&flag), WEFT_OK); });
    while (weft_flag_destroy(&flag) != WEFT_ERR_BUSY) core::yield();
    weft_flag_set(&flag);
    weft_flag_clear(&flag);
    EXPECT_EQ(weft_flag_test(&flag), WEFT_ERR_EMPTY);
  }
}

// Bug: who arrived looked at it once more after its own step, when it was another latch.
TEST_F(ApiSync, ALatchIsFreedByWhoOpensIt) {
  constexpr std::uint32_t of_another = 7;
  constexpr unsigned arrivals = 16;
  for (const TimeLimit limit; !limit.is_over();) {
    weft_latch latch = WEFT_LATCH_INIT(arrivals + 1);
    Jobs jobs;
    std::atomic<unsigned> left{arrivals};
    for (unsigned arrival = 0; arrival < arrivals; ++arrival)
      jobs.start([&] {
        EXPECT_EQ(weft_latch_arrive_and_wait(&latch, 1), WEFT_OK);
        --left;
      });
    while ((__atomic_load_n(&latch.word, __ATOMIC_ACQUIRE) & WEFT_LATCH_MAX) != 1) core::yield();
    EXPECT_EQ(weft_latch_count_down(&latch, 1), WEFT_OK);
    __atomic_store_n(&latch.word, of_another, __ATOMIC_RELEASE);
    const bool go_on = eventually_spinning([&] {
      core::yield();
      return left == 0;
    });
    EXPECT_TRUE(go_on);
    if (!go_on) weft_latch_count_down(&latch, of_another);
  }
}

TEST_F(ApiSync, SelectOfMoreThanFitOnTheStack) {
  std::vector<weft_flag> flags(50, weft_flag WEFT_FLAG_INIT);
  std::vector<weft_event> events;
  for (weft_flag& flag : flags) events.push_back({WEFT_EVENT_FLAG, &flag});
  Jobs jobs;
  jobs.start([&] {
    size_t which = 0;
    EXPECT_EQ(weft_select(events.size(), events.data(), WEFT_FOREVER, &which), WEFT_OK);
    EXPECT_EQ(which, 31U);
  });
  core::yield();
  weft_flag_set(&flags[31]);
  jobs.join();
}

}  // namespace
}  // namespace weft::test
