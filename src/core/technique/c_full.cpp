// C-Full: child-first, fully fledged (dissertation 3.3.2, Figs. 3.7-3.8): both ways between creator and child are
// context switches. The child keeps its stack until it is freed.
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
  if (in_deque && !child.departed && take_parent_back(*spawn, parent, child)) weft_context_jump(parent->context, 0);
  weft_unit_finish();
}

}  // namespace

void spawn_c_full(Worker& worker, Unit& child) {
  spawn_child(worker, child,
              [](void** save, void* top, Spawn* spawn) { return weft_context_spawn_full(save, top, &entry, spawn); });
}

}  // namespace weft::core
