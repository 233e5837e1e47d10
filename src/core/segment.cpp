#include "core/segment.h"

#include "arch/context.h"
#include "arch/cpu.h"
#include "core/runtime.h"
#include "core/sanitizer.h"
#include "core/scheduler.h"

namespace weft::core {

const Stack* innermost_stack(const Unit& unit) {
  const Stack* segment =
      is_root(unit) ? worker_of(unit).root_segment : (unit.stack != nullptr ? unit.stack->segment : nullptr);
  return segment != nullptr ? segment : unit.stack;
}

const Stack* stack_in_use() {
  const Worker* worker = this_worker();
  return worker != nullptr && worker->current != nullptr ? innermost_stack(*worker->current) : nullptr;
}

std::size_t stack_left() {
  const Stack* stack = innermost_stack(this_unit());
  if (stack == nullptr) return 0;
  return static_cast<std::size_t>(static_cast<char*>(arch::stack_pointer()) - stack->memory.low);
}

void call_on_segment(std::size_t size, void (*function)(void*), void* argument) {
  if constexpr (sanitizer::active) {  // they take the stack of a unit for one piece
    function(argument);
    return;
  }
  Unit& unit = this_unit();
  Stack*& place = is_root(unit) ? worker_of(unit).root_segment : unit.stack->segment;
  Stack* before = place;
  Stack* segment = this_worker()->stacks.take(size);
  place = segment;
  weft_context_call_on(segment->top(), function, argument);
  place = before;                       // the unit's or the root's own: the reference holds wherever it goes on
  this_worker()->stacks.give(segment);  // perhaps another worker by now
}

}  // namespace weft::core
