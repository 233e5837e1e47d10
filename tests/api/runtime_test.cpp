// Starting and ending weft, and what it says about itself.
#include "support.h"

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

namespace weft::test {
namespace {

TEST(Runtime, InitAndFinalizeAreCounted) {
  EXPECT_EQ(weft_init(), WEFT_OK);
  EXPECT_EQ(weft_init(), WEFT_OK);
  EXPECT_EQ(weft_finalize(), WEFT_OK);
  {
    Jobs jobs;
    std::atomic<int> ran{0};
    jobs.start(WEFT_ROC_L, [&] { ++ran; });
    jobs.join();
    EXPECT_EQ(ran, 1);
  }
  EXPECT_EQ(weft_finalize(), WEFT_OK);
  EXPECT_EQ(weft_finalize(), WEFT_ERR_UNINITIALISED);
}

TEST(Runtime, StartsAgain) {
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(weft_init(), WEFT_OK);
    Jobs jobs;
    std::atomic<int> ran{0};
    for (int i = 0; i < 10; ++i) jobs.start(WEFT_AUTO, [&] { ++ran; });
    jobs.join();
    EXPECT_EQ(ran, 10);
    ASSERT_EQ(weft_finalize(), WEFT_OK);
  }
}

TEST(Runtime, IsCountedByThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([] {
      for (int round = 0; round < 50; ++round) {
        EXPECT_EQ(weft_init(), WEFT_OK);
        EXPECT_EQ(weft_finalize(), WEFT_OK);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(weft_finalize(), WEFT_ERR_UNINITIALISED);
}

void suspend_for_good(void*) { weft_suspend(); }

TEST(Runtime, UnitsMayBeLeftBehind) {
  ASSERT_EQ(weft_init(), WEFT_OK);
  static weft_unit* left[3];
  for (weft_unit*& unit : left) ASSERT_EQ(weft_unit_create(suspend_for_good, nullptr, nullptr, &unit), WEFT_OK);
  EXPECT_TRUE(eventually([] {
    for (weft_unit* unit : left)
      if (weft_unit_state(unit) != WEFT_SUSPENDED) return false;
    return true;
  }));
  EXPECT_EQ(weft_finalize(), WEFT_OK);
  ASSERT_EQ(weft_init(), WEFT_OK);
  for (weft_unit* unit : left) {
    EXPECT_EQ(weft_resume(unit), WEFT_OK);
    EXPECT_EQ(weft_unit_free(unit), WEFT_OK);
  }
  EXPECT_EQ(weft_finalize(), WEFT_OK);
}

class RuntimeTest : public ApiTest {};

TEST_F(RuntimeTest, FinalizeIsNotForUnits) {
  for (const weft_technique technique : all_techniques) {
    Jobs jobs;
    int error = -1;
    jobs.start(technique, [&] { error = weft_finalize(); });
    jobs.join();
    EXPECT_EQ(error, WEFT_ERR_STATE) << weft_technique_name(technique);
  }
}

TEST_F(RuntimeTest, InitInAUnitIsCounted) {
  Jobs jobs;
  jobs.start(WEFT_ROC_L, [] { EXPECT_EQ(weft_init(), WEFT_OK); });
  jobs.join();
  EXPECT_EQ(weft_finalize(), WEFT_OK);
}

TEST(Runtime, HasAVersion) {
  const std::string version = weft_version();
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;
  EXPECT_EQ(sscanf(version.c_str(), "%u.%u.%u", &major, &minor, &patch), 3) << version;
  EXPECT_EQ(version, std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch));
}

TEST(Runtime, ErrorsHaveNames) {
  std::set<std::string> names;
  std::set<std::string> texts;
  for (int error = WEFT_OK; error <= WEFT_ERR_UNSUPPORTED; ++error) {
    names.insert(weft_error_name(error));
    texts.insert(weft_error_text(error));
    EXPECT_EQ(std::string(weft_error_name(error)).rfind("WEFT_", 0), 0U);
  }
  EXPECT_EQ(names.size(), WEFT_ERR_UNSUPPORTED + 1U);
  EXPECT_EQ(texts.size(), WEFT_ERR_UNSUPPORTED + 1U);
  EXPECT_STREQ(weft_error_name(WEFT_ERR_MEMORY), "WEFT_ERR_MEMORY");
  for (const int error : {-1, WEFT_ERR_UNSUPPORTED + 1, 1 << 30, -(1 << 30)}) {
    EXPECT_EQ(names.count(weft_error_name(error)), 0U);
    EXPECT_EQ(texts.count(weft_error_text(error)), 0U);
    EXPECT_STRNE(weft_error_text(error), "");
  }
}

TEST(Runtime, TechniquesHaveNames) {
  std::set<std::string> names;
  for (const weft_technique technique : all_techniques) names.insert(weft_technique_name(technique));
  EXPECT_EQ(names.size(), 13U);
  EXPECT_STREQ(weft_technique_name(WEFT_ROC_L), "RoC-L");
  EXPECT_STREQ(weft_technique_name(WEFT_C_FULL_E), "C-Full-E");
  EXPECT_EQ(names.count(weft_technique_name(static_cast<weft_technique>(13))), 0U);
}

TEST_F(RuntimeTest, HasAsManyWorkersAsAskedFor) {
  const char* wanted = std::getenv("WEFT_NUM_WORKERS");
  if (wanted == nullptr) GTEST_SKIP() << "WEFT_NUM_WORKERS is not set";
  EXPECT_EQ(weft_worker_count(), std::strtoul(wanted, nullptr, 10));
}

}  // namespace
}  // namespace weft::test
