// Unit-local keys.
#include "support.h"

#include <thread>

namespace weft::test {
namespace {

class KeyTest : public ApiTest {};

std::atomic<int> destroyed{0};
void destroy(void* value) {
  if (value == nullptr) ADD_FAILURE() << "a destructor is for values that are not NULL";
  destroyed += *static_cast<int*>(value);
}

void* value_of(weft_key key) {
  void* value = &destroyed;
  EXPECT_EQ(weft_key_get(key, &value), WEFT_OK);
  return value;
}

TEST_P(TechniqueTest, HasValuesOfItsOwn) {
  weft_key key{};
  ASSERT_EQ(weft_key_create(destroy, &key), WEFT_OK);
  destroyed = 0;
  int ones[30];
  Jobs jobs;
  for (int& one : ones)
    jobs.start(GetParam(), [&] {
      one = 1;
      EXPECT_EQ(value_of(key), nullptr);
      EXPECT_EQ(weft_key_set(key, &one), WEFT_OK);
      EXPECT_EQ(value_of(key), &one);
      for (int i = 0; i < 3; ++i) {
        pause_if_possible(GetParam());
        EXPECT_EQ(value_of(key), &one);
      }
    });
  jobs.join();
  EXPECT_EQ(destroyed, 30);
  EXPECT_EQ(value_of(key), nullptr) << "the root has its own";
  EXPECT_EQ(weft_key_delete(key), WEFT_OK);
}

// A joiner calls what it waits for, and a worker many in a row; those that wait meanwhile come to their end elsewhere.
TEST_P(TechniqueTest, HasItsValuesDestroyedWhoeverCalledIt) {
  weft_key key{};
  ASSERT_EQ(weft_key_create(destroy, &key), WEFT_OK);
  destroyed = 0;
  int one = 1;
  Jobs creators;
  creators.start(WEFT_FULL, [&] {
    const auto body = [&](bool pauses) {
      EXPECT_EQ(value_of(key), nullptr) << "that of another";
      if (pauses) pause_if_possible(GetParam());
      EXPECT_EQ(weft_key_set(key, &one), WEFT_OK);
    };
    for (int i = 0; i < 10; ++i) {
      Jobs jobs;
      jobs.start(GetParam(), [&] { body(true); });
      jobs.join();
      EXPECT_EQ(destroyed, i + 1) << "by its joiner";
    }
    Jobs row;
    for (int i = 0; i < 100; ++i) row.start(GetParam(), [&, i] { body(i % 4 == 3); });
    row.join();
  });
  creators.join();
  EXPECT_EQ(destroyed, 110);
  EXPECT_EQ(weft_key_delete(key), WEFT_OK);
}

TEST_P(TechniqueTest, StartsItsNextLifeWithoutValues) {
  weft_key key{};
  ASSERT_EQ(weft_key_create(destroy, &key), WEFT_OK);
  destroyed = 0;
  int one = 1;
  Jobs jobs;
  const auto body = [&] {
    EXPECT_EQ(value_of(key), nullptr);
    EXPECT_EQ(weft_key_set(key, &one), WEFT_OK);
  };
  weft_unit* unit = jobs.start(GetParam(), body);
  void* again = jobs.keep(body);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
    EXPECT_EQ(destroyed, i + 1);
    EXPECT_EQ(weft_unit_revive(unit, Jobs::run, again), WEFT_OK);
  }
  jobs.join();
  EXPECT_EQ(destroyed, 6);
  EXPECT_EQ(weft_key_delete(key), WEFT_OK);
}

TEST_P(WaitingTest, DestroysItsValuesHoweverItEnds) {
  weft_key key{};
  ASSERT_EQ(weft_key_create(destroy, &key), WEFT_OK);
  destroyed = 0;
  int one = 1;
  Jobs jobs;
  jobs.start(GetParam(), [&] {
    weft_key_set(key, &one);
    weft_unit_exit();
  });
  jobs.start(GetParam(), [&] {
    weft_key_set(key, &one);
    weft_yield();
    weft_unit_exit();
  });
  weft_unit* cancelled = jobs.start(GetParam(), [&] {
    weft_key_set(key, &one);
    for (;;) weft_yield();
  });
  jobs.start_detached(with(GetParam()), [&] { weft_key_set(key, &one); });
  EXPECT_TRUE(eventually([&] { return destroyed == 3; }));
  EXPECT_EQ(weft_unit_cancel(cancelled), WEFT_OK);
  EXPECT_EQ(weft_unit_join(cancelled), WEFT_OK);
  if (destroyed == 3) {
    // It may have been cancelled before it had set its value: only where it had not started.
    EXPECT_FALSE(child_first(GetParam()));
  } else {
    EXPECT_EQ(destroyed, 4);
  }
  jobs.join();
  EXPECT_EQ(weft_key_delete(key), WEFT_OK);
}

TEST_F(KeyTest, RootsHaveValues) {
  weft_key key{};
  ASSERT_EQ(weft_key_create(destroy, &key), WEFT_OK);
  destroyed = 0;
  int one = 1;
  EXPECT_EQ(value_of(key), nullptr);
  EXPECT_EQ(weft_key_set(key, &one), WEFT_OK);
  int other = 1;
  std::thread([&] {
    EXPECT_EQ(value_of(key), nullptr);
    EXPECT_EQ(weft_key_set(key, &other), WEFT_OK);
    EXPECT_EQ(weft_sleep(1000), WEFT_OK);
    EXPECT_EQ(value_of(key), &other);
  }).join();
  EXPECT_EQ(destroyed, 1) << "a thread's value ends with it";
  EXPECT_EQ(value_of(key), &one);
  EXPECT_EQ(weft_key_set(key, nullptr), WEFT_OK);
  EXPECT_EQ(weft_key_delete(key), WEFT_OK);
  EXPECT_EQ(destroyed, 1);
}

TEST_F(KeyTest, NoDestructorForNull) {
  weft_key key{};
  ASSERT_EQ(weft_key_create(destroy, &key), WEFT_OK);
  destroyed = 0;
  int one = 1;
  Jobs jobs;
  jobs.start(WEFT_ROC_L, [&] {
    weft_key_set(key, &one);
    weft_key_set(key, nullptr);
  });
  jobs.join();
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(weft_key_delete(key), WEFT_OK);
}

TEST_F(KeyTest, ThereAreOnlySoMany) {
  std::vector<weft_key> keys;
  weft_key key{};
  while (weft_key_create(nullptr, &key) == WEFT_OK) {
    keys.push_back(key);
    ASSERT_LE(keys.size(), static_cast<std::size_t>(WEFT_KEYS_MAX));
  }
  EXPECT_EQ(keys.size(), static_cast<std::size_t>(WEFT_KEYS_MAX));
  EXPECT_EQ(weft_key_create(nullptr, &key), WEFT_ERR_LIMIT);
  // All at once in one unit.
  Jobs jobs;
  std::vector<int> numbers(keys.size());
  jobs.start(WEFT_FULL_L, [&] {
    for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(weft_key_set(keys[i], &numbers[i]), WEFT_OK);
    weft_yield();
    for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(value_of(keys[i]), &numbers[i]);
  });
  jobs.join();
  EXPECT_EQ(weft_key_delete(keys.back()), WEFT_OK);
  EXPECT_EQ(weft_key_create(nullptr, &keys.back()), WEFT_OK);
  for (const weft_key one : keys) EXPECT_EQ(weft_key_delete(one), WEFT_OK);
}

TEST_F(KeyTest, DeletedOnesAreRefused) {
  weft_key old{};
  ASSERT_EQ(weft_key_create(destroy, &old), WEFT_OK);
  destroyed = 0;
  int one = 1;
  Jobs jobs;
  weft_key next{};
  jobs.start(WEFT_ROC_L, [&] {
    EXPECT_EQ(weft_key_set(old, &one), WEFT_OK);
    EXPECT_EQ(weft_key_delete(old), WEFT_OK);
    EXPECT_EQ(weft_key_delete(old), WEFT_ERR_ARGUMENT);
    void* value = nullptr;
    EXPECT_EQ(weft_key_get(old, &value), WEFT_ERR_ARGUMENT);
    EXPECT_EQ(weft_key_set(old, &one), WEFT_ERR_ARGUMENT);
    // Its place is taken by another, which does not see the old value.
    ASSERT_EQ(weft_key_create(destroy, &next), WEFT_OK);
    EXPECT_EQ(next.index, old.index);
    EXPECT_NE(next.generation, old.generation);
    EXPECT_EQ(value_of(next), nullptr);
    EXPECT_EQ(weft_key_get(old, &value), WEFT_ERR_ARGUMENT);
  });
  jobs.join();
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(weft_key_delete(next), WEFT_OK);
  const weft_key nonsense{WEFT_KEYS_MAX, 1};
  EXPECT_EQ(weft_key_set(nonsense, &one), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_key_delete(nonsense), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_key_create(destroy, nullptr), WEFT_ERR_ARGUMENT);
}

weft_key chained{};
int rounds_left = 0;
void set_again(void* value) {
  ++destroyed;
  if (--rounds_left > 0) {
    EXPECT_EQ(weft_key_set(chained, value), WEFT_OK);
  }
}

TEST_F(KeyTest, DestructorsMaySetValues) {
  ASSERT_EQ(weft_key_create(set_again, &chained), WEFT_OK);
  destroyed = 0;
  rounds_left = 2;
  int one = 1;
  Jobs jobs;
  jobs.start(WEFT_ROC_L, [&] { weft_key_set(chained, &one); });
  jobs.join();
  EXPECT_EQ(destroyed, 2);
  EXPECT_EQ(weft_key_delete(chained), WEFT_OK);
}

// What a destructor does that takes its time.
struct Ending {
  weft_key key{};
  bool sets_again = false;
  bool exits = false;
  int begun = 0;
  int ended = 0;

