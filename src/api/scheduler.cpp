// Schedulers and workers: the C API.
#include <climits>

#include "api/convert.h"
#include "core/active.h"
#include "core/carrier.h"
#include "core/create.h"
#include "core/find.h"
#include "core/scheduler.h"
#include "core/worker_klts.h"

using namespace weft;
using api::handle_of;
using api::pool_of;
using api::scheduler_of;
using api::unit_of;
using api::worker_of;

namespace {

int hand_out(core::Scheduler* made, weft_scheduler** scheduler) {
  if (made == nullptr) return WEFT_ERR_MEMORY;
  *scheduler = handle_of(made);
  return WEFT_OK;
}

// A scheduler that was put into a pool: runs its pools until they are empty.
void run_stacked(void* argument) {
  auto scheduler = static_cast<core::Scheduler*>(argument);
  if (scheduler->is_custom()) {
    scheduler->run();
  } else {
    for (;;) {
      core::Worker& worker = *core::this_worker();
      core::Unit* unit = scheduler->next(worker);
      if (unit == nullptr) break;
      // Not another one, to which the unit has been told to migrate.
      const core::Pool* home = unit->pool.load(std::memory_order_relaxed);
      const bool serves = home != nullptr && home->access() == core::Access::priv && scheduler->has(*home);
      core::run_one(worker, *unit, serves ? home : nullptr);
    }
  }
  scheduler->users.fetch_sub(1, std::memory_order_release);
}

// (Bug: what no other worker could take stayed here for ever, if the scheduler had no pool for it either.)
void run_one_that_lies_here(core::Worker& worker) {
  if (core::Unit* unit = core::next_local(worker)) core::run_one(worker, *unit);
}

}  // namespace

extern "C" int weft_scheduler_create(weft_scheduler_kind kind, size_t count, weft_pool* const* pools,
                                     weft_scheduler** scheduler) {
  static_assert(static_cast<int>(core::SchedulerKind::random_ws) == WEFT_RANDOM_WS);
  if (scheduler == nullptr || count == 0 || kind < WEFT_BASIC || kind > WEFT_RANDOM_WS) return WEFT_ERR_ARGUMENT;
  if (const int error = api::check_pools(count, pools); error != WEFT_OK) return error;
  return hand_out(core::Scheduler::create(static_cast<core::SchedulerKind>(kind), count,
                                          reinterpret_cast<core::Pool* const*>(pools), nullptr, nullptr, true),
                  scheduler);
}

extern "C" int weft_scheduler_create_custom(void (*run)(weft_scheduler* scheduler, void* data), void* data,
                                            int stateless, size_t count, weft_pool* const* pools,
                                            weft_scheduler** scheduler) {
  if (scheduler == nullptr || run == nullptr) return WEFT_ERR_ARGUMENT;
  if (const int error = api::check_pools(count, pools); error != WEFT_OK) return error;
  return hand_out(core::Scheduler::create(core::SchedulerKind::custom, count,
                                          reinterpret_cast<core::Pool* const*>(pools), run, data, stateless != 0),
                  scheduler);
}

extern "C" int weft_scheduler_free(weft_scheduler* handle) {
  if (handle == nullptr) return WEFT_ERR_ARGUMENT;
  if (scheduler_of(handle)->users.load(std::memory_order_acquire) != 0) return WEFT_ERR_STATE;
  scheduler_of(handle)->destroy();
  return WEFT_OK;
}

extern "C" int weft_scheduler_stops(weft_scheduler* handle) {
  if (handle == nullptr) return 1;
  core::Worker& worker = core::worker_here();
  const core::Scheduler* scheduler = scheduler_of(handle);
  if (worker.scheduler() != scheduler) {
    if (worker.custom_scheduler == scheduler) return 1;  // the worker has another one
    // One that was put into a pool has no worker of its own: it stops where its pools are empty.
    return scheduler->has_work() ? 0 : 1;
  }
  if (scheduler->pool_count() != 0)
    core::put_own_into_pool(worker);
  else if (worker.current == &worker.scheduler_code)
    run_one_that_lies_here(worker);
  return core::scheduler_stops(worker) ? 1 : 0;
}

