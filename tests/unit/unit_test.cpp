// src/core/unit.h, scheduler.h: states, start and join, suspend and resume, yield.
#include "core/ready.h"
#include "core/unit.h"

#include <cstdlib>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "arch/context.h"
#include "core/identities.h"
#include "core/segment.h"
#include "core/technique/start.h"
#include "support.h"

namespace weft::test {
namespace {

using core::Technique;
using core::Unit;
using core::UnitState;

struct Units : TechniqueTest {};
INSTANTIATE_TEST_SUITE_P(Techniques, Units,
                         ::testing::Values(Technique::automatic, Technique::full_l, Technique::roc_l, Technique::ss_l,
                                           Technique::sc),
                         technique_name);
struct UnitTest : CoreTest {};

TEST_P(Units, GoThroughTheirStates) {
  std::atomic<UnitState> seen{UnitState::done};
  Jobs jobs(GetParam());
  Unit& unit = jobs.prepare([&] { seen = core::this_unit().state.load(); });
  EXPECT_EQ(unit.state.load(), UnitState::created);
  EXPECT_EQ(unit.stack, nullptr) << "a unit that has not started owns no stack";
  core::start(unit);
  join(unit);
  EXPECT_EQ(unit.state.load(), UnitState::done);
  EXPECT_EQ(seen.load(), UnitState::running);
  join(unit);  // again: returns at once
}

TEST_P(Units, SuspendedUntilResumed) {
  std::atomic<Unit*> place{nullptr};
  std::atomic<bool> went_on{false};
  Jobs jobs(GetParam());
  Unit& unit = jobs.start([&] {
    suspend_in(place);
    went_on = true;
  });
  while (place.load() == nullptr) core::yield();
  EXPECT_TRUE(eventually([&] { return unit.state.load() == UnitState::suspended; }));
  EXPECT_FALSE(went_on);
  core::resume(*place.exchange(nullptr));
  join(unit);
  EXPECT_TRUE(went_on);
}

TEST_P(Units, CancelledSuspensionGoesOn) {
  Jobs jobs(GetParam());
  jobs.start([] {
    Unit& self = core::this_unit();
    core::prepare_suspend(self);
    core::cancel_suspend(self);
    EXPECT_EQ(self.state.load(), UnitState::running);
    core::yield();
  });
}

// The resumer is there before the unit has left its stack: it must be run again exactly once, and not
// before its context is saved.
TEST_P(Units, ResumedBeforeTheSwitchIsComplete) {
  const unsigned rounds = scaled(20000);
  const TimeLimit limit(std::chrono::milliseconds(500));
  std::atomic<Unit*> place{nullptr};
  unsigned suspended = 0;
  std::atomic<unsigned> resumed{0};
  std::atomic<bool> over{false};
  std::thread resumer([&] {  // a root of its own: spins on the place, so that it is early often
    while (!over.load()) {
      Unit* unit = place.exchange(nullptr, std::memory_order_acquire);
      const unsigned round = resumed.load();
      if (unit != nullptr) {
        resumed = round + 1;
        core::resume(*unit);
        if (core::runtime.workers == 1 && round % 64 == 0) core::yield();
      } else if (round % 64 == 63) {
        std::this_thread::yield();
      }
    }
  });
  {
    Jobs jobs(GetParam());
    jobs.start([&] {
      while (suspended < rounds && !limit.is_over()) {
        ++suspended;
        suspend_in(place);
      }
    });
  }
  EXPECT_EQ(resumed.load(), suspended);
  over = true;
  resumer.join();
}

// The unit resumes itself between the two halves.
TEST_P(Units, ResumesItselfEarly) {
  const unsigned rounds = scaled(5000);
  unsigned passes = 0;
  Jobs jobs(GetParam());
  jobs.start([&] {
    for (unsigned round = 0; round < rounds; ++round) {
      Unit& self = core::this_unit();
      core::prepare_suspend(self);
      core::resume(self);
      core::suspend();
      ++passes;
    }
  });
  jobs.join();
  EXPECT_EQ(passes, rounds);
}

TEST_F(UnitTest, RootResumesItselfEarly) {
  for (int round = 0; round < 1000; ++round) {
    Unit& self = core::this_unit();
    core::prepare_suspend(self);
    core::resume(self);
    core::suspend();
    ASSERT_EQ(self.state.load(), UnitState::running);
  }
}

TEST_P(Units, ManyJoinersOfOne) {
  std::atomic<Unit*> place{nullptr};
  std::atomic<unsigned> joined{0};
  Jobs jobs(GetParam());
  Unit& target = jobs.start([&] { suspend_in(place); });
  for (int joiner = 0; joiner < 100; ++joiner)
    jobs.start([&] {
      join(target);
      ++joined;
    });
  std::vector<std::thread> roots;
  for (int joiner = 0; joiner < 4; ++joiner)
    roots.emplace_back([&] {
      join(target);
      ++joined;
    });
  for (int round = 0; round < 100; ++round) core::yield();
  EXPECT_EQ(joined.load(), 0U);
  resume_from(place);
  for (std::thread& root : roots) root.join();
  jobs.join();
  EXPECT_EQ(joined.load(), 104U);
}

// The joiner frees the unit the moment it is done, and its memory is overwritten: nobody may touch it.
TEST_P(Units, GoneAsSoonAsJoined) {
  const unsigned rounds = scaled(20000);
  const TimeLimit limit;
  std::atomic<unsigned> run{0};
  unsigned round = 0;
  for (; round < rounds && !limit.is_over(); ++round) {
    const std::unique_ptr<void, decltype(&std::free)> memory(
        std::aligned_alloc(alignof(core::WholeUnit), sizeof(core::WholeUnit)), &std::free);
    auto unit = new (memory.get()) core::WholeUnit;
    make_joinable(
        *unit,
        [](void* argument) {
          ++*static_cast<std::atomic<unsigned>*>(argument);
          core::yield();
        },
        &run, GetParam());
    core::start(*unit);
    join(*unit);
    std::fill_n(static_cast<char*>(memory.get()), sizeof(core::WholeUnit), '\xee');
  }
  EXPECT_EQ(run.load(), round);
}

TEST_P(Units, StartedByUnits) {
  std::atomic<unsigned> leaves{0};
  struct Tree {
    static void grow(unsigned depth, Technique technique, std::atomic<unsigned>& leaves) {
      if (depth == 0) {
        ++leaves;
        return;
      }
      Jobs jobs(technique);
      jobs.start([&leaves, depth, technique] { grow(depth - 1, technique, leaves); });
      jobs.start([&leaves, depth, technique] { grow(depth - 1, technique, leaves); });
    }
  };
  const unsigned depth = thread_sanitizer ? 6 : 10;
  Tree::grow(depth, GetParam(), leaves);
  EXPECT_EQ(leaves.load(), 1U << depth);
}

TEST_P(Units, AHundredThousand) {
  const unsigned count = scaled(100000);
  std::atomic<unsigned> run{0};
  std::vector<core::WholeUnit> units(count);
  for (core::WholeUnit& unit : units) {
    make_joinable(
        unit, [](void* argument) { ++*static_cast<std::atomic<unsigned>*>(argument); }, &run, GetParam());
    core::start(unit);
  }
  for (core::WholeUnit& unit : units) join(unit);
  EXPECT_EQ(run.load(), count);
}

TEST_P(Units, DeviateManyTimes) {
  const unsigned count = scaled(100);
  std::atomic<unsigned> passes{0};
  {
    Jobs jobs(GetParam());
    for (unsigned number = 0; number < count; ++number)
      jobs.start([&passes] {
        for (int round = 0; round < 100; ++round) {
          core::yield();
          ++passes;
        }
      });
  }
  EXPECT_EQ(passes.load(), 100 * count);
}

// A unit that deviated and comes to its end on another KLT than it began on.
TEST_P(Units, FinishElsewhere) {
  unsigned moved = 0;
  for (int round = 0; round < 20000 && moved < 5; ++round) {
    std::atomic<Unit*> place{nullptr};
    std::atomic<int> began{0};
    std::atomic<int> ended{0};
    Jobs jobs(GetParam());
    std::atomic<Unit*> unit{nullptr};
    std::thread first([&] {
      unit = &jobs.start([&] {
        began = klt();
        suspend_in(place);
        ended = klt();
      });
      while (place.load() == nullptr) core::yield();
    });
    first.join();
    std::thread second([&] {
      resume_from(place);
      join(*unit.load());
    });
    second.join();
    jobs.join();
    ASSERT_NE(ended.load(), 0);
    if (began.load() != ended.load()) ++moved;
  }
  EXPECT_GE(moved, 5U);
}

TEST_P(Units, ResumeAllOfAChain) {
  const unsigned count = scaled(1000);
  for (int round = 0; round < 10; ++round) {
    std::vector<std::atomic<Unit*>> places(count);
    std::atomic<unsigned> went_on{0};
    Jobs jobs(GetParam());
    for (auto& place : places)
      jobs.start([&] {
        suspend_in(place);
        ++went_on;
      });
    Unit* chain = nullptr;
    for (auto& place : places) {
      Unit* unit;
      while ((unit = place.exchange(nullptr)) == nullptr) core::yield();
      unit->next = chain;  // some have not left their stacks yet
      chain = unit;
    }
    core::resume_all(chain);
    jobs.join();
    EXPECT_EQ(went_on.load(), count);
  }
  core::resume_all(nullptr);
}

// Units that wait for one another by yielding all get their turn, on however few workers.
TEST_P(Units, YieldIsFair) {
  const unsigned count = 8;
  const unsigned rounds = scaled(2000);
  const TimeLimit limit;
  std::atomic<unsigned> turn{0};
  std::atomic<bool> over{false};
  {
    Jobs jobs(GetParam());
    for (unsigned number = 0; number < count; ++number)
      jobs.start([&, number] {
        for (unsigned round = 0; round < rounds; ++round) {
          while (turn.load(std::memory_order_acquire) != round * count + number && !over) core::yield();
          if (over) return;
          turn.fetch_add(1, std::memory_order_release);
          // (Bug: where the first one began only when the time was over, nobody had had a turn.)
          if (limit.is_over()) over = true;
        }
      });
  }
  EXPECT_TRUE(turn == rounds * count || over);
  EXPECT_GT(turn, 0U);
}

// Two units that resume each other for ever must not keep a third from running.
TEST_P(Units, PingPongStarvesNobody) {
  const TimeLimit limit(std::chrono::seconds(20));
  std::atomic<bool> stop{false};
  std::atomic<unsigned> passes{0};
  std::atomic<Unit*> places[2] = {};
  const auto player = [&](unsigned number) {
    while (!stop) {
      ++passes;
      if (limit.is_over() && !stop.exchange(true))
        ADD_FAILURE() << "the third unit has not run in " << passes.load() << " passes";
      if (Unit* other = places[1 - number].exchange(nullptr)) core::resume(*other);
      suspend_in(places[number]);
    }
    if (Unit* other = places[1 - number].exchange(nullptr)) core::resume(*other);
  };
  Jobs jobs(GetParam());
  jobs.start([&] {
    core::yield();
    stop = true;
  });
  std::atomic<unsigned> gone{0};
  for (unsigned number = 0; number < 2; ++number)
    jobs.start([&, number] {
      player(number);
      ++gone;
    });
  // One may have gone to sleep just before the other left.
  jobs.start([&] {
    while (gone != 2) {
      if (stop)
        for (auto& place : places)
          if (Unit* unit = place.exchange(nullptr)) core::resume(*unit);
      core::yield();
    }
  });
}

// A root that polls with yield() does not starve anybody either.
TEST_P(Units, PingPongUnderAYieldingRootStarvesNobody) {
  const TimeLimit limit(std::chrono::seconds(20));
  std::atomic<bool> stop{false};
  std::atomic<bool> gave_up{false};
  std::atomic<Unit*> places[2] = {};
  Jobs jobs(GetParam());
  jobs.start([&] {
    core::yield();
    stop = true;
  });
  std::atomic<unsigned> gone{0};
  for (unsigned number = 0; number < 2; ++number)
    jobs.start([&, number] {
      while (!stop && !gave_up) {
        if (Unit* other = places[1 - number].exchange(nullptr)) core::resume(*other);
        suspend_in(places[number]);
      }
      ++gone;
    });
  for (unsigned turn = 0; gone != 2; ++turn) {
    if (limit.is_over() && !stop && !gave_up.exchange(true))
      ADD_FAILURE() << "the third unit has not run in " << turn << " turns";
    if (stop || gave_up)
      for (auto& place : places)
        if (Unit* unit = place.exchange(nullptr)) core::resume(*unit);
    core::yield();
  }
}

// Of two units each lets the other go on, and waits for that; never both, for what comes early is kept.
struct Pair {
  static constexpr std::uintptr_t came = 1;
  std::atomic<std::uintptr_t> places[2] = {};  // or the unit that waits there
  void let_go_on(unsigned number) {
    std::uintptr_t before = places[number];
    while (!places[number].compare_exchange_weak(before, before > came ? 0 : came)) {
    }
    if (before > came) core::resume(*reinterpret_cast<Unit*>(before));
  }
  void wait(unsigned number) {
    Unit& unit = core::this_unit();
    core::prepare_suspend(unit);
    std::uintptr_t none = 0;
    if (places[number].compare_exchange_strong(none, reinterpret_cast<std::uintptr_t>(&unit))) {
      core::suspend();
      return;
    }
    places[number] = 0;
    core::cancel_suspend(unit);
  }
};

// One that somebody has put aside does not wait for a worker that has nothing to do. (Bug: only such a one looked.)
TEST_P(Units, WhatIsPutAsideRunsThoughAllWorkersAreBusy) {
  core::worker_here();  // from now on it is known how many there are
  if (core::runtime.workers > 8) GTEST_SKIP() << "takes long";
  const TimeLimit limit(std::chrono::seconds(20));
  std::atomic<bool> has_run{false};
  std::atomic<unsigned> passes{0};
  const auto is_over = [&] { return has_run || limit.is_over(); };
  std::vector<Pair> pairs(core::runtime.workers);
  const auto player = [&](Pair& pair, unsigned number) {
    while (!is_over()) {
      ++passes;
      pair.let_go_on(1 - number);
      pair.wait(number);
    }
    pair.let_go_on(1 - number);
  };
  Jobs jobs(GetParam());
  Unit& put_aside = jobs.prepare([&] {
    EXPECT_FALSE(limit.is_over());
    has_run = true;
  });
  jobs.start([&] {
    while (passes < 1000 && !is_over()) core::yield();
    core::worker_here().aside.put(put_aside);
  });
  for (Pair& pair : pairs)
    for (const unsigned number : {0U, 1U}) jobs.start([&, number] { player(pair, number); });
}

int recurse(int depth) {
  volatile char frame[1024];
  frame[0] = static_cast<char>(depth);
  if (depth % 64 == 0) core::yield();
  return depth == 0 ? frame[0] : recurse(depth - 1) + (frame[0] == static_cast<char>(depth) ? 1 : 1000000);
}

TEST_P(Units, DeepRecursionOnStacksOfSetSize) {
  for (const std::size_t size : {std::size_t{64} << 10U, std::size_t{1} << 20U, std::size_t{16} << 20U}) {
    const int depth = static_cast<int>(size / 2 / (core::sanitizer::active ? 4096 : 1200));
    std::atomic<int> sum{0};
    Jobs jobs(GetParam(), size);
    for (int number = 0; number < 4; ++number) jobs.start([&sum, depth] { sum += recurse(depth); });
    jobs.join();
    EXPECT_EQ(sum.load(), 4 * depth);
  }
}

TEST_P(Units, StackIsAtLeastAsLargeAsAsked) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{16384}, std::size_t{100000}, std::size_t{3} << 20U}) {
    std::atomic<std::size_t> left{0};
    Jobs jobs(GetParam(), size);
    jobs.start([&left] { left = core::stack_left(); });
    jobs.join();
    EXPECT_GE(left.load() + 4096, size);
  }
  EXPECT_EQ(core::stack_left(), 0U) << "not known on the stack of a KLT of the program";
}

