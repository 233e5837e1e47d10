// src/core/find.cpp: what a worker takes from others.
#include "core/find.h"
#include "core/worker_slots.h"
#include "support.h"

namespace weft::test {
namespace {

struct Steal : CoreTest {};

// Bug: those that had a single unit each kept it from a thief, as long as there were several of them, for up to a
// thousand looks, though nobody of them came to it.
TEST_F(Steal, TakesSingleUnitsOfWorkersThatStandStill) {
  constexpr unsigned count = 8;
  core::Worker& thief = core::worker_here();
  expect_idle();
  core::Worker* victims[count];
  core::WholeUnit units[count];
  for (unsigned number = 0; number < count; ++number) {
    victims[number] = core::register_worker();
    ASSERT_NE(victims[number], nullptr);
    victims[number]->deque.push(&units[number]);
  }
  unsigned taken = 0;
  for (unsigned look = 0; look < 3 * count; ++look) {
    thief.appetite.end_pause();
    if (core::search(thief).unit != nullptr) ++taken;
  }
  EXPECT_EQ(taken, count);
  for (core::Worker* victim : victims) {
    while (victim->deque.steal() != nullptr) {
    }
    core::leave_slot(*victim);
  }
}

}  // namespace
}  // namespace weft::test
