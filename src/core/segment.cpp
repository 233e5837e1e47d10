#include "core/segment.h"

#include "arch/context.h"
#include "arch/cpu.h"
#include "core/runtime.h"
#include "core/sanitizer.h"
#include "core/scheduler.h"

namespace weft::core {

const Stack* innermost_stack(const Unit& unit) {
  const Stack* segment =
      is_root(unit) ? worker_of(unit).root.segment : (unit.stack != nullptr ? unit.stack->segment : nullptr);
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

namespace {

void call_on(Stack* segment, void (*function)(void*), void* argument) {
  Unit& unit = this_unit();
  Stack*& place = is_root(unit) ? worker_of(unit).root.segment : unit.stack->segment;
  Stack* before = place;
  place = segment;
  weft_context_call_on(segment->top(), function, argument);
  place = before;                       // the unit's or the root's own: the reference holds wherever it goes on
  this_worker()->stacks.give(segment);  // perhaps another worker by now
}

// What runs in the name of the unit may be on another stack: a scheduler's, an alternate one.
bool is_short_of_room(const Stack& stack) {
  constexpr std::size_t enough = 12UL * 1024;
  const char* now = static_cast<const char*>(arch::stack_pointer());
  return stack.holds(now) && static_cast<std::size_t>(now - stack.memory.low) < enough;
}

}  // namespace

void call_on_segment(std::size_t size, void (*function)(void*), void* argument) {
  // Sanitizers take the stack of a unit for one piece; and one may be without, in a handler over the scheduler.
  if (sanitizer::active || (this_unit().stack == nullptr && !is_root(this_unit())))
    function(argument);
  else
    call_on(this_worker()->stacks.take(size), function, argument);
}

void call_with_room(void (*function)(void*), void* argument) {
  constexpr std::size_t size = 16UL * 1024;
  const Stack* stack = sanitizer::active ? nullptr : stack_in_use();
  Stack* segment =
      stack != nullptr && is_short_of_room(*stack) ? this_worker()->stacks.take_if_there_is(size) : nullptr;
  if (segment != nullptr)
    call_on(segment, function, argument);
  else
    function(argument);
}

}  // namespace weft::core
