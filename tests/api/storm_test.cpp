// Many at once, against each other: what one call leaves behind, another finds at a bad moment.
#include "support.h"

#include <array>
#include <mutex>
#include <random>
#include <thread>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/sync.hpp>

namespace weft::test {
namespace {

class StormTest : public ApiTest {};

/// Random numbers, the same in each run of a unit.
class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed + 1) {}
  unsigned below(unsigned limit) { return static_cast<unsigned>(engine_() % limit); }

 private:
  std::minstd_rand engine_;
};

weft_technique some_waiting_technique(Dice& dice) {
  weft_technique technique = WEFT_STACKLESS;
  while (!may_wait(technique)) technique = all_techniques[dice.below(13)];
  return technique;
}

// ---------------------------------------------------------------- cancelling who waits

/// One of each kind of object, and a wait on it.
struct Objects {
  weft_mutex mutex = WEFT_MUTEX_INIT;
  weft_mutex fair = WEFT_MUTEX_INIT_KIND(WEFT_MUTEX_FAIR | WEFT_MUTEX_RECURSIVE);
  weft_mutex guard = WEFT_MUTEX_INIT;
  weft_cond cond = WEFT_COND_INIT;
  weft_rwlock read = WEFT_RWLOCK_INIT;
  weft_rwlock write = WEFT_RWLOCK_INIT;
  weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(0);
  weft_latch latch = WEFT_LATCH_INIT(1);
  weft_flag flag = WEFT_FLAG_INIT;
  weft_eventual eventual = WEFT_EVENTUAL_INIT;
  weft_future future = WEFT_FUTURE_INIT(1, nullptr, nullptr, nullptr);
  weft_flag end_of_joined = WEFT_FLAG_INIT;
  weft_unit* joined = nullptr;
  bool signalled = false;  // under `guard`

  static constexpr unsigned kinds = 13;
  int wait(unsigned kind, uint64_t limit) {
    const weft_event events[] = {{WEFT_EVENT_FLAG, &flag}, {WEFT_EVENT_LATCH, &latch}};
    size_t which = 0;
    int error = WEFT_OK;
    switch (kind) {
      case 0:
        error = weft_mutex_timed_lock(&mutex, limit);
        return error == WEFT_OK ? weft_mutex_unlock(&mutex) : error;
      case 1:
        error = weft_mutex_timed_lock(&fair, limit);
        return error == WEFT_OK ? weft_mutex_unlock(&fair) : error;
      case 2:
        EXPECT_EQ(weft_mutex_lock(&guard), WEFT_OK);
        while (!signalled && error == WEFT_OK) error = weft_cond_timed_wait(&cond, &guard, limit);
        EXPECT_EQ(weft_mutex_unlock(&guard), WEFT_OK);
        return error;
      case 3:
        error = weft_rwlock_timed_read_lock(&read, limit);
        return error == WEFT_OK ? weft_rwlock_unlock(&read) : error;
      case 4:
        error = weft_rwlock_timed_write_lock(&write, limit);
        return error == WEFT_OK ? weft_rwlock_unlock(&write) : error;
      case 5:
        error = weft_semaphore_timed_acquire(&semaphore, limit);
        return error == WEFT_OK ? weft_semaphore_release(&semaphore, 1) : error;
      case 6:
        return weft_latch_timed_wait(&latch, limit);
      case 7:
        return weft_flag_timed_wait(&flag, limit);
      case 8:
        return weft_eventual_timed_wait(&eventual, limit, nullptr, nullptr);
      case 9:
        return weft_future_timed_wait(&future, limit);
      case 10:
        return weft_select(2, events, limit, &which);
      case 11:
        return weft_unit_timed_join(joined, limit);
      default:
        return weft_sleep(limit < 1000000 ? limit : 1000000);
    }
  }
  /// Everybody waits; the caller, not a unit, holds what is held.
  void close() {
    const weft_unit_attr attr = with(WEFT_ROC_L);
    EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
    EXPECT_EQ(weft_mutex_lock(&fair), WEFT_OK);
    EXPECT_EQ(weft_rwlock_write_lock(&read), WEFT_OK);
    EXPECT_EQ(weft_rwlock_read_lock(&write), WEFT_OK);
    EXPECT_EQ(weft_unit_create([](void* end) { weft_flag_wait(static_cast<weft_flag*>(end)); }, &end_of_joined, &attr,
                               &joined),
              WEFT_OK);
  }
  void open() {
    EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
    EXPECT_EQ(weft_mutex_unlock(&fair), WEFT_OK);
    EXPECT_EQ(weft_mutex_lock(&guard), WEFT_OK);
    signalled = true;
    EXPECT_EQ(weft_mutex_unlock(&guard), WEFT_OK);
    EXPECT_EQ(weft_cond_broadcast(&cond), WEFT_OK);
    EXPECT_EQ(weft_rwlock_unlock(&read), WEFT_OK);
    EXPECT_EQ(weft_rwlock_unlock(&write), WEFT_OK);
    EXPECT_EQ(weft_semaphore_release(&semaphore, 1), WEFT_OK);
    EXPECT_EQ(weft_latch_count_down(&latch, 1), WEFT_OK);
    EXPECT_EQ(weft_flag_set(&flag), WEFT_OK);
    EXPECT_EQ(weft_eventual_set(&eventual, nullptr, 0), WEFT_OK);
    EXPECT_EQ(weft_future_set(&future, nullptr), WEFT_OK);
    EXPECT_EQ(weft_flag_set(&end_of_joined), WEFT_OK);
  }
  /// Nobody is at any of them.
  void end() {
    EXPECT_EQ(weft_unit_free(joined), WEFT_OK);
    EXPECT_EQ(weft_mutex_destroy(&mutex), WEFT_OK);
    EXPECT_EQ(weft_mutex_destroy(&fair), WEFT_OK);
    EXPECT_EQ(weft_mutex_destroy(&guard), WEFT_OK);
    EXPECT_EQ(weft_cond_destroy(&cond), WEFT_OK);
    EXPECT_EQ(weft_rwlock_destroy(&read), WEFT_OK);
    EXPECT_EQ(weft_rwlock_destroy(&write), WEFT_OK);
    EXPECT_EQ(weft_semaphore_destroy(&semaphore), WEFT_OK);
    EXPECT_EQ(weft_latch_destroy(&latch), WEFT_OK);
    EXPECT_EQ(weft_flag_destroy(&flag), WEFT_OK);
    EXPECT_EQ(weft_eventual_destroy(&eventual), WEFT_OK);
    EXPECT_EQ(weft_future_destroy(&future), WEFT_OK);
  }
};

