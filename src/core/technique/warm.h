// The stack on which units of RoC-L run one after the other, as long as none of them deviates (Worker::undeviated); its
// Stack::frames is its top.
#pragma once

#include "core/technique/start.h"

namespace weft::core {

/// A warm stack of that size; the worker has none, or another.
[[gnu::noinline]] inline Stack* warm_up(Worker& worker, std::uint8_t stack_class) {
  if (worker.undeviated.stack != nullptr) worker.stacks.give(worker.undeviated.stack);
  worker.undeviated.stack = take_stack(worker, stack_class);
  worker.undeviated.stack_class = stack_class;
  worker.undeviated.stack->frames = worker.undeviated.stack->top();
  return worker.undeviated.stack;
}

inline Stack* warm_stack(Worker& worker, std::uint8_t stack_class) {
  Stack* stack = worker.undeviated.stack;
  if (stack != nullptr && worker.undeviated.stack_class == stack_class) [[likely]]
    return stack;
  return warm_up(worker, stack_class);
}

/// A unit has ended on it. One that has spawned children, and could have been stolen then, has taken it away.
inline void keep_warm(Worker& worker, Stack* stack) {
  if (worker.undeviated.stack == stack) [[likely]]
    return;
  if (worker.undeviated.stack != nullptr) worker.stacks.give(worker.undeviated.stack);
  worker.undeviated.stack = stack;
}

}  // namespace weft::core
