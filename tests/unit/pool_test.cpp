// src/core/pool: every unit pushed is taken exactly once, in the order that the pool promises, and who waits in a pool
// is woken.
#include "core/pool/pool.h"

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "os/barrier.h"
#include "os/clock.h"
#include "support.h"

namespace weft::test {
namespace {

using core::Access;
using core::Order;
using core::Pool;
using core::Unit;

struct Destroy {
  void operator()(Pool* pool) const {
    EXPECT_EQ(pool->size(), 0U);
    pool->destroy();
  }
};
using PoolPointer = std::unique_ptr<Pool, Destroy>;

struct Kind {
  Order order;
  Access access;
};

constexpr Order orders[] = {Order::fifo, Order::lifo, Order::priority, Order::deque};
constexpr Access accesses[] = {Access::priv, Access::spsc, Access::mpsc, Access::spmc, Access::mpmc};

bool many_producers(Access access) { return access == Access::mpsc || access == Access::mpmc; }
bool many_consumers(Access access) { return access == Access::spmc || access == Access::mpmc; }

std::vector<Kind> kinds(bool (*wanted)(Kind)) {
  std::vector<Kind> all;
  for (Order order : orders)
    for (Access access : accesses)
      if (Pool::valid(order, access) && wanted({order, access})) all.push_back({order, access});
  return all;
}

const auto any = [](Kind) { return true; };
const auto shared = [](Kind kind) { return kind.access != Access::priv; };
const auto shared_by_priority = [](Kind kind) { return kind.order == Order::priority && shared(kind); };
const auto for_many = [](Kind kind) { return many_consumers(kind.access); };

std::string kind_name(const ::testing::TestParamInfo<Kind>& instance) {
  const char* const order[] = {"Fifo", "Lifo", "Priority", "Deque"};
  const char* const access[] = {"Priv", "Spsc", "Mpsc", "Spmc", "Mpmc"};
  return std::string(order[static_cast<unsigned>(instance.param.order)]) +
         access[static_cast<unsigned>(instance.param.access)];
}

// Units in one array, so that a unit tells its number. Made once: most of the time is page faults.
constexpr unsigned most_units = scaled(1000000);
core::WholeUnit* all_units() {
  static const auto units = std::make_unique<core::WholeUnit[]>(most_units);
  return units.get();
}
unsigned number_of(const Unit* unit) {
  return static_cast<unsigned>(static_cast<const core::WholeUnit*>(unit) - all_units());
}

Unit* chain_of(const std::vector<Unit*>& units) {
  for (std::size_t index = 0; index + 1 < units.size(); ++index) units[index]->next = units[index + 1];
  return units.front();
}

class PoolTest : public ::testing::TestWithParam<Kind> {
 protected:
  static PoolPointer make() { return PoolPointer(Pool::create(GetParam().order, GetParam().access)); }

  // What pop() must give after the units 0..count-1 were pushed, one after the other.
  static std::vector<Unit*> expected(unsigned count) {
    std::vector<Unit*> units(count);
    for (unsigned number = 0; number < count; ++number) units[number] = all_units() + number;
    if (GetParam().order == Order::lifo || GetParam().order == Order::deque) std::reverse(units.begin(), units.end());
    if (GetParam().order == Order::priority)
      std::stable_sort(units.begin(), units.end(),
                       [](Unit* a, Unit* b) { return details(*a).priority > details(*b).priority; });
    return units;
  }

