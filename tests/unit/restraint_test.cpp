// src/core/restraint.h: what a worker takes from the shares of others, after what that has cost and brought.
#include "core/restraint.h"

#include "support.h"

namespace weft::test {
namespace {

using core::Restraint;
using core::Share;

constexpr std::uint64_t way = 500;
constexpr std::uint64_t brief = 700;
constexpr std::uint64_t long_enough = 100000;

void learn(Restraint& restraint, std::uint64_t run) {
  for (int time = 0; time < 8; ++time) restraint.took(way, run);
}

TEST(Restraint, BeginsAfterSeveralInVain) {
  Restraint restraint;
  restraint.took(way, brief);
  EXPECT_FALSE(restraint.on());
  learn(restraint, brief);
  EXPECT_TRUE(restraint.on());
}

TEST(Restraint, EndsWithTheFirstThatWasWorthIt) {
  Restraint restraint;
  learn(restraint, brief);
  restraint.took(way, long_enough);
  EXPECT_FALSE(restraint.on());
}

TEST(Restraint, WhatIsWorthItDependsOnTheWay) {
  Restraint near;
  Restraint far;
  for (int time = 0; time < 8; ++time) {
    near.took(way / 4, 4 * way);
    far.took(2 * way, 4 * way);
  }
  EXPECT_FALSE(near.on());
  EXPECT_TRUE(far.on());
}

TEST(Restraint, TakesWhatStaysOpen) {
  Restraint restraint;
  Share share;
  share.open(1, 2);
  EXPECT_TRUE(restraint.allows(share));
  learn(restraint, brief);
  EXPECT_TRUE(restraint.allows(share));
}

TEST(Restraint, LeavesWhatIsUsedUpOrOpenedAgain) {
  Restraint restraint;
  learn(restraint, brief);
  Share share;
  share.open(1, 2);
  const auto opener_runs_all = [&share](std::uint64_t) { share.claim(1); };
  EXPECT_FALSE(restraint.allows(share, opener_runs_all));
  share.open(1, 2);
  const auto opener_opens_another = [&share](std::uint64_t) {
    share.claim(1);
    share.open(1, 2);
  };
  EXPECT_FALSE(restraint.allows(share, opener_opens_another));
}

// Tasks: who may help is asked for by others (Share::wants_help).
TEST(Restraint, HelpsAtOnceWhereTheRangeIsUsedUp) {
  Restraint restraint;
  learn(restraint, brief);
  Share share;
  share.wants_help = [](const Share&) { return true; };
  EXPECT_TRUE(restraint.allows(share));
}

}  // namespace
}  // namespace weft::test