TEST_P(Units, SegmentsGoOnWhereTheStackEnds) {
  struct Deep {
    static void step(void* argument) {
      auto left = static_cast<int*>(argument);
      if (*left == 0) return;
      --*left;
      if (*left % 3 == 0) core::yield();
      core::call_on_segment(64U << 10U, step, argument);
    }
  };
  std::atomic<unsigned> done{0};
  Jobs jobs(GetParam(), 64U << 10U);
  for (int number = 0; number < 8; ++number)
    jobs.start([&done] {
      int left = core::sanitizer::active ? 20 : 500;
      Deep::step(&left);
      if (left == 0) ++done;
    });
  jobs.join();
  EXPECT_EQ(done.load(), 8U);
}

// A unit that runs others in a scheduler frame of its own, as the opener of a region does.
void run_in_frame(Unit& inner) {
  core::Worker& worker = *core::this_worker();
  Unit& self = *worker.current;
  core::keep_identity(worker, self);
  {
    core::SchedulerFrame frame(worker);
    core::install_for(worker, inner);
    const core::Event event = core::start_unit(worker, inner);
    // SS and SC may have gone on with another unit.
    if (event != core::Event::returned) core::settle(worker, *worker.current, event);
  }
  core::install_for(worker, self);
}

TEST_P(Units, NestedSchedulerFrames) {
  const unsigned count = scaled(100);
  std::atomic<unsigned> inner_done{0};
  std::atomic<unsigned> current_wrong{0};
  Jobs outer(GetParam());
  for (unsigned number = 0; number < count; ++number)
    outer.start([&, number] {
      Unit& self = core::this_unit();
      Jobs inner(GetParam());
      for (int level = 0; level < 3; ++level) {
        Unit& unit = inner.prepare([&, level] {
          Jobs innermost(GetParam());
          run_in_frame(innermost.prepare([&] {
            if (number % 2 == 0) core::yield();
            ++inner_done;
          }));
          if (level != 0) core::yield();
          innermost.join();
        });
        run_in_frame(unit);
        if (&core::this_unit() != &self) ++current_wrong;
      }
      inner.join();
    });
  outer.join();
  EXPECT_EQ(inner_done.load(), 3 * count);
  EXPECT_EQ(current_wrong.load(), 0U);
}

