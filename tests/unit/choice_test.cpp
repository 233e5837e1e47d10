// src/core/technique/choice.h: counting per entry function, and asking about it.
#include "core/technique/choice.h"

#include <thread>

#include "support.h"

namespace weft::test {
namespace {

using Entry = void (*)(void*);
struct ChoiceTest : CoreTest {};

// Never called: only their addresses matter.
Entry entry_number(std::uintptr_t number) { return reinterpret_cast<Entry>(0x100000 + number * 16); }

// Another function whose units push `entry` out of its place.
Entry rival_of(core::Worker& worker, Entry entry) {
  for (std::uintptr_t number = 1000;; ++number) {
    core::choose(worker.choices, entry);
    core::choose(worker.choices, entry_number(number));
    if (core::known_of(worker, entry).units == 0) return entry_number(number);
  }
}

// A question took the place of another function in the worker's table.
TEST_F(ChoiceTest, AQuestionChangesNothing) {
  core::Worker& worker = core::worker_here();
  const Entry entry = entry_number(1);
  const std::uint64_t before = core::known_of(worker, entry).units;
  for (int i = 0; i < 500; ++i) core::choose(worker.choices, entry);
  for (int i = 0; i < 500; ++i) core::note_deviated(worker.choices, entry);
  const core::Technique technique = core::choose(worker.choices, entry);
  for (std::uintptr_t other = 2; other < 900; ++other) EXPECT_EQ(core::known_of(worker, entry_number(other)).units, 0U);
  EXPECT_EQ(core::known_of(worker, entry).units, before + 501);
  EXPECT_EQ(core::known_of(worker, entry).deviated, 500U);
  EXPECT_EQ(core::known_of(worker, entry).technique, technique);
}

// Two functions in one place: whoever asks meanwhile gets numbers of the one that was asked for.
TEST_F(ChoiceTest, IsAskedWhileOthersCount) {
  core::Worker& worker = core::worker_here();
  const Entry few = entry_number(901);
  const Entry many = rival_of(worker, few);
  constexpr unsigned few_units = 3;
  std::atomic<bool> over{false};
  std::atomic<bool> asks{false};
  std::uint64_t most = 0;
  std::thread asker([&] {
    while (!over) {
      const std::uint64_t units = core::known_of(core::worker_here(), few).units;
      if (units > most) most = units;
      asks = true;
    }
  });
  while (!asks) std::this_thread::yield();
  for (unsigned round = 0; round < scaled(200000); ++round) {
    for (unsigned i = 0; i < few_units; ++i) core::choose(worker.choices, few);
    for (unsigned i = 0; i < 20; ++i) core::choose(worker.choices, many);
  }
  over = true;
  asker.join();
  EXPECT_LE(most, few_units);
}

}  // namespace
}  // namespace weft::test
