// weft.hpp: units that run callables, what they return and throw, and the classes over the C API.
#include "support.h"

#include <array>
#include <limits>
#include <shared_mutex>
#include <stdexcept>
#include <string>

#include <weft/weft.hpp>

namespace weft::test {
namespace {

using namespace std::chrono_literals;

class CppTest : public ApiTest {};

/// What a call throws; WEFT_OK if nothing.
template <class Call>
int error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return WEFT_OK;
}

/// Runs `body` in a stackless unit.
template <class Body>
void in_stackless_unit(Body body) {
  spawn({.technique = WEFT_STACKLESS}, body).join();
}

// ---------------------------------------------------------------- errors

TEST_F(CppTest, AnErrorHasItsCodeNameAndText) {
  const Error error(WEFT_ERR_STATE);
  EXPECT_EQ(error.code(), WEFT_ERR_STATE);
  EXPECT_STREQ(error.name(), "WEFT_ERR_STATE");
  EXPECT_STREQ(error.what(), weft_error_text(WEFT_ERR_STATE));
}

TEST_F(CppTest, TheRuntimeIsCounted) {
  {
    const Runtime first;
    const Runtime second;
  }
  EXPECT_EQ(weft_finalize(), WEFT_OK) << "that of SetUp()";
  EXPECT_EQ(weft_finalize(), WEFT_ERR_UNINITIALISED);
  EXPECT_EQ(weft_init(), WEFT_OK);
}

// ---------------------------------------------------------------- units

class CppTechniqueTest : public TechniqueTest {};

TEST_P(CppTechniqueTest, HandsBackWhatTheCallableReturns) {
  const Attributes attributes{.technique = GetParam()};
  EXPECT_EQ(spawn(attributes, [] { return 42; }).join(), 42);
  EXPECT_EQ(spawn(attributes, [text = std::string(100, 'x')] { return text + "y"; }).join().size(), 101U);
  int referred = 1;
  int& result = spawn(attributes, [&]() -> int& { return referred; }).join();
  EXPECT_EQ(&result, &referred);
  EXPECT_EQ(*spawn(attributes, [] { return std::make_unique<int>(7); }).join(), 7) << "what can only be moved";
}

TEST_P(CppTechniqueTest, RunsSmallAndLargeCallables) {
  std::atomic<int> ran{0};
  const Attributes attributes{.technique = GetParam()};
  spawn(attributes, [&ran] { ++ran; }).join();  // as large as a pointer
  spawn(attributes, [] {}).join();              // smaller
  spawn(attributes, [&ran, many = std::array<int, 50>{3}] { ran += many[0]; }).join();
  spawn(attributes, [&ran, owned = std::make_unique<int>(5)] { ran += *owned; }).join();
  EXPECT_EQ(ran, 9);
}

struct Thrower {
  std::atomic<int>* destroyed;
  ~Thrower() { ++*destroyed; }
};

TEST_P(CppTechniqueTest, CarriesAnExceptionToItsJoiner) {
  std::atomic<int> destroyed{0};
  const Attributes attributes{.technique = GetParam()};
  auto with_result = spawn(attributes, [&]() -> int {
    const Thrower local{&destroyed};
    throw std::runtime_error("with a result");
  });
  auto small = spawn(attributes, [&destroyed] {
    const Thrower local{&destroyed};
    throw std::runtime_error("small");
  });
  try {
    small.join();
    ADD_FAILURE();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "small");
  }
  EXPECT_THROW(with_result.join(), std::runtime_error);
  EXPECT_FALSE(small.joinable());
  EXPECT_FALSE(with_result.joinable());
  EXPECT_EQ(destroyed, 2) << "its stack was unwound";
}

INSTANTIATE_TEST_SUITE_P(, CppTechniqueTest, ::testing::ValuesIn(all_techniques), technique_name);

TEST_F(CppTest, ManySmallUnitsThrowEachItsOwn) {
  const unsigned count = scaled(400);
  static std::atomic<int> number;
  number = 0;
  std::vector<Unit<>> units;
  for (unsigned i = 0; i < count; ++i) units.push_back(spawn([] { throw int{number.fetch_add(1)}; }));
  std::vector<bool> caught(count);
  for (auto& unit : units) {
    try {
      unit.join();
    } catch (int thrown) {
      EXPECT_FALSE(caught[static_cast<std::size_t>(thrown)]);
      caught[static_cast<std::size_t>(thrown)] = true;
    }
  }
  EXPECT_EQ(std::count(caught.begin(), caught.end(), true), count);
}

