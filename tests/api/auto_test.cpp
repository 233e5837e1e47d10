// What WEFT_AUTO makes of an entry function's history.
#include "support.h"

namespace weft::test {
namespace {

class AutoTest : public ApiTest {};

void never(void*) {}
void always(void*) { weft_yield(); }
void changing(void* deviates) {
  if (*static_cast<const std::atomic<bool>*>(deviates)) weft_yield();
}
void unheard_of(void*) {}

// Runs units until the choice is as expected; how many it took.
unsigned long run_until(void (*entry)(void*), void* argument, weft_technique expected) {
  constexpr unsigned long most = 100000;
  const weft_unit_attr attr = never_preempted(with(WEFT_AUTO));  // that would be a deviation
  weft_choice choice{};
  for (unsigned long count = 0; count < most; count += 100) {
    std::vector<weft_unit*> units(100);
    std::vector<void*> arguments(100, argument);
    EXPECT_EQ(weft_unit_create_many(100, entry, arguments.data(), &attr, units.data()), WEFT_OK);
    EXPECT_EQ(weft_unit_free_many(100, units.data()), WEFT_OK);
    EXPECT_EQ(weft_auto_choice(entry, &choice), WEFT_OK);
    if (count >= 1000 && choice.technique == expected) return count + 100;
  }
  ADD_FAILURE() << "still " << weft_technique_name(choice.technique) << " after " << choice.units << " units, "
                << choice.deviated << " of which deviated";
  return most;
}

// All that have run are counted. A worker that runs a row of them says so up to a window too early, and takes back what
// did not come when the row is over. (Bug: one that lost its CPU before that was asked only once.)
weft_choice choice_when_counted(void (*entry)(void*), unsigned long count) {
  weft_choice choice{};
  EXPECT_TRUE(eventually([&] { return weft_auto_choice(entry, &choice) == WEFT_OK && choice.units == count; }));
  return choice;
}

TEST_F(AutoTest, NeverDeviates) {
  const unsigned long count = run_until(never, nullptr, WEFT_ROC_L);
  const weft_choice choice = choice_when_counted(never, count);
  EXPECT_EQ(choice.technique, WEFT_ROC_L);
  EXPECT_EQ(choice.units, count);
  EXPECT_EQ(choice.deviated, 0U);
}

TEST_F(AutoTest, AlwaysDeviates) {
  const unsigned long count = run_until(always, nullptr, WEFT_FULL_L);
  const weft_choice choice = choice_when_counted(always, count);
  EXPECT_EQ(choice.technique, WEFT_FULL_L);
  EXPECT_EQ(choice.units, count);
  EXPECT_EQ(choice.deviated, count);
}

TEST_F(AutoTest, FollowsAChange) {
  std::atomic<bool> deviates{false};
  run_until(changing, &deviates, WEFT_ROC_L);
  deviates = true;
  run_until(changing, &deviates, WEFT_FULL_L);
  deviates = false;
  run_until(changing, &deviates, WEFT_ROC_L);
}

TEST_F(AutoTest, KnowsNothingOfTheUnheardOf) {
  weft_choice choice{};
  ASSERT_EQ(weft_auto_choice(unheard_of, &choice), WEFT_OK);
  EXPECT_EQ(choice.units, 0U);
  EXPECT_EQ(choice.deviated, 0U);
  EXPECT_NE(choice.technique, WEFT_AUTO);
  EXPECT_NE(choice.technique, WEFT_STACKLESS);
}

TEST_F(AutoTest, ArgumentsThatMakeNoSense) {
  weft_choice choice{};
  EXPECT_EQ(weft_auto_choice(nullptr, &choice), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_auto_choice(never, nullptr), WEFT_ERR_ARGUMENT);
}

// A unit can have a stack size and memory of its own whatever has been learned.
TEST_F(AutoTest, KeepsWhatWasAskedFor) {
  run_until(never, nullptr, WEFT_ROC_L);
  std::vector<char> memory(128UL << 10U);
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.stack = memory.data();
  attr.stack_size = memory.size();
  weft_unit* unit = nullptr;
  ASSERT_EQ(weft_unit_create(never, nullptr, &attr, &unit), WEFT_OK);
  EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  EXPECT_EQ(weft_unit_technique(unit), WEFT_ROC_L);
  EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
}

}  // namespace
}  // namespace weft::test