  // Priorities of all kinds, many of them equal.
  static std::vector<Unit*> prepare(unsigned count) {
    const int some[] = {0, 7, -3, 0, INT32_MAX, 7, INT32_MIN, 1, 0};
    std::vector<Unit*> units(count);
    for (unsigned number = 0; number < count; ++number) {
      units[number] = all_units() + number;
      details(*units[number]).priority = some[number * 5 % 9];
    }
    return units;
  }
};

TEST(Pool, ThereAreDequesForOneOrManyThieves) {
  for (Order order : orders)
    for (Access access : accesses) {
      const bool none = order == Order::deque && (access == Access::spsc || access == Access::mpsc);
      EXPECT_EQ(Pool::valid(order, access), !none);
      PoolPointer pool(nullptr);
      if (none)
        EXPECT_EQ(Pool::create(order, access), nullptr);
      else
        EXPECT_EQ((pool = PoolPointer(Pool::create(order, access)))->is_deque(), order == Order::deque);
    }
  EXPECT_FALSE(Pool::valid(static_cast<Order>(4), Access::mpmc));
  EXPECT_FALSE(Pool::valid(Order::fifo, static_cast<Access>(5)));
}

TEST_P(PoolTest, EmptyGivesNothing) {
  const PoolPointer pool = make();
  Unit* units[2];
  EXPECT_EQ(pool->access(), GetParam().access);
  EXPECT_TRUE(pool->looks_empty());
  EXPECT_EQ(pool->pop(), nullptr);
  EXPECT_EQ(pool->steal(), nullptr);
  EXPECT_EQ(pool->pop_many(units, 2), 0U);
  bool timed_out = false;
  EXPECT_EQ(pool->pop_wait(0, &timed_out), nullptr);
  EXPECT_TRUE(timed_out);
}

TEST_P(PoolTest, KeepsItsOrder) {
  const PoolPointer pool = make();
  for (unsigned count : {1U, 2U, 3U, 100U, 1000U}) {
    for (Unit* unit : prepare(count)) {
      EXPECT_EQ(pool->size(), number_of(unit));
      pool->push(unit);
      EXPECT_FALSE(pool->looks_empty());
    }
    unsigned left = count;
    for (Unit* unit : expected(count)) {
      EXPECT_EQ(pool->size(), left--);
      ASSERT_EQ(pool->pop(), unit);
    }
    EXPECT_TRUE(pool->looks_empty());
    EXPECT_EQ(pool->pop(), nullptr);
  }
}

TEST_P(PoolTest, KeepsItsOrderInBatches) {
  const PoolPointer pool = make();
  const unsigned count = 1000;
  auto units = prepare(count);
  pool->push(units[0]);
  unsigned first = 1;
  for (unsigned length = 1; first < count; first += length, ++length) {
    length = std::min(length, count - first);
    const std::vector<Unit*> batch(units.begin() + first, units.begin() + first + length);
    pool->push_many(chain_of(batch), batch.back(), length);
    EXPECT_EQ(pool->size(), first + length);
  }
  std::vector<Unit*> taken(count + 1, nullptr);
  unsigned have = pool->pop_many(taken.data(), 10);
  EXPECT_EQ(have, 10U);
  EXPECT_EQ(pool->size(), count - 10);
  have += pool->pop_many(taken.data() + have, count + 1 - have);
  taken.resize(have);
  EXPECT_EQ(taken, expected(count));
}

TEST_P(PoolTest, HoldsAMillion) {
  const PoolPointer pool = make();
  for (unsigned number = 0; number < most_units; ++number) pool->push(all_units() + number);
  EXPECT_EQ(pool->size(), most_units);
  unsigned count = 0;
  std::uint64_t sum = 0;
  while (const Unit* unit = pool->pop()) {
    ++count;
    sum += number_of(unit);
  }
  EXPECT_EQ(count, most_units);
  EXPECT_EQ(sum, std::uint64_t{most_units} * (most_units - 1) / 2);
}

TEST_P(PoolTest, PushesAndPopsInTurn) {
  const PoolPointer pool = make();
  const auto units = prepare(3);
  for (unsigned round = 0; round < 1000; ++round) {
    pool->push(units[0]);
    pool->push(units[1]);
    pool->push(units[2]);
    unsigned sum = 0;
    for (unsigned number = 0; number < 3; ++number) sum += number_of(number == 1 ? pool->steal() : pool->pop());
    ASSERT_EQ(sum, 3U);
    ASSERT_TRUE(pool->looks_empty());
  }
}

TEST_P(PoolTest, StealsTheOldestOfADeque) {
  const PoolPointer pool = make();
  const auto units = prepare(100);
  for (Unit* unit : units) pool->push(unit);
  const auto as_popped = expected(100);
  for (unsigned number = 0; number < 50; ++number)
    ASSERT_EQ(pool->steal(), pool->is_deque() ? units[number] : as_popped[number]);
  for (unsigned number = 0; number < 50; ++number)
    ASSERT_EQ(pool->pop(), as_popped[pool->is_deque() ? number : number + 50]);
}

// At either end of a deque. By priority, all are equal here.
TEST_P(PoolTest, WhatGivesWayIsBehindAllOthers) {
  const PoolPointer pool = make();
  for (unsigned count : {1U, 3U, 64U, 1000U})
    for (const bool steals : {false, true}) {
      const unsigned all = count + 100;
      for (unsigned number = 0; number < all; ++number) details(all_units()[number]).priority = 0;
      for (unsigned number = 0; number < count; ++number) pool->push(all_units() + number);
      for (unsigned number = count; number < all; ++number) pool->push_behind(all_units() + number);
      ASSERT_EQ(pool->size(), all);
      for (unsigned number = 0; number < all; ++number) {
        const Unit* unit = steals ? pool->steal() : pool->pop();
        ASSERT_EQ(number_of(unit) >= count, number >= count);
        if (number >= count) {
          ASSERT_EQ(number_of(unit), number);
        }
      }
      ASSERT_TRUE(pool->looks_empty());
    }
}

// One gives way as often as it comes, among others of which there are always some.
TEST_P(PoolTest, WhatGivesWayComesAgain) {
  if (GetParam().order != Order::fifo && GetParam().order != Order::priority) return;
  const PoolPointer pool = make();
  const auto units = prepare(10);
  for (Unit* unit : units) details(*unit).priority = 0;
  for (Unit* unit : units) pool->push(unit);
  unsigned turns = 0;
  for (unsigned pops = 0; pops < 1000; ++pops) {
    Unit* unit = pool->pop();
    ASSERT_NE(unit, nullptr);
    const bool gives_way = unit == units[3];
    turns += gives_way ? 1 : 0;
    gives_way ? pool->push_behind(unit) : pool->push(unit);
  }
  EXPECT_GE(turns, 90U);
  while (pool->pop() != nullptr) {
  }
}

// Comes back from whoever has made it ready.
TEST_P(PoolTest, WhatComesBackKeepsItsPriority) {
  if (GetParam().order != Order::priority) return;
  const PoolPointer pool = make();
  for (Unit* unit : prepare(100)) number_of(unit) % 2 == 0 ? pool->put_back(unit) : pool->push(unit);
  std::int64_t before = INT64_MAX;
  while (const Unit* unit = pool->pop()) {
    EXPECT_LE(details(*unit).priority, before);
    before = details(*unit).priority;
  }
}

TEST_P(PoolTest, WaitsNoLongerThanItShould) {
  const PoolPointer pool = make();
  const std::uint64_t wait = 3000000;
  bool timed_out = false;
  const std::uint64_t began = os::now_ns();
  EXPECT_EQ(pool->pop_wait(wait, &timed_out), nullptr);
  EXPECT_GE(os::now_ns() - began, wait);
  EXPECT_TRUE(timed_out);
  pool->push(all_units());
  EXPECT_EQ(pool->pop_wait(UINT64_MAX, &timed_out), all_units());
  EXPECT_FALSE(timed_out);
}

// ---------------------------------------------------------------- several threads

// Checks what several consumers take: each unit once, and the units of a producer (and priority) in order, where the
// pool says so. Producers push the units of a range each, by growing number.
class Ledger {
 public:
  Ledger(unsigned producers, unsigned count, bool ordered)
      : each_(count / producers), count_(each_ * producers), ordered_(ordered), taken_(count_) {}
  unsigned each() const { return each_; }
  unsigned count() const { return count_; }
  bool complete() const { return total_.load(std::memory_order_acquire) >= count_; }

