// Units that take turns in a pool which is their worker's alone: they pass the worker on to each other without the
// scheduler, and whoever yields stands in the pool before it is off its stack (core/technique/switch.cpp).
#include "support.h"

#include <weft/sync.h>

#include <cfenv>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::test {
namespace {

class TurnsTest : public WaitingTest {
 protected:
  void SetUp() override {
    WaitingTest::SetUp();
    pool_ = make_pool(WEFT_FIFO, WEFT_PRIV);
    own_ = std::make_unique<OwnScheduler>(WEFT_BASIC, std::vector{pool_});
  }
  void TearDown() override {
    jobs_.join();
    own_.reset();
    WaitingTest::TearDown();
  }
  weft_unit_attr attr() const { return with(GetParam(), pool_); }
  weft_unit_attr attr_in_order() const { return never_preempted(attr()); }

  weft_pool* pool_ = nullptr;
  std::unique_ptr<OwnScheduler> own_;
  Jobs jobs_;
};

// More than the scheduler lets by without a look of its own, and more than the pool has room for at first.
TEST_P(TurnsTest, AreTakenInTheOrderOfCreation) {
  if (child_first(GetParam())) GTEST_SKIP() << "they run while the others are being created";
  constexpr int units = 100;
  constexpr int turns = 5;
  std::vector<int> order;
  for (int unit = 0; unit < units; ++unit)
    jobs_.start(attr_in_order(), [&order, unit] {
      for (int turn = 0; turn < turns; ++turn) {
        order.push_back(unit);
        if (turn + 1 < turns) weft_yield();
      }
    });
  jobs_.join();
  ASSERT_EQ(order.size(), std::size_t{units} * turns);
  for (std::size_t at = 0; at < order.size(); ++at) ASSERT_EQ(order[at], static_cast<int>(at % units)) << at;
}

TEST_P(TurnsTest, SomeYieldAndSomeDoNot) {
  constexpr int units = 300;
  std::vector<int> runs(units);
  for (int round = 0; round < 3; ++round)
    for (int unit = 0; unit < units; ++unit)
      jobs_.start(attr(), [&runs, unit, round] {
        for (int turn = 0; turn < (unit + round) % 3; ++turn) weft_yield();
        ++runs[static_cast<std::size_t>(unit)];
      });
  jobs_.join();
  for (const int count : runs) EXPECT_EQ(count, 3);
}

// The pool is an array of a power of two; whoever yields finds it full.
TEST_P(TurnsTest, WhereThePoolIsFull) {
  constexpr std::size_t most = 512;
  int ran = 0;
  Jobs fillers;
  jobs_.start(attr_in_order(), [&] {
    for (std::size_t full = 64; full <= most; full *= 2) {
      while (weft_pool_size(pool_) < full)
        fillers.start(with(WEFT_FULL, pool_), [&ran] {
          weft_yield();
          ++ran;
        });
      weft_yield();
    }
    ++ran;
  });
  jobs_.join();
  const int before = ran;
  EXPECT_GE(before, 1);
  fillers.join();
  EXPECT_GE(ran, static_cast<int>(most));
}

TEST_P(TurnsTest, OneThatHasMovedGoesToItsNewPool) {
  weft_pool* elsewhere = make_pool(WEFT_FIFO, WEFT_MPMC);
  OwnWorker worker(WEFT_BASIC_WAIT, {elsewhere});
  std::atomic<int> moved{0};
  std::atomic<int> stayed{0};
  weft_worker* here = weft_worker_self();
  for (int unit = 0; unit < 20; ++unit)
    jobs_.start(attr(), [&, unit] {
      if (unit % 2 == 0) {
        EXPECT_EQ(weft_unit_migrate(weft_unit_self(), elsewhere), WEFT_OK);
      }
      weft_yield();
      ++(weft_worker_self() == here ? stayed : moved);
    });
  jobs_.join();
  worker.join();
  EXPECT_EQ(moved, 10);
  EXPECT_EQ(stayed, 10);
}

TEST_P(TurnsTest, OneThatIsCancelledMeanwhileEndsAtItsNextPoint) {
  int went_on = 0;
  weft_unit* victim = jobs_.start(attr_in_order(), [&] {
    weft_yield();
    ++went_on;
    weft_yield();
    ++went_on;
  });
  jobs_.start(attr_in_order(), [&] { EXPECT_EQ(weft_unit_cancel(victim), WEFT_OK); });
  jobs_.join();
  EXPECT_LE(went_on, 1);
}

// Each switch keeps the control words of whom it leaves; one that begins has its scheduler's.
TEST_P(TurnsTest, KeepTheirRounding) {
  const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (int unit = 0; unit < 40; ++unit)
    jobs_.start(attr(), [&, unit] {
      EXPECT_EQ(std::fegetround(), FE_TONEAREST);
      const int own = roundings[unit % 4];
      EXPECT_EQ(std::fesetround(own), 0);
      for (int turn = 0; turn < 3; ++turn) {
        weft_yield();
        EXPECT_EQ(std::fegetround(), own);
      }
      EXPECT_EQ(std::fesetround(FE_TONEAREST), 0);
    });
  jobs_.join();
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

TEST_P(TurnsTest, ThrowAndCatchBetweenTheirTurns) {
  int caught = 0;
  for (int unit = 0; unit < 40; ++unit)
    jobs_.start(attr(), [&caught, unit] {
      std::string said;
      for (int turn = 0; turn < 2; ++turn) {
        try {
          weft_yield();
          throw std::runtime_error(std::to_string(unit));
        } catch (const std::runtime_error& error) {  // no turn in here: these units share what their thread has caught
          said = error.what();
        }
        weft_yield();
      }
      EXPECT_EQ(said, std::to_string(unit));
      ++caught;
    });
  jobs_.join();
  EXPECT_EQ(caught, 40);
}

[[gnu::noinline]] void use_stack(std::size_t bytes) {
  auto memory = static_cast<volatile char*>(__builtin_alloca(bytes));
  for (std::size_t at = 0; at < bytes; at += 512) memory[at] = static_cast<char>(at);
}

// What one unit gives back another takes: the sizes must not be mixed up.
TEST_P(TurnsTest, OnStacksOfTheSizeThatEachAskedFor) {
  if (on_schedulers_stack(GetParam())) GTEST_SKIP() << "they are all of one size";
  const std::size_t sizes[] = {std::size_t{32} << 10U, std::size_t{512} << 10U, 0, std::size_t{128} << 10U};
  constexpr int units = 64;
  for (int round = 0; round < 6; ++round) {
    for (int unit = 0; unit < units; ++unit) {
      weft_unit_attr wish = attr();
      const std::size_t size = sizes[(unit / (round + 1)) % 4];
      wish.stack_size = size;
      jobs_.start(wish, [size] {
        weft_yield();
        use_stack(size != 0 ? size * 3 / 4 : 16U << 10U);
        weft_yield();
      });
    }
    jobs_.join();
  }
}

// Somebody else makes the root ready, which waits under the units that take turns.
TEST_P(TurnsTest, EndWhenTheirRootIsReady) {
  std::atomic<bool> stop{false};
  weft_eventual eventual;
  ASSERT_EQ(weft_eventual_init(&eventual, nullptr, 0), WEFT_OK);
  for (int unit = 0; unit < 3; ++unit)
    jobs_.start(attr(), [&stop] {
      while (!stop) weft_yield();
    });
  int turns = 0;
  jobs_.start(attr(), [&] {
    for (; turns < 1000; ++turns) weft_yield();
    EXPECT_EQ(weft_eventual_set(&eventual, nullptr, 0), WEFT_OK);
  });
  EXPECT_EQ(weft_eventual_wait(&eventual, nullptr, nullptr), WEFT_OK);
  EXPECT_EQ(turns, 1000);
  stop = true;
  jobs_.join();
  EXPECT_EQ(weft_eventual_destroy(&eventual), WEFT_OK);
}

WEFT_INSTANTIATE_WAITING(TurnsTest);

}  // namespace
}  // namespace weft::test
