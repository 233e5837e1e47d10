// src/core/help_pause.h: how long a worker does not help, after what that has cost and brought.
#include "core/help_pause.h"

#include "support.h"

namespace weft::test {
namespace {

using core::HelpPause;

constexpr std::uint64_t way = 1000;
constexpr std::uint64_t brief = way / 2;
constexpr std::uint64_t lasting = 10 * way;
constexpr std::uint64_t now = 1000000;
constexpr auto goes_on = [] { return true; };

void help_in_vain(HelpPause& pause, int times) {
  for (int time = 0; time < times; ++time) pause.took(way, brief, now, goes_on);
}

TEST(HelpPause, BeginsAfterSeveralInVain) {
  HelpPause pause;
  EXPECT_TRUE(pause.is_over(now));
  help_in_vain(pause, 3);
  EXPECT_TRUE(pause.is_over(now));
  help_in_vain(pause, 1);
  EXPECT_FALSE(pause.is_over(now));
  EXPECT_FALSE(pause.is_over(now + HelpPause::shortest - 1));
  EXPECT_TRUE(pause.is_over(now + HelpPause::shortest));
}

TEST(HelpPause, GrowsUpToTheLongest) {
  HelpPause pause;
  help_in_vain(pause, 5);
  EXPECT_FALSE(pause.is_over(now + HelpPause::shortest));
  help_in_vain(pause, 1000);
  EXPECT_FALSE(pause.is_over(now + HelpPause::longest - 1));
  EXPECT_TRUE(pause.is_over(now + HelpPause::longest));
}

TEST(HelpPause, EndsWhenItIsTold) {
  HelpPause pause;
  EXPECT_FALSE(pause.end(now));
  help_in_vain(pause, 4);
  EXPECT_TRUE(pause.end(now + 1));
  EXPECT_TRUE(pause.is_over(now + 1));
  EXPECT_FALSE(pause.end(now + 1));
}

TEST(HelpPause, IsNoneOnceItWasWorthIt) {
  HelpPause pause;
  help_in_vain(pause, 1000);
  pause.took(way, lasting, now, goes_on);
  EXPECT_TRUE(pause.is_over(now));
  help_in_vain(pause, 3);
  EXPECT_TRUE(pause.is_over(now));
}

TEST(HelpPause, WhatRunsForLongIsWorthAnyWay) {
  HelpPause pause;
  for (int time = 0; time < 1000; ++time) pause.took(100 * way, 50 * way, now, goes_on);
  EXPECT_TRUE(pause.is_over(now));
}

TEST(HelpPause, IsNoneWhereTheMakerWaits) {
  HelpPause pause;
  for (int time = 0; time < 1000; ++time) pause.took(way, brief, now, [] { return false; });
  EXPECT_TRUE(pause.is_over(now));
  help_in_vain(pause, 4);
  pause.took(way, brief, now, [] { return false; });
  EXPECT_TRUE(pause.is_over(now));
}

}  // namespace
}  // namespace weft::test