// Stacks and descriptors come back: what 50 rounds of the same need is no more than what 10 do.
TEST_P(Units, StacksComeBack) {
  const auto round = [&] {
    Jobs jobs(GetParam());
    std::atomic<unsigned> waiting{0};
    for (unsigned number = 0; number < 200; ++number)
      jobs.start([&] {
        ++waiting;
        while (waiting.load() < 200) core::yield();
      });
  };
  core::worker_here();
  meet(core::runtime.workers);  // the stack of a thread that starts later would count
  for (int number = 0; number < (thread_sanitizer ? 3 : 10); ++number) round();
  // 256 KiB each; workers may still fill caches of their own, by no more than the units that there are, mostly.
  // The sanitizers' own tables grow with them.
  const long of_units = thread_sanitizer ? 4 : address_sanitizer ? 3 : 2;
  const long most = of_units * 200 * 320;
  // What does not come back is missing each time. (Bug: once was all, and many workers have many caches.)
  long grown = most;
  for (int window = 0; window < 5 && grown >= most; ++window) {
    const long size_before = status_value("VmSize");
    for (int number = 0; number < (thread_sanitizer ? 3 : 40); ++number) round();
    grown = status_value("VmSize") - size_before;
  }
  EXPECT_LT(grown, most) << "kB, of 200 units at a time";
}

}  // namespace
}  // namespace weft::test
