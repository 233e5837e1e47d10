#include "join.h"

#include "core/parking_lot.h"
#include "core/scheduler.h"
#include "core/technique/start.h"

namespace weft::test {

using core::Technique;
using core::Unit;
using core::UnitState;

namespace {

void announce_done(Unit* unit) {
  // A joiner that sees `done` may free the unit at once: only its address is used afterwards.
  const void* address = unit;
  unit->state.store(UnitState::done, std::memory_order_release);
  core::unpark(address);
}

bool not_done(const void* unit) {
  return static_cast<const Unit*>(unit)->state.load(std::memory_order_acquire) != UnitState::done;
}

}  // namespace

void make_joinable(core::WholeUnit& unit, void (*entry)(void*), void* argument, Technique technique,
                   std::size_t stack_size) {
  unit.entry = entry;
  unit.argument = argument;
  // SC units share their stacks with schedulers, so these are of one size.
  unit.technique = technique == Technique::sc && stack_size != 0 ? Technique::roc_l : technique;
  unit.stack_class = core::stack_class_of(stack_size);
  unit.finished = announce_done;
  unit.departed = false;
  unit.state.store(UnitState::created, std::memory_order_relaxed);
}

void join(Unit& unit) {
  while (not_done(&unit)) core::park(&unit, not_done, &unit);
}

}  // namespace weft::test
