// src/core/pool/inbox.h: every unit put is taken exactly once, and each putter's in the order it put them.
#include "core/pool/inbox.h"

#include <thread>
#include <vector>

#include "support.h"

namespace weft::test {
namespace {

using core::Inbox;
using core::Unit;

TEST(Inbox, OldestFirst) {
  Inbox inbox;
  EXPECT_TRUE(inbox.looks_empty());
  EXPECT_EQ(inbox.take_all(), nullptr);
  Unit units[3];
  for (Unit& unit : units) inbox.put(&unit);
  EXPECT_FALSE(inbox.looks_empty());
  Unit* chain = inbox.take_all();
  EXPECT_TRUE(inbox.looks_empty());
  for (Unit& unit : units) {
    ASSERT_EQ(chain, &unit);
    chain = chain->next;
  }
  EXPECT_EQ(chain, nullptr);
}

TEST(Inbox, PutsAChainAtOnce) {
  Inbox inbox;
  Unit units[4];
  inbox.put(&units[0]);
  units[3].next = &units[2];  // newest to oldest
  units[2].next = &units[1];
  inbox.put(&units[3], &units[1]);
  Unit* chain = inbox.take_all();
  for (Unit& unit : units) {
    ASSERT_EQ(chain, &unit);
    chain = chain->next;
  }
  EXPECT_EQ(chain, nullptr);
}

TEST(Inbox, TheOlderHalf) {
  constexpr unsigned older_half[] = {0, 1, 1, 2, 2, 3};
  for (unsigned count = 0; count < 6; ++count) {
    Inbox inbox;
    Unit units[5];
    for (unsigned number = 0; number < count; ++number) inbox.put(&units[number]);
    bool some_stayed = true;
    Unit* chain = inbox.take_older_half(some_stayed);
    EXPECT_EQ(some_stayed, count > 1);
    unsigned next = 0;
    for (; chain != nullptr; chain = chain->next) EXPECT_EQ(chain, &units[next++]);
    EXPECT_EQ(next, older_half[count]) << "of " << count;
    for (chain = inbox.take_all(); chain != nullptr; chain = chain->next) EXPECT_EQ(chain, &units[next++]);
    EXPECT_EQ(next, count);
  }
}

struct Numbered {
  Unit unit;
  std::atomic<unsigned> taken{0};
};

// `halves`: each second taker leaves the newer half there.
void race(unsigned putters, unsigned takers, unsigned each, bool halves = false) {
  Inbox inbox;
  std::vector<std::vector<Numbered>> units(putters);
  for (auto& of_one : units) of_one = std::vector<Numbered>(each);
  for (auto& of_one : units)
    for (Numbered& numbered : of_one) numbered.unit.argument = &numbered;
  std::atomic<unsigned> left{putters * each};
  std::atomic<bool> in_order{true};
  std::vector<std::thread> threads;
  for (unsigned taker = 0; taker < takers; ++taker)
    threads.emplace_back([&, takes_half = halves && taker % 2 != 0] {
      std::vector<Numbered*> latest(putters, nullptr);
      while (left.load(std::memory_order_acquire) != 0) {
        unsigned here = 0;
        bool some_stayed = false;
        for (Unit* chain = takes_half ? inbox.take_older_half(some_stayed) : inbox.take_all(); chain != nullptr;
             ++here) {
          auto numbered = static_cast<Numbered*>(chain->argument);
          chain = chain->next;
          numbered->taken.fetch_add(1, std::memory_order_relaxed);
          for (unsigned putter = 0; putter < putters; ++putter) {
            if (numbered < units[putter].data() || numbered >= units[putter].data() + each) continue;
            if (latest[putter] >= numbered && latest[putter] != nullptr) in_order = false;
            latest[putter] = numbered;
          }
        }
        left.fetch_sub(here, std::memory_order_acq_rel);
      }
    });
  for (unsigned putter = 0; putter < putters; ++putter)
    threads.emplace_back([&, putter] {
      for (Numbered& numbered : units[putter]) inbox.put(&numbered.unit);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(in_order || halves);
  EXPECT_TRUE(inbox.looks_empty());
  for (auto& of_one : units)
    for (Numbered& numbered : of_one) ASSERT_EQ(numbered.taken.load(), 1U);
}

TEST(Inbox, ManyPuttersOneTaker) { race(4, 1, scaled(100000)); }
TEST(Inbox, ManyPuttersManyTakers) { race(4, 4, scaled(100000)); }
TEST(Inbox, SomeTakeHalf) { race(4, 4, scaled(100000), true); }

}  // namespace
}  // namespace weft::test
