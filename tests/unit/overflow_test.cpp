// src/os/fault.h: a stack that overflows ends the process with a line that says so, by SIGSEGV.
#include <csignal>
#include <sys/prctl.h>
#include <thread>

#include "support.h"

namespace weft::test {
namespace {

[[gnu::noinline]] int overflow(int depth) {
  volatile char frame[512];
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? frame[0] : overflow(depth + 1) + frame[0];
}

struct Overflowing {
  core::WholeUnit unit;
  bool deviates = false;
};

void overflow_entry(void* argument) {
  if (static_cast<Overflowing*>(argument)->deviates) core::yield();
  if (overflow(0) == 1) std::abort();
}

void prepare(Overflowing& overflowing, std::size_t size) {
  prctl(PR_SET_DUMPABLE, 0);  // no core file
  make_joinable(overflowing.unit, overflow_entry, &overflowing, core::Technique::roc_l, size);
  overflowing.unit.details.name = "the deep unit";
}

// On the KLT of the root: no other KLT is given the time to take the unit.
void on_a_root(std::size_t size, bool deviates) {
  core::Config config;
  config.workers = 1;
  core::configure(config, {});
  Overflowing overflowing;
  overflowing.deviates = deviates;
  prepare(overflowing, size);
  core::start(overflowing.unit);
  join(overflowing.unit);
}

// On a KLT of weft's: the root does not help. (Bug: it went on after 10 s, in which that KLT may have had no CPU.)
void on_a_worker(std::size_t size) {
  core::Config config;
  config.workers = 2;
  core::configure(config, {});
  Overflowing overflowing;
  prepare(overflowing, size);
  core::start(overflowing.unit);
  nap(std::chrono::seconds(100));
}

class OverflowDeathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (core::sanitizer::active) GTEST_SKIP() << "the sanitizers handle SIGSEGV";
  }
};

constexpr char line_64[] =
    "weft: stack overflow in the deep unit \\(stack of 64 KiB\\); raise weft_unit_attr.stack_size";

TEST_F(OverflowDeathTest, IsNamedOnAWorker) {
  EXPECT_EXIT(on_a_worker(64U << 10U), ::testing::KilledBySignal(SIGSEGV), line_64);
}

// Bug: the program's own threads had no alternate signal stack, so that the handler could not run.
TEST_F(OverflowDeathTest, IsNamedOnARoot) {
  EXPECT_EXIT(on_a_root(64U << 10U, false), ::testing::KilledBySignal(SIGSEGV), line_64);
}

TEST_F(OverflowDeathTest, IsNamedAfterADeviation) {
  EXPECT_EXIT(on_a_root(64U << 10U, true), ::testing::KilledBySignal(SIGSEGV), line_64);
}

TEST_F(OverflowDeathTest, IsNamedOnAThreadOfTheProgram) {
  EXPECT_EXIT(std::thread([] { on_a_root(1U << 20U, false); }).join(), ::testing::KilledBySignal(SIGSEGV),
              "weft: stack overflow in the deep unit \\(stack of 1024 KiB\\); raise weft_unit_attr.stack_size");
}

// A fault that is none of weft's goes where it went before.
void segfault(bool own_handler) {
  prctl(PR_SET_DUMPABLE, 0);  // no core file
  if (own_handler) std::signal(SIGSEGV, [](int) { _exit(42); });
  core::worker_here();
  volatile int* volatile nowhere = reinterpret_cast<volatile int*>(std::uintptr_t{64});
  *nowhere = 1;
}

TEST_F(OverflowDeathTest, OtherFaultsPassOn) {
  EXPECT_EXIT(segfault(false), ::testing::KilledBySignal(SIGSEGV), "^$");
  EXPECT_EXIT(segfault(true), ::testing::ExitedWithCode(42), "^$");
}

void sent_segv() {
  prctl(PR_SET_DUMPABLE, 0);
  core::worker_here();
  raise(SIGSEGV);
}

TEST_F(OverflowDeathTest, ASentSignalPassesOn) { EXPECT_EXIT(sent_segv(), ::testing::KilledBySignal(SIGSEGV), "^$"); }

}  // namespace
}  // namespace weft::test
