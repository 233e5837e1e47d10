// What units ask for by way of preemption, on its way from the C API to the core.
#pragma once

#include "core/pool/pool.h"
#include "core/preempt.h"
#include "core/preempt_timer.h"
#include "weft/weft.h"

namespace weft::api {

static_assert(static_cast<int>(core::Preemption::by_default) == WEFT_PREEMPT_DEFAULT);
static_assert(static_cast<int>(core::Preemption::signal_yield) == WEFT_PREEMPT_SIGNAL_YIELD);
static_assert(static_cast<int>(core::Preemption::klt_switch) == WEFT_PREEMPT_KLT_SWITCH);
static_assert(static_cast<int>(core::Preemption::none) == WEFT_PREEMPT_NONE);

inline bool asks_to_be_preempted(weft_preemption kind) {
  return kind == WEFT_PREEMPT_SIGNAL_YIELD || kind == WEFT_PREEMPT_KLT_SWITCH;
}

/// Unit::flags of a unit that is about to be created; timers run from now on if it needs them.
inline std::uint16_t preemption_flags(weft_preemption wanted, const core::Pool* pool) {
  auto kind = static_cast<core::Preemption>(wanted);
  // What the pool says, it says itself, when the unit is put into it.
  const bool pool_says = pool != nullptr && pool->preemption() != core::Preemption::by_default;
  if (kind == core::Preemption::by_default && !pool_says) kind = core::preemption_settings.kind;
  if (kind == core::Preemption::signal_yield || kind == core::Preemption::klt_switch) core::start_ticking();
  return core::flags_of(kind);
}

}  // namespace weft::api
