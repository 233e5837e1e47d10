// Stacks of the caller's choice, and thread-local storage of a unit's own.
#include "support.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace weft::test {
namespace {

class StackTest : public ApiTest {};

TEST_P(WaitingTest, RunsInTheCallersMemory) {
  if (GetParam() == WEFT_SC) return;  // on the scheduler's stack
  constexpr std::size_t size = 256UL << 10U;
  std::vector<char> memory(size + 8192, 'x');
  weft_unit_attr attr = with(GetParam());
  attr.stack = memory.data() + 4096;
  attr.stack_size = size;
  Jobs jobs;
  const char* before = nullptr;
  const char* after = nullptr;
  weft_unit* unit = jobs.start(attr, [&] {
    char here = 0;
    before = &here;
    weft_yield();
    char there = 0;
    after = &there;
  });
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  if (!address_sanitizer) {  // it moves locals away
    EXPECT_GE(before, memory.data() + 4096);
    EXPECT_LT(before, memory.data() + 4096 + size);
    EXPECT_GE(after, memory.data() + 4096);
    EXPECT_LT(after, memory.data() + 4096 + size);
  }
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(weft_unit_revive(unit, Jobs::run, jobs.keep([] { weft_yield(); })), WEFT_OK);
    EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  }
  jobs.join();
  for (std::size_t i = 0; i < 4096; ++i) {
    ASSERT_EQ(memory[i], 'x');
    ASSERT_EQ(memory[4096 + size + i], 'x');
  }
}

// Not a multiple of anything.
TEST_F(StackTest, MemoryMayBeUnaligned) {
  for (std::size_t shift = 1; shift < 64; shift += 7) {
    std::vector<char> memory(64UL << 10U, 'x');
    weft_unit_attr attr = with(WEFT_FULL);
    attr.stack = memory.data() + shift;
    attr.stack_size = memory.size() - 2 * shift;
    Jobs jobs;
    jobs.start(attr, [] { weft_yield(); });
    jobs.join();
    for (std::size_t i = 0; i < shift; ++i) {
      ASSERT_EQ(memory[i], 'x');
      ASSERT_EQ(memory[memory.size() - 1 - i], 'x');
    }
  }
}

[[gnu::noinline]] void use(std::size_t bytes) {
  constexpr std::size_t frame = 16UL << 10U;
  volatile char ballast[frame];
  std::memset(const_cast<char*>(ballast), static_cast<int>(bytes), frame);
  if (bytes > frame) use(bytes - frame);
  ballast[0] = ballast[frame - 1];
}

TEST_P(WaitingTest, HasTheStackItAskedFor) {
  if (GetParam() == WEFT_SC) return;
  for (const std::size_t size : {64UL << 10U, 300UL << 10U, 4UL << 20U, 24UL << 20U}) {
    weft_unit_attr attr = with(GetParam());
    attr.stack_size = size;
    Jobs jobs;
    std::atomic<int> ended{0};
    for (int i = 0; i < 3; ++i)
      jobs.start(attr, [&] {
        use(size / 2);
        weft_yield();
        use(size / 2);
        ++ended;
      });
    jobs.join();
    EXPECT_EQ(ended, 3);
  }
}

// Units of RoC-L run one after the other on one stack, as long as it has the size that they want; also around a
// scheduler that is one of them and runs others.
TEST_F(StackTest, AfterAStackedSchedulerWhoseUnitsWantLargerOnes) {
  constexpr std::size_t large = 24UL << 20U;  // more than by default
  weft_pool* pool = make_pool(WEFT_FIFO, WEFT_PRIV);
  weft_pool* inner = make_pool(WEFT_FIFO, WEFT_PRIV);
  {
    const OwnScheduler own(WEFT_BASIC, {pool});
    weft_scheduler* stacked = nullptr;
    ASSERT_EQ(weft_scheduler_create(WEFT_BASIC, 1, &inner, &stacked), WEFT_OK);
    int ended = 0;
    const auto use_it = [&] {
      use(large / 2);
      ++ended;
    };
    Jobs jobs;
    weft_unit_attr attr = with(WEFT_ROC_L, inner);
    attr.stack_size = large;
    jobs.start(attr, use_it);
    EXPECT_EQ(weft_scheduler_push(pool, stacked), WEFT_OK);
    attr.pool = pool;
    for (int i = 0; i < 3; ++i) jobs.start(attr, use_it);
    jobs.join();
    EXPECT_EQ(ended, 4);
    EXPECT_EQ(weft_scheduler_free(stacked), WEFT_OK);
  }
  EXPECT_EQ(weft_pool_free(inner), WEFT_OK);
}

