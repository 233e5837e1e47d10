// Between the handles of the C API and the core: a handle is the address of the core's object.
#pragma once

#include "core/own_scheduler.h"
#include "core/pool/pool.h"
#include "core/runtime.h"
#include "core/unit.h"
#include "weft/weft.h"

namespace weft::api {

inline core::Unit* unit_of(weft_unit* handle) { return reinterpret_cast<core::Unit*>(handle); }
inline const core::Unit* unit_of(const weft_unit* handle) { return reinterpret_cast<const core::Unit*>(handle); }
inline weft_unit* handle_of(core::Unit* unit) { return reinterpret_cast<weft_unit*>(unit); }

inline core::Pool* pool_of(weft_pool* handle) { return reinterpret_cast<core::Pool*>(handle); }
inline const core::Pool* pool_of(const weft_pool* handle) { return reinterpret_cast<const core::Pool*>(handle); }
inline weft_pool* handle_of(core::Pool* pool) { return reinterpret_cast<weft_pool*>(pool); }

/// ARGUMENT if one is missing.
inline int check_pools(std::size_t count, weft_pool* const* pools) {
  if (count != 0 && pools == nullptr) return WEFT_ERR_ARGUMENT;
  for (std::size_t index = 0; index < count; ++index)
    if (pools[index] == nullptr) return WEFT_ERR_ARGUMENT;
  return WEFT_OK;
}

inline core::Scheduler* scheduler_of(weft_scheduler* handle) { return reinterpret_cast<core::Scheduler*>(handle); }
inline weft_scheduler* handle_of(core::Scheduler* scheduler) { return reinterpret_cast<weft_scheduler*>(scheduler); }

inline core::Worker* worker_of(weft_worker* handle) { return reinterpret_cast<core::Worker*>(handle); }
inline const core::Worker* worker_of(const weft_worker* handle) {
  return reinterpret_cast<const core::Worker*>(handle);
}
inline weft_worker* handle_of(core::Worker* worker) { return reinterpret_cast<weft_worker*>(worker); }

inline weft_state state_of(core::UnitState state) {
  switch (state) {
    case core::UnitState::created:
      return WEFT_CREATED;
    case core::UnitState::ready:
      return WEFT_READY;
    case core::UnitState::running:
    case core::UnitState::suspending:
      return WEFT_RUNNING;
    case core::UnitState::suspended:
      return WEFT_SUSPENDED;
    case core::UnitState::done:
      return WEFT_DONE;
  }
  return WEFT_DONE;
}

/// WEFT_AUTO until it starts: whoever has looked whether it could begin has chosen already.
inline weft_technique technique_of(const core::Unit& unit) {
  const core::UnitState state = unit.state.load(std::memory_order_relaxed);
  const bool has_begun = unit.departed || (state != core::UnitState::created && state != core::UnitState::ready);
  if (!has_begun && has_flag(unit, core::UnitFlag::chosen)) return WEFT_AUTO;
  return static_cast<weft_technique>(unit.technique.get());
}

/// How often weft_init() has been called and not been undone.
extern std::atomic<unsigned> initialised;

}  // namespace weft::api