TEST_F(StormTest, CancelsWhoWaitsOnAnything) {
  const unsigned count = scaled(10 * Objects::kinds * 4);
  for (int round = 0; round < 5; ++round) {
    Dice dice(static_cast<unsigned>(round));
    Objects objects;
    objects.close();
    Jobs jobs;
    std::vector<weft_unit*> units;
    std::atomic<unsigned> went_on{0};
    for (unsigned i = 0; i < count; ++i)
      units.push_back(jobs.start(some_waiting_technique(dice), [&objects, &went_on, kind = i % Objects::kinds] {
        EXPECT_EQ(objects.wait(kind, WEFT_FOREVER), WEFT_OK) << kind;
        weft_cancel_point();
        ++went_on;
      }));
    for (unsigned i = 0; i < count / 4; ++i) weft_yield();
    for (unsigned i = 0; i < count; i += 2) EXPECT_EQ(weft_unit_cancel(units[i]), WEFT_OK);
    objects.open();
    jobs.join();
    EXPECT_GE(went_on, count / 2);
    EXPECT_LE(went_on, count / 2 + count / Objects::kinds) << "only who slept can have gone on before";
    objects.end();
  }
}

// ---------------------------------------------------------------- limits of time that race with what is waited for

TEST_F(StormTest, TimeEndsWhenItHappens) {
  const unsigned count = scaled(20 * Objects::kinds);
  for (unsigned round = 0; round < 5; ++round) {
    Objects objects;
    objects.close();
    Jobs jobs;
    std::atomic<unsigned> answers{0};
    for (unsigned i = 0; i < count; ++i)
      jobs.start(WEFT_AUTO, [&objects, &answers, i] {
        Dice dice(i);
        int error = WEFT_ERR_TIMEOUT;
        while (error == WEFT_ERR_TIMEOUT) error = objects.wait(i % Objects::kinds, dice.below(100000));
        EXPECT_EQ(error, WEFT_OK) << i % Objects::kinds;
        ++answers;
      });
    weft_sleep(100000 * round);
    objects.open();
    jobs.join();
    EXPECT_EQ(answers, count);
    objects.end();
  }
}

