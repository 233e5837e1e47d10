// Units that create units: every technique inside every other, and trees of them.
#include "support.h"

#include <cfenv>
#include <chrono>
#include <tuple>

namespace weft::test {
namespace {

using Pair = std::tuple<weft_technique, weft_technique>;

class NestTest : public ::testing::TestWithParam<Pair> {
 protected:
  void SetUp() override { ASSERT_EQ(weft_init(), WEFT_OK); }
  void TearDown() override { EXPECT_EQ(weft_finalize(), WEFT_OK); }
  weft_technique outer() const { return std::get<0>(GetParam()); }
  weft_technique inner() const { return std::get<1>(GetParam()); }
};

TEST_P(NestTest, CreatesAndJoins) {
  std::atomic<int> ran{0};
  Jobs jobs;
  for (int i = 0; i < 5; ++i)
    jobs.start(outer(), [&] {
      Jobs children;
      for (int k = 0; k < 3; ++k) children.start(inner(), [&] { ++ran; });
      children.join();
      ++ran;
    });
  jobs.join();
  EXPECT_EQ(ran, 5 * 4);
}

TEST_P(NestTest, CreatesThoseThatWait) {
  std::atomic<int> ran{0};
  Jobs jobs;
  for (int i = 0; i < 5; ++i)
    jobs.start(outer(), [&] {
      Jobs children;
      for (int k = 0; k < 3; ++k)
        children.start(inner(), [&, k] {
          for (int step = 0; step < k; ++step) pause_if_possible(inner());
          ++ran;
        });
      weft_yield();
      children.join();
      ++ran;
    });
  jobs.join();
  EXPECT_EQ(ran, 5 * 4);
}

// What a unit sees of itself before and after a child that it has created.
TEST_P(NestTest, TheCreatorGoesOnAsItWas) {
  Jobs jobs;
  for (int i = 0; i < 5; ++i)
    jobs.start(outer(), [&] {
      weft_unit* self = weft_unit_self();
      volatile int on_stack = 41;
      weft_unit* child = nullptr;
      {
        Jobs children;
        child = children.start(inner(), [&] {
          EXPECT_NE(weft_unit_self(), self);
          pause_if_possible(inner());
          EXPECT_NE(weft_unit_self(), self);
        });
        EXPECT_EQ(weft_unit_self(), self);
        EXPECT_EQ(weft_unit_state(self), WEFT_RUNNING);
        EXPECT_EQ(on_stack, 41);
      }
      EXPECT_EQ(weft_unit_self(), self);
      EXPECT_NE(child, self);
    });
  jobs.join();
}

INSTANTIATE_TEST_SUITE_P(, NestTest,
                         ::testing::Combine(::testing::Values(WEFT_AUTO, WEFT_FULL, WEFT_FULL_L, WEFT_ROC, WEFT_ROC_L,
                                                              WEFT_SS, WEFT_SS_L, WEFT_SC, WEFT_C_FULL, WEFT_C_FULL_E,
                                                              WEFT_C_ROC, WEFT_C_ROC_E),
                                            ::testing::ValuesIn(all_techniques)),
                         [](const ::testing::TestParamInfo<Pair>& instance) {
                           return plain_name(std::get<0>(instance.param)) + "With" +
                                  plain_name(std::get<1>(instance.param));
                         });

// A creator that was stolen and waits comes into its child's deque again when the child resumes it. The child
// took that for a creator that nobody had touched, and returned into frames that were gone.
class ChildFirstTest : public TechniqueTest {};

TEST_P(ChildFirstTest, ResumesItsStolenCreator) {
  if (weft_worker_count() < 2) GTEST_SKIP();
  int went_on = 0;
  for (int round = 0; round < 20; ++round) {
    Jobs jobs;
    jobs.start(WEFT_ROC_L, [&] {
      weft_unit* creator = weft_unit_self();
      Jobs children;
      children.start(GetParam(), [creator] {
        while (weft_unit_state(creator) != WEFT_SUSPENDED) {
        }
        EXPECT_EQ(weft_resume(creator), WEFT_OK);
      });
      EXPECT_EQ(weft_suspend(), WEFT_OK);
      ++went_on;
    });
  }
  EXPECT_EQ(went_on, 20);
}

// Bug: the child of a root, or of a stackless unit, began with the modes of the thread that had started weft.
TEST_P(ChildFirstTest, RoundsAsItsCreator) {
  const int before = std::fegetround();
  for (const weft_technique creator : {WEFT_FULL, WEFT_ROC_L, WEFT_STACKLESS}) {
    Jobs jobs;
    Jobs children;
    jobs.start(creator, [&] {
      ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
      children.start(GetParam(), [] {
        EXPECT_EQ(std::fegetround(), FE_UPWARD);
        std::fesetround(FE_DOWNWARD);
      });
      EXPECT_EQ(std::fegetround(), FE_UPWARD);
      std::fesetround(before);
    });
    jobs.join();
  }
  Jobs jobs;
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  for (const bool yields : {false, true})
    jobs.start(GetParam(), [yields] {
      EXPECT_EQ(std::fegetround(), FE_UPWARD);
      std::fesetround(FE_DOWNWARD);
      if (yields) weft_yield();
    });
  EXPECT_EQ(std::fegetround(), FE_UPWARD) << "the root";
  ASSERT_EQ(std::fesetround(before), 0);
  jobs.join();
}

// Creator and child hand the worker to and fro by themselves, without the scheduler.
TEST_P(ChildFirstTest, OthersHaveTheirTurn) {
  std::atomic<bool> slept{false}, had_turn{false};
  Jobs jobs;
  jobs.start(WEFT_ROC_L, [&slept] {
    EXPECT_EQ(weft_sleep(1000 * 1000), WEFT_OK);
    slept = true;
  });
  jobs.start(WEFT_ROC_L, [&had_turn] { had_turn = true; });
  jobs.start(WEFT_ROC_L, [&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!(slept && had_turn) && std::chrono::steady_clock::now() < end) {
      Jobs children;
      children.start(GetParam(), [] {});
    }
    EXPECT_TRUE(slept);
    EXPECT_TRUE(had_turn);
  });
}

INSTANTIATE_TEST_SUITE_P(, ChildFirstTest, ::testing::Values(WEFT_C_FULL, WEFT_C_FULL_E, WEFT_C_ROC, WEFT_C_ROC_E),
                         technique_name);

// Under schedulers of the program's own creators used to wait in their worker's deque, where nobody else looks, or to
// have their child on top of them.
class ChildFirstInPoolsTest : public ChildFirstTest {
 protected:
  /// Two workers that share a pool, by any kind of scheduler; body() runs there as a unit with the technique RoC-L.
  template <class Body>
  static void run_in_shared_pool(Body body) {
    for (int kind = WEFT_BASIC; kind <= WEFT_RANDOM_WS + 1; ++kind) {
      weft_pool* pool = make_pool(kind % 2 == 0 ? WEFT_FIFO : WEFT_LIFO);
      weft_scheduler* scheduler = nullptr;
      weft_worker* workers[2] = {};
      if (kind <= WEFT_RANDOM_WS)
        ASSERT_EQ(weft_scheduler_create(static_cast<weft_scheduler_kind>(kind), 1, &pool, &scheduler), WEFT_OK);
      else
        ASSERT_EQ(weft_scheduler_create_custom(run_pools, nullptr, 0, 1, &pool, &scheduler), WEFT_OK);
      for (auto& worker : workers) ASSERT_EQ(weft_worker_create(scheduler, &worker), WEFT_OK);
      {
        Jobs jobs;
        jobs.start(with(WEFT_ROC_L, pool), [&] { body(); });
      }
      for (auto* worker : workers) EXPECT_EQ(weft_worker_join(worker), WEFT_OK);
      EXPECT_EQ(weft_scheduler_free(scheduler), WEFT_OK);
      EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    }
  }
};

TEST_P(ChildFirstInPoolsTest, OthersContinueTheCreator) {
  run_in_shared_pool([] {
    std::atomic<bool> creator_went_on{false};
    const weft_worker* before = weft_worker_self();
    Jobs children;
    children.start(GetParam(), [&] {
      EXPECT_EQ(weft_worker_self(), before) << "it runs in its creator's place";
      while (!creator_went_on) {
      }
    });
    EXPECT_NE(weft_worker_self(), before);
    creator_went_on = true;
  });
}

TEST_P(ChildFirstInPoolsTest, TheChildRunsFirst) {
  run_in_shared_pool([] {
    for (int round = 0; round < 50; ++round) {
      std::atomic<bool> ran{false};
      Jobs children;
      weft_unit* child = children.start(GetParam(), [&] {
        ran = true;
        if (round % 2 == 0) weft_yield();
        if (round % 5 == 0) weft_unit_exit();
      });
      EXPECT_NE(weft_unit_state(child), WEFT_CREATED);
    }
  });
}

TEST_P(ChildFirstInPoolsTest, GrowsATree) {
  run_in_shared_pool([] {
    const std::function<unsigned(unsigned)> fib = [&fib](unsigned n) -> unsigned {
      if (n < 2) return n;
      unsigned left = 0;
      unsigned right = 0;
      {
        Jobs children;
        children.start(GetParam(), [&] { left = fib(n - 1); });
        right = fib(n - 2);
        if (n % 4 == 0) weft_yield();
      }
      return left + right;
    };
    EXPECT_EQ(fib(thread_sanitizer ? 8 : 12), thread_sanitizer ? 21U : 144U);
  });
}

TEST_P(ChildFirstInPoolsTest, ACreatorInAPrivatePoolComesBackThere) {
  weft_pool* pool = make_pool(WEFT_FIFO, WEFT_PRIV);
  const OwnScheduler own(run_pools, nullptr, false, {pool});
  std::string order;
  Jobs jobs;
  jobs.start(never_preempted(with(WEFT_ROC_L)), [&] {
    Jobs children;
    children.start(never_preempted(with(GetParam())), [&] { order += "child "; });
    order += "creator ";
  });
  jobs.start(never_preempted(with(WEFT_ROC_L)), [&] { order += "other "; });
  jobs.join();
  EXPECT_EQ(order, "child other creator ") << "the pool is a queue";
}

INSTANTIATE_TEST_SUITE_P(, ChildFirstInPoolsTest,
                         ::testing::Values(WEFT_C_FULL, WEFT_C_FULL_E, WEFT_C_ROC, WEFT_C_ROC_E), technique_name);

// A creator that has never waited did not know where it was, and counted a move when it went on where it was.
TEST_P(ChildFirstTest, ACreatorKnowsWhereItIs) {
  Jobs jobs;
  weft_unit_statistics statistics{};
  jobs.start(never_preempted(with(WEFT_ROC_L)), [&] {
    const weft_worker* before = weft_worker_self();
    bool moved = false;
    Jobs children;
    children.start(GetParam(), [] { weft_yield(); });
    moved = weft_worker_self() != before;
    EXPECT_EQ(weft_unit_get_statistics(weft_unit_self(), &statistics), WEFT_OK);
    EXPECT_EQ(statistics.worker_moves, moved ? 1U : 0U);
  });
  jobs.join();
}

struct Fib {
  weft_technique technique;
  unsigned n;
  unsigned long result;
  bool yields;
};

void fib(void* argument) {
  auto self = static_cast<Fib*>(argument);
  if (self->n < 2) {
    if (self->yields) weft_yield();
    self->result = self->n;
    return;
  }
  Fib left{self->technique, self->n - 1, 0, self->yields};
  Fib right{self->technique, self->n - 2, 0, self->yields};
  const weft_unit_attr attr = with(self->technique);
  weft_unit* unit = nullptr;
  ASSERT_EQ(weft_unit_create(fib, &left, &attr, &unit), WEFT_OK);
  fib(&right);
  ASSERT_EQ(weft_unit_free(unit), WEFT_OK);
  self->result = left.result + right.result;
}

TEST_P(WaitingTest, GrowsATree) {
  Fib top{GetParam(), thread_sanitizer ? 10U : 16U, 0, false};
  fib(&top);
  EXPECT_EQ(top.result, thread_sanitizer ? 55U : 987U);
}

TEST_P(WaitingTest, GrowsATreeThatDeviates) {
  Fib top{GetParam(), thread_sanitizer ? 8U : 13U, 0, true};
  fib(&top);
  EXPECT_EQ(top.result, thread_sanitizer ? 21U : 233U);
}

void go_down(int depth, weft_technique technique, std::atomic<int>& deepest) {
  ++deepest;
  if (depth == 0) return;
  Jobs jobs;
  jobs.start(technique, [&] { go_down(depth - 1, technique, deepest); });
}

TEST_P(WaitingTest, GoesDeep) {
  std::atomic<int> deepest{0};
  go_down(100, GetParam(), deepest);
  EXPECT_EQ(deepest, 101);
}

// Each level another technique.
TEST(NestMixed, GoesDownThroughAll) {
  ASSERT_EQ(weft_init(), WEFT_OK);
  std::atomic<int> ended{0};
  const std::function<void(int)> down = [&](int depth) {
    if (depth == 0) return;
    Jobs jobs;
    weft_technique technique = all_techniques[depth % 13];
    if (!may_wait(technique)) technique = WEFT_ROC;
    for (int i = 0; i < 2; ++i)
      jobs.start(technique, [&] {
        weft_yield();
        down(depth - 1);
        ++ended;
      });
  };
  down(8);
  EXPECT_EQ(ended, 510);
  EXPECT_EQ(weft_finalize(), WEFT_OK);
}

}  // namespace
}  // namespace weft::test
