// weft_yield_to(), weft_resume_to(): who runs next.
#include "support.h"

#include <thread>

namespace weft::test {
namespace {

class PassOnTest : public ApiTest {};

TEST_F(PassOnTest, TheNamedUnitComesNext) {
  for (const weft_technique technique : all_techniques) {
    if (!may_wait(technique) || child_first(technique)) continue;
    weft_pool* pool = make_pool(WEFT_FIFO, WEFT_PRIV);
    OwnScheduler own(WEFT_BASIC, {pool});
    Jobs jobs;
    std::string order;
    weft_unit* last = nullptr;
    int answer = -1;
    jobs.start(never_preempted(with(technique, pool)), [&] {
      answer = weft_yield_to(last);
      order += 'a';
    });
    jobs.start(never_preempted(with(technique, pool)), [&] { order += 'b'; });
    last = jobs.start(never_preempted(with(technique, pool)), [&] { order += 'c'; });
    jobs.join();
    EXPECT_EQ(answer, WEFT_OK);
    EXPECT_EQ(order, "cba") << plain_name(technique);
  }
}

TEST_F(PassOnTest, OneThatHasBegunComesNext) {
  weft_pool* pool = make_pool(WEFT_FIFO, WEFT_PRIV);
  OwnScheduler own(WEFT_BASIC, {pool});
  Jobs jobs;
  std::string order;
  weft_unit* units[3];
  for (int number = 0; number < 3; ++number)
    units[number] = jobs.start(never_preempted(with(WEFT_ROC_L, pool)), [&, number] {
      weft_yield();
      order += static_cast<char>('a' + number);
      if (number != 0) return;
      EXPECT_EQ(weft_yield_to(units[2]), WEFT_OK);
      order += 'A';
    });
  jobs.join();
  EXPECT_EQ(order, "acbA");
}

// Bug: it was not found before the scheduler had taken it over.
TEST_F(PassOnTest, OneThatOthersHavePutBackComesNext) {
  for (const weft_order order : {WEFT_FIFO, WEFT_LIFO}) {
    weft_pool* pool = make_pool(order, WEFT_PRIV);
    OwnScheduler own(WEFT_BASIC, {pool});
    Jobs jobs;
    std::string ran;
    weft_unit* sleeper = nullptr;
    const weft_unit_attr attr = never_preempted(with(WEFT_ROC_L, pool));
    jobs.start(attr, [&] {
      Jobs others;
      sleeper = others.start(attr, [&] {
        EXPECT_EQ(weft_suspend(), WEFT_OK);
        ran += 's';
      });
      while (weft_unit_state(sleeper) != WEFT_SUSPENDED) weft_yield();
      for (int i = 0; i < 2; ++i) others.start(attr, [&] { ran += 'o'; });
      std::thread([&] { EXPECT_EQ(weft_resume(sleeper), WEFT_OK); }).join();
      EXPECT_EQ(weft_yield_to(sleeper), WEFT_OK);
    });
    jobs.join();
    EXPECT_EQ(ran, "soo");
  }
}

TEST_F(PassOnTest, SaysWhenItCannot) {
  weft_pool* pool = make_pool(WEFT_FIFO, WEFT_PRIV);
  OwnScheduler own(WEFT_BASIC, {pool});
  Jobs jobs;
  EXPECT_EQ(weft_yield_to(nullptr), WEFT_ERR_ARGUMENT);
  weft_unit* done = jobs.start(with(WEFT_ROC_L, pool), [] {});
  EXPECT_EQ(weft_unit_join(done), WEFT_OK);
  EXPECT_EQ(weft_yield_to(done), WEFT_ERR_STATE) << "a root";
  weft_unit* sleeper = jobs.start(never_preempted(with(WEFT_ROC_L, pool)), [] { weft_suspend(); });
  int ran = 0;
  jobs.start(never_preempted(with(WEFT_ROC_L, pool)), [&] {
    EXPECT_EQ(weft_yield_to(weft_unit_self()), WEFT_ERR_STATE) << "itself";
    EXPECT_EQ(weft_yield_to(done), WEFT_ERR_STATE);
    EXPECT_EQ(weft_yield_to(sleeper), WEFT_ERR_STATE) << "it is suspended";
    EXPECT_EQ(weft_resume(sleeper), WEFT_OK);
    EXPECT_EQ(weft_yield_to(sleeper), WEFT_OK);
    EXPECT_EQ(weft_unit_state(sleeper), WEFT_DONE);
    ++ran;
  });
  jobs.start(with(WEFT_STACKLESS, pool), [&] {
    EXPECT_EQ(weft_yield_to(done), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_resume_to(done), WEFT_ERR_STACKLESS);
    ++ran;
  });
  jobs.join();
  EXPECT_EQ(ran, 2);
}

// Two that have begun name each other, where the named one comes first anyway, and where a third stands before it.
TEST_F(PassOnTest, TwoNameEachOther) {
  weft_pool* pool = make_pool(WEFT_FIFO, WEFT_PRIV);
  OwnScheduler own(WEFT_BASIC, {pool});
  for (const bool with_a_third : {false, true}) {
    Jobs jobs;
    std::string order;
    weft_unit* units[2];
    int named = 2;
    for (int number = 0; number < 2; ++number)
      units[number] = jobs.start(never_preempted(with(WEFT_FULL, pool)), [&, number] {
        weft_yield();
        for (int turn = 0; turn < 3; ++turn) {
          order += static_cast<char>('a' + number);
          const bool is_last = number == 1 && turn == 2;
          EXPECT_EQ(is_last ? WEFT_OK : weft_yield_to(units[1 - number]), WEFT_OK);
        }
        --named;
      });
    if (with_a_third)
      jobs.start(never_preempted(with(WEFT_FULL, pool)), [&] {
        while (named != 0) weft_yield();
        order += '.';
      });
    jobs.join();
    EXPECT_EQ(order, with_a_third ? "ababab." : "ababab");
  }
}

TEST_F(PassOnTest, EndsAtAYieldByNameThatFollowsItsCancellation) {
  weft_pool* pool = make_pool(WEFT_FIFO, WEFT_PRIV);
  OwnScheduler own(WEFT_BASIC, {pool});
  Jobs jobs;
  bool went_on = false;
  weft_unit* other = jobs.start(never_preempted(with(WEFT_FULL, pool)), [] {
    for (int turn = 0; turn < 4; ++turn) weft_yield();
  });
  jobs.start(never_preempted(with(WEFT_FULL, pool)), [&] {
    weft_yield();
    EXPECT_EQ(weft_unit_cancel(weft_unit_self()), WEFT_OK);
    EXPECT_EQ(weft_yield_to(other), WEFT_OK);
    went_on = true;
  });
  jobs.join();
  EXPECT_FALSE(went_on);
}

// In the deques of the workers, where others may be faster.
TEST_F(PassOnTest, ManyPassOnToEachOther) {
  Jobs jobs;
  constexpr int count = 16;
  const unsigned rounds = scaled(2000);
  std::atomic<weft_unit*> units[count] = {};
  std::atomic<int> ended{0};
  std::atomic<bool> all_there{false};
  for (int number = 0; number < count; ++number) {
    weft_unit* unit = jobs.start(with(WEFT_ROC_L), [&, number] {
      while (!all_there) weft_yield();
      for (unsigned round = 0; round < rounds; ++round) {
        const int error = weft_yield_to(units[(number + static_cast<int>(round)) % count]);
        if (error == WEFT_OK) continue;
        EXPECT_EQ(error, WEFT_ERR_STATE);
        weft_yield();
      }
      ++ended;
    });
    units[number] = unit;
  }
  all_there = true;
  for (auto& unit : units) EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
  EXPECT_EQ(ended, count);
}

// One that waits to run, and one that comes back from a sleep. (Bug: units with thread-local storage of their own kept
// them waiting for as long as they named each other, where there was no other worker.)
TEST_F(PassOnTest, TwoNameEachOtherUntilAThirdHasRun) {
  for (const unsigned flags : {0U, unsigned{WEFT_OWN_TLS}}) {
    for (const weft_technique technique : {WEFT_FULL, WEFT_ROC_L, WEFT_C_FULL, WEFT_C_ROC_E}) {
      for (const bool sleeps : {false, true}) {
        Jobs jobs;
        weft_unit_attr attr = with(technique);
        attr.flags |= flags;
        std::atomic<weft_unit*> units[2] = {};
        std::atomic<bool> third_is_there{false}, third_has_run{false};
        for (int number = 0; number < 2; ++number)
          units[number] = jobs.start(attr, [&, number] {
            while (!third_is_there) weft_yield();
            while (!third_has_run) {
              if (weft_yield_to(units[1 - number]) != WEFT_OK) weft_yield();
            }
          });
        jobs.start(attr, [&] {
          while (!third_is_there) weft_yield();
          if (sleeps) {
            EXPECT_EQ(weft_sleep(1000 * 1000), WEFT_OK);
          }
          third_has_run = true;
        });
        third_is_there = true;
        jobs.join();
      }
    }
  }
}

TEST_F(PassOnTest, TheResumedUnitComesNext) {
  weft_pool* pool = make_pool(WEFT_FIFO, WEFT_PRIV);
  OwnScheduler own(WEFT_BASIC, {pool});
  Jobs jobs;
  std::string order;
  weft_unit* sleeper = jobs.start(never_preempted(with(WEFT_ROC_L, pool)), [&] {
    weft_suspend();
    order += 's';
  });
  jobs.start(never_preempted(with(WEFT_ROC_L, pool)), [&] {
    EXPECT_EQ(weft_resume_to(sleeper), WEFT_OK);
    order += 'r';
    EXPECT_EQ(weft_resume_to(sleeper), WEFT_ERR_STATE) << "it is done";
  });
  jobs.start(never_preempted(with(WEFT_ROC_L, pool)), [&] { order += 'o'; });
  jobs.join();
  EXPECT_EQ(order, "sor");
  EXPECT_EQ(weft_resume_to(nullptr), WEFT_ERR_ARGUMENT);
}

// Two that hand a turn to and fro; and from a root.
TEST_F(PassOnTest, ResumesToAndFro) {
  Jobs jobs;
  const unsigned rounds = scaled(5000);
  std::atomic<weft_unit*> partner[2] = {};
  std::atomic<unsigned> turns{0};
  for (unsigned number = 0; number < 2; ++number)
    partner[number] = jobs.start(with(WEFT_FULL_L), [&, number] {
      while (partner[1 - number] == nullptr) weft_yield();
      for (unsigned round = 0; round < rounds; ++round) {
        if (number == 1 || round != 0) {
          EXPECT_EQ(weft_suspend(), WEFT_OK);
        }
        ++turns;
        const bool last = number == 1 && round + 1 == rounds;
        if (!last) {
          EXPECT_EQ(weft_resume_to(partner[1 - number]), WEFT_OK);
        }
      }
    });
  jobs.join();
  EXPECT_EQ(turns, 2 * rounds);

  std::atomic<bool> woken{false};
  weft_unit* unit = jobs.start(with(WEFT_ROC_L), [&] {
    weft_suspend();
    woken = true;
  });
  EXPECT_TRUE(eventually([&] { return weft_unit_state(unit) == WEFT_SUSPENDED; }));
  EXPECT_EQ(weft_resume_to(unit), WEFT_OK) << "from a root";
  jobs.join();
  EXPECT_TRUE(woken);
}

}  // namespace
}  // namespace weft::test
