// Thread packing: the C API.
#include <cstdlib>
#include <new>

#include "api/convert.h"
#include "core/active.h"
#include "core/idle.h"
#include "core/own_scheduler.h"
#include "core/preempt.h"
#include "core/runtime.h"
#include "core/scheduler.h"
#include "os/code_not_to_leave.h"

using namespace weft;

namespace {

core::Packing* packing_of(weft_packing* handle) { return reinterpret_cast<core::Packing*>(handle); }
const core::Packing* packing_of(const weft_packing* handle) { return reinterpret_cast<const core::Packing*>(handle); }

bool anybody_may_use(const weft_pool* handle) { return api::pool_of(handle)->access() == core::Access::mpmc; }

}  // namespace

extern "C" int weft_packing_create(size_t count, weft_pool* const* pools, weft_scheduler** schedulers,
                                   weft_packing** packing) {
  if (count == 0 || count > core::most_workers || schedulers == nullptr || packing == nullptr) return WEFT_ERR_ARGUMENT;
  if (const int error = api::check_pools(count, pools); error != WEFT_OK) return error;
  for (size_t index = 0; index < count; ++index)
    if (!anybody_may_use(pools[index])) return WEFT_ERR_ACCESS;
  void* memory = std::malloc(sizeof(core::Packing));
  auto ready = static_cast<core::Scheduler**>(std::malloc(count * sizeof(core::Scheduler*)));
  if (memory == nullptr || ready == nullptr) {
    std::free(memory);
    std::free(ready);
    return WEFT_ERR_MEMORY;
  }
  const auto total = static_cast<unsigned>(count);
  auto made = new (memory) core::Packing{total, total};
  for (unsigned rank = 0; rank < total; ++rank) {
    core::Scheduler* scheduler =
        core::Scheduler::create_packed(*made, rank, reinterpret_cast<core::Pool* const*>(pools));
    if (scheduler == nullptr) {
      while (rank-- > 0) ready[rank]->destroy();
      std::free(made);
      std::free(ready);
      return WEFT_ERR_MEMORY;
    }
    ready[rank] = scheduler;
  }
  for (unsigned rank = 0; rank < total; ++rank) schedulers[rank] = api::handle_of(ready[rank]);
  std::free(ready);
  core::note_packing(*made);
  *packing = reinterpret_cast<weft_packing*>(made);
  return WEFT_OK;
}

extern "C" int weft_packing_set_active(weft_packing* handle, size_t workers) {
  if (handle == nullptr || workers == 0 || workers > packing_of(handle)->total) return WEFT_ERR_ARGUMENT;
  core::set_active(*packing_of(handle), static_cast<unsigned>(workers));
  return WEFT_OK;
}

extern "C" size_t weft_packing_active(const weft_packing* handle) {
  return handle != nullptr ? packing_of(handle)->active.load(std::memory_order_relaxed) : 0;
}

extern "C" int weft_packing_free(weft_packing* handle) {
  if (handle == nullptr) return WEFT_ERR_ARGUMENT;
  if (packing_of(handle)->schedulers.load(std::memory_order_acquire) != 0) return WEFT_ERR_STATE;
  core::forget_packing(*packing_of(handle));
  std::free(packing_of(handle));
  return WEFT_OK;
}

extern "C" int weft_workers_set_active(unsigned workers) {
  core::worker_here();  // starts the runtime
  if (workers == 0 || workers > core::runtime.workers) return WEFT_ERR_ARGUMENT;
  if (core::preemption_works()) os::refresh_code_not_to_leave();
  core::set_active_workers(workers);
  core::notify();  // there may be work for those that have not been started yet, which no handler can do
  return WEFT_OK;
}

extern "C" unsigned weft_workers_active() {
  core::worker_here();
  return core::runtime.active.load(std::memory_order_relaxed);
}