TEST_F(CppTest, AUnitDestroysItsCallableWhenItHasRun) {
  auto shared = std::make_shared<int>(1);
  Flag go_on;
  auto unit = spawn([shared, &go_on] { go_on.wait(); });
  EXPECT_EQ(shared.use_count(), 2);
  go_on.set();
  EXPECT_TRUE(unit.wait_for(10s));
  EXPECT_EQ(shared.use_count(), 1) << "although nobody has joined it";
  unit.join();
}

TEST_F(CppTest, AHandleIsMovedAndJoinsItsUnit) {
  std::atomic<int> ended{0};
  const auto slow = [&ended] {
    this_unit::yield();
    ++ended;
  };
  {
    Unit<> first = spawn(slow);
    Unit<> second = std::move(first);
    EXPECT_FALSE(first.joinable());
    EXPECT_TRUE(second.joinable());
    EXPECT_NE(second.handle(), nullptr);
    second = spawn(slow);  // joins the one that it had
    EXPECT_GE(ended, 1);
    auto& same = second;
    second = std::move(same);
    EXPECT_TRUE(second.joinable());
  }
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(error_of([] { Unit<>().join(); }), WEFT_ERR_STATE);
  EXPECT_EQ(error_of([] { Unit<int>().join(); }), WEFT_ERR_STATE);
}

