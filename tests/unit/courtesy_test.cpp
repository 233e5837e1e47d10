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

  // Whether others have wanted the CPU. `away`: for how long somebody else has it when it is offered.
  bool spins(std::uint64_t away) {
    courtesy.begins_to_spin(now);
    for (const std::uint64_t began = now; now - began < patience;) {
      now += between_looks;
      const bool wanted = courtesy.others_want_cpu([this] { return now; }, now,
                                                   [this, away] {
                                                     ++offers;
                                                     now += away;
                                                   });
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
  EXPECT_LT(spinner.offers, patience / (20 * us));
}

TEST(Courtesy, NoneIsOfferedToThoseWhoFindWorkSoon) {
  Spinner spinner;
  spinner.courtesy.begins_to_spin(spinner.now);
  EXPECT_FALSE(
      spinner.courtesy.others_want_cpu([] { return 0; }, spinner.now + between_looks, [&] { ++spinner.offers; }));
  EXPECT_EQ(spinner.offers, 0);
}

TEST(Courtesy, TheFirstOfferThatIsTakenEndsTheSpinning) {
  Spinner spinner;
  EXPECT_TRUE(spinner.spins(3 * ms));
  EXPECT_EQ(spinner.offers, 1);
  EXPECT_EQ(spinner.rests(), ms);
}

TEST(Courtesy, AnInterruptIsNobody) {
  Spinner spinner;
  EXPECT_FALSE(spinner.spins(40 * us));
}

TEST(Courtesy, WhatTheKernelTakesBetweenTwoLooksCountsToo) {
  Spinner spinner;
  spinner.courtesy.begins_to_spin(spinner.now);
  spinner.now += 4 * ms;
  EXPECT_TRUE(spinner.courtesy.others_want_cpu([] { return 0; }, spinner.now, [&] { ++spinner.offers; }));
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

// What passes between two searches is not the kernel's doing.
TEST(Courtesy, TimeSpentOnWorkIsNotMissed) {
  Spinner spinner;
  spinner.spins(us);
  spinner.now += 50 * ms;
  EXPECT_FALSE(spinner.spins(us));
}

}  // namespace
}  // namespace weft::test
