#include "core/stack.h"

#include <bit>
#include <new>

#include "base/layout.h"
#include "base/panic.h"
#include "core/runtime.h"
#include "core/sanitizer.h"

namespace weft::core {
namespace {

constexpr std::size_t smallest_stack = 16 * 1024;
constexpr std::size_t largest_stack = std::size_t{1} << 40U;
constexpr unsigned shared_most = 4096;  // per size; beyond that, memory goes back to the system

struct SharedList {
  Spinlock lock;
  Stack* head = nullptr;
  unsigned count = 0;
};
SharedList shared[41];

unsigned class_of(std::size_t size) { return static_cast<unsigned>(std::bit_width(size - 1)); }

Stack* map_new(std::size_t size) {
  const os::StackMemory memory = size <= largest_stack ? os::map_stack(size) : os::StackMemory{};
  if (memory.low == nullptr) return nullptr;
  char* end = memory.low + memory.size;
  auto stack = new (end - base::round_up(sizeof(Stack), base::cache_line)) Stack;
  stack->memory = memory;
  stack->fiber = sanitizer::create_fiber();
  return stack;
}

void release(Stack* stack) {
  sanitizer::destroy_fiber(stack->fiber);
  const os::StackMemory memory = stack->memory;
  os::unmap_stack(memory);
}

}  // namespace

Stack* StackCache::take(std::size_t wanted) {
  Stack* stack = take_if_there_is(wanted);
  if (stack == nullptr)
    base::panic("no memory for a stack of %zu KiB; lower %s, or raise the limit on address space (ulimit -v)",
                wanted / 1024, runtime.config.stack_setting);
  return stack;
}

Stack* StackCache::take_if_there_is(std::size_t wanted) {
  if (wanted < smallest_stack) wanted = smallest_stack;
  if (wanted > largest_stack) return nullptr;
  const std::size_t size = std::bit_ceil(wanted);
  const unsigned index = class_of(size);
  List& list = lists_[index];
  if (list.head != nullptr) {
    Stack* stack = list.head;
    list.head = stack->next;
    --list.count;
    return stack;
  }
  {
    SharedList& common = shared[index];
    SpinGuard guard(common.lock);
    if (Stack* stack = common.head; stack != nullptr) {
      common.head = stack->next;
      --common.count;
      return stack;
    }
  }
  return map_new(size);
}

void StackCache::give(Stack* stack) {
  const unsigned index = class_of(stack->size());
  List& list = lists_[index];
  if (list.count < most_kept) {
    stack->next = list.head;
    list.head = stack;
    ++list.count;
    return;
  }
  SharedList& common = shared[index];
  {
    SpinGuard guard(common.lock);
    if (common.count < shared_most) {
      stack->next = common.head;
      common.head = stack;
      ++common.count;
      return;
    }
  }
  release(stack);
}

void reset_shared_stacks() {
  for (SharedList& list : shared) list.lock.unlock();
}

}  // namespace weft::core