TEST_F(CppTest, AnErrorAtCreationIsThrown) {
  const Attributes impossible{.technique = WEFT_STACKLESS, .flags = WEFT_MAY_BLOCK};
  auto shared = std::make_shared<int>(1);
  EXPECT_EQ(error_of([&] { spawn(impossible, [] {}).join(); }), WEFT_ERR_STACKLESS);
  EXPECT_EQ(error_of([&] { spawn(impossible, [shared] { return *shared; }).join(); }), WEFT_ERR_STACKLESS);
  EXPECT_EQ(error_of([&] { spawn_detached(impossible, [shared] {}); }), WEFT_ERR_STACKLESS);
  EXPECT_EQ(error_of([&] { spawn_many(impossible, 3, [shared](std::size_t) {}).join(); }), WEFT_ERR_STACKLESS);
  EXPECT_EQ(error_of([&] { spawn_many({.technique = WEFT_C_ROC}, 3, [](std::size_t) {}).join(); }), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(shared.use_count(), 1);
}

TEST_F(CppTest, AttributesArePassedOn) {
  auto unit = spawn({.technique = WEFT_FULL_L, .name = "the named one"}, [] { this_unit::suspend(); });
  EXPECT_STREQ(weft_unit_name(unit.handle()), "the named one");
  EXPECT_TRUE(eventually([&] { return weft_unit_state(unit.handle()) == WEFT_SUSPENDED; }));
  EXPECT_EQ(weft_unit_technique(unit.handle()), WEFT_FULL_L);
  EXPECT_EQ(weft_resume(unit.handle()), WEFT_OK);
  unit.join();
}

TEST_F(CppTest, WaitsForAUnitForATime) {
  Flag go_on;
  auto unit = spawn([&] {
    go_on.wait();
    return 3;
  });
  EXPECT_FALSE(unit.wait_for(1ms));
  EXPECT_FALSE(unit.wait_for(-5h));
  EXPECT_FALSE(unit.wait_until(std::chrono::system_clock::now() + 1ms));
  EXPECT_FALSE(unit.wait_until(std::chrono::steady_clock::time_point::min()));
  EXPECT_FALSE(unit.wait_until(std::chrono::system_clock::time_point::min()));
  EXPECT_FALSE(unit.wait_until(std::chrono::sys_seconds::min()));
  go_on.set();
  EXPECT_TRUE(unit.wait_for(std::chrono::hours::max()));
  EXPECT_TRUE(unit.wait_until(std::chrono::sys_seconds::max()));
  EXPECT_EQ(unit.join(), 3);
}

TEST_F(CppTest, AUnitThatWasCancelledHasNoResult) {
  Flag started;
  const auto wait_for_the_end = [&] {
    started.set();
    for (;;) this_unit::yield();
    return 1;
  };
  auto unit = spawn(wait_for_the_end);
  started.wait();
  EXPECT_EQ(weft_unit_cancel(unit.handle()), WEFT_OK);
  EXPECT_EQ(error_of([&] { unit.join(); }), WEFT_ERR_STATE);
  EXPECT_FALSE(unit.joinable());
}

TEST_F(CppTest, DetachedUnitsRunAndFreeTheirCallables) {
  constexpr unsigned count = 100;
  static std::atomic<unsigned> ran;
  ran = 0;
  auto shared = std::make_shared<int>(0);
  for (unsigned i = 0; i < count; ++i) {
    spawn_detached([] { ++ran; });
    spawn_detached({.technique = WEFT_FULL}, [shared] {
      this_unit::yield();
      ++ran;
    });
  }
  EXPECT_TRUE(eventually([&] { return ran == 2 * count && shared.use_count() == 1; }));
}

TEST_F(CppTest, AnExceptionThatNobodyCanHaveEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH({ const auto unit = spawn([] { throw 1; }); }, "terminate");
  EXPECT_DEATH({ const auto unit = spawn([]() -> int { throw 1; }); }, "terminate");
  EXPECT_DEATH({ const auto units = spawn_many(3, [](std::size_t) { throw 1; }); }, "terminate");
  EXPECT_DEATH(
      {
        spawn_detached([] { throw 1; });
        for (;;) this_unit::yield();
      },
      "terminate");
}

TEST_F(CppTest, AnExceptionUnderWayHidesThatOfAUnit) {
  for (int round = 0; round < 20; ++round) {
    EXPECT_THROW(
        {
          const auto small = spawn([] { throw 1; });
          const auto other = spawn([]() -> int { throw 2; });
          const auto many = spawn_many(4, [](std::size_t) { throw 3; });
          throw std::runtime_error("the first");
        },
        std::runtime_error);
  }
}

// ---------------------------------------------------------------- many

TEST_F(CppTest, ManyRunEachWithItsIndex) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
    std::vector<std::atomic<int>> ran(count);
    auto units = spawn_many(count, [&ran](std::size_t index) { ++ran[index]; });
    EXPECT_EQ(units.size(), count);
    units.join();
    EXPECT_EQ(units.size(), 0U);
    for (const auto& one : ran) EXPECT_EQ(one, 1);
    units.join();
  }
}

TEST_F(CppTest, ManyShareOneCallableAndWait) {
  constexpr std::size_t count = 64;
  Barrier barrier(count);
  std::atomic<unsigned> last{0};
  Units units = spawn_many({.technique = WEFT_ROC_L}, count, [&](std::size_t) {
    for (int round = 0; round < 10; ++round)
      if (barrier.arrive_and_wait()) ++last;
  });
  EXPECT_NE(units.handle(0), units.handle(count - 1));
  Units moved = std::move(units);
  EXPECT_EQ(moved.size(), count);
  moved = Units();
  EXPECT_EQ(last, 10U);
}

TEST_F(CppTest, ManyThrowWhatTheFirstOneThrows) {
  std::atomic<int> ran{0};
  auto units = spawn_many(100, [&ran](std::size_t index) {
    ++ran;
    if (index % 3 == 1) throw index;
  });
  try {
    units.join();
    ADD_FAILURE();
  } catch (std::size_t index) {
    EXPECT_EQ(index % 3, 1U);
  }
  EXPECT_EQ(ran, 100);
}

// ---------------------------------------------------------------- exceptions and waiting

/// Yields until it has been on another thread, or long enough.
void wander(unsigned times) {
  for (unsigned i = 0; i < times; ++i) this_unit::yield();
}