TEST_F(StackTest, SizesThatMakeNoSense) {
  weft_unit* unit = nullptr;
  char memory[64];
  weft_unit_attr attr = with(WEFT_ROC_L);
  attr.stack = memory;
  attr.stack_size = 0;
  EXPECT_EQ(weft_unit_create([](void*) {}, nullptr, &attr, &unit), WEFT_ERR_ARGUMENT);
  attr.stack_size = sizeof memory;
  EXPECT_EQ(weft_unit_create([](void*) {}, nullptr, &attr, &unit), WEFT_ERR_ARGUMENT);
  attr = with(WEFT_SC);
  attr.stack_size = 1UL << 20U;
  EXPECT_EQ(weft_unit_create([](void*) {}, nullptr, &attr, &unit), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_unit_create_many(
                1, [](void*) {}, nullptr, &attr, &unit),
            WEFT_ERR_ARGUMENT);
  static char own[65536];
  attr.stack = own;
  attr.stack_size = sizeof own;
  EXPECT_EQ(weft_unit_create([](void*) {}, nullptr, &attr, &unit), WEFT_ERR_ARGUMENT);
  // One piece of memory is no stack for two.
  attr.technique = WEFT_ROC_L;
  weft_unit* units[2] = {nullptr, nullptr};
  EXPECT_EQ(weft_unit_create_many(
                2, [](void*) {}, nullptr, &attr, units),
            WEFT_ERR_ARGUMENT);
  attr = with(WEFT_ROC_L);
  attr.stack_size = SIZE_MAX - 100;
  const int error = weft_unit_create([](void*) {}, nullptr, &attr, &unit);
  EXPECT_TRUE(error == WEFT_ERR_ARGUMENT || error == WEFT_ERR_MEMORY) << weft_error_name(error);
  EXPECT_EQ(unit, nullptr);
}

// Stacks that are bound at creation, until no address is left.
TEST_F(StackTest, NoMemoryIsAnError) {
  if (address_sanitizer || thread_sanitizer) GTEST_SKIP() << "they need the addresses themselves";
  for (const weft_technique technique : {WEFT_FULL, WEFT_ROC, WEFT_SS, WEFT_C_FULL, WEFT_C_ROC}) {
    EXPECT_EXIT(
        {
          weft_init();
          weft_unit_attr attr = with(technique);
          attr.stack_size = 1UL << 40U;
          int error = WEFT_OK;
          for (int i = 0; i < 300 && error == WEFT_OK; ++i) {
            weft_unit* unit = nullptr;
            error = weft_unit_create([](void*) { weft_suspend(); }, nullptr, &attr, &unit);
          }
          _exit(error == WEFT_ERR_MEMORY ? 0 : 2);
        },
        ::testing::ExitedWithCode(0), "")
        << weft_technique_name(technique);
  }
}

// One that is bound at the unit's start has nobody to tell: the line says what it was. Whoever runs the units comes
// to it, another worker while they are created or this one while it waits.
TEST_F(StackTest, NoMemoryAtTheStartEndsTheProcess) {
  if (address_sanitizer || thread_sanitizer) GTEST_SKIP() << "they need the addresses themselves";
  EXPECT_EXIT(
      {
        weft_init();
        weft_unit_attr attr = with(WEFT_ROC_L);
        attr.stack_size = 1UL << 40U;
        weft_unit* unit = nullptr;
        for (int i = 0; i < 300; ++i) {
          if (weft_unit_create([](void*) { weft_suspend(); }, nullptr, &attr, &unit) != WEFT_OK) _exit(2);
        }
        weft_unit_join(unit);
        _exit(0);
      },
      ::testing::ExitedWithCode(1), "no memory for a stack of 1073741824 KiB");
}

// Where whole programs are preempted (WEFT_PREEMPT) this one is not. (Bug: it was, and its memory below overwritten.)
TEST_F(StackTest, NothingIsWrittenBelowASmallStackOfTheCallers) {
  if (address_sanitizer || thread_sanitizer) GTEST_SKIP() << "they need more";
  constexpr std::size_t below = 64UL * 1024, size = 4096;
  std::vector<char> memory(below + size, 'x');
  weft_unit_attr attr = with(WEFT_FULL);
  attr.stack = memory.data() + below;
  attr.stack_size = size;
  weft_yield();  // looked up by the dynamic linker now, and not there
  std::atomic<bool> ended{false};
  Jobs jobs;
  for (int i = 0; i < 10; ++i)
    jobs.start(WEFT_ROC_L, [&] {
      while (!ended) weft_yield();
    });
  jobs.start(attr, [&] {
    volatile char used[2048];
    used[0] = 1;
    used[sizeof used - 1] = 1;
    for (int turn = 0; turn < 5; ++turn) {
      for (int spin = 0; spin < 10'000'000; ++spin) asm volatile("");
      weft_yield();
    }
    ended = true;
  });
  jobs.join();
  EXPECT_TRUE(std::all_of(memory.begin(), memory.begin() + below, [](char byte) { return byte == 'x'; }));
}

// ---------------------------------------------------------------- WEFT_OWN_TLS

thread_local int number = 17;
thread_local std::uint64_t zeroed[64];