  // One per consumer.
  class Page {
   public:
    explicit Page(Ledger& ledger) : ledger_(ledger), next_(ledger.count_ / ledger.each_ * priorities, 0) {}
    ~Page() { settle(); }
    void note(const Unit* unit) {
      const unsigned number = number_of(unit);
      ledger_.taken_[number].store(1, std::memory_order_relaxed);
      unsigned& next = next_[number / ledger_.each_ * priorities + static_cast<unsigned>(details(*unit).priority)];
      if (ledger_.ordered_ && number < next) ledger_.in_order_ = false;
      next = number + 1;
      ++here_;
    }
    // Before the consumer looks whether all is taken.
    void settle() {
      if (here_ != 0) ledger_.total_.fetch_add(here_, std::memory_order_acq_rel);
      here_ = 0;
    }

   private:
    Ledger& ledger_;
    std::vector<unsigned> next_;
    unsigned here_ = 0;
  };

  // As many taken as there are, and each of them at least once: each exactly once.
  void check() const {
    EXPECT_EQ(total_.load(), count_);
    EXPECT_TRUE(in_order_);
    EXPECT_TRUE(std::all_of(taken_.begin(), taken_.end(), [](const auto& taken) { return taken.load() == 1; }));
  }

  static constexpr unsigned priorities = 8;
  static void set_priorities(unsigned count) {
    for (unsigned number = 0; number < count; ++number)
      all_units()[number].details.priority = static_cast<int>((number >> 2U) % priorities);
  }