// The C++ runtime's list of what is being handled belongs to a thread; a unit that waits in a handler used to leave its
// entry there, and to end another's when it came back elsewhere.
TEST_F(CppTest, WaitsInAHandler) {
  const unsigned rounds = scaled(40);
  spawn_many(16, [rounds](std::size_t index) {
    for (unsigned round = 0; round < rounds; ++round) {
      const std::string mine = "unit " + std::to_string(index) + ", round " + std::to_string(round);
      try {
        throw std::runtime_error(mine);
      } catch (const std::runtime_error& outer) {
        wander(5);
        EXPECT_EQ(outer.what(), mine);
        try {
          throw;
        } catch (const std::runtime_error& again) {
          wander(3);
          EXPECT_EQ(again.what(), mine);
          EXPECT_EQ(&again, &outer);
        }
        EXPECT_EQ(std::uncaught_exceptions(), 0);
      }
      EXPECT_EQ(std::current_exception(), nullptr);
    }
  }).join();
  EXPECT_EQ(std::current_exception(), nullptr);
}

struct WaitsInItsDestructor {
  ~WaitsInItsDestructor() {
    const int before = std::uncaught_exceptions();
    wander(5);
    EXPECT_EQ(std::uncaught_exceptions(), before);
    try {
      const auto unit = spawn([] { wander(2); });
      throw 3;
    } catch (int) {
      wander(2);
    }
    EXPECT_EQ(std::uncaught_exceptions(), before);
  }
};

TEST_F(CppTest, WaitsWhileAnExceptionIsUnderWay) {
  const unsigned rounds = scaled(40);
  spawn_many(16, [rounds](std::size_t index) {
    for (unsigned round = 0; round < rounds; ++round) {
      try {
        const WaitsInItsDestructor local;
        throw index;
      } catch (std::size_t caught) {
        EXPECT_EQ(caught, index);
      }
      EXPECT_EQ(std::uncaught_exceptions(), 0);
    }
  }).join();
}

// ---------------------------------------------------------------- the calling unit

TEST_F(CppTest, YieldsSleepsAndSuspends) {
  const auto began = std::chrono::steady_clock::now();
  this_unit::sleep_for(2ms);
  this_unit::sleep_until(std::chrono::system_clock::now() + 2ms);
  this_unit::sleep_until(std::chrono::steady_clock::now() - 1h);
  this_unit::sleep_until(std::chrono::steady_clock::time_point::min());
  EXPECT_GE(std::chrono::steady_clock::now() - began, 4ms);
  in_stackless_unit([] { EXPECT_EQ(error_of([] { this_unit::yield(); }), WEFT_ERR_STACKLESS); });
  in_stackless_unit([] { EXPECT_EQ(error_of([] { this_unit::suspend(); }), WEFT_ERR_STACKLESS); });
  in_stackless_unit([] { EXPECT_EQ(error_of([] { this_unit::sleep_for(1ms); }), WEFT_ERR_STACKLESS); });
  EXPECT_EQ(error_of([] { this_unit::suspend(); }), WEFT_ERR_STATE) << "a root";
}

TEST_F(CppTest, ResumesToAUnitOnce) {
  auto unit = spawn([] { this_unit::suspend(); });
  EXPECT_TRUE(eventually([&] { return weft_unit_state(unit.handle()) == WEFT_SUSPENDED; }));
  EXPECT_TRUE(this_unit::resume_to(unit.handle()));
  EXPECT_TRUE(unit.wait_for(10s));
  EXPECT_FALSE(this_unit::resume_to(unit.handle())) << "it is done";
  spawn([&] { EXPECT_FALSE(this_unit::yield_to(unit.handle())) << "it waits nowhere"; }).join();
  unit.join();
}

struct Counted {
  static inline std::atomic<int> live;
  int value = 5;
  Counted() { ++live; }
  ~Counted() { --live; }
};

TEST_F(CppTest, UnitLocalValuesAreEachUnitsOwn) {
  Counted::live = 0;
  {
    UnitLocal<Counted> local;
    spawn_many(20, [&local](std::size_t index) {
      EXPECT_EQ(local->value, 5);
      local->value = static_cast<int>(index);
      wander(3);
      EXPECT_EQ((*local).value, static_cast<int>(index));
    }).join();
    EXPECT_EQ(Counted::live, 0) << "destroyed with their units";
    std::thread([&] { EXPECT_EQ(local->value, 5); }).join();
    EXPECT_EQ(Counted::live, 0) << "destroyed with its thread";
    EXPECT_LT(local.handle().index, static_cast<std::uint32_t>(WEFT_KEYS_MAX));
  }
  std::vector<std::unique_ptr<UnitLocal<int>>> all;
  EXPECT_EQ(error_of([&] {
              for (;;) all.push_back(std::make_unique<UnitLocal<int>>());
            }),
            WEFT_ERR_LIMIT);
}

