#include "support.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace weft::test {
namespace {

std::atomic<long> live_bodies{0};

void expect_nothing_left() {
  EXPECT_EQ(live_bodies.load(), 0);
  EXPECT_EQ(weft_unit_self(), nullptr);
  EXPECT_EQ(weft_finalize(), WEFT_OK);
  EXPECT_EQ(weft_finalize(), WEFT_ERR_UNINITIALISED) << "a test called weft_init() once too often";
}

}  // namespace

std::string plain_name(weft_technique technique) {
  std::string name;
  bool upper = true;
  for (const char* letter = weft_technique_name(technique); *letter != '\0'; ++letter) {
    if (*letter == '-') {
      upper = true;
      continue;
    }
    name += upper && *letter >= 'a' && *letter <= 'z' ? static_cast<char>(*letter - 'a' + 'A') : *letter;
    upper = false;
  }
  return name;
}

weft_unit_attr with(weft_technique technique) {
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.technique = technique;
  return attr;
}

weft_unit_attr with(weft_technique technique, weft_pool* pool) {
  weft_unit_attr attr = with(technique);
  attr.pool = pool;
  return attr;
}

weft_unit_attr never_preempted(weft_unit_attr attr) {
  attr.preemption = WEFT_PREEMPT_NONE;
  return attr;
}

std::vector<weft_worker_info> worker_infos() {
  std::vector<weft_worker_info> infos(1024);
  infos.resize(std::min(weft_workers(infos.data(), infos.size()), infos.size()));
  return infos;
}

bool is_asleep(const weft_worker* worker) {
  const std::vector<weft_worker_info> infos = worker_infos();
  return std::any_of(infos.begin(), infos.end(), [worker](const weft_worker_info& info) {
    return info.worker == worker && info.state == WEFT_WORKER_ASLEEP;
  });
}

bool eventually(const std::function<bool()>& condition, std::chrono::seconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    weft_yield();
  }
  return true;
}

void pause_if_possible(weft_technique own) {
  if (may_wait(own)) {
    EXPECT_EQ(weft_yield(), WEFT_OK);
  }
}

void Jobs::run(void* kept) { (*static_cast<std::function<void()>*>(kept))(); }

void* Jobs::keep(std::function<void()> body) {
  bodies_.push_back(std::make_unique<std::function<void()>>(std::move(body)));
  live_bodies.fetch_add(1);
  return bodies_.back().get();
}

weft_unit* Jobs::start(const weft_unit_attr& attr, std::function<void()> body) {
  weft_unit* unit = nullptr;
  // Noted first: a child-first unit runs at once, and the caller may go on while others look at this.
  void* kept = keep(std::move(body));
  const int error = weft_unit_create(run, kept, &attr, &unit);
  EXPECT_EQ(error, WEFT_OK) << weft_error_name(error);
  if (error == WEFT_OK) units_.push_back(unit);
  return unit;
}

void Jobs::start_detached(const weft_unit_attr& attr, std::function<void()> body) {
  EXPECT_EQ(weft_unit_create(run, keep(std::move(body)), &attr, nullptr), WEFT_OK);
}

void Jobs::join() {
  EXPECT_EQ(weft_unit_join_many(units_.size(), units_.data()), WEFT_OK);
  for (weft_unit* unit : units_) EXPECT_EQ(weft_unit_state(unit), WEFT_DONE);
  EXPECT_EQ(weft_unit_free_many(units_.size(), units_.data()), WEFT_OK);
  units_.clear();
  live_bodies.fetch_sub(static_cast<long>(bodies_.size()));
  bodies_.clear();
}

weft_worker* start_on_another(Jobs& jobs, std::function<void()> body) {
  std::atomic<weft_worker*> place{nullptr};
  jobs.start(never_preempted(with(WEFT_ROC_L)), [&place, body = std::move(body)] {
    place = weft_worker_self();
    body();
  });
  while (place == nullptr) std::this_thread::yield();  // weft is not told: nothing runs here
  return place;
}

std::string placed_name(const ::testing::TestParamInfo<Placed>& instance) {
  const char* const places[] = {"Own", "Fifo", "Lifo"};
  return places[static_cast<int>(instance.param.place)] + plain_name(instance.param.technique);
}

void PlacedTest::SetUp() {
  ASSERT_EQ(weft_init(), WEFT_OK);
  const Place place = GetParam().place;
  if (place == Place::own) return;
  pool_ = make_pool(place == Place::fifo ? WEFT_FIFO : WEFT_LIFO, WEFT_PRIV);
  own_ = std::make_unique<OwnScheduler>(WEFT_BASIC, std::vector{pool_});
}

