// Stacks of units, bound when a unit starts, kept by it only when it deviates.
//
// The descriptor of a stack lies at its own high end, where the page is touched anyway. That end is not the end of the
// mapping, but up to 3 KiB below it, differently from stack to stack: else the parts that are in use would all compete
// for the same few sets of the caches. What is left of that page holds most units that wait.
//
// Free stacks are kept by size (powers of two), each worker's in two magazines, arrays of addresses, which are
// exchanged for full or empty ones from a depot that all share (J. Bonwick and J. Adams, "Magazines and Vmem", USENIX
// 2001). So a free stack's own memory is not touched, and the depot's lock is taken once per many stacks. The more
// workers there are, the less has room in a magazine: else 64 of them would keep 16,000 stacks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/spinlock.h"
#include "os/stack_memory.h"

namespace weft::core {

/// Bytes.
inline constexpr std::size_t largest_stack = std::size_t{1} << 40U;

class Mutex;

struct Stack {
  os::StackMemory memory;
  void* fiber = nullptr;        // what a sanitizer knows it by
  void* frames = nullptr;       // where the frames of the unit on it begin, as start_roc was told
  Stack* segment = nullptr;     // where they go on, inside call_on_segment()
  Mutex* relocks = nullptr;     // what the unit locks as soon as it goes on (sync/condition.h)
  std::uint8_t size_class = 0;  // it has 2^size_class bytes, and some more
  bool abandoned = false;       // SC: the scheduler that runs on it has been left by its unit (technique/sc.cpp)

  /// One past the highest byte for the unit's frames and objects; 64-byte aligned.
  char* top() { return reinterpret_cast<char*>(this); }
  std::size_t size() const { return memory.size; }
  /// What whoever asked for it knows of it.
  std::size_t usable_size() const { return size_class != 0 ? std::size_t{1} << size_class : memory.size; }
  bool holds(const void* address) const {
    const char* byte = static_cast<const char*>(address);
    return byte >= memory.low && byte < memory.low + memory.size;
  }
  bool guard_holds(const void* address) const {
    const char* byte = static_cast<const char*>(address);
    return byte >= memory.low - memory.guard && byte < memory.low;
  }
};

class StackCache {
 public:
  StackCache() = default;
  StackCache(const StackCache&) = delete;
  StackCache& operator=(const StackCache&) = delete;
  ~StackCache();

  /// A stack of at least `size` bytes; ends the process with one line where there is no memory.
  Stack* take(std::size_t size);
  /// The same; nullptr where there is none.
  Stack* take_if_there_is(std::size_t size);
  /// The same for 2^size_class bytes; one of those that class_of() gives.
  Stack* take_of_class(unsigned size_class) {
    Stack* stack = take_at_hand(size_class);
    return stack != nullptr ? stack : take_elsewhere(size_class);
  }
  /// The same where it is a matter of a few instructions; else nullptr, and nothing has happened.
  Stack* take_at_hand(unsigned size_class) {
    Magazine* loaded = shelves_[size_class].loaded;
    return loaded != nullptr && loaded->count != 0 ? loaded->stacks[--loaded->count] : nullptr;
  }
  void give(Stack* stack) { give_of_class(stack, stack->size_class); }
  /// The same for a caller who knows its size class: so its memory is not touched.
  void give_of_class(Stack* stack, unsigned size_class) {
    if (!give_at_hand(stack, size_class)) [[unlikely]]
      give_elsewhere(stack);
  }
  /// The same where it is a matter of a few instructions. False: nothing has happened.
  bool give_at_hand(Stack* stack, unsigned size_class) {
    Magazine* loaded = shelves_[size_class].loaded;
    if (loaded == nullptr || loaded->count == loaded->room) return false;
    loaded->stacks[loaded->count++] = stack;
    return true;
  }
  /// Unmaps what is free here.
  void release_all();
  /// Unmaps what is free for everybody.
  static void release_depots();
  /// For a wish in bytes.
  static unsigned class_of(std::size_t wanted) {
    const unsigned size_class = static_cast<unsigned>(std::bit_width((wanted < smallest ? smallest : wanted) - 1));
    return size_class < classes ? size_class : classes - 1;
  }

 private:
  static constexpr std::size_t smallest = 16UL * 1024;
  static constexpr unsigned classes = 41;
  struct Magazine {
    static constexpr unsigned most = 126;  // 1 KiB with the rest
    Magazine* next;                        // in the depot
    unsigned count = 0;
    unsigned room = most;
    Stack* stacks[most];
  };
  struct Shelf {
    Magazine* loaded = nullptr;
    Magazine* other = nullptr;  // full or empty
  };
  struct Depot;
  static Depot depots[classes];
  Stack* take_elsewhere(unsigned size_class);
  void give_elsewhere(Stack* stack);
  static void release(Magazine* magazine);
  static bool reload(Shelf& shelf, unsigned size_class);
  static bool unload(Shelf& shelf, unsigned size_class);
  static unsigned room_now();
  friend void reset_shared_stacks();

  Shelf shelves_[classes];
};

/// Ends the process: there is no memory for a stack of that size.
[[noreturn]] void panic_without_stack(std::size_t size);

/// Forgets the locks (in a forked child).
void reset_shared_stacks();

}  // namespace weft::core