// ---------------------------------------------------------------- synchronisation

TEST_F(CppTest, MutexesWorkWithTheStandardLocks) {
  for (const unsigned kind : {0U, 1U, 2U, 3U}) {
    Mutex mutex(kind);
    Mutex other(kind);
    int count = 0;
    spawn_many(20, [&](std::size_t index) {
      for (int round = 0; round < 20; ++round) {
        if (index % 3 == 0) {
          const std::lock_guard guard(mutex);
          ++count;
        } else if (index % 3 == 1) {
          const std::scoped_lock both(other, mutex);
          ++count;
          this_unit::yield();
        } else {
          std::unique_lock lock(mutex, std::defer_lock);
          while (!lock.try_lock_for(1h)) {
          }
          ++count;
        }
      }
    }).join();
    EXPECT_EQ(count, 400);
    EXPECT_EQ(weft_mutex_destroy(mutex.handle()), WEFT_OK);
  }
  constinit static Mutex constant;
  EXPECT_TRUE(constant.try_lock());
  constant.unlock();
  static_assert(std::is_trivially_destructible_v<Mutex>);
}

TEST_F(CppTest, AMutexSaysWhatIsWrong) {
  Mutex mutex;
  EXPECT_EQ(error_of([&] { mutex.unlock(); }), WEFT_ERR_OWNER);
  mutex.lock();
  EXPECT_FALSE(mutex.try_lock());
  spawn([&] {
    EXPECT_FALSE(mutex.try_lock_for(1ms));
    EXPECT_FALSE(mutex.try_lock_until(std::chrono::steady_clock::now() + 1ms));
    EXPECT_FALSE(mutex.try_lock_until(std::chrono::steady_clock::now() - 1h));
  }).join();
  in_stackless_unit([&mutex] { EXPECT_EQ(error_of([&] { mutex.lock(); }), WEFT_ERR_STACKLESS); });
  mutex.unlock();
  Mutex recursive(WEFT_MUTEX_RECURSIVE);
  recursive.lock();
  EXPECT_TRUE(recursive.try_lock());
  recursive.unlock();
  recursive.unlock();
}

TEST_F(CppTest, ConditionsAreSignalled) {
  Mutex mutex;
  Condition condition;
  int turn = 0;
  const auto player = [&](int own) {
    return [&, own] {
      for (int round = 0; round < 100; ++round) {
        std::unique_lock lock(mutex);
        condition.wait(lock, [&] { return turn == own; });
        turn = 1 - own;
        condition.notify_one();
      }
    };
  };
  auto first = spawn(player(0));
  auto second = spawn(player(1));
  first.join();
  second.join();

  std::unique_lock lock(mutex);
  EXPECT_EQ(condition.wait_for(lock, 1ms), std::cv_status::timeout);
  EXPECT_EQ(condition.wait_until(lock, std::chrono::system_clock::now() + 1ms), std::cv_status::timeout);
  EXPECT_FALSE(condition.wait_for(lock, 1ms, [] { return false; }));
  EXPECT_TRUE(condition.wait_for(lock, 0ms, [] { return true; }));
  EXPECT_TRUE(lock.owns_lock());
  auto waker = spawn([&] {
    const std::lock_guard guard(mutex);
    turn = 5;
    condition.notify_all();
  });
  EXPECT_TRUE(condition.wait_for(lock, std::chrono::hours::max(), [&] { return turn == 5; }));
  turn = 0;
  lock.unlock();
  waker.join();
  EXPECT_EQ(error_of([&] { condition.wait(lock); }), WEFT_ERR_OWNER);
}

