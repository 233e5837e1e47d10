// Stacks of units, bound when a unit starts, kept by it only when it deviates.
//
// The descriptor of a stack lies at its own high end, where the page is touched anyway. Free stacks
// sit in lists by size (powers of two), per worker, with a bounded overflow shared by all.
#pragma once

#include <cstddef>

#include "core/spinlock.h"
#include "os/stack_memory.h"

namespace weft::core {

struct Stack {
  Stack* next = nullptr;
  os::StackMemory memory;
  void* fiber = nullptr;     // what a sanitizer knows it by
  void* frames = nullptr;    // where the frames of the unit on it begin, as start_roc was told
  Stack* segment = nullptr;  // where they go on, inside call_on_segment()
  bool abandoned = false;    // SC: the scheduler that runs on it has been left by its unit (technique/sc.cpp)

  /// One past the highest byte for the unit's frames and objects; 64-byte aligned.
  char* top() { return reinterpret_cast<char*>(this); }
  std::size_t size() const { return memory.size; }
  bool guard_holds(const void* address) const {
    const char* byte = static_cast<const char*>(address);
    return byte >= memory.low - memory.guard && byte < memory.low;
  }
};

class StackCache {
 public:
  /// A stack of at least `size` bytes; ends the process with one line where there is no memory.
  Stack* take(std::size_t size);
  /// The same; nullptr where there is none.
  Stack* take_if_there_is(std::size_t size);
  void give(Stack* stack);

 private:
  static constexpr unsigned classes = 41;
  static constexpr unsigned most_kept = 64;
  struct List {
    Stack* head = nullptr;
    unsigned count = 0;
  };
  List lists_[classes];
};

/// Forgets the shared overflow's lock (in a forked child).
void reset_shared_stacks();

}  // namespace weft::core
