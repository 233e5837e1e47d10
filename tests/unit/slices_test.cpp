// src/core/slices.h: how long who may be stuck, with looks at times that are made up.
#include "core/slices.h"

#include <gtest/gtest.h>

namespace weft::test {
namespace {

constexpr std::uint64_t ms = 1000ULL * 1000;

class Slices : public ::testing::Test {
 protected:
  void SetUp() override { core::set_slices({}); }
  // All groups rest, so that none is left to the next test.
  void TearDown() override { look_for(20000 * ms); }

  // A look as often as the watchdog has to; each() says before each what has been seen.
  template <class Each>
  void look_for(std::uint64_t nanoseconds, Each each) {
    for (const std::uint64_t end = now_ + nanoseconds; now_ < end;) {
      now_ += core::next_look_ns();
      each();
      core::adapt_slices(now_);
    }
  }
  void look_for(std::uint64_t nanoseconds) {
    look_for(nanoseconds, [] {});
  }

 private:
  static std::uint64_t now_;
};

std::uint64_t Slices::now_ = 1000 * ms;

int groups[40];

std::uint64_t slice_of(int group) {
  std::uint64_t slice = 10 * 1000;
  while (!core::slice_is_over(&groups[group], slice)) slice += slice / 50;
  return slice;
}

TEST_F(Slices, AreTheLongestAtFirst) {
  EXPECT_FALSE(core::slice_is_over(&groups[0], 8 * ms));
  EXPECT_TRUE(core::slice_is_over(&groups[0], 10 * ms));
  EXPECT_EQ(core::next_look_ns(), 10 * ms);
}

TEST_F(Slices, ShrinkToTheShortestWhereSomebodySpins) {
  look_for(1000 * ms, [] {
    core::note_stuck(&groups[0]);
    core::note_doing(&groups[0], core::Doing::spins);
  });
  EXPECT_LE(slice_of(0), core::SliceSettings{}.shortest_ns);
  EXPECT_GT(slice_of(1), 8 * ms) << "of another group";
}

TEST_F(Slices, ShrinkSoFarOnlyWhereNobodyIsKnownTo) {
  look_for(1000 * ms, [] { core::note_stuck(&groups[0]); });
  EXPECT_LE(slice_of(0), core::least_to_compute_ns);
  EXPECT_GT(slice_of(0), core::least_to_compute_ns / 2);
}

TEST_F(Slices, StayWhereWhoIsStuckComputes) {
  look_for(1000 * ms, [] {
    core::note_stuck(&groups[0]);
    core::note_doing(&groups[0], core::Doing::computes);
  });
  EXPECT_GT(slice_of(0), 8 * ms);
}

TEST_F(Slices, GrowAgainOnceItIsSeenToCompute) {
  look_for(100 * ms, [] { core::note_stuck(&groups[0]); });
  EXPECT_LE(slice_of(0), core::least_to_compute_ns);
  look_for(100 * ms, [] {
    core::note_stuck(&groups[0]);
    core::note_doing(&groups[0], core::Doing::computes);
  });
  EXPECT_GT(slice_of(0), 8 * ms);
}

TEST_F(Slices, ShrinkWhereOneComputesAndAnotherMaySpin) {
  look_for(1000 * ms, [] {
    core::note_stuck(&groups[0]);
    core::note_doing(&groups[0], core::Doing::computes);
    core::note_doing(&groups[0], core::Doing::may_spin);
  });
  EXPECT_LE(slice_of(0), core::least_to_compute_ns);
  EXPECT_GT(slice_of(0), core::least_to_compute_ns / 2);
  look_for(1000 * ms, [] {
    core::note_stuck(&groups[0]);
    core::note_doing(&groups[0], core::Doing::computes);
    core::note_doing(&groups[0], core::Doing::spins);
  });
  EXPECT_LE(slice_of(0), core::SliceSettings{}.shortest_ns);
}

TEST_F(Slices, GrowToThatWhereNobodySpinsAnyMore) {
  look_for(1000 * ms, [] {
    core::note_stuck(&groups[0]);
    core::note_doing(&groups[0], core::Doing::spins);
  });
  look_for(1000 * ms, [] { core::note_stuck(&groups[0]); });
  EXPECT_GT(slice_of(0), core::least_to_compute_ns / 2);
}

TEST_F(Slices, StayAsTheyAreWhileOthersHaveTheirTurn) {
  unsigned look = 0;
  look_for(2000 * ms, [&look] {
    // Each in its turn, of ten looks.
    int* const group = &groups[look++ / 10 % 8];
    core::note_stuck(group);
    core::note_doing(group, core::Doing::spins);
  });
  for (int group = 0; group < 8; ++group) EXPECT_LE(slice_of(group), 2 * core::SliceSettings{}.shortest_ns) << group;
}

TEST_F(Slices, GrowWhereUnitsGoOnOrRest) {
  for (const bool goes_on : {true, false}) {
    look_for(1000 * ms, [] {
      core::note_stuck(&groups[0]);
      core::note_doing(&groups[0], core::Doing::spins);
    });
    look_for(100 * ms, [goes_on] {
      if (goes_on) core::note_going_on(&groups[0]);
    });
    EXPECT_GT(slice_of(0), 8 * ms) << goes_on;
    EXPECT_EQ(core::next_look_ns(), 10 * ms);
  }
}

TEST_F(Slices, OfMoreGroupsThanThereIsRoomForAreShared) {
  look_for(4000 * ms, [] {
    for (int& group : groups) {
      core::note_stuck(&group);
      core::note_doing(&group, core::Doing::spins);
    }
  });
  for (int group = 0; group < 40; ++group) EXPECT_LE(slice_of(group), core::SliceSettings{}.shortest_ns) << group;
}

TEST_F(Slices, OfTheShortestMayBeLongerThanThatForComputing) {
  core::set_slices({10 * ms, 5 * ms});
  look_for(1000 * ms, [] { core::note_stuck(&groups[0]); });
  EXPECT_GT(slice_of(0), 4 * ms);
  EXPECT_LE(slice_of(0), 5 * ms);
}

}  // namespace
}  // namespace weft::test
