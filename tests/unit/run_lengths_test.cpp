// src/core/run_lengths.h: how long runs are after what shares of the same function have shown.
#include "core/run_lengths.h"

#include "support.h"

namespace weft::test {
namespace {

using core::RunLengths;

constexpr std::uintptr_t function = 0x401000;

void learn_short(RunLengths& lengths, std::uintptr_t about, int times) {
  for (int time = 0; time < times; ++time) lengths.learn(about, true);
}

TEST(RunLengths, OneOfWhatIsNotKnown) { EXPECT_EQ(RunLengths().of(function), 1U); }

TEST(RunLengths, DoublesFromShareToShare) {
  RunLengths lengths;
  for (const std::uint32_t expected : {2U, 4U, 8U}) {
    lengths.learn(function, true);
    EXPECT_EQ(lengths.of(function), expected);
  }
}

TEST(RunLengths, HasAnEnd) {
  RunLengths lengths;
  learn_short(lengths, function, 100);
  EXPECT_EQ(lengths.of(function), RunLengths::longest);
}

TEST(RunLengths, BeginsAnewWhenSomethingWasNotShort) {
  RunLengths lengths;
  learn_short(lengths, function, 6);
  lengths.learn(function, false);
  EXPECT_EQ(lengths.of(function), 1U);
  lengths.learn(function, true);
  EXPECT_EQ(lengths.of(function), 2U);
}

TEST(RunLengths, StayShortWhereShortAndLongTakeTurns) {
  RunLengths lengths;
  for (int turn = 0; turn < 20; ++turn) {
    lengths.learn(function, turn % 2 == 0);
    EXPECT_LE(lengths.of(function), 2U);
  }
}

TEST(RunLengths, OneFunctionTellsNothingOfAnother) {
  RunLengths lengths;
  learn_short(lengths, function, 6);
  for (std::uintptr_t other = function + 16; other != function + 16 * 64; other += 16) EXPECT_EQ(lengths.of(other), 1U);
}

TEST(RunLengths, OfTwoInOnePlaceTheLastIsKnown) {
  RunLengths lengths;
  learn_short(lengths, function, 3);
  std::uintptr_t other = function;
  do {
    other += 16;
    lengths.learn(other, true);
  } while (lengths.of(function) != 1);
  EXPECT_EQ(lengths.of(other), 2U);
  lengths.learn(function, true);
  EXPECT_EQ(lengths.of(function), 2U);
  EXPECT_EQ(lengths.of(other), 1U);
}

}  // namespace
}  // namespace weft::test