TEST_F(CppTest, SharedMutexesHaveReadersAndWriters) {
  SharedMutex mutex;
  int value = 0;
  spawn_many(20, [&](std::size_t index) {
    for (int round = 0; round < 20; ++round) {
      if (index % 4 == 0) {
        const std::lock_guard guard(mutex);
        const int before = value;
        this_unit::yield();
        value = before + 1;
      } else {
        const std::shared_lock lock(mutex);
        const int before = value;
        this_unit::yield();
        EXPECT_EQ(value, before);
      }
    }
  }).join();
  EXPECT_EQ(value, 100);
  mutex.lock_shared();
  EXPECT_TRUE(mutex.try_lock_shared());
  EXPECT_TRUE(mutex.try_lock_shared_for(1ms));
  EXPECT_FALSE(mutex.try_lock());
  EXPECT_FALSE(mutex.try_lock_for(1ms));
  EXPECT_FALSE(mutex.try_lock_until(std::chrono::steady_clock::now() + 1ms));
  for (int i = 0; i < 3; ++i) mutex.unlock_shared();
  mutex.lock();
  EXPECT_FALSE(mutex.try_lock_shared());
  EXPECT_FALSE(mutex.try_lock_shared_for(1ms));
  EXPECT_FALSE(mutex.try_lock_shared_until(std::chrono::steady_clock::now() + 1ms));
  mutex.unlock();
  EXPECT_EQ(error_of([&] { mutex.unlock(); }), WEFT_ERR_OWNER);
}

TEST_F(CppTest, SemaphoresLetSoManyIn) {
  Semaphore semaphore(3);
  std::atomic<int> inside{0};
  spawn_many(20, [&](std::size_t) {
    semaphore.acquire();
    EXPECT_LE(++inside, 3);
    this_unit::yield();
    --inside;
    semaphore.release();
  }).join();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(semaphore.try_acquire());
  EXPECT_FALSE(semaphore.try_acquire());
  EXPECT_FALSE(semaphore.try_acquire_for(1ms));
  EXPECT_FALSE(semaphore.try_acquire_until(std::chrono::steady_clock::now() + 1ms));
  EXPECT_EQ(error_of([&] { semaphore.release(std::numeric_limits<std::uint32_t>::max()); }), WEFT_ERR_LIMIT);
  semaphore.release(2);
  EXPECT_TRUE(semaphore.try_acquire_for(1h));
}

constinit Semaphore largest_semaphore{WEFT_SEMAPHORE_MAX};
constinit Latch largest_latch{WEFT_LATCH_MAX};

