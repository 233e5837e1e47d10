#include "core/technique/start.h"

#include "core/create.h"
#include "core/identities.h"
#include "core/own_scheduler.h"
#include "core/runtime.h"
#include "core/scheduler.h"
#include "core/technique/choice.h"

namespace weft::core {

std::size_t wanted_stack(const Unit& unit) {
  return unit.stack_kib != 0 ? std::size_t{unit.stack_kib} * 1024 : runtime.config.stack_size;
}

void settle_technique(Worker& worker, Unit& unit) {
  if (unit.technique != Technique::automatic) return;
  unit.technique = choose(worker, unit.entry);
  // SC units have stacks of one size, and want a stateless scheduler.
  const bool stateless = worker.scheduler() == nullptr || worker.scheduler()->stateless();
  if (unit.technique == Technique::sc && (!stateless || unit.stack_kib != 0 || unit.stack != nullptr))
    unit.technique = Technique::roc_l;
}

Event start_unit(Worker& worker, Unit& unit) {
  settle_technique(worker, unit);
  switch (unit.technique) {
    case Technique::stackless:
      return run_stackless(worker, unit);
    case Technique::full:
      return run_full(worker, unit);
    case Technique::full_l:
      return run_full_l(worker, unit);
    case Technique::roc:
      return run_roc(worker, unit);
    case Technique::automatic:
    case Technique::roc_l:
      return run_roc_l(worker, unit);
    case Technique::ss:
      return run_ss(worker, unit);
    case Technique::ss_l:
      return run_ss_l(worker, unit);
    case Technique::sc:
      return run_sc(worker, unit);
    // A child-first unit gets here when it was put into a pool (revived, or created by many at once).
    case Technique::c_full:
    case Technique::c_full_e:
      return run_full_l(worker, unit);
    case Technique::c_roc:
    case Technique::c_roc_e:
      return run_roc_l(worker, unit);
  }
  __builtin_unreachable();
}

void run_child_first(Worker& worker, Unit& child) {
  const Unit& parent = *worker.current;
  // Only units that run on whatever identity the worker has change places without further ado; and a custom
  // scheduler does not look into the deque, where the parent would wait.
  const bool own_scheduler = worker.scheduler() != nullptr && worker.scheduler()->is_custom();
  const bool in_place =
      !own_scheduler && !parent.root && may_wait(parent) && runs_on_any_identity(parent) && runs_on_any_identity(child);
  if (!in_place) {
    run_one(worker, child);
    return;
  }
  switch (child.technique) {
    case Technique::c_full:
      return spawn_c_full(worker, child);
    case Technique::c_full_e:
      return spawn_c_full_e(worker, child);
    case Technique::c_roc:
      return spawn_c_roc(worker, child);
    default:
      return spawn_c_roc_e(worker, child);
  }
}

void call_unit(Unit& unit) {
  unit.entry(unit.argument);
  if (unit.face != nullptr && has_flag(unit, UnitFlag::free_standing)) end_extras(unit);
}

void tell_end(Worker& worker, Unit& unit) {
  if (unit.finished != nullptr)
    unit.finished(&unit);
  else if (has_flag(unit, UnitFlag::free_standing))
    end_free_standing(worker, unit);
  else
    unit.state.store(UnitState::done, std::memory_order_release);
}

}  // namespace weft::core