[[gnu::noinline]] int* where_number_is() {
  int* place = &number;
  asm volatile("" : "+r"(place));
  return place;
}
[[gnu::noinline]] std::uint64_t* where_zeroed_is() {
  std::uint64_t* place = zeroed;
  asm volatile("" : "+r"(place));
  return place;
}
[[gnu::noinline]] int* where_errno_is() {
  int* place = &errno;
  asm volatile("" : "+r"(place));
  return place;
}

TEST_P(WaitingTest, HasThreadLocalStorageOfItsOwn) {
  if (address_sanitizer || thread_sanitizer) GTEST_SKIP() << "they keep their own state there";
  weft_unit_attr attr = with(GetParam());
  attr.flags = WEFT_OWN_TLS;
  Jobs jobs;
  number = -5;
  for (int i = 0; i < 40; ++i)
    jobs.start(attr, [i] {
      *where_number_is() = i;
      *where_zeroed_is() = static_cast<std::uint64_t>(i);
      *where_errno_is() = 100 + i;
      const int* place = where_number_is();
      for (int step = 0; step < 20; ++step) {
        if (step % 5 == 4)
          EXPECT_EQ(weft_sleep(1000), WEFT_OK);
        else
          EXPECT_EQ(weft_yield(), WEFT_OK);
        EXPECT_EQ(*where_number_is(), i);
        EXPECT_EQ(*where_zeroed_is(), static_cast<std::uint64_t>(i));
        EXPECT_EQ(*where_errno_is(), 100 + i);
        EXPECT_EQ(where_number_is(), place);
        *where_errno_is() = 100 + i;
      }
    });
  jobs.join();
  EXPECT_EQ(number, -5) << "the root's own is untouched";
  number = 17;
}

// A creator on top of which its child begins: what it sees of its own storage before and after.
void create_beside_own_storage(Jobs& children, const weft_unit_attr& child, bool yields) {
  *where_number_is() = 7;
  *where_errno_is() = 77;
  const int* const place = where_number_is();
  children.start(child, [yields] {
    *where_number_is() = 8;
    if (yields) {
      EXPECT_EQ(weft_yield(), WEFT_OK);
    }
    *where_errno_is() = 88;
  });
  EXPECT_EQ(where_number_is(), place);
  EXPECT_EQ(*where_number_is(), 7);
  EXPECT_EQ(*where_errno_is(), 77);
}

weft_unit_attr owning(weft_technique technique, weft_pool* pool = nullptr) {
  weft_unit_attr attr = never_preempted(with(technique, pool));
  attr.flags = WEFT_OWN_TLS;
  return attr;
}

// Bug: such a creator went on with another's, or its child's.
TEST_P(WaitingTest, LeavesItsCreatorItsThreadLocalStorageUnderASchedulerOfTheUsersOwn) {
  if (address_sanitizer || thread_sanitizer) GTEST_SKIP() << "they keep their own state there";
  for (const bool creator_yields : {false, true})
    for (const bool child_yields : {false, true})
      for (const bool child_owns : {false, true}) {
        weft_pool* pool = make_pool();
        const OwnScheduler own(run_pools, nullptr, true, {pool});
        Jobs jobs;
        jobs.start(owning(WEFT_FULL, pool), [&] {
          if (creator_yields) {
            EXPECT_EQ(weft_yield(), WEFT_OK);
          }
          Jobs children;
          create_beside_own_storage(children, child_owns ? owning(GetParam(), pool) : with(GetParam(), pool),
                                    child_yields);
        });
        jobs.join();
      }
}

TEST_P(WaitingTest, LeavesAStacklessCreatorItsThreadLocalStorage) {
  if (address_sanitizer || thread_sanitizer) GTEST_SKIP() << "they keep their own state there";
  for (const bool child_yields : {false, true})
    for (const bool child_owns : {false, true}) {
      Jobs jobs;
      Jobs children;
      jobs.start(owning(WEFT_STACKLESS), [&] {
        create_beside_own_storage(children, child_owns ? owning(GetParam()) : with(GetParam()), child_yields);
      });
      jobs.join();
    }
}

TEST_P(WaitingTest, IsResumedElsewhereWithItsThreadLocalStorage) {
  if (address_sanitizer || thread_sanitizer) GTEST_SKIP() << "they keep their own state there";
  weft_pool* pool = make_pool();
  OwnWorker worker(WEFT_BASIC_WAIT, {pool});
  weft_unit_attr attr = with(GetParam());
  attr.flags = WEFT_OWN_TLS;
  Jobs jobs;
  jobs.start(attr, [&] {
    *where_number_is() = 99;
    EXPECT_EQ(weft_unit_migrate(weft_unit_self(), pool), WEFT_OK);
    EXPECT_EQ(weft_yield(), WEFT_OK);
    EXPECT_EQ(weft_worker_self(), worker.get());
    EXPECT_EQ(*where_number_is(), 99);
  });
  jobs.join();
}

}  // namespace
}  // namespace weft::test