  static void run(void* value) {
    auto& self = *static_cast<Ending*>(value);
    constexpr int far_too_often = 100;
    if (++self.begun == far_too_often) return;
    if (self.sets_again) {
      EXPECT_EQ(weft_key_set(self.key, value), WEFT_OK);
    }
    EXPECT_EQ(weft_yield(), WEFT_OK);
    weft_cancel_point();
    ++self.ended;
    if (self.exits) weft_unit_exit();
  }
};

enum class Way { returns, exits, yields, passes_a_cancel_point };
constexpr Way ways[] = {Way::returns, Way::exits, Way::yields, Way::passes_a_cancel_point};

// A unit that has a value for each, is cancelled, and ends in that way.
void end_cancelled(weft_technique technique, Way way, std::vector<Ending>& endings) {
  for (Ending& ending : endings) ASSERT_EQ(weft_key_create(Ending::run, &ending.key), WEFT_OK);
  Jobs jobs;
  jobs.start(technique, [&] {
    for (Ending& ending : endings) EXPECT_EQ(weft_key_set(ending.key, &ending), WEFT_OK);
    EXPECT_EQ(weft_unit_cancel(weft_unit_self()), WEFT_OK);
    if (way == Way::exits) weft_unit_exit();
    if (way == Way::yields) weft_yield();
    if (way == Way::passes_a_cancel_point) weft_cancel_point();
  });
  jobs.join();
  for (const Ending& ending : endings) EXPECT_EQ(weft_key_delete(ending.key), WEFT_OK);
}

// Bug: the destructor was cancelled in its turn, where it yielded.
TEST_P(WaitingTest, DestructorsThatYieldRunToTheirEndInAUnitThatIsCancelled) {
  for (const Way way : ways) {
    std::vector<Ending> endings(3);
    end_cancelled(GetParam(), way, endings);
    for (const Ending& ending : endings) {
      EXPECT_EQ(ending.begun, 1) << static_cast<int>(way);
      EXPECT_EQ(ending.ended, 1) << static_cast<int>(way);
    }
  }
}

// Bug: one that ended the unit in its turn, because it was cancelled or by itself, was called for ever.
TEST_P(WaitingTest, DestructorsThatSetTheirValueAgainAreCalledFourTimes) {
  for (const bool exits : {false, true})
    for (const Way way : ways) {
      std::vector<Ending> endings(1);
      endings[0].sets_again = true;
      endings[0].exits = exits;
      end_cancelled(GetParam(), way, endings);
      EXPECT_EQ(endings[0].begun, 4) << static_cast<int>(way) << (exits ? ", and it exits" : "");
      EXPECT_EQ(endings[0].ended, 4) << static_cast<int>(way) << (exits ? ", and it exits" : "");
    }
}

// One that exits the unit keeps nobody else's from being called.
TEST_P(WaitingTest, DestructorsMayExitTheUnit) {
  std::vector<Ending> endings(3);
  for (Ending& ending : endings) ending.exits = true;
  end_cancelled(GetParam(), Way::returns, endings);
  for (const Ending& ending : endings) EXPECT_EQ(ending.ended, 1);
}

TEST_F(KeyTest, AreMadeByManyAtOnce) {
  Jobs jobs;
  for (int i = 0; i < 50; ++i)
    jobs.start(all_techniques[i % 13], [i] {
      for (int round = 0; round < 20; ++round) {
        weft_key key{};
        ASSERT_EQ(weft_key_create(nullptr, &key), WEFT_OK);
        EXPECT_EQ(value_of(key), nullptr);
        EXPECT_EQ(weft_key_set(key, &key), WEFT_OK);
        pause_if_possible(all_techniques[i % 13]);
        EXPECT_EQ(value_of(key), &key);
        EXPECT_EQ(weft_key_delete(key), WEFT_OK);
      }
    });
  jobs.join();
}

}  // namespace
}  // namespace weft::test
