#include "core/technique/start.h"

#include <iterator>

#include "core/create.h"
#include "core/identities.h"
#include "core/own_scheduler.h"
#include "core/runtime.h"
#include "core/scheduler.h"
#include "core/technique/choice.h"
#include "core/technique/pass.h"

namespace weft::core {

void end_without_stack(std::uint8_t stack_class) {
  panic_without_stack(stack_class != 0 ? std::size_t{1} << stack_class : runtime.config.stack_size);
}

namespace {

Event run_automatic(Worker& worker, Unit& unit) {
  settle_technique(worker, unit);
  return unit.technique == Technique::roc_l ? run_roc_l(worker, unit) : run_full_l(worker, unit);
}

}  // namespace

// A child-first unit gets here when it was put into a pool (revived, or created by many at once).
const Start start_of[] = {
    run_automatic,
    run_stackless,
    run_full,
    run_full_l,
    run_roc,
    run_roc_l,
    run_ss,
    run_ss_l,
    run_sc,
    run_full_l /* C-Full */,
    run_full_l /* C-Full-E */,
    run_roc_l /* C-RoC */,
    run_roc_l /* C-RoC-E */,
};
static_assert(std::size(start_of) == static_cast<std::size_t>(Technique::c_roc_e) + 1);

namespace {

// By way of the scheduler, where the creator can leave its stack. (Bug: the child ran on top of its creator there too;
// one that was preempted by KLT-switching kept the KLT, and with it frames that another KLT then went on with.)
[[gnu::noinline]] void run_first_by_scheduler(Worker& worker, Unit& parent, Unit& child) {
  if (can_hand_on(worker, parent)) return hand_on(worker, parent, child);
  // Meanwhile it keeps its thread-local storage. (Bug: it went on with another's, or its child had taken it along.)
  const bool keeps_identity = has_flag(parent, UnitFlag::wants_identity);
  if (keeps_identity) keep_identity(worker, parent);
  run_one_as_here(worker, child);
  if (keeps_identity) install_for(*this_worker(), parent);
}

}  // namespace

void run_child_first(Worker& worker, Unit& child) {
  Unit& parent = *worker.current;
  // Only units that run on whatever identity the worker has change places without further ado.
  const bool in_place =
      !is_root(parent) && may_wait(parent) && runs_on_any_identity(parent) && runs_on_any_identity(child);
  if (!in_place) return run_first_by_scheduler(worker, parent, child);
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

}  // namespace weft::core