TEST_F(StormTest, NoPermitIsLost) {
  weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(0);
  constexpr unsigned permits = 400;
  std::atomic<unsigned> acquired{0};
  std::atomic<bool> over{false};
  Jobs jobs;
  for (unsigned i = 0; i < 20; ++i)
    jobs.start(WEFT_AUTO, [&, i] {
      Dice dice(i);
      const weft_event event = {WEFT_EVENT_SEMAPHORE, &semaphore};
      size_t which = 0;
      while (!over) {
        const uint64_t limit = dice.below(30000);
        const int error = dice.below(2) == 0 ? weft_semaphore_timed_acquire(&semaphore, limit)
                                             : weft_select(1, &event, limit, &which);
        if (error == WEFT_OK) ++acquired;
        weft_yield();
      }
    });
  for (unsigned i = 0; i < permits; ++i) {
    EXPECT_EQ(weft_semaphore_release(&semaphore, 1), WEFT_OK);
    if (i % 7 == 0) weft_sleep(20000);
  }
  EXPECT_TRUE(eventually([&] { return acquired == permits; })) << acquired;
  over = true;
  jobs.join();
  uint32_t left = 1;
  EXPECT_EQ(weft_semaphore_count(&semaphore, &left), WEFT_OK);
  EXPECT_EQ(left, 0U);
}

TEST_F(StormTest, SignalsReachWhoseTimeIsNotOver) {
  weft_mutex mutex = WEFT_MUTEX_INIT;
  weft_cond cond = WEFT_COND_INIT;
  const unsigned items = scaled(2000);
  unsigned queued = 0;
  unsigned taken = 0;
  Jobs jobs;
  for (unsigned i = 0; i < 10; ++i)
    jobs.start(WEFT_AUTO, [&, i] {
      Dice dice(i);
      for (;;) {
        EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
        while (queued == 0 && taken < items) {
          // Half have a limit, and pass a signal on that comes when they give up.
          const bool limited = i % 2 == 0;
          const int error = weft_cond_timed_wait(&cond, &mutex, limited ? dice.below(20000) : WEFT_FOREVER);
          EXPECT_TRUE(limited || error == WEFT_OK);
        }
        const bool over = taken == items;
        if (!over) {
          --queued;
          if (++taken == items) weft_cond_broadcast(&cond);
        }
        EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
        if (over) return;
      }
    });
  for (unsigned i = 0; i < items; ++i) {
    EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
    ++queued;
    EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
    EXPECT_EQ(weft_cond_signal(&cond), WEFT_OK);
    if (i % 64 == 0) weft_yield();
  }
  jobs.join();
  EXPECT_EQ(queued, 0U);
}

TEST_F(StormTest, ABarrierCountsWhoGaveUp) {
  constexpr uint32_t parties = 4;
  weft_barrier barrier = WEFT_BARRIER_INIT(parties);
  const unsigned rounds = scaled(200);
  std::atomic<unsigned> passed{0};
  std::atomic<unsigned> last{0};
  Jobs jobs;
  for (unsigned i = 0; i < parties; ++i)
    jobs.start(WEFT_AUTO, [&, i] {
      Dice dice(i);
      for (unsigned round = 0; round < rounds; ++round) {
        int is_last = 0;
        int error = WEFT_ERR_TIMEOUT;
        while (error == WEFT_ERR_TIMEOUT)
          error = weft_barrier_timed_wait(&barrier, i == 0 ? WEFT_FOREVER : dice.below(50000), &is_last);
        EXPECT_EQ(error, WEFT_OK);
        ++passed;
        if (is_last != 0) ++last;
      }
    });
  jobs.join();
  EXPECT_EQ(passed, parties * rounds);
  EXPECT_EQ(last, rounds);
  EXPECT_EQ(weft_barrier_destroy(&barrier), WEFT_OK);
}

// ---------------------------------------------------------------- the ends of units

TEST_F(StormTest, ManyJoinTheSameOnes) {
  const unsigned units = scaled(100);
  for (int round = 0; round < 5; ++round) {
    Dice dice(static_cast<unsigned>(round));
    std::vector<weft_unit*> joined(units);
    {
      Jobs makers;
      for (auto& unit : joined) {
        const weft_unit_attr attr = with(some_waiting_technique(dice));
        EXPECT_EQ(weft_unit_create([](void*) { weft_yield(); }, nullptr, &attr, &unit), WEFT_OK);
      }
      for (unsigned i = 0; i < 12; ++i)
        makers.start(WEFT_AUTO, [&joined, i] {
          Dice limits(i);
          for (weft_unit* unit : joined) {
            if (i % 3 == 0) {
              EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
            } else {
              while (weft_unit_timed_join(unit, limits.below(5000)) == WEFT_ERR_TIMEOUT) weft_yield();
            }
          }
        });
      std::thread([&joined] { EXPECT_EQ(weft_unit_join_many(joined.size(), joined.data()), WEFT_OK); }).join();
    }
    EXPECT_EQ(weft_unit_free_many(joined.size(), joined.data()), WEFT_OK);
  }
}