 private:
  unsigned each_;
  unsigned count_;
  bool ordered_;
  std::vector<std::atomic<unsigned char>> taken_;
  std::atomic<unsigned> total_{0};
  std::atomic<bool> in_order_{true};
};

// One by one and in batches, in turn.
template <class AfterEach>
void produce(Pool& pool, unsigned first, unsigned count, AfterEach after_each) {
  core::WholeUnit* const units = all_units() + first;
  std::uint32_t random = first + 1;
  for (unsigned number = 0; number < count;) {
    random = random * 1664525U + 1013904223U;
    const unsigned length = std::min(count - number, (random >> 28U) < 8 ? 1 : random >> 28U);
    for (unsigned index = 0; index + 1 < length; ++index) units[number + index].next = units + number + index + 1;
    if (length == 1)
      pool.push(units + number);
    else
      pool.push_many(units + number, units + number + length - 1, length);
    number += length;
    after_each();
  }
}

void consume(Pool& pool, Ledger& ledger) {
  Ledger::Page page(ledger);
  Unit* units[16];
  while (!ledger.complete()) {
    unsigned in_vain = 0;
    while (in_vain < 3) {
      Unit* unit = pool.steal();
      if (unit != nullptr) page.note(unit);
      const unsigned count = pool.is_deque() ? 0 : pool.pop_many(units, 16);
      for (unsigned index = 0; index < count; ++index) page.note(units[index]);
      in_vain = unit == nullptr && count == 0 ? in_vain + 1 : 0;
    }
    page.settle();
    std::this_thread::yield();
  }
}

class SharedPoolTest : public PoolTest {
 protected:
  static unsigned producers() { return many_producers(GetParam().access) ? 3 : 1; }
  static unsigned consumers() { return many_consumers(GetParam().access) ? 3 : 1; }
  static bool ordered() { return GetParam().order == Order::fifo || GetParam().order == Order::priority; }
};

// Several hand units back and forth: each that is taken gives way a few times before it is noted.
TEST_P(SharedPoolTest, EachUnitOnceThoughTheyGiveWay) {
  const PoolPointer pool = make();
  Ledger ledger(producers(), scaled(200000), false);
  Ledger::set_priorities(ledger.count());
  std::vector<std::atomic<unsigned char>> turns(ledger.count());
  std::vector<std::thread> threads;
  for (unsigned consumer = 0; consumer < consumers(); ++consumer)
    threads.emplace_back([&] {
      Ledger::Page page(ledger);
      while (!ledger.complete()) {
        Unit* unit = pool->steal();
        if (unit == nullptr) {
          page.settle();
          std::this_thread::yield();
        } else if (turns[number_of(unit)].fetch_add(1, std::memory_order_relaxed) < number_of(unit) % 3) {
          pool->push_behind(unit);
        } else {
          page.note(unit);
        }
      }
    });
  for (unsigned producer = 0; producer < producers(); ++producer)
    threads.emplace_back([&, producer] { produce(*pool, producer * ledger.each(), ledger.each(), [] {}); });
  for (std::thread& thread : threads) thread.join();
  ledger.check();
  EXPECT_TRUE(pool->looks_empty());
}

// The owner of a deque, or whoever is it for the moment, pops some of its units itself.
void pop_some(Pool& pool, Ledger::Page& page, std::uint32_t& random) {
  random = random * 1664525U + 1013904223U;
  for (unsigned pops = random >> 30U; pops > 0; --pops) {
    Unit* unit = pool.pop();
    if (unit != nullptr) page.note(unit);
  }
}

TEST_P(SharedPoolTest, EachUnitOnceAndInOrder) {
  const PoolPointer pool = make();
  Ledger ledger(producers(), most_units, ordered());
  Ledger::set_priorities(ledger.count());
  std::vector<std::thread> threads;
  for (unsigned consumer = 0; consumer < consumers(); ++consumer) threads.emplace_back([&] { consume(*pool, ledger); });
  for (unsigned producer = 0; producer < producers(); ++producer)
    threads.emplace_back([&, producer] {
      Ledger::Page page(ledger);
      std::uint32_t random = producer;
      produce(*pool, producer * ledger.each(), ledger.each(), [&] {
        if (pool->is_deque()) pop_some(*pool, page, random);
      });
    });
  for (std::thread& thread : threads) thread.join();
  ledger.check();
}

struct SharedPriorityPoolTest : SharedPoolTest {};

// All are in before anybody takes one: what a consumer takes falls in priority.
TEST_P(SharedPriorityPoolTest, HighestFirst) {
  const PoolPointer pool = make();
  Ledger ledger(1, scaled(100000), true);
  Ledger::set_priorities(ledger.count());
  produce(*pool, 0, ledger.count(), [] {});
  std::vector<std::thread> threads;
  std::atomic<bool> falls{true};
  for (unsigned consumer = 0; consumer < consumers(); ++consumer)
    threads.emplace_back([&] {
      Ledger::Page page(ledger);
      int before = INT32_MAX;
      while (Unit* unit = pool->pop()) {
        if (details(*unit).priority > before) falls = false;
        before = details(*unit).priority;
        page.note(unit);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(falls);
  ledger.check();
}

INSTANTIATE_TEST_SUITE_P(All, PoolTest, ::testing::ValuesIn(kinds(any)), kind_name);
INSTANTIATE_TEST_SUITE_P(All, SharedPoolTest, ::testing::ValuesIn(kinds(shared)), kind_name);
INSTANTIATE_TEST_SUITE_P(All, SharedPriorityPoolTest, ::testing::ValuesIn(kinds(shared_by_priority)), kind_name);

TEST(PriorityPool, ManyPriorities) {
  PoolPointer pool(Pool::create(Order::priority, Access::priv));
  const unsigned count = scaled(50000);
  std::uint32_t random = 1;
  std::vector<Unit*> units(count);
  for (unsigned number = 0; number < count; ++number) {
    random = random * 1664525U + 1013904223U;
    units[number] = all_units() + number;
    details(*units[number]).priority =
        static_cast<int>(random >> (number % 2 * 20)) - (1 << 11);  // of any size; of 4096
    pool->push(units[number]);
  }
  std::stable_sort(units.begin(), units.end(),
                   [](Unit* a, Unit* b) { return details(*a).priority > details(*b).priority; });
  for (unsigned number = 0; number < count; ++number) ASSERT_EQ(pool->pop(), units[number]) << number;
  for (unsigned number = 0; number < count; ++number) details(*units[number]).priority = static_cast<int>(number);
  for (Unit* unit : units) pool->push(unit);  // in growing order: no path of the tree gets long
  for (unsigned number = count; number-- > 0;) ASSERT_EQ(pool->pop(), units[number]);
}

// ---------------------------------------------------------------- waiting

constexpr std::uint64_t long_time = 60000000000U;

// Who slept for so long was not woken, even if there is a unit then.
Unit* pop_awake(Pool& pool) {
  const std::uint64_t began = os::now_ns();
  Unit* unit = pool.pop_wait(long_time);
  return os::now_ns() - began < long_time ? unit : nullptr;
}

struct WaitTest : SharedPoolTest {
  void SetUp() override { os::register_membarrier(); }
};
struct WaitForManyTest : WaitTest {};

TEST_P(WaitTest, APushWakesASleeper) {
  const PoolPointer pool = make();
  std::thread sleeper([&] { EXPECT_EQ(pop_awake(*pool), all_units()); });
  nap(std::chrono::milliseconds(5));
  pool->push(all_units());
  sleeper.join();
}

// A push wakes one sleeper; whoever was woken and leaves something wakes the next.
TEST_P(WaitForManyTest, ABatchWakesAllWhoWait) {
  const PoolPointer pool = make();
  const unsigned sleepers = 4;
  std::vector<std::thread> threads;
  for (unsigned sleeper = 0; sleeper < sleepers; ++sleeper)
    threads.emplace_back([&] { EXPECT_NE(pop_awake(*pool), nullptr); });
  nap(std::chrono::milliseconds(5));
  const auto units = prepare(sleepers);
  pool->push_many(chain_of(units), units.back(), sleepers);
  for (std::thread& thread : threads) thread.join();
}

void spin(unsigned rounds) {
  for (; rounds > 0; --rounds) arch::relax();
}

// The producer pushes at about the moment at which the consumer falls asleep: before, after, or just then.
TEST_P(WaitTest, NoWakeUpIsLostByAHair) {
  const PoolPointer pool = make();
  const unsigned rounds = scaled(2000);
  const TimeLimit limit;
  std::atomic<unsigned> begun{0};
  std::atomic<bool> lost{false};
  std::atomic<bool> over{false};
  std::thread consumer([&] {
    for (unsigned round = 1; round <= rounds && !lost; ++round) {
      if (limit.is_over()) {
        over = true;
        return;
      }
      begun.store(round, std::memory_order_release);
      spin(round * 7 % 64);
      if (pop_awake(*pool) == nullptr) lost = true;
    }
  });
  for (unsigned round = 1; round <= rounds && !lost && !over; ++round) {
    for (unsigned look = 1; begun.load(std::memory_order_acquire) != round && !lost && !over; ++look)
      if (look % 1024 == 0) std::this_thread::yield();
    spin(round * 13 % (round % 4 == 0 ? 1024 : 64));
    if (!lost && !over) pool->push(all_units());
  }
  consumer.join();
  EXPECT_FALSE(lost);
  if (lost) (void)pool->pop();
}

// Consumers that wait for long and ones that give up all the time, while producers pause now and then.
TEST_P(WaitTest, NoWakeUpIsLostAmongMany) {
  const PoolPointer pool = make();
  Ledger ledger(producers(), scaled(20000), ordered());
  Ledger::set_priorities(ledger.count());
  std::atomic<unsigned> lost{0};
  std::vector<std::thread> threads;
  for (unsigned consumer = 0; consumer < consumers(); ++consumer)
    threads.emplace_back([&, consumer] {
      Ledger::Page page(ledger);
      for (unsigned round = 0;; ++round) {
        const bool patient = consumer != 1;
        const Unit* unit = patient ? pop_awake(*pool) : pool->pop_wait(round % 50 * 1000);
        if (unit == all_units() + ledger.count()) {
          pool->push(all_units() + ledger.count());  // the end, for the others too
          return;
        }
        if (unit != nullptr)
          page.note(unit);
        else if (patient)
          ++lost;
      }
    });
  std::vector<std::thread> producing;
  for (unsigned producer = 0; producer < producers(); ++producer)
    producing.emplace_back([&, producer] {
      std::uint32_t random = producer;
      produce(*pool, producer * ledger.each(), ledger.each(), [&] {
        random = random * 1664525U + 1013904223U;
        if ((random >> 20U) % 32 == 0) nap(std::chrono::microseconds(50));
        spin(random >> 23U);
      });
    });
  for (std::thread& thread : producing) thread.join();
  EXPECT_TRUE(eventually([&] { return pool->looks_empty(); }));
  all_units()[ledger.count()].details.priority = 0;
  pool->push(all_units() + ledger.count());
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool->pop(), all_units() + ledger.count());
  EXPECT_EQ(lost.load(), 0U);
  ledger.check();
}

INSTANTIATE_TEST_SUITE_P(All, WaitTest, ::testing::ValuesIn(kinds(shared)), kind_name);
INSTANTIATE_TEST_SUITE_P(All, WaitForManyTest, ::testing::ValuesIn(kinds(for_many)), kind_name);

// ---------------------------------------------------------------- pools of the user's own

struct Own {
  Unit* held[4] = {};
  std::atomic<unsigned> count{0};
  unsigned freed = 0;
};

core::PoolFunctions own_functions() {
  return {.push =
              [](void* data, Unit* unit) {
                auto own = static_cast<Own*>(data);
                own->held[own->count] = unit;
                ++own->count;
              },
          .pop = [](void* data) -> Unit* {
            auto own = static_cast<Own*>(data);
            return own->count == 0 ? nullptr : own->held[--own->count];
          },
          .size = [](void* data) -> std::size_t { return static_cast<Own*>(data)->count; },
          .free = [](void* data) { ++static_cast<Own*>(data)->freed; }};
}

TEST(CustomPool, CallsItsFunctions) {
  Own own;
  core::WholeUnit* units = all_units();
  PoolPointer pool(Pool::create_custom(own_functions(), &own));
  EXPECT_EQ(pool->pop(), nullptr);
  pool->push(units);
  EXPECT_EQ(own.held[0], units);
  pool->push_many(chain_of({units + 1, units + 2, units + 3}), units + 3, 3);
  EXPECT_EQ(pool->size(), 4U);
  EXPECT_EQ(own.held[3], units + 3);
  EXPECT_EQ(pool->pop(), units + 3);
  EXPECT_EQ(pool->steal(), units + 2);
  EXPECT_EQ(pool->pop_wait(0), units + 1);
  Unit* rest[2];
  EXPECT_EQ(pool->pop_many(rest, 2), 1U);
  EXPECT_EQ(rest[0], units);
  EXPECT_FALSE(pool->is_deque());
  pool.reset();
  EXPECT_EQ(own.freed, 1U);
}

TEST(CustomPool, APushWakesASleeper) {
  Own own;
  auto functions = own_functions();
  functions.free = nullptr;
  PoolPointer pool(Pool::create_custom(functions, &own));
  std::thread sleeper([&] { EXPECT_EQ(pop_awake(*pool), all_units()); });
  nap(std::chrono::milliseconds(5));
  pool->push(all_units());
  sleeper.join();
}

}  // namespace
}  // namespace weft::test
