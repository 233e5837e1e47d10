#include "core/ready.h"
#include "support.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "core/identities.h"

namespace weft::test {

int klt() { return static_cast<int>(syscall(SYS_gettid)); }

long status_value(const char* key) {
  FILE* file = fopen("/proc/self/status", "re");
  if (file == nullptr) return -1;
  char line[256];
  long value = -1;
  const std::size_t length = strlen(key);
  while (fgets(line, sizeof line, file) != nullptr)
    if (strncmp(line, key, length) == 0 && line[length] == ':') value = strtol(line + length + 1, nullptr, 10);
  fclose(file);
  return value;
}

unsigned long long process_cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<unsigned long long>(now.tv_sec) * 1000000000ULL + static_cast<unsigned long long>(now.tv_nsec);
}

void nap(std::chrono::microseconds time) { std::this_thread::sleep_for(time); }

bool eventually(const std::function<bool()>& condition, std::chrono::seconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (auto pause = std::chrono::microseconds(10); !condition();) {
    if (std::chrono::steady_clock::now() > end) return condition();
    nap(pause);
    if (pause < std::chrono::milliseconds(5)) pause *= 2;
  }
  return true;
}

bool eventually_spinning(const std::function<bool()>& condition, std::chrono::seconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return condition();
    std::this_thread::yield();
  }
  return true;
}

Jobs::~Jobs() { join(); }

core::Unit& Jobs::prepare(std::function<void()> body) {
  jobs_.push_back(std::make_unique<Job>());
  Job& job = *jobs_.back();
  job.body = std::move(body);
  make_joinable(
      job.unit, [](void* argument) { static_cast<Job*>(argument)->body(); }, &job, technique_, stack_size_);
  return job.unit;
}

core::Unit& Jobs::start(std::function<void()> body) {
  core::Unit& unit = prepare(std::move(body));
  core::start(unit);
  return unit;
}

void Jobs::join() {
  for (auto& job : jobs_) {
    test::join(job->unit);
    EXPECT_EQ(job->unit.state.load(), core::UnitState::done);
  }
  jobs_.clear();
}

void suspend_in(std::atomic<core::Unit*>& place) {
  core::Unit& unit = core::this_unit();
  core::prepare_suspend(unit);
  place.store(&unit, std::memory_order_release);
  core::suspend();
}

void resume_from(std::atomic<core::Unit*>& place) {
  core::Unit* unit;
  while ((unit = place.exchange(nullptr, std::memory_order_acquire)) == nullptr) core::yield();
  core::resume(*unit);
}

namespace {

bool nothing_waits() {
  const unsigned slots = core::runtime.slots.load();
  for (unsigned index = 0; index < slots; ++index) {
    const core::Worker* worker = core::runtime.worker_at[index].load();
    if (worker == nullptr) continue;
    if (!worker->deque.looks_empty() || !worker->inbox.looks_empty() || !worker->aside.looks_empty()) return false;
    if (worker->in_hand != 0 || worker->hands.open.load() != nullptr) return false;
    for (const auto& place : worker->published)
      if (place.load() != nullptr) return false;
    if (worker->overflowing.load() != 0) return false;
  }
  return true;
}

bool all_asleep() {
  return core::runtime.searchers.load() == 0 &&
         core::runtime.sleepers.load() == static_cast<std::int32_t>(core::runtime.workers) - 1;
}

}  // namespace

void meet(unsigned count) {
  std::atomic<unsigned> there{0};
  Jobs jobs;
  for (unsigned number = 0; number < count; ++number)
    jobs.start([&] {
      ++there;
      EXPECT_TRUE(eventually([&] { return there >= count; }, std::chrono::seconds(60)));
    });
  jobs.join();
}

unsigned workers_awake() {
  unsigned awake = 0;
  for (unsigned slot = 0; slot < core::runtime.slots.load(); ++slot)
    if (const core::Worker* worker = core::runtime.worker_at[slot].load(); worker != nullptr)
      awake += worker->rank.load() != 0 && worker->parked.load() == core::Parked::awake ? 1 : 0;
  return awake;
}

void yield_until_suspended(const core::Unit& unit) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (unit.state.load() != core::UnitState::suspended && std::chrono::steady_clock::now() < limit) core::yield();
  EXPECT_EQ(unit.state.load(), core::UnitState::suspended);
}

void expect_idle() {
  if (core::runtime.slots.load() == 0) return;  // the test never entered weft
  EXPECT_TRUE(eventually([] { return nothing_waits() && all_asleep(); }))
      << "searchers " << core::runtime.searchers.load() << ", sleepers " << core::runtime.sleepers.load() << " with "
      << core::runtime.workers << " workers; pools " << (nothing_waits() ? "empty" : "not empty");
}

int in_child(const std::function<bool()>& body) {
  if (address_sanitizer) expect_idle();
  const pid_t child = fork();
  if (child == 0) {
    alarm(100);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void configure_from_environment() {
  core::Config config;
  const char* workers = std::getenv("WEFT_NUM_WORKERS");
  config.workers = workers != nullptr ? static_cast<unsigned>(std::atoi(workers)) : 0;
  config.stack_size = 256U << 10U;
  config.spin_ns = 50 * 1000;  // so that workers go to sleep often
  core::configure(config, {});
  const char* identity = std::getenv("WEFT_IDENTITY");
  if (identity != nullptr && std::strcmp(identity, "0") == 0) core::identities_enabled = false;
}

}  // namespace weft::test