TEST_F(StormTest, OthersFreeAndDetachAndRevive) {
  const unsigned count = scaled(2000);
  static std::atomic<unsigned> ran;
  ran = 0;
  const auto run = [](void*) {
    weft_yield();
    ++ran;
  };
  weft::Mutex lock;  // not one of the kernel's: who holds it may be preempted
  std::vector<weft_unit*> handed;
  std::atomic<unsigned> ended{0};
  std::atomic<unsigned> starts{0};
  Jobs jobs;
  for (unsigned i = 0; i < 4; ++i) {
    jobs.start(WEFT_AUTO, [&, i] {
      Dice dice(i);
      for (unsigned made = 0; made < count / 4; ++made) {
        const weft_unit_attr attr = with(some_waiting_technique(dice));
        weft_unit* unit = nullptr;
        EXPECT_EQ(weft_unit_create(run, nullptr, &attr, &unit), WEFT_OK);
        ++starts;
        {
          const std::lock_guard guard(lock);
          handed.push_back(unit);
        }
        if (dice.below(4) == 0) weft_yield();
      }
    });
    jobs.start(WEFT_AUTO, [&, i] {
      Dice dice(100 + i);
      while (ended < count / 4 * 4) {
        weft_unit* unit = nullptr;
        {
          const std::lock_guard guard(lock);
          if (!handed.empty()) {
            unit = handed.back();
            handed.pop_back();
          }
        }
        if (unit == nullptr) {
          weft_yield();
          continue;
        }
        switch (dice.below(4)) {
          case 0:
            EXPECT_EQ(weft_unit_detach(unit), WEFT_OK);
            break;
          case 1:
            EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
            EXPECT_EQ(weft_unit_revive(unit, run, nullptr), WEFT_OK);
            ++starts;
            EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
            break;
          case 2:
            while (weft_unit_timed_join(unit, dice.below(2000)) == WEFT_ERR_TIMEOUT) weft_yield();
            EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
            break;
          default:
            EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
        }
        ++ended;
      }
    });
  }
  jobs.join();
  EXPECT_TRUE(eventually([&] { return ran == starts; }));
  EXPECT_TRUE(eventually([] { return weft_units(nullptr, 0) == 0; }));
}

TEST_F(StormTest, EveryResumeIsHad) {
  constexpr unsigned sleepers = 30;
  const unsigned rounds = scaled(200);
  std::array<std::atomic<unsigned>, sleepers> woken{};
  std::vector<weft_unit*> units(sleepers);
  Jobs jobs;
  for (unsigned i = 0; i < sleepers; ++i)
    units[i] = jobs.start(all_techniques[2 + i % 7], [&woken, i, rounds] {
      for (unsigned round = 0; round < rounds; ++round) {
        EXPECT_EQ(weft_suspend(), WEFT_OK);
        ++woken[i];
      }
    });
  for (unsigned resumer = 0; resumer < 3; ++resumer)
    jobs.start(WEFT_AUTO, [&, resumer] {
      for (unsigned i = resumer; i < sleepers; i += 3)
        for (unsigned round = 0; round < rounds; ++round) {
          while ((round % 2 == 0 ? weft_resume(units[i]) : weft_resume_to(units[i])) != WEFT_OK) weft_yield();
          while (round % 8 == 0 && woken[i] <= round) weft_yield();
        }
    });
  jobs.join();
  for (const auto& one : woken) EXPECT_EQ(one, rounds);
}

// ---------------------------------------------------------------- keys

weft_key first_key;
weft_key second_key;
std::atomic<unsigned> destroyed;

