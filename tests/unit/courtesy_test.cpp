// src/core/courtesy.h: when a worker that spins finds out that others want its CPU, by a clock that the test moves.
#include "core/courtesy.h"

#include "support.h"

namespace weft::test {
namespace {

using core::Courtesy;

constexpr std::uint64_t us = 1000;
constexpr std::uint64_t ms = 1000 * us;
constexpr std::uint64_t between_looks = 5 * us;
constexpr std::uint64_t patience = 2 * ms;

// A spinner on a CPU that others want as it is told.
struct Spinner {
  Courtesy courtesy;
  std::uint64_t now = 7 * ms;
  unsigned offers = 0;
  bool low = false;  // its priority

  // Whether others have wanted the CPU. `away`: for how long somebody else has it when it is offered.
  bool spins(std::uint64_t away) {
    courtesy.begins_to_spin(now);
    while (courtesy.spun() < patience) {
      now += between_looks;
      const bool wanted = courtesy.others_want_cpu([this] { return now; }, now,
                                                   [this, away] {
                                                     ++offers;
                                                     now += away;
                                                   },
                                                   [this] { return low; });
      if (wanted) return true;
    }
    return false;
  }

  // How long it does not spin from now on.
  std::uint64_t rests() const {
    std::uint64_t at = now;
    while (courtesy.on(at)) at += 10 * us;
    return at - now;
  }
};

TEST(Courtesy, ACpuThatNobodyWantsIsOfferedNowAndThen) {
  Spinner spinner;
  EXPECT_FALSE(spinner.spins(us));
  EXPECT_EQ(spinner.rests(), 0);
  EXPECT_GT(spinner.offers, patience / (50 * us));
  EXPECT_LE(spinner.offers, patience / (20 * us));
}

TEST(Courtesy, NoneIsOfferedToThoseWhoFindWorkSoon) {
  Spinner spinner;
  spinner.courtesy.begins_to_spin(spinner.now);
  EXPECT_FALSE(spinner.courtesy.others_want_cpu([] { return 0; }, spinner.now + between_looks,
                                                [&] { ++spinner.offers; }, [] { return false; }));
  EXPECT_EQ(spinner.offers, 0);
}

TEST(Courtesy, OneOfferAfterAnotherThatIsTakenEndsTheSpinning) {
  Spinner spinner;
  EXPECT_TRUE(spinner.spins(3 * ms));
  EXPECT_EQ(spinner.offers, 2);  // nothing is known of them when the first is taken
  EXPECT_EQ(spinner.rests(), ms);
}

TEST(Courtesy, OneIsEnoughWhereTheyAreKnown) {
  Spinner spinner;
  spinner.spins(3 * ms);
  spinner.offers = 0;
  EXPECT_TRUE(spinner.spins(3 * ms));
  EXPECT_EQ(spinner.offers, 1);
}

TEST(Courtesy, ASleeperDoesNotKnowThemAnyMore) {
  Spinner spinner;
  spinner.spins(3 * ms);
  spinner.courtesy.sleeps();
  spinner.offers = 0;
  EXPECT_TRUE(spinner.spins(3 * ms));
  EXPECT_EQ(spinner.offers, 2);
}

// Who has little to do at a time is not weighed, and gets the CPU at once.
TEST(Courtesy, AnOfferThatIsTakenForLessThanASliceEndsTheSpinning) {
  Spinner spinner;
  EXPECT_FALSE(spinner.spins(us));
  spinner.offers = 0;
  EXPECT_TRUE(spinner.spins(ms / 2));
  EXPECT_EQ(spinner.offers, 1);
}

// As Linux divides the CPU between the spinner and somebody of nice 19, and of nice 5.
TEST(Courtesy, ItIsOfferedLessOftenToThoseOfLessWeight) {
  Spinner spinner;
  spinner.courtesy.begins_to_spin(spinner.now);
  const auto offers_until_taken = [&](unsigned untaken, std::uint64_t away) {
    spinner.offers = 0;
    for (bool given = false; !given;) {
      spinner.now += between_looks;
      const bool wanted = spinner.courtesy.others_want_cpu([&] { return spinner.now; }, spinner.now,
                                                           [&] {
                                                             given = ++spinner.offers > untaken;
                                                             spinner.now += given ? away : us;
                                                           },
                                                           [] { return false; });
      if (wanted) return true;
    }
    return false;
  };
  std::uint64_t took = 0;
  for (int time = 0; time < 8; ++time) {
    const std::uint64_t before = spinner.now;
    EXPECT_FALSE(offers_until_taken(100, 3 * ms));
    EXPECT_EQ(spinner.rests(), 0);
    took = spinner.now - before;
  }
  EXPECT_GT(took, 100 * 160 * us);
  EXPECT_LT(took, 100 * 250 * us);
  EXPECT_TRUE(offers_until_taken(8, 4 * ms));
  EXPECT_EQ(spinner.rests(), ms);
  const std::uint64_t before = spinner.now;
  offers_until_taken(8, 4 * ms);
  EXPECT_LT(spinner.now - before, 5 * ms);  // as often as at first
}

TEST(Courtesy, WhatOthersHaveIsNotTimeSpun) {
  Spinner spinner;
  spinner.courtesy.begins_to_spin(spinner.now);
  for (int look = 0; look < 100; ++look) {
    spinner.now += between_looks;
    spinner.courtesy.others_want_cpu([&] { return spinner.now; }, spinner.now, [&] { spinner.now += 30 * us; },
                                     [] { return false; });
  }
  EXPECT_EQ(spinner.courtesy.spun(), 100 * between_looks);
}

TEST(Courtesy, AnInterruptIsNobody) {
  Spinner spinner;
  EXPECT_FALSE(spinner.spins(40 * us));
}

TEST(Courtesy, WhatTheKernelTakesBetweenTwoLooksCountsToo) {
  Spinner spinner;
  spinner.courtesy.begins_to_spin(spinner.now);
  for (const bool known : {false, true}) {
    spinner.now += 4 * ms;
    EXPECT_EQ(spinner.courtesy.others_want_cpu([] { return 0; }, spinner.now, [&] { ++spinner.offers; },
                                               [] { return false; }),
              known);
  }
  EXPECT_EQ(spinner.offers, 0);
  EXPECT_GT(spinner.rests(), 0);
}

TEST(Courtesy, TheMoreOftenInVainTheLongerItRests) {
  Spinner spinner;
  for (const std::uint64_t expected : {ms, 2 * ms, 4 * ms, 8 * ms, 16 * ms, 16 * ms}) {
    EXPECT_TRUE(spinner.spins(3 * ms));
    EXPECT_EQ(spinner.rests(), expected);
  }
}

TEST(Courtesy, ACpuOfItsOwnAgainEndsThat) {
  Spinner spinner;
  for (int time = 0; time < 8; ++time) spinner.spins(3 * ms);
  EXPECT_FALSE(spinner.spins(us));
  spinner.spins(3 * ms);
  EXPECT_EQ(spinner.rests(), ms);
}

// As nice 19 is beside nice 0: 500 ms for each slice. (Bug: it spun again 1 ms later, and waited as long once more.)
TEST(Courtesy, BesideThoseOfMoreWeightItRestsForLong) {
  Spinner spinner;
  spinner.low = true;
  EXPECT_TRUE(spinner.spins(500 * ms));
  EXPECT_EQ(spinner.offers, 1);
  EXPECT_GE(spinner.rests(), 2000 * ms);
  EXPECT_LE(spinner.rests(), 5000 * ms);
  EXPECT_TRUE(spinner.spins(5000 * ms));  // or it has been stopped
  EXPECT_LE(spinner.rests(), 5000 * ms);
  EXPECT_TRUE(spinner.spins(40 * ms));  // equals
  EXPECT_LE(spinner.rests(), 16 * ms);
  spinner.low = false;
  EXPECT_TRUE(spinner.spins(500 * ms));
  EXPECT_LE(spinner.rests(), 16 * ms);
}

// What passes between two searches is not the kernel's doing.
TEST(Courtesy, TimeSpentOnWorkIsNotMissed) {
  Spinner spinner;
  spinner.spins(us);
  spinner.now += 50 * ms;
  EXPECT_FALSE(spinner.spins(us));
}

}  // namespace
}  // namespace weft::test
