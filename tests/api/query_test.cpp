// weft_units(), weft_pools(), weft_workers(): what they show, and that they can be asked at any time.
#include "support.h"

#include <algorithm>
#include <thread>

namespace weft::test {
namespace {

class QueryTest : public ApiTest {};

template <class Info>
std::vector<Info> all(size_t (*query)(Info*, size_t)) {
  std::vector<Info> infos(query(nullptr, 0) + 100);
  const size_t there = query(infos.data(), infos.size());
  infos.resize(std::min(infos.size(), there));
  return infos;
}

template <class Info, class Handle>
const Info* find(const std::vector<Info>& infos, Handle* Info::*member, const Handle* handle) {
  for (const Info& info : infos)
    if (info.*member == handle) return &info;
  return nullptr;
}

weft_unit_info info_of(const weft_unit* unit) {
  const std::vector<weft_unit_info> units = all(weft_units);
  const weft_unit_info* found = find(units, &weft_unit_info::unit, unit);
  return found != nullptr ? *found : weft_unit_info{};
}

weft_pool_info info_of(const weft_pool* pool) {
  const std::vector<weft_pool_info> pools = all(weft_pools);
  const weft_pool_info* found = find(pools, &weft_pool_info::pool, pool);
  return found != nullptr ? *found : weft_pool_info{};
}

weft_worker_info info_of(const weft_worker* worker) {
  const std::vector<weft_worker_info> workers = all(weft_workers);
  const weft_worker_info* found = find(workers, &weft_worker_info::worker, worker);
  return found != nullptr ? *found : weft_worker_info{};
}

// ---------------------------------------------------------------- units

TEST_P(WaitingTest, IsShownUntilItIsDone) {
  weft_pool* pool = make_pool();
  OwnScheduler own(WEFT_BASIC, {pool});
  Jobs jobs;
  weft_unit_info during{};
  weft_unit_attr attr = with(GetParam(), pool);
  attr.name = "shown";
  weft_unit* unit = jobs.start(attr, [&] {
    during = info_of(weft_unit_self());
    weft_suspend();
  });
  if (!child_first(GetParam())) {
    const weft_unit_info before = info_of(unit);
    EXPECT_EQ(before.unit, unit);
    EXPECT_EQ(before.state, WEFT_CREATED);
    EXPECT_EQ(before.technique, GetParam());
    EXPECT_STREQ(before.name, "shown");
    EXPECT_EQ(before.worker, nullptr);
  }
  EXPECT_TRUE(eventually([&] { return weft_unit_state(unit) == WEFT_SUSPENDED; }));
  EXPECT_EQ(during.unit, unit);
  EXPECT_EQ(during.state, WEFT_RUNNING);
  EXPECT_EQ(during.technique, weft_unit_technique(unit));
  EXPECT_NE(during.technique, WEFT_AUTO);
  EXPECT_STREQ(during.name, "shown");
  EXPECT_EQ(during.worker, weft_worker_self());
  const weft_unit_info after = info_of(unit);
  EXPECT_EQ(after.state, WEFT_SUSPENDED);
  EXPECT_EQ(after.worker, weft_worker_self());
  EXPECT_EQ(weft_unit_set_name(unit, "another"), WEFT_OK);
  EXPECT_STREQ(info_of(unit).name, "another");
  EXPECT_EQ(weft_resume(unit), WEFT_OK);
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  EXPECT_EQ(info_of(unit).unit, nullptr) << "it is done";
  EXPECT_EQ(weft_unit_revive(unit, Jobs::run, jobs.keep([] {})), WEFT_OK);
  EXPECT_EQ(info_of(unit).unit, unit) << "it has not run again yet";
  jobs.join();
  EXPECT_EQ(info_of(unit).unit, nullptr);
}

TEST_F(QueryTest, CountsUnits) {
  weft_pool* pool = make_pool();
  OwnScheduler own(WEFT_BASIC, {pool});
  const size_t before = weft_units(nullptr, 0);
  Jobs jobs;
  for (int i = 0; i < 1000; ++i) jobs.start(with(WEFT_ROC_L, pool), [] {});
  EXPECT_EQ(weft_units(nullptr, 0), before + 1000);
  EXPECT_EQ(weft_units(nullptr, 5), before + 1000) << "NULL: none is written";
  std::vector<weft_unit_info> infos(10, weft_unit_info{});
  EXPECT_EQ(weft_units(infos.data(), 9), before + 1000);
  for (int i = 0; i < 9; ++i) EXPECT_NE(infos[static_cast<size_t>(i)].unit, nullptr);
  EXPECT_EQ(infos[9].unit, nullptr) << "written beyond `most`";
  jobs.join();
  EXPECT_EQ(weft_units(nullptr, 0), before);
}

TEST_F(QueryTest, DetachedUnitsAreShownAndThoseThatCouldNotBeMadeAreNot) {
  weft_pool* pool = make_pool();
  OwnScheduler own(WEFT_BASIC, {pool});
  const size_t before = weft_units(nullptr, 0);
  Jobs jobs;
  bool ended = false;
  jobs.start_detached(with(WEFT_ROC_L, pool), [&] { ended = true; });
  EXPECT_EQ(weft_units(nullptr, 0), before + 1);
  EXPECT_TRUE(eventually([&] { return ended; }));
  EXPECT_TRUE(eventually([&] { return weft_units(nullptr, 0) == before; }));
  if (address_sanitizer || thread_sanitizer) return;  // they need the addresses themselves
  weft_unit_attr attr = with(WEFT_FULL, pool);
  attr.stack_size = std::size_t{1} << 40U;
  std::vector<weft_unit*> made;
  for (weft_unit* unit = nullptr; made.size() < 1000; made.push_back(unit))
    if (weft_unit_create([](void*) {}, nullptr, &attr, &unit) != WEFT_OK) break;
  EXPECT_LT(made.size(), 1000U);
  EXPECT_EQ(weft_units(nullptr, 0), before + made.size());
  EXPECT_EQ(weft_unit_free_many(made.size(), made.data()), WEFT_OK);
  EXPECT_EQ(weft_units(nullptr, 0), before);
}

TEST_F(QueryTest, StacklessUnitsAndForeignThreadsAsk) {
  Jobs jobs;
  const weft_unit* seen = nullptr;
  weft_unit* unit = jobs.start(WEFT_STACKLESS, [&] { seen = info_of(weft_unit_self()).unit; });
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  EXPECT_EQ(seen, unit);
  size_t roots_before = 0;
  size_t roots_after = 0;
  const auto roots = [] {
    size_t count = 0;
    for (const weft_worker_info& info : all(weft_workers)) count += info.root != 0 ? 1U : 0U;
    return count;
  };
  roots_before = roots();
  std::thread([&] {
    weft_units(nullptr, 0);
    weft_pools(nullptr, 0);
    roots_after = roots();
  }).join();
  EXPECT_EQ(roots_after, roots_before) << "asking made the thread a root";
}

// ---------------------------------------------------------------- pools

TEST_F(QueryTest, ShowsPools) {
  for (const weft_order order : {WEFT_FIFO, WEFT_LIFO, WEFT_PRIORITY, WEFT_DEQUE})
    for (const weft_access access : {WEFT_PRIV, WEFT_SPSC, WEFT_MPSC, WEFT_SPMC, WEFT_MPMC}) {
      if (order == WEFT_DEQUE && (access == WEFT_SPSC || access == WEFT_MPSC)) continue;
      const size_t before = weft_pools(nullptr, 0);
      weft_pool* pool = make_pool(order, access);
      EXPECT_EQ(weft_pools(nullptr, 0), before + 1);
      weft_pool_info info = info_of(pool);
      EXPECT_EQ(info.pool, pool);
      EXPECT_EQ(info.order, order);
      EXPECT_EQ(info.access, access);
      EXPECT_EQ(info.custom, 0);
      EXPECT_EQ(info.size, 0U);
      {
        Jobs jobs;
        for (int i = 0; i < 3; ++i) jobs.start(with(WEFT_ROC_L, pool), [] {});
        EXPECT_EQ(info_of(pool).size, 3U);
        weft_scheduler* scheduler = nullptr;
        ASSERT_EQ(weft_scheduler_create(WEFT_BASIC, 1, &pool, &scheduler), WEFT_OK);
        ASSERT_EQ(weft_worker_set_scheduler(weft_worker_self(), scheduler), WEFT_OK);
        jobs.join();
        EXPECT_EQ(weft_worker_set_scheduler(weft_worker_self(), nullptr), WEFT_OK);
        EXPECT_EQ(weft_scheduler_free(scheduler), WEFT_OK);
      }
      EXPECT_EQ(info_of(pool).size, 0U);
      EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
      EXPECT_EQ(info_of(pool).pool, nullptr);
      EXPECT_EQ(weft_pools(nullptr, 0), before);
    }
}

TEST_F(QueryTest, AsksPoolsOfTheProgramsOwnForTheirSize) {
  size_t size = 17;
  bool freed = false;
  struct Data {
    size_t* size;
    bool* freed;
  } data{&size, &freed};
  const weft_pool_functions functions = {[](void*, weft_unit*) {}, [](void*) -> weft_unit* { return nullptr; },
                                         [](void* own) { return *static_cast<Data*>(own)->size; },
                                         [](void* own) { *static_cast<Data*>(own)->freed = true; }};
  weft_pool* pool = nullptr;
  ASSERT_EQ(weft_pool_create_custom(&functions, &data, &pool), WEFT_OK);
  EXPECT_EQ(info_of(pool).custom, 1);
  EXPECT_EQ(info_of(pool).access, WEFT_MPMC);
  EXPECT_EQ(info_of(pool).size, 17U);
  size = 0;
  EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
  EXPECT_TRUE(freed);
  EXPECT_EQ(info_of(pool).pool, nullptr);
}

// ---------------------------------------------------------------- workers

TEST_F(QueryTest, ShowsTheWorkerOfARoot) {
  const weft_worker_info info = info_of(weft_worker_self());
  EXPECT_EQ(info.worker, weft_worker_self());
  EXPECT_EQ(info.index, weft_worker_index(weft_worker_self()));
  EXPECT_EQ(info.cpu, -1);
  EXPECT_EQ(info.root, 1);
  EXPECT_EQ(info.state, WEFT_WORKER_RUNNING);
  EXPECT_EQ(info.unit, nullptr);
  EXPECT_EQ(info.scheduler, nullptr);
  weft_worker* other = nullptr;
  int root = 0;
  std::thread([&] {
    other = weft_worker_self();
    root = info_of(other).root;
  }).join();
  EXPECT_EQ(root, 1);
  EXPECT_TRUE(eventually([&] { return info_of(other).worker == nullptr; })) << "it ends with its thread";
}

TEST_F(QueryTest, ShowsWhatAWorkerDoes) {
  for (const weft_scheduler_kind kind : {WEFT_BASIC, WEFT_BASIC_WAIT}) {
    weft_pool* pool = make_pool();
    OwnWorker own(kind, {pool});
    weft_worker* worker = own.get();
    const weft_worker_state idle = kind == WEFT_BASIC ? WEFT_WORKER_SEARCHING : WEFT_WORKER_ASLEEP;
    EXPECT_TRUE(eventually([&] { return info_of(worker).state == idle; }));
    EXPECT_EQ(info_of(worker).root, 0);
    EXPECT_EQ(info_of(worker).unit, nullptr);
    EXPECT_EQ(info_of(worker).scheduler, own.scheduler());
    Jobs jobs;
    std::atomic<bool> began{false};
    std::atomic<bool> go{false};
    weft_unit* unit = jobs.start(with(WEFT_ROC_L, pool), [&] {
      began = true;
      while (!go) std::this_thread::yield();
    });
    EXPECT_TRUE(eventually([&] { return began.load(); }));
    EXPECT_EQ(info_of(worker).state, WEFT_WORKER_RUNNING);
    EXPECT_EQ(info_of(worker).unit, unit);
    EXPECT_EQ(info_of(unit).worker, worker);
    go = true;
    jobs.join();
    EXPECT_TRUE(eventually([&] { return info_of(worker).state == idle && info_of(worker).unit == nullptr; }));
    own.join();
    EXPECT_EQ(info_of(worker).worker, nullptr) << "it has ended";
  }
}

TEST_F(QueryTest, ShowsWhereAWorkerIsBound) {
  weft_pool* pool = make_pool();
  OwnWorker own(WEFT_BASIC_WAIT, {pool});
  int cpu = 0;
  while (cpu < 1024 && weft_worker_bind(own.get(), cpu) != WEFT_OK) ++cpu;
  EXPECT_EQ(info_of(own.get()).cpu, cpu);
  EXPECT_EQ(weft_worker_bind(own.get(), -1), WEFT_OK);
  EXPECT_EQ(info_of(own.get()).cpu, -1);
}

TEST_F(QueryTest, WorkersAreInOrder) {
  Jobs jobs;
  for (int i = 0; i < 100; ++i) jobs.start(WEFT_ROC_L, [] { weft_sleep(1000); });
  jobs.join();
  const std::vector<weft_worker_info> workers = all(weft_workers);
  ASSERT_GE(workers.size(), 1U);
  for (size_t i = 1; i < workers.size(); ++i) EXPECT_LT(workers[i - 1].index, workers[i].index);
  weft_worker_info one{};
  EXPECT_GE(weft_workers(&one, 1), workers.size());
  EXPECT_EQ(one.worker, workers[0].worker);
}

// ---------------------------------------------------------------- at any time

TEST_F(QueryTest, WhileEverythingComesAndGoes) {
  std::atomic<bool> over{false};
  std::atomic<unsigned> asked{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      while (!over) {
        for (const weft_unit_info& info : all(weft_units)) {
          EXPECT_NE(info.unit, nullptr);
          EXPECT_TRUE(info.name != nullptr && (info.name[0] == '\0' || std::string(info.name) == "a name"));
          EXPECT_LT(info.state, WEFT_DONE);
          EXPECT_LE(info.technique, WEFT_C_ROC_E);
        }
        for (const weft_pool_info& info : all(weft_pools)) EXPECT_LE(info.size, 1000U);
        for (const weft_worker_info& info : all(weft_workers)) EXPECT_NE(info.worker, nullptr);
        ++asked;
      }
    });
  const auto churn = [] {
    Jobs jobs;
    weft_pool* pool = make_pool(WEFT_FIFO, WEFT_MPMC);
    {
      OwnWorker own(WEFT_BASIC_WAIT, {pool});
      for (unsigned i = 0; i < 130; ++i) {
        const weft_technique technique = all_techniques[i % 13];
        weft_unit_attr attr = with(technique, i % 2 == 0 ? pool : nullptr);
        if (i % 3 == 0) attr.name = "a name";
        jobs.start(attr, [technique] { pause_if_possible(technique); });
      }
      jobs.join();
    }
  };
  const unsigned rounds = scaled(60);
  for (unsigned round = 0; round < rounds || asked < 10; ++round) {
    churn();
    if (round % 8 == 0) std::thread(churn).join();
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace weft::test
