// C-RoC: child-first, return on completion (dissertation 3.5.2, Figs. 3.21-3.22). The child keeps its stack until it is
// freed.
//
// Constraint: none.
#include "core/technique/child_first.h"

namespace weft::core {
namespace {

void entry(void* argument) {
  auto spawn = static_cast<Spawn*>(argument);
  Unit& child = *spawn->child;
  Unit* parent = spawn->parent;
  const bool in_deque = offer_parent(*spawn);  // from here on `spawn` is there only if the parent is
  call_unit(child);
  // Its way back has been changed if it has deviated.
  if (child.departed) return;
  if (!in_deque || !take_parent_back(*spawn, parent, child)) weft_unit_finish();
}

}  // namespace

void spawn_c_roc(Worker& worker, Unit& child) {
  spawn_child(worker, child,
              [](void** save, void* top, Spawn* spawn) { return weft_context_spawn_roc(save, top, &entry, spawn); });
}

}  // namespace weft::core
