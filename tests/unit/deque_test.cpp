// src/core/pool/deque.h: every element pushed is taken exactly once.
#include "core/pool/deque.h"

#include <thread>
#include <vector>

#include "support.h"

namespace weft::test {
namespace {

using core::Deque;

struct Element {
  std::atomic<unsigned> taken{0};
  unsigned number = 0;
};

std::vector<Element> elements(unsigned count) {
  std::vector<Element> all(count);
  for (unsigned number = 0; number < count; ++number) all[number].number = number;
  return all;
}

void expect_each_once(const std::vector<Element>& all) {
  for (const Element& element : all) ASSERT_EQ(element.taken.load(), 1U) << "element " << element.number;
}

TEST(Deque, EmptyGivesNothing) {
  Deque<Element> deque;
  EXPECT_TRUE(deque.looks_empty());
  EXPECT_EQ(deque.pop(), nullptr);
  EXPECT_EQ(deque.steal(), nullptr);
  EXPECT_EQ(deque.peek(), nullptr);
}

TEST(Deque, PopsNewestStealsOldest) {
  auto all = elements(4);
  Deque<Element> deque;
  for (Element& element : all) deque.push(&element);
  EXPECT_EQ(deque.peek(), &all[3]);
  EXPECT_EQ(deque.pop(), &all[3]);
  EXPECT_EQ(deque.steal(), &all[0]);
  EXPECT_EQ(deque.pop(), &all[2]);
  EXPECT_EQ(deque.steal(), &all[1]);
  EXPECT_TRUE(deque.looks_empty());
  EXPECT_EQ(deque.pop(), nullptr);
}

TEST(Deque, GrowsAndKeepsOrder) {
  const unsigned count = 100000;
  auto all = elements(count);
  Deque<Element> deque;
  for (Element& element : all) deque.push(&element);
  for (unsigned number = 0; number < count / 2; ++number) ASSERT_EQ(deque.steal(), &all[number]);
  for (unsigned number = count; number-- > count / 2;) ASSERT_EQ(deque.pop(), &all[number]);
  EXPECT_TRUE(deque.looks_empty());
}

// The indices run far past the capacity: the array is a ring.
TEST(Deque, WrapsAround) {
  auto all = elements(50);
  Deque<Element> deque;
  for (unsigned round = 0; round < 1000; ++round) {
    for (Element& element : all) deque.push(&element);
    for (unsigned number = 0; number < 50; ++number)
      ASSERT_EQ(round % 2 == 0 ? deque.steal() : deque.pop(), &all[round % 2 == 0 ? number : 49 - number]);
    ASSERT_EQ(deque.pop(), nullptr);
  }
}

void take(Element* element) {
  if (element != nullptr) element->taken.fetch_add(1, std::memory_order_relaxed);
}

// An owner that pushes in bursts and pops some, against thieves; growth happens meanwhile.
void race(unsigned thieves, unsigned count, unsigned burst) {
  auto all = elements(count);
  Deque<Element> deque;
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (unsigned thief = 0; thief < thieves; ++thief)
    threads.emplace_back([&] {
      while (!over.load(std::memory_order_acquire)) take(deque.steal());
    });
  std::uint32_t random = 12345;
  for (unsigned number = 0; number < count;) {
    random = random * 1664525U + 1013904223U;
    for (unsigned end = std::min(count, number + 1 + (random >> 16U) % burst); number < end; ++number)
      deque.push(&all[number]);
    for (unsigned pops = (random >> 8U) % burst; pops > 0; --pops) take(deque.pop());
  }
  while (!deque.looks_empty()) take(deque.pop());
  over.store(true, std::memory_order_release);
  for (std::thread& thread : threads) thread.join();
  expect_each_once(all);
}

TEST(Deque, OwnerAgainstOneThief) { race(1, scaled(1000000), 8); }
TEST(Deque, OwnerAgainstManyThieves) { race(7, scaled(1000000), 8); }
TEST(Deque, GrowsUnderThieves) { race(3, scaled(1000000), 4000); }

// One element at a time: owner and thieves meet at the last one.
TEST(Deque, LastElementIsTakenOnce) { race(3, scaled(500000), 1); }

}  // namespace
}  // namespace weft::test