void PlacedTest::TearDown() {
  own_.reset();
  EXPECT_EQ(weft_finalize(), WEFT_OK);
}

weft_pool* make_pool(weft_order order, weft_access access) {
  weft_pool* pool = nullptr;
  EXPECT_EQ(weft_pool_create(order, access, &pool), WEFT_OK);
  return pool;
}

void run_pools(weft_scheduler* scheduler, void* data) {
  if (data != nullptr) static_cast<std::atomic<unsigned>*>(data)->fetch_add(1);
  while (weft_scheduler_stops(scheduler) == 0) {
    weft_pool* pool = nullptr;
    weft_unit* unit = nullptr;
    bool found = false;
    for (size_t index = 0; !found && weft_scheduler_pool(scheduler, index, &pool) == WEFT_OK; ++index)
      found = weft_pool_pop(pool, &unit) == WEFT_OK;
    if (found) weft_unit_run(unit);
  }
}

OwnScheduler::OwnScheduler(weft_scheduler_kind kind, const std::vector<weft_pool*>& pools) : pools_(pools) {
  EXPECT_EQ(weft_scheduler_create(kind, pools.size(), pools.data(), &scheduler_), WEFT_OK);
  put_in();
}

OwnScheduler::OwnScheduler(void (*run)(weft_scheduler*, void*), void* data, bool stateless,
                           const std::vector<weft_pool*>& pools)
    : pools_(pools) {
  EXPECT_EQ(weft_scheduler_create_custom(run, data, stateless ? 1 : 0, pools.size(), pools.data(), &scheduler_),
            WEFT_OK);
  put_in();
}

void OwnScheduler::put_in() { EXPECT_EQ(weft_worker_set_scheduler(weft_worker_self(), scheduler_), WEFT_OK); }

OwnScheduler::~OwnScheduler() {
  EXPECT_EQ(weft_scheduler_free(scheduler_), WEFT_ERR_STATE) << "the worker still has it";
  EXPECT_EQ(weft_worker_set_scheduler(weft_worker_self(), nullptr), WEFT_OK);
  EXPECT_EQ(weft_scheduler_free(scheduler_), WEFT_OK);
  for (weft_pool* pool : pools_) EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

OwnWorker::OwnWorker(weft_scheduler_kind kind, const std::vector<weft_pool*>& pools) : pools_(pools) {
  EXPECT_EQ(weft_scheduler_create(kind, pools.size(), pools.data(), &scheduler_), WEFT_OK);
  EXPECT_EQ(weft_worker_create(scheduler_, &worker_), WEFT_OK);
}

OwnWorker::OwnWorker(void (*run)(weft_scheduler*, void*), void* data, bool stateless,
                     const std::vector<weft_pool*>& pools)
    : pools_(pools) {
  EXPECT_EQ(weft_scheduler_create_custom(run, data, stateless ? 1 : 0, pools.size(), pools.data(), &scheduler_),
            WEFT_OK);
  EXPECT_EQ(weft_worker_create(scheduler_, &worker_), WEFT_OK);
}

void OwnWorker::join() {
  if (worker_ == nullptr) return;
  EXPECT_EQ(weft_scheduler_free(scheduler_), WEFT_ERR_STATE) << "the worker still has it";
  EXPECT_EQ(weft_worker_join(worker_), WEFT_OK);
  worker_ = nullptr;
}

OwnWorker::~OwnWorker() {
  join();
  EXPECT_EQ(weft_scheduler_free(scheduler_), WEFT_OK);
  for (weft_pool* pool : pools_) EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

namespace {

long value_in(const char* path, const char* key) {
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) return -1;
  char line[256];
  long value = -1;
  const std::size_t length = std::strlen(key);
  while (value < 0 && std::fgets(line, sizeof line, file) != nullptr)
    if (std::strncmp(line, key, length) == 0 && line[length] == ':')
      value = std::strtol(line + length + 1, nullptr, 10);
  std::fclose(file);
  return value;
}

}  // namespace

long status_value(const char* key) { return value_in("/proc/self/status", key); }

unsigned fitting(unsigned wanted, std::size_t bytes_each) {
  const long available = value_in("/proc/meminfo", "MemAvailable");
  if (available < 0) return wanted;
  return static_cast<unsigned>(
      std::min<std::size_t>(wanted, static_cast<std::size_t>(available) * 1024 / 2 / bytes_each));
}

void ApiTest::TearDown() { expect_nothing_left(); }
void TechniqueTest::TearDown() { expect_nothing_left(); }

}  // namespace weft::test
