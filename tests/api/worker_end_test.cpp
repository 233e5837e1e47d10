// What is left of the kernel threads of workers that have ended: nothing, but where a unit still needs one.
#include "support.h"

#include <thread>

namespace weft::test {
namespace {

class WorkerEndTest : public ApiTest {
 protected:
  void SetUp() override {
    if (address_sanitizer || thread_sanitizer)
      GTEST_SKIP() << "the sanitizers keep memory, and there are no identities";
    ApiTest::SetUp();
  }
  void TearDown() override {
    if (!IsSkipped()) ApiTest::TearDown();
  }
};

constexpr int cycles = 150;
constexpr long most_more_threads = cycles / 2;  // weft's own workers may start meanwhile, 64 at most

weft_unit_attr with_own_storage(weft_pool* pool) {
  weft_unit_attr attr = with(WEFT_AUTO, pool);
  attr.flags = WEFT_OWN_TLS;
  return attr;
}

// A worker of its own runs `body`, and is joined before `after` is called with the unit.
void run_on_worker(weft_pool* pool, const weft_unit_attr& attr, void (*body)(void*), void (*before_join)(weft_unit*),
                   void (*after)(weft_unit*, weft_pool*)) {
  weft_scheduler* scheduler = nullptr;
  weft_worker* worker = nullptr;
  weft_unit* unit = nullptr;
  ASSERT_EQ(weft_scheduler_create(WEFT_BASIC, 1, &pool, &scheduler), WEFT_OK);
  ASSERT_EQ(weft_worker_create(scheduler, &worker), WEFT_OK);
  ASSERT_EQ(weft_unit_create(body, nullptr, &attr, &unit), WEFT_OK);
  before_join(unit);
  ASSERT_EQ(weft_worker_join(worker), WEFT_OK);
  ASSERT_EQ(weft_scheduler_free(scheduler), WEFT_OK);
  after(unit, pool);
}

void join_and_free(weft_unit* unit) {
  ASSERT_EQ(weft_unit_join(unit), WEFT_OK);
  ASSERT_EQ(weft_unit_free(unit), WEFT_OK);
}

void nothing_more(weft_unit* /*unit*/, weft_pool* /*pool*/) {}

void expect_no_more_threads(long before) {
  EXPECT_TRUE(eventually([before] { return status_value("Threads") < before + most_more_threads; }))
      << before << " threads, and then " << status_value("Threads");
}

// Bug: each left its alternate signal stack behind, 64 KiB.
TEST_F(WorkerEndTest, LeavesNoSignalStack) {
  weft_pool* pool = make_pool();
  long before = 0;
  for (int cycle = -20; cycle < cycles; ++cycle) {
    if (cycle == 0) before = status_value("VmData");
    run_on_worker(
        pool, with(WEFT_AUTO, pool), [](void*) {}, join_and_free, nothing_more);
  }
  constexpr long of_stacks = cycles * 64L;
  EXPECT_LT(status_value("VmData"), before + of_stacks / 2);
  EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

// Bug: one on which a unit with thread-local storage of its own had yielded left its kernel thread behind.
TEST_F(WorkerEndTest, LeavesNoThreadWhereAUnitHadItsStorage) {
  weft_pool* pool = make_pool();
  const long before = status_value("Threads");
  for (int cycle = 0; cycle < cycles; ++cycle)
    run_on_worker(
        pool, with_own_storage(pool), [](void*) { weft_yield(); }, join_and_free, nothing_more);
  expect_no_more_threads(before);
  EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

thread_local int mine = 0;

void keep_and_suspend(void* /*nothing*/) {
  mine = 4711;
  weft_suspend();
  EXPECT_EQ(mine, 4711) << "after the worker has ended on whose thread-local storage it was";
}

void resume_on_another_worker(weft_unit* suspended, weft_pool* pool) {
  OwnWorker worker(WEFT_BASIC, {make_pool()});
  run_on_worker(
      pool, with_own_storage(pool), [](void*) { mine = 1; }, join_and_free, nothing_more);
  ASSERT_EQ(weft_resume(suspended), WEFT_OK);
  run_on_worker(
      pool, with_own_storage(pool), [](void*) { weft_yield(); }, join_and_free, nothing_more);
  join_and_free(suspended);
}

// Bug: where a unit was suspended when its worker ended, there was one thread more for ever.
TEST_F(WorkerEndTest, LeavesAsManyThreadsAsUnitsNeed) {
  weft_pool* pool = make_pool();
  const long before = status_value("Threads");
  for (int cycle = 0; cycle < cycles; ++cycle)
    run_on_worker(
        pool, with_own_storage(pool), keep_and_suspend,
        [](weft_unit* unit) { ASSERT_TRUE(eventually([unit] { return weft_unit_state(unit) == WEFT_SUSPENDED; })); },
        resume_on_another_worker);
  expect_no_more_threads(before);
  EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

struct Traveller {
  weft_pool* here;
  weft_pool* there;
};

void change_over(void* argument) {
  EXPECT_EQ(weft_sleep(1000), WEFT_OK);
  EXPECT_EQ(weft_unit_migrate(weft_unit_self(), static_cast<Traveller*>(argument)->there), WEFT_OK);
  EXPECT_EQ(weft_yield(), WEFT_OK);
}

void start_traveller(Traveller& traveller) {
  const weft_unit_attr attr = with_own_storage(traveller.here);
  weft_unit* unit = nullptr;
  ASSERT_EQ(weft_unit_create(change_over, &traveller, &attr, &unit), WEFT_OK);
  join_and_free(unit);
}

// Bug: of two workers on each of which a unit had ended with the storage that the other one's thread was born with, one
// left its thread behind.
TEST_F(WorkerEndTest, LeavesNoThreadWhereUnitsChangedOver) {
  const long before = status_value("Threads");
  for (int cycle = 0; cycle < cycles; ++cycle) {
    weft_pool* pools[] = {make_pool(), make_pool()};
    OwnWorker first(WEFT_BASIC_WAIT, {pools[0]});
    OwnWorker second(WEFT_BASIC_WAIT, {pools[1]});  // is joined first
    Traveller there{pools[0], pools[1]};
    Traveller back{pools[1], pools[0]};
    start_traveller(there);
    start_traveller(back);
  }
  expect_no_more_threads(before);
}

}  // namespace
}  // namespace weft::test
