// What units, pools and workers there are: the C API.
#include "api/convert.h"
#include "core/unit_cache.h"
#include "core/workers.h"

using namespace weft;
using api::handle_of;

namespace {

// Counts what is found, and keeps the first ones.
template <class Info>
class Found {
 public:
  Found(Info* infos, size_t most) : infos_(infos), most_(infos != nullptr ? most : 0) {}
  template <class Describe>
  void add(Describe describe) {
    if (count_ < most_) infos_[count_] = describe();
    ++count_;
  }
  size_t count() const { return count_; }

 private:
  Info* infos_;
  size_t most_;
  size_t count_ = 0;
};

// Only units that have left their worker know it, and a descriptor may still name that of another unit.
core::Worker* worker_at(const core::Unit& unit, weft_state state) {
  if (state == WEFT_SUSPENDED) return unit.place != core::Unit::nowhere ? &worker_of(unit) : nullptr;
  if (state != WEFT_RUNNING) return nullptr;
  return core::find_worker([&unit](const core::Worker& worker) { return worker.current.get() == &unit; });
}

weft_unit_info info_of(core::Unit& unit, core::UnitState seen) {
  const weft_state state = api::state_of(seen);
  const char* name = details(unit).name;
  core::Worker* worker = worker_at(unit, state);
  return {handle_of(&unit), name != nullptr ? name : "", state, api::technique_of(unit),
          worker != nullptr ? handle_of(worker) : nullptr};
}

static_assert(static_cast<int>(core::Order::fifo) == WEFT_FIFO && static_cast<int>(core::Order::deque) == WEFT_DEQUE);
static_assert(static_cast<int>(core::Access::priv) == WEFT_PRIV && static_cast<int>(core::Access::mpmc) == WEFT_MPMC);

weft_pool_info info_of(const core::Pool& pool) {
  return {handle_of(const_cast<core::Pool*>(&pool)), static_cast<weft_order>(pool.order()),
          static_cast<weft_access>(pool.access()), pool.is_custom() ? 1 : 0, pool.size()};
}

weft_worker_state state_of(const core::Worker& worker, core::WorkerUse use) {
  const bool sleeps = worker.parked.load(std::memory_order_relaxed) != core::Parked::awake;
  const bool has_begun = use == core::WorkerUse::root || worker.active.load(std::memory_order_relaxed);
  if (sleeps || !has_begun) return WEFT_WORKER_ASLEEP;
  return worker.searches.load(std::memory_order_relaxed) ? WEFT_WORKER_SEARCHING : WEFT_WORKER_RUNNING;
}

// What it runs, known by its address: another thread may be about to make that what it was for the first time.
core::Unit* free_standing_unit_of(core::Worker& worker) {
  core::Unit* unit = worker.current;
  return unit == &worker.root.unit || unit == &worker.scheduler_code ? nullptr : unit;
}

weft_worker_info info_of(core::Worker& worker, core::WorkerUse use) {
  return {handle_of(&worker),
          worker.index,
          worker.cpu.load(std::memory_order_relaxed),
          use == core::WorkerUse::root ? 1 : 0,
          state_of(worker, use),
          handle_of(free_standing_unit_of(worker)),
          handle_of(worker.scheduler())};
}

}  // namespace

extern "C" size_t weft_units(weft_unit_info* infos, size_t most) {
  Found<weft_unit_info> found(infos, most);
  core::for_each_descriptor([&found](core::Unit& unit) {
    const core::UnitState state = unit.state.load(std::memory_order_acquire);
    if (core::has_not_ended(unit, state)) found.add([&] { return info_of(unit, state); });
  });
  return found.count();
}

extern "C" size_t weft_pools(weft_pool_info* infos, size_t most) {
  Found<weft_pool_info> found(infos, most);
  core::Pool::for_each([&found](const core::Pool& pool) { found.add([&pool] { return info_of(pool); }); });
  return found.count();
}

extern "C" size_t weft_workers(weft_worker_info* infos, size_t most) {
  Found<weft_worker_info> found(infos, most);
  core::for_each_worker([&found](core::Worker& worker) {
    const core::WorkerUse use = worker.use.load(std::memory_order_relaxed);
    if (use != core::WorkerUse::none) found.add([&worker, use] { return info_of(worker, use); });
  });
  return found.count();
}
