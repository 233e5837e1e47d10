#include "core/cpus.h"

#include <atomic>

#include "core/active.h"
#include "core/runtime.h"
#include "core/watchdog.h"
#include "os/clock.h"
#include "os/cpu_quota.h"
#include "os/cpus.h"

namespace weft::core {
namespace {

constexpr std::uint64_t between_looks_ns = 500ULL * 1000 * 1000;

std::atomic<std::uint64_t> quota_read_at{0};  // 0: not yet
std::atomic<int> quota{0};

std::uint64_t looked_at = 0;  // by the watchdog
unsigned followed = 0;        // what it has acted upon

int read_quota(std::uint64_t now) {
  const int read = os::cpus_in_cgroup_quota();
  quota.store(read, std::memory_order_relaxed);
  quota_read_at.store(now, std::memory_order_relaxed);
  return read;
}

unsigned cut(unsigned cpus, int by_quota) {
  return static_cast<unsigned>(os::cut_by_quota(static_cast<int>(cpus), by_quota));
}

unsigned cpus_in_mask() {
  return runtime.config.cpus != 0 ? runtime.config.cpus : static_cast<unsigned>(os::cpus_in_affinity_mask());
}

}  // namespace

int recent_cpu_quota() {
  const std::uint64_t now = os::now_ns();
  const std::uint64_t read_at = quota_read_at.load(std::memory_order_relaxed);
  if (read_at == 0 || now - read_at > between_looks_ns) return read_quota(now);
  return quota.load(std::memory_order_relaxed);
}

unsigned count_cpus() { return cut(cpus_in_mask(), recent_cpu_quota()); }

void remember_cpus() {
  os::remember_cpus();
  followed = count_cpus();
  runtime.cpus = followed;
}

void follow_cpus(std::uint64_t now) {
  if (now - looked_at < between_looks_ns) return;
  looked_at = now;
  const unsigned cpus = cut(cpus_in_mask(), read_quota(now));
  if (cpus == followed) return;
  followed = cpus;
  runtime.cpus = cpus;
  if (runtime.config.workers == 0) use_cpus(cpus);
}

os::CpuSet cpus_of_process() {
  const int watchdog = watchdog_klt.load(std::memory_order_relaxed);
  return watchdog != 0 ? os::cpus_of_klt(watchdog) : os::CpuSet{};
}

void look_at_cpus_anew() {
  looked_at = 0;
  followed = 0;
}

}  // namespace weft::core
