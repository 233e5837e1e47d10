// Units that create units: every technique inside every other, and trees of them.
#include "support.h"

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

INSTANTIATE_TEST_SUITE_P(, ChildFirstTest, ::testing::Values(WEFT_C_FULL, WEFT_C_FULL_E, WEFT_C_ROC, WEFT_C_ROC_E),
                         technique_name);

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
