// What the tests of the C API share: units that run closures, and what must hold after each test.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/weft.h>

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

inline constexpr weft_technique all_techniques[] = {
    WEFT_AUTO, WEFT_STACKLESS, WEFT_FULL,   WEFT_FULL_L,   WEFT_ROC,   WEFT_ROC_L,   WEFT_SS,
    WEFT_SS_L, WEFT_SC,        WEFT_C_FULL, WEFT_C_FULL_E, WEFT_C_ROC, WEFT_C_ROC_E,
};
inline bool may_wait(weft_technique technique) { return technique != WEFT_STACKLESS; }
inline bool child_first(weft_technique technique) { return technique >= WEFT_C_FULL; }
inline bool on_schedulers_stack(weft_technique technique) {
  return technique == WEFT_SC || technique == WEFT_STACKLESS;
}

/// "CFullE" for WEFT_C_FULL_E: what may stand in the name of a test.
std::string plain_name(weft_technique technique);
inline std::string technique_name(const ::testing::TestParamInfo<weft_technique>& instance) {
  return plain_name(instance.param);
}

/// Attributes with a technique, and the rest as it is by default.
weft_unit_attr with(weft_technique technique);
weft_unit_attr with(weft_technique technique, weft_pool* pool);
/// For what only holds while nobody is preempted (an order, a count), where the whole program is (WEFT_PREEMPT).
weft_unit_attr never_preempted(weft_unit_attr attr);

/// weft_workers(): all of them.
std::vector<weft_worker_info> worker_infos();
/// Whether the worker's KLT sleeps.
bool is_asleep(const weft_worker* worker);

/// Waits as weft waits, letting units run here, until `condition` holds; false after `limit`.
bool eventually(const std::function<bool()>& condition, std::chrono::seconds limit = std::chrono::seconds(60));

/// Yields if the calling unit can.
void pause_if_possible(weft_technique own);

/// Units that run closures. join() waits for all of them, and frees them; so does the destructor.
class Jobs {
 public:
  Jobs() = default;
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;
  ~Jobs() { join(); }

  weft_unit* start(const weft_unit_attr& attr, std::function<void()> body);
  weft_unit* start(weft_technique technique, std::function<void()> body) {
    return start(with(technique), std::move(body));
  }
  /// One that nobody joins; the closure lives as long as this.
  void start_detached(const weft_unit_attr& attr, std::function<void()> body);
  /// Keeps a closure for a test that creates the unit itself: run(kept) calls it.
  void* keep(std::function<void()> body);
  static void run(void* kept);
  void join();

 private:
  std::deque<std::unique_ptr<std::function<void()>>> bodies_;
  std::vector<weft_unit*> units_;
};

/// A scheduler that the calling worker has for as long as this lives, over pools that are freed with it.
class OwnScheduler {
 public:
  OwnScheduler(weft_scheduler_kind kind, const std::vector<weft_pool*>& pools);
  OwnScheduler(void (*run)(weft_scheduler*, void*), void* data, bool stateless, const std::vector<weft_pool*>& pools);
  OwnScheduler(const OwnScheduler&) = delete;
  OwnScheduler& operator=(const OwnScheduler&) = delete;
  ~OwnScheduler();
  weft_scheduler* get() const { return scheduler_; }

 private:
  void put_in();
  weft_scheduler* scheduler_ = nullptr;
  std::vector<weft_pool*> pools_;
};

/// A worker of its own with a scheduler over pools that are freed with it.
class OwnWorker {
 public:
  OwnWorker(weft_scheduler_kind kind, const std::vector<weft_pool*>& pools);
  OwnWorker(void (*run)(weft_scheduler*, void*), void* data, bool stateless, const std::vector<weft_pool*>& pools);
  OwnWorker(const OwnWorker&) = delete;
  OwnWorker& operator=(const OwnWorker&) = delete;
  ~OwnWorker();
  void join();
  weft_worker* get() const { return worker_; }
  /// Left to the test to join.
  weft_worker* release() { return std::exchange(worker_, nullptr); }
  weft_scheduler* scheduler() const { return scheduler_; }

 private:
  weft_scheduler* scheduler_ = nullptr;
  weft_worker* worker_ = nullptr;
  std::vector<weft_pool*> pools_;
};

/// Starts a unit on another worker, one of weft's own, and waits until it has begun. So there must be one:
/// weft_worker_count() > 1.
weft_worker* start_on_another(Jobs& jobs, std::function<void()> body);

weft_pool* make_pool(weft_order order = WEFT_FIFO, weft_access access = WEFT_MPMC);

/// A scheduler of the user's own: its pools, in their order, until weft_scheduler_stops().
void run_pools(weft_scheduler* scheduler, void* data);

/// A line of /proc/self/status, e.g. "Threads".
long status_value(const char* key);

/// So many, or as many as half of the memory that is free has room for.
unsigned fitting(unsigned wanted, std::size_t bytes_each);

/// weft is started for each test, and ended after it.
class ApiTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(weft_init(), WEFT_OK); }
  void TearDown() override;
};

class TechniqueTest : public ::testing::TestWithParam<weft_technique> {
 protected:
  void SetUp() override { ASSERT_EQ(weft_init(), WEFT_OK); }
  void TearDown() override;
};

/// For those that can wait.
class WaitingTest : public TechniqueTest {};

/// Where units wait to be run: in the worker's own deque, or in a private pool that is all that its scheduler has.
enum class Place { own, fifo, lifo };
struct Placed {
  Place place;
  weft_technique technique;
};
/// "FifoRoCL".
std::string placed_name(const ::testing::TestParamInfo<Placed>& instance);

class PlacedTest : public ::testing::TestWithParam<Placed> {
 protected:
  void SetUp() override;
  void TearDown() override;

  weft_unit_attr attr() const { return with(GetParam().technique, pool_); }

  weft_pool* pool_ = nullptr;  // nullptr: the worker's own deque
  std::unique_ptr<OwnScheduler> own_;
};

#define WEFT_INSTANTIATE_TECHNIQUES(suite) \
  INSTANTIATE_TEST_SUITE_P(, suite, ::testing::ValuesIn(::weft::test::all_techniques), ::weft::test::technique_name)
#define WEFT_INSTANTIATE_WAITING(suite)                                                                       \
  INSTANTIATE_TEST_SUITE_P(                                                                                   \
      , suite,                                                                                                \
      ::testing::Values(WEFT_AUTO, WEFT_FULL, WEFT_FULL_L, WEFT_ROC, WEFT_ROC_L, WEFT_SS, WEFT_SS_L, WEFT_SC, \
                        WEFT_C_FULL, WEFT_C_FULL_E, WEFT_C_ROC, WEFT_C_ROC_E),                                \
      ::weft::test::technique_name)

}  // namespace weft::test