extern "C" int weft_scheduler_pool(weft_scheduler* handle, size_t index, weft_pool** pool) {
  if (handle == nullptr || pool == nullptr || index >= scheduler_of(handle)->pool_count()) return WEFT_ERR_ARGUMENT;
  *pool = handle_of(scheduler_of(handle)->pool(index));
  return WEFT_OK;
}

extern "C" int weft_unit_run(weft_unit* unit) {
  if (unit == nullptr) return WEFT_ERR_ARGUMENT;
  const core::UnitState state = unit_of(unit)->state.load(std::memory_order_acquire);
  if (state != core::UnitState::created && state != core::UnitState::ready) return WEFT_ERR_STATE;
  core::run_one(core::worker_here(), *unit_of(unit));
  return WEFT_OK;
}

extern "C" int weft_scheduler_push(weft_pool* pool, weft_scheduler* handle) {
  if (pool == nullptr || handle == nullptr) return WEFT_ERR_ARGUMENT;
  core::Worker& worker = core::worker_here();
  core::Wish wish;
  wish.technique = core::Technique::roc_l;
  wish.pool = pool_of(pool);
  wish.flags |= core::UnitFlag::detached | core::UnitFlag::never_preempted;
  wish.needs_fitting = true;
  wish.name = "a scheduler";
  core::Unit* unit = core::make_unit(worker, run_stacked, scheduler_of(handle), wish);
  if (unit == nullptr) return WEFT_ERR_MEMORY;
  scheduler_of(handle)->users.fetch_add(1, std::memory_order_relaxed);
  core::launch(worker, *unit);
  return WEFT_OK;
}

// ---------------------------------------------------------------- workers

extern "C" int weft_worker_create(weft_scheduler* scheduler, weft_worker** worker) {
  if (scheduler == nullptr || worker == nullptr) return WEFT_ERR_ARGUMENT;
  core::worker_here();  // starts the runtime
  core::Worker* made = core::start_worker(scheduler_of(scheduler));
  if (made == nullptr) return WEFT_ERR_LIMIT;
  *worker = handle_of(made);
  return WEFT_OK;
}

extern "C" int weft_worker_join(weft_worker* handle) {
  if (handle == nullptr) return WEFT_ERR_ARGUMENT;
  core::Worker* worker = worker_of(handle);
  if (worker->life.load(std::memory_order_acquire) == 0 || worker == core::this_worker()) return WEFT_ERR_STATE;
  auto use = core::WorkerUse::of_program;  // for one caller
  if (!worker->use.compare_exchange_strong(use, core::WorkerUse::joined, std::memory_order_acq_rel))
    return WEFT_ERR_STATE;
  core::join_worker(*worker);
  return WEFT_OK;
}

extern "C" weft_worker* weft_worker_self() {
  if (core::this_worker() == nullptr && core::Pool::custom_is_called_without_worker()) return nullptr;
  return handle_of(&core::worker_here());
}
extern "C" unsigned weft_worker_index(const weft_worker* worker) {
  return worker != nullptr ? worker_of(worker)->index : UINT_MAX;
}

extern "C" int weft_worker_bind(weft_worker* handle, int cpu) {
  if (handle == nullptr) return WEFT_ERR_ARGUMENT;
  core::Worker& worker = *worker_of(handle);
  if (worker.use.load(std::memory_order_acquire) == core::WorkerUse::none) return WEFT_ERR_STATE;
  return core::bind_worker(worker, cpu) ? WEFT_OK : WEFT_ERR_ARGUMENT;
}

extern "C" int weft_worker_set_scheduler(weft_worker* handle, weft_scheduler* scheduler) {
  if (handle == nullptr) return WEFT_ERR_ARGUMENT;
  core::Worker* worker = worker_of(handle);
  // Only its own KLT writes what a worker holds.
  if (worker != core::this_worker()) return WEFT_ERR_STATE;
  core::replace_scheduler(*worker, scheduler_of(scheduler));
  worker->claims.has_new_scheduler = true;
  core::mark_again(*worker);
  return WEFT_OK;
}
