// What the tests of the core share: starting units from closures, and what must hold after each test.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "core/sanitizer.h"
#include "core/scheduler.h"
#include "join.h"

namespace weft::test {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool thread_sanitizer = true;
#else
inline constexpr bool thread_sanitizer = false;
#endif
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool address_sanitizer = true;
#else
inline constexpr bool address_sanitizer = false;
#endif

/// A count of repetitions, cut where a sanitizer makes each ten to fifty times dearer.
constexpr unsigned scaled(unsigned count) {
  const unsigned cut = thread_sanitizer ? 20 : address_sanitizer ? 5 : 1;
  return count / cut > 0 ? count / cut : 1;
}

/// For tests of many rounds, each of which may take as long as the kernel lets other programs have the CPUs: minutes
/// in all, where there are some.
class TimeLimit {
 public:
  explicit TimeLimit(std::chrono::milliseconds limit = std::chrono::seconds(2))
      : end_(std::chrono::steady_clock::now() + limit) {}
  bool is_over() const { return std::chrono::steady_clock::now() >= end_; }

 private:
  std::chrono::steady_clock::time_point end_;
};

/// The kernel's number of the calling KLT.
int klt();

/// A line of /proc/self/status, e.g. "Threads".
long status_value(const char* key);

/// The CPU time that the process has used so far, in nanoseconds.
unsigned long long process_cpu_time();

/// Sleeps in the kernel, as a program does that knows nothing of weft.
void nap(std::chrono::microseconds time);

/// Waits (napping, running no units) until `condition` holds; false after `limit`.
bool eventually(const std::function<bool()>& condition, std::chrono::seconds limit = std::chrono::seconds(60));

/// Waits on the KLT, without giving the worker to other units.
bool eventually_spinning(const std::function<bool()>& condition, std::chrono::seconds limit = std::chrono::seconds(60));

/// A unit that runs a closure.
struct Job {
  core::WholeUnit unit;
  std::function<void()> body;
};

/// Units started by a test. join() waits for all of them, and checks that they are done.
class Jobs {
 public:
  explicit Jobs(core::Technique technique = core::Technique::roc_l, std::size_t stack_size = 0)
      : technique_(technique), stack_size_(stack_size) {}
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;
  ~Jobs();

  /// Prepares and starts one.
  core::Unit& start(std::function<void()> body);
  /// Prepares one, for the test to start.
  core::Unit& prepare(std::function<void()> body);
  void join();
  std::size_t count() const { return jobs_.size(); }

 private:
  core::Technique technique_;
  std::size_t stack_size_;
  std::deque<std::unique_ptr<Job>> jobs_;
};

/// Suspends the calling unit and shows it in `place`.
void suspend_in(std::atomic<core::Unit*>& place);

/// Takes the unit out of `place`, waiting until there is one, and resumes it.
void resume_from(std::atomic<core::Unit*>& place);

/// Starts so many units, of which each waits, without giving up its worker, until all are there: as many workers as
/// units are needed, so those that have not been started yet are.
void meet(unsigned count);

/// Of weft's own workers, those that look for units or run some.
unsigned workers_awake();

/// Lets units run here until this one is suspended.
void yield_until_suspended(const core::Unit& unit);

/// Nothing is left behind: no unit in any pool, no share published, nobody searching, everybody asleep.
void expect_idle();

/// Exit status of a forked child that runs `body`: 0 if it returns true, 1 if false; -1 if it did not exit by itself
/// within 100 s. Under AddressSanitizer it forks only once all workers sleep, so no unit may call it: a worker that
/// ends its last unit may hold a lock of that allocator, which nobody would unlock in the child.
int in_child(const std::function<bool()>& body);

/// Each test of the core ends by checking that nothing was left behind.
class CoreTest : public ::testing::Test {
 protected:
  void TearDown() override { expect_idle(); }
};

class TechniqueTest : public ::testing::TestWithParam<core::Technique> {
 protected:
  void TearDown() override { expect_idle(); }
};

/// Names the instances of a TechniqueTest.
inline std::string technique_name(const ::testing::TestParamInfo<core::Technique>& instance) {
  static const char* const names[] = {"Auto", "Stackless", "Full",  "FullL",  "Roc",  "RocL", "Ss",
                                      "SsL",  "Sc",        "CFull", "CFullE", "CRoc", "CRocE"};
  return names[static_cast<unsigned>(instance.param)];
}

/// Reads WEFT_NUM_WORKERS and WEFT_IDENTITY and configures the core accordingly.
void configure_from_environment();

}  // namespace weft::test