// Bug: they were made of what the C functions refuse.
TEST_F(CppTest, ArgumentsOutOfRange) {
  EXPECT_TRUE(largest_semaphore.try_acquire());
  EXPECT_FALSE(largest_latch.try_wait());
  EXPECT_EQ(error_of([] { Semaphore semaphore(WEFT_SEMAPHORE_MAX + 1U); }), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(error_of([] { Latch latch(WEFT_LATCH_MAX + 1U); }), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(error_of([] { Barrier barrier(0); }), WEFT_ERR_ARGUMENT);
}

TEST_F(CppTest, LatchesCountDown) {
  Latch latch(4);
  auto units = spawn_many(3, [&](std::size_t) { latch.arrive_and_wait(); });
  EXPECT_FALSE(latch.try_wait());
  EXPECT_FALSE(latch.wait_for(1ms));
  EXPECT_FALSE(latch.wait_until(std::chrono::steady_clock::now() + 1ms));
  latch.count_down();
  latch.wait();
  EXPECT_TRUE(latch.try_wait());
  units.join();
  EXPECT_EQ(error_of([&] { latch.count_down(); }), WEFT_ERR_STATE);
  EXPECT_EQ(error_of([&] { latch.arrive_and_wait(); }), WEFT_ERR_STATE);
}

TEST_F(CppTest, AStacklessUnitArrivesAtALatchOnlyAsTheLast) {
  Latch latch(2);
  in_stackless_unit([&] { EXPECT_EQ(error_of([&] { latch.arrive_and_wait(); }), WEFT_ERR_STACKLESS); });
  latch.count_down();
  EXPECT_FALSE(latch.try_wait()) << "it has counted down, and failed";
  in_stackless_unit([&] { EXPECT_EQ(error_of([&] { latch.arrive_and_wait(); }), WEFT_OK); });
  EXPECT_TRUE(latch.try_wait());
}

TEST_F(CppTest, BarriersTimeOut) {
  Barrier barrier(2);
  EXPECT_EQ(barrier.arrive_and_wait_for(1ms), std::nullopt);
  EXPECT_EQ(barrier.arrive_and_wait_until(std::chrono::steady_clock::now() + 1ms), std::nullopt);
  auto other = spawn([&] { return barrier.arrive_and_wait_for(1h).value(); });
  const bool mine = barrier.arrive_and_wait();
  EXPECT_NE(other.join(), mine);
}

TEST_F(CppTest, EventualsHaveOneValueOrException) {
  Eventual<std::string> text;
  EXPECT_FALSE(text.test());
  EXPECT_FALSE(text.wait_for(1ms));
  auto readers = spawn_many(5, [&](std::size_t) { EXPECT_EQ(text.get(), "xxx"); });
  text.set(3, 'x');
  readers.join();
  EXPECT_TRUE(text.test());
  EXPECT_EQ(error_of([&] { text.set("again"); }), WEFT_ERR_STATE);
  EXPECT_EQ(text.get(), "xxx");

  Eventual<void> nothing;
  auto waiter = spawn([&] { nothing.get(); });
  nothing.set();
  waiter.join();

  Eventual<std::string&> reference;
  std::string referred = "a string";
  reference.set(referred);
  EXPECT_EQ(&reference.get(), &referred);

  Eventual<int> failed;
  failed.set_exception(std::make_exception_ptr(std::runtime_error("no value")));
  EXPECT_THROW((void)failed.get(), std::runtime_error);
  EXPECT_THROW((void)failed.get(), std::runtime_error) << "each of them";
}

TEST_F(CppTest, FuturesHaveSeveralValues) {
  std::string joined;
  {
    const auto join = [&joined](std::span<std::string> all) {
      for (const std::string& one : all) joined += one;
    };
    Future<std::string, decltype(join)> future(3, join);
    auto units = spawn_many(3, [&](std::size_t) { future.set(50, 'x'); });
    EXPECT_EQ(future.get().size(), 3U);
    EXPECT_EQ(joined.size(), 150U) << "the callback was called before";
    EXPECT_TRUE(future.test());
    units.join();
    EXPECT_EQ(error_of([&] { future.set("a fourth"); }), WEFT_ERR_STATE);
  }
  Future<int> plain(2);
  plain.set(1);
  EXPECT_FALSE(plain.test());
  EXPECT_FALSE(plain.wait_for(1ms));
  plain.set(2);
  EXPECT_EQ(plain.get()[1], 2);
  Future<std::string> half(2);
  half.set(100, 'x');  // destroyed with it
  EXPECT_EQ(error_of([] { const Future<int> none(0); }), WEFT_ERR_ARGUMENT);
}

TEST_F(CppTest, WhatAFuturesCallbackThrowsComesToThoseWhoWait) {
  const auto refuse = [](std::span<int>) { throw std::runtime_error("refused"); };
  Future<int, decltype(refuse)> future(2, refuse);
  auto waiters = spawn_many(3, [&](std::size_t) {
    ASSERT_TRUE(future.wait_for(10s));
    EXPECT_THROW((void)future.get(), std::runtime_error);
  });
  future.set(1);
  EXPECT_NO_THROW(future.set(2));
  waiters.join();
  ASSERT_TRUE(future.test());
  EXPECT_THROW((void)future.get(), std::runtime_error);
  EXPECT_EQ(error_of([&] { future.set(3); }), WEFT_ERR_STATE);
}

TEST_F(CppTest, SelectsTheFirstThatHasHappened) {
  Flag flag;
  Latch latch(1);
  Semaphore semaphore(0);
  Eventual<int> eventual;
  Future<int> future(1);
  EXPECT_EQ(select_for(1ms, flag, latch, semaphore, eventual, future), std::nullopt);
  semaphore.release();
  EXPECT_EQ(select(flag, latch, semaphore, eventual, future), 2U);
  EXPECT_FALSE(semaphore.try_acquire()) << "it has been acquired";
  auto setter = spawn([&] { future.set(7); });
  EXPECT_EQ(select(flag, latch, semaphore, eventual, future), 4U);
  setter.join();
  eventual.set(1);
  EXPECT_EQ(select_for(1h, flag, latch, semaphore, eventual, future), 3U);
  latch.count_down();
  EXPECT_EQ(select(flag, latch), 1U);
  flag.set();
  EXPECT_EQ(select(flag, latch), 0U);
  EXPECT_TRUE(flag.test());
  flag.clear();
  EXPECT_FALSE(flag.test());
}

// ---------------------------------------------------------------- pools, schedulers, workers

TEST_F(CppTest, AWorkerRunsWhatIsInItsPools) {
  std::atomic<int> ran{0};
  const Pool first(WEFT_FIFO);
  const Pool second(WEFT_PRIORITY, WEFT_MPMC);
  const Scheduler scheduler(WEFT_BASIC_WAIT, {first.handle(), second.handle()});
  for (int i = 0; i < 10; ++i) {
    spawn_detached({.pool = first.handle()}, [&ran] { ++ran; });
    spawn_detached({.pool = second.handle(), .priority = i}, [&ran] { ++ran; });
  }
  Worker worker(scheduler);
  EXPECT_NE(worker.handle(), nullptr);
  worker.join();
  EXPECT_EQ(ran, 20);
  EXPECT_EQ(error_of([] { const Pool impossible(WEFT_DEQUE, WEFT_SPSC); }), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(error_of([] { const Scheduler none(WEFT_BASIC, {}); }), WEFT_ERR_ARGUMENT);
}

class SecondFirst : public CustomScheduler {
 public:
  explicit SecondFirst(const std::vector<weft_pool*>& pools) : CustomScheduler(true, pools) {}
  std::atomic<int> ends{0};

 private:
  void run() noexcept override {
    while (!stops()) {
      weft_unit* unit = pop(1);
      if (unit == nullptr) unit = pop(0);
      if (unit != nullptr) weft_unit_run(unit);
    }
    ++ends;
  }
};

TEST_F(CppTest, ASchedulerOfTheUsersOwn) {
  std::string order;
  const Pool first(WEFT_FIFO);
  const Pool second(WEFT_FIFO);
  SecondFirst scheduler({first.handle(), second.handle()});
  spawn_detached({.pool = first.handle()}, [&order] { order += "a"; });
  spawn_detached({.pool = second.handle()}, [&order] { order += "b"; });
  Worker(scheduler).join();
  EXPECT_EQ(order, "ba");
  EXPECT_EQ(scheduler.ends, 1);
}

TEST_F(CppTest, APoolOfTheUsersOwn) {
  struct Newest {
    std::mutex lock;
    std::vector<weft_unit*> units;
  } newest;
  const weft_pool_functions functions = {[](void* data, weft_unit* unit) {
                                           const std::lock_guard guard(static_cast<Newest*>(data)->lock);
                                           static_cast<Newest*>(data)->units.push_back(unit);
                                         },
                                         [](void* data) -> weft_unit* {
                                           auto& units = static_cast<Newest*>(data)->units;
                                           const std::lock_guard guard(static_cast<Newest*>(data)->lock);
                                           if (units.empty()) return nullptr;
                                           weft_unit* unit = units.back();
                                           units.pop_back();
                                           return unit;
                                         },
                                         [](void* data) {
                                           const std::lock_guard guard(static_cast<Newest*>(data)->lock);
                                           return static_cast<Newest*>(data)->units.size();
                                         },
                                         nullptr};
  std::string order;
  const Pool pool(functions, &newest);
  const Scheduler scheduler(WEFT_BASIC_WAIT, {pool.handle()});
  spawn_detached({.pool = pool.handle()}, [&order] { order += "a"; });
  spawn_detached({.pool = pool.handle()}, [&order] { order += "b"; });
  Worker(scheduler).join();
  EXPECT_EQ(order, "ba");
}

long fib(long number) {
  if (number < 2) return number;
  auto left = spawn({.technique = WEFT_C_ROC_E}, [number] { return fib(number - 1); });
  const long right = fib(number - 2);
  return left.join() + right;
}

TEST_F(CppTest, ARecursion) { EXPECT_EQ(fib(thread_sanitizer ? 10 : 18), thread_sanitizer ? 55 : 2584); }

}  // namespace
}  // namespace weft::test
