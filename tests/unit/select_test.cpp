// Waiting for the first of several events.
#include "core/sync/select.h"

#include "both.h"
#include "core/sync/eventual.h"
#include "core/sync/flag.h"
#include "core/sync/latch.h"
#include "core/sync/semaphore.h"

namespace weft::test {
namespace {

struct SelectTest : CoreTest {};

constexpr std::uint64_t millisecond = 1000 * 1000;

TEST_F(SelectTest, TakesTheFirstThatIsReady) {
  core::Flag flag;
  core::Latch latch(1);
  core::Semaphore semaphore(1);
  const core::Event events[] = {core::Event(flag), core::Event(latch), core::Event(semaphore)};
  core::ParkPlace places[3] = {};
  EXPECT_EQ(core::wait_any(events, places, 3, core::never), 2U);
  EXPECT_EQ(semaphore.permits(), 0U);
  EXPECT_EQ(core::wait_any(events, places, 3, core::deadline_after(millisecond)), 3U);
  EXPECT_TRUE(latch.count_down());
  EXPECT_EQ(core::wait_any(events, places, 3, core::never), 1U);
  flag.set();
  EXPECT_EQ(core::wait_any(events, places, 3, core::never), 0U);
}

TEST_F(SelectTest, IsWokenByAnyOfThem) {
  for (unsigned which = 0; which < 3; ++which) {
    core::Flag flag;
    core::Latch latch(1);
    core::Semaphore semaphore;
    Jobs jobs;
    std::atomic<unsigned> waiting{0};
    for (int number = 0; number < 2; ++number)
      jobs.start([&] {
        const core::Event events[] = {core::Event(flag), core::Event(latch), core::Event(semaphore)};
        core::ParkPlace places[3] = {};
        ++waiting;
        EXPECT_EQ(core::wait_any(events, places, 3, core::never), which);
      });
    while (waiting != 2) core::yield();
    core::sleep_until(core::deadline_after(millisecond / 2));
    if (which == 0) flag.set();
    if (which == 1) latch.count_down();
    if (which == 2) semaphore.release(2);
    jobs.join();
    for (const core::ParkPlace& place : {flag.place(), latch.place(), semaphore.place()})
      EXPECT_TRUE(core::Waiters(place.address).empty());
  }
}

// Permits go to selectors and to plain waiters; each permit is had once, and none is lost on a selector that another
// event, or its deadline, was faster for.
TEST_F(SelectTest, LosesNoPermit) {
  core::Semaphore first, second;
  const unsigned rounds = scaled(1500);
  std::atomic<unsigned> had_first{0};
  std::atomic<unsigned> had_second{0};
  std::atomic<unsigned> timeouts{0};
  std::atomic<bool> over{false};
  Jobs jobs;
  for (unsigned number = 0; number < 4; ++number)
    jobs.start([&, number] {
      const core::Event events[] = {core::Event(number % 2 == 0 ? first : second),
                                    core::Event(number % 2 == 0 ? second : first)};
      core::ParkPlace places[2] = {};
      for (unsigned round = 0; !over; ++round) {
        const std::uint64_t deadline = round % 2 == 0 ? core::never : core::deadline_after(round % 30 * 1000);
        const unsigned which = core::wait_any(events, places, 2, deadline);
        if (which == 2)
          ++timeouts;
        else
          ++(which == number % 2 ? had_first : had_second);
      }
    });
  for (core::Semaphore* semaphore : {&first, &second})
    jobs.start([&, semaphore] {
      while (!over) {
        semaphore->acquire();
        ++(semaphore == &first ? had_first : had_second);
      }
    });
  for (unsigned round = 0; round < rounds; ++round) {
    first.release();
    second.release();
    if (round % 16 == 0) core::yield();
  }
  while (had_first != rounds || had_second != rounds) core::yield();  // stops here if one was lost
  over = true;
  // One more for each that may wait.
  first.release(6);
  second.release(6);
  jobs.join();
  EXPECT_EQ(had_first + had_second + first.permits() + second.permits(), 2 * rounds + 12);
}

TEST_F(SelectTest, ManyEvents) {
  constexpr unsigned count = 100;
  std::vector<core::Flag> flags(count);
  for (unsigned chosen = 0; chosen < count; chosen += 33) {
    Jobs jobs;
    jobs.start([&] {
      std::vector<core::Event> events;
      for (core::Flag& flag : flags) events.emplace_back(flag);
      std::vector<core::ParkPlace> places(count);
      EXPECT_EQ(core::wait_any(events.data(), places.data(), count, core::never), chosen);
    });
    core::yield();
    flags[chosen].set();
    jobs.join();
    flags[chosen].clear();
  }
}

// The setter finds it set and awaited; the waiter lets go of it at once.
TEST_F(SelectTest, EventsMayBeFreedAsSoonAsTheyHaveHappened) {
  for (unsigned round = 0; round < scaled(1000); ++round) {
    auto flag = std::make_unique<core::Flag>();
    core::Flag* shown = flag.get();
    Jobs jobs;
    jobs.start([shown] { shown->set(); });
    if (round % 3 == 0) {
      const core::Event event(*flag);
      core::ParkPlace place{};
      core::wait_any(&event, &place, 1, core::never);
    } else {
      flag->wait();
    }
    flag.reset();
  }
}

}  // namespace
}  // namespace weft::test
