#include "core/own_klt.h"

#include <atomic>

#include "core/cpus.h"
#include "core/runtime.h"
#include "core/segment.h"
#include "core/worker.h"
#include "os/cpus.h"

namespace weft::core {
namespace {

// Or may be, where there are places.
bool is_bound_by_weft(const Worker* worker) {
  return worker != nullptr && (worker->cpu.load(std::memory_order_relaxed) >= 0 || runtime.config.cpus != 0);
}

// None: where the caller may. (Bug: so it was where a root had bound its worker before the others had started: all of
// them had that CPU alone.)
os::CpuSet cpus_for_own_klt() {
  if (!is_bound_by_weft(this_worker())) return {};
  const os::CpuSet now = cpus_of_process();
  return now.count() != 0 ? now : os::cpus_at_start();
}

}  // namespace

int start_own_klt(void* (*entry)(void*), void* argument, std::size_t stack_bytes, os::Signals signals) {
  return with_room([&] { return os::start_klt(entry, argument, stack_bytes, signals, cpus_for_own_klt()); });
}

}  // namespace weft::core