TEST_F(StormTest, DestructorsOfKeysDoEverything) {
  destroyed = 0;
  const auto destructor = [](void* value) {
    ++destroyed;
    weft_yield();
    weft_unit* unit = nullptr;
    EXPECT_EQ(weft_unit_create([](void*) { weft_yield(); }, nullptr, nullptr, &unit), WEFT_OK);
    EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
    weft_sleep(1000);
    const auto level = reinterpret_cast<uintptr_t>(value);
    if (level > 1) {
      EXPECT_EQ(weft_key_set(second_key, reinterpret_cast<void*>(level - 1)), WEFT_OK);
    }
  };
  ASSERT_EQ(weft_key_create(destructor, &first_key), WEFT_OK);
  ASSERT_EQ(weft_key_create(destructor, &second_key), WEFT_OK);
  const unsigned count = scaled(200);
  Dice dice(1);
  {
    Jobs jobs;
    for (unsigned i = 0; i < count; ++i) {
      weft_unit* unit = jobs.start(some_waiting_technique(dice), [i] {
        EXPECT_EQ(weft_key_set(first_key, reinterpret_cast<void*>(uintptr_t{2})), WEFT_OK);
        if (i % 3 == 0) weft_yield();
        if (i % 5 == 0) weft_unit_exit();
      });
      if (i % 7 == 0) weft_unit_cancel(unit);
    }
  }
  EXPECT_LE(destroyed, 2 * count);
  EXPECT_GE(destroyed, count - count / 7 - 1) << "but for those that were cancelled before they started";
  EXPECT_EQ(weft_key_delete(first_key), WEFT_OK);
  EXPECT_EQ(weft_key_delete(second_key), WEFT_OK);
}

// ---------------------------------------------------------------- pools and workers that come and go

TEST_F(StormTest, UnitsMigrateWhileWorkersComeAndGo) {
  constexpr std::size_t count = 3;
  std::array<weft_pool*, count> pools{};
  for (std::size_t i = 0; i < count; ++i) pools[i] = make_pool(i == 1 ? WEFT_LIFO : WEFT_FIFO);
  const unsigned units = scaled(300);
  for (int round = 0; round < 5; ++round) {
    std::array<weft_scheduler*, count> schedulers{};
    std::array<weft_worker*, count> workers{};
    for (std::size_t i = 0; i < count; ++i) {
      if (i == 2)
        EXPECT_EQ(weft_scheduler_create_custom(run_pools, nullptr, 1, 1, &pools[i], &schedulers[i]), WEFT_OK);
      else
        EXPECT_EQ(weft_scheduler_create(WEFT_BASIC_WAIT, 1, &pools[i], &schedulers[i]), WEFT_OK);
      EXPECT_EQ(weft_worker_create(schedulers[i], &workers[i]), WEFT_OK);
    }
    {
      Jobs jobs;
      Dice dice(static_cast<unsigned>(round));
      for (unsigned i = 0; i < units; ++i)
        jobs.start(with(some_waiting_technique(dice), dice.below(4) == 0 ? nullptr : pools[i % count]), [&pools, i] {
          Dice own(i);
          for (int move = 0; move < 6; ++move) {
            const unsigned to = own.below(count + 1);
            EXPECT_EQ(weft_unit_migrate(weft_unit_self(), to < count ? pools[to] : nullptr), WEFT_OK);
            if (own.below(2) == 0)
              weft_yield();
            else
              weft_sleep(own.below(20000));
          }
        });
    }
    for (weft_worker* worker : workers) EXPECT_EQ(weft_worker_join(worker), WEFT_OK);
    for (weft_scheduler* scheduler : schedulers) EXPECT_EQ(weft_scheduler_free(scheduler), WEFT_OK);
  }
  for (weft_pool* pool : pools) EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST_F(StormTest, SchedulersAreReplacedAllTheTime) {
  weft_pool* pool = make_pool();
  weft_scheduler* basic = nullptr;
  weft_scheduler* custom = nullptr;
  ASSERT_EQ(weft_scheduler_create(WEFT_BASIC_WAIT, 1, &pool, &basic), WEFT_OK);
  ASSERT_EQ(weft_scheduler_create_custom(run_pools, nullptr, 1, 1, &pool, &custom), WEFT_OK);
  std::atomic<unsigned> ran{0};
  const unsigned rounds = scaled(60);
  {
    Jobs jobs;
    for (unsigned round = 0; round < rounds; ++round) {
      weft_scheduler* const choices[] = {basic, custom, nullptr};
      EXPECT_EQ(weft_worker_set_scheduler(weft_worker_self(), choices[round % 3]), WEFT_OK);
      for (int i = 0; i < 5; ++i)
        jobs.start(all_techniques[(round + 7U * static_cast<unsigned>(i)) % 13], [&ran] {
          if (may_wait(weft_unit_technique(weft_unit_self()))) weft_sleep(2000);
          ++ran;
        });
      weft_yield();
    }
    EXPECT_EQ(weft_worker_set_scheduler(weft_worker_self(), basic), WEFT_OK);
  }
  EXPECT_EQ(ran, 5 * rounds);
  EXPECT_EQ(weft_worker_set_scheduler(weft_worker_self(), nullptr), WEFT_OK);
  EXPECT_EQ(weft_scheduler_free(basic), WEFT_OK);
  EXPECT_EQ(weft_scheduler_free(custom), WEFT_OK);
  EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST_F(StormTest, ThreadsComeAndGo) {
  std::atomic<unsigned> ran{0};
  const unsigned rounds = scaled(40);
  unsigned started = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 6; ++i) {
      started += 3;
      threads.emplace_back([&ran, i] {
        const auto run = [](void* count) {
          weft_yield();
          ++*static_cast<std::atomic<unsigned>*>(count);
        };
        weft_unit* unit = nullptr;
        for (int left = 0; left < 2; ++left) EXPECT_EQ(weft_unit_create(run, &ran, nullptr, nullptr), WEFT_OK);
        EXPECT_EQ(weft_unit_create(run, &ran, nullptr, &unit), WEFT_OK);
        if (i % 2 == 0)
          EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
        else
          EXPECT_EQ(weft_unit_detach(unit), WEFT_OK);
      });
    }
    for (auto& thread : threads) thread.join();
  }
  EXPECT_TRUE(eventually([&] { return ran == started; })) << ran << " of " << started;
}

TEST_F(StormTest, SeveralThreadsWaitForAPool) {
  weft_pool* pool = make_pool();
  const unsigned count = scaled(1000);
  std::atomic<unsigned> popped{0};
  std::vector<weft_unit*> units(count);
  const weft_unit_attr attr = never_preempted(with(WEFT_AUTO, pool));  // one that came back would be counted twice
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (popped < count) {
        weft_unit* unit = nullptr;
        if (weft_pool_pop_wait(pool, 100000, &unit) != WEFT_OK) continue;
        EXPECT_EQ(weft_unit_run(unit), WEFT_OK);
        ++popped;
      }
    });
  for (unsigned i = 0; i < count; ++i) {
    EXPECT_EQ(weft_unit_create([](void*) {}, nullptr, &attr, &units[i]), WEFT_OK);
    if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(weft_unit_free_many(count, units.data()), WEFT_OK);
  EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

// ---------------------------------------------------------------- the process

TEST_F(StormTest, ForksWhileUnitsRun) {
  if (thread_sanitizer) GTEST_SKIP() << "it knows no fork of several threads";
  if (address_sanitizer) GTEST_SKIP() << "its allocator does not survive a fork beside busy threads";
  std::atomic<bool> over{false};
  Jobs jobs;
  for (int i = 0; i < 8; ++i)
    jobs.start(WEFT_AUTO, [&over] {
      while (!over) weft_sleep(10000);
    });
  for (int round = 0; round < 10; ++round) {
    const auto fork_and_work = [] {
      const pid_t child = fork();
      if (child == 0) {
        std::atomic<unsigned> ran{0};
        weft_unit* units[50];
        const auto run = [](void* count) {
          weft_sleep(1000);
          ++*static_cast<std::atomic<unsigned>*>(count);
        };
        for (auto& unit : units)
          if (weft_unit_create(run, &ran, nullptr, &unit) != WEFT_OK) _exit(2);
        if (weft_unit_free_many(50, units) != WEFT_OK) _exit(3);
        _exit(ran == 50 ? 0 : 4);
      }
      int status = -1;
      EXPECT_EQ(waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
    };
    if (round % 2 == 0) {
      fork_and_work();
    } else {
      Jobs one;
      one.start(WEFT_ROC_L, fork_and_work);
    }
  }
  over = true;
  jobs.join();
}

TEST_F(StormTest, EndsWithUnitsLeft) {
  static weft_flag never = WEFT_FLAG_INIT;
  static std::atomic<unsigned> waiting;
  waiting = 0;
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(weft_init(), WEFT_OK);
    for (int i = 0; i < 10; ++i)
      ASSERT_EQ(weft_unit_create(
                    [](void*) {
                      ++waiting;
                      weft_flag_wait(&never);
                      --waiting;
                    },
                    nullptr, nullptr, nullptr),
                WEFT_OK);
    EXPECT_EQ(weft_finalize(), WEFT_OK);
  }
  EXPECT_EQ(weft_flag_set(&never), WEFT_OK);
  EXPECT_TRUE(eventually([] { return waiting == 0 && weft_units(nullptr, 0) == 0; }));
}

}  // namespace
}  // namespace weft::test
