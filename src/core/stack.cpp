#include "core/stack.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/layout.h"
#include "base/panic.h"
#include "core/runtime.h"
#include "core/sanitizer.h"
#include "os/clock.h"

namespace weft::core {
namespace {

// How far below the end of its mapping a stack begins.
std::size_t next_colour() {
  constexpr unsigned colours = 24;
  constexpr std::size_t step = 2 * base::cache_line;
  static std::atomic<unsigned> made{0};
  return made.fetch_add(1, std::memory_order_relaxed) % colours * step;
}

Stack* map_new(unsigned size_class) {
  constexpr std::size_t for_colours = 4096;
  const os::StackMemory memory = os::map_stack((std::size_t{1} << size_class) + for_colours);
  if (memory.low == nullptr) return nullptr;
  char* end = memory.low + memory.size - next_colour();
  auto stack = new (end - base::round_up(sizeof(Stack), base::cache_line)) Stack;
  stack->memory = memory;
  stack->size_class = static_cast<std::uint8_t>(size_class);
  stack->fiber = sanitizer::create_fiber();
  return stack;
}

void release(Stack* stack) {
  sanitizer::destroy_fiber(stack->fiber);
  const os::StackMemory memory = stack->memory;
  os::unmap_stack(memory);
}

}  // namespace

// How many stacks it keeps follows from what comes of those that it does not keep: to unmap one and to map one costs
// 4 us together, a hundred times what the rest of a unit does. Each that has to be mapped soon after another one went
// back to the system makes room for one more. What nobody has needed for some seconds goes back, and the room for it
// goes with it.
struct StackCache::Depot {
  static constexpr unsigned at_least = 64 * Magazine::most;
  static constexpr unsigned at_most = 1U << 17U;
  static constexpr std::uint64_t soon_ns = 1'000'000'000;
  static constexpr std::uint64_t unneeded_ns = 5'000'000'000;

  Spinlock lock;
  std::atomic<Magazine*> full{nullptr};
  base::Relaxed<unsigned> stacks{0};
  Magazine* empty = nullptr;
  base::Relaxed<unsigned> kept{at_least};  // so many stacks; beyond that, memory goes back to the system
  std::atomic<unsigned> gone{0};           // back to the system, and no other one has been mapped in its place
  std::uint64_t gone_at = 0;               // the last of them
  unsigned unneeded = 0;                   // the fewest stacks that have been here
  std::uint64_t unneeded_since = 0;        // since then

  void note_gone() {
    SpinGuard guard(lock);
    gone.store(gone.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    gone_at = os::now_ns();
  }

  void note_new() {
    if (gone.load(std::memory_order_relaxed) == 0) return;
    SpinGuard guard(lock);
    const unsigned before = gone.load(std::memory_order_relaxed);
    if (before == 0) return;
    const bool soon = os::now_ns() - gone_at < soon_ns;
    gone.store(soon ? before - 1 : 0, std::memory_order_relaxed);
    if (soon && kept < at_most) kept = kept + 1;
  }

  // The last magazine may have been one too many.
  bool has_too_many() const { return stacks >= kept + Magazine::most; }

  // A magazine of stacks that go back to the system; nullptr: there is nothing unneeded.
  Magazine* take_unneeded() {
    if (kept == at_least && !has_too_many()) return nullptr;
    SpinGuard guard(lock);
    if (const std::uint64_t now = os::now_ns(); now - unneeded_since > unneeded_ns) {
      if (unneeded_since != 0) kept = std::max(at_least, kept - std::min(kept.get(), unneeded));
      unneeded = stacks;
      unneeded_since = now;
    }
    if (!has_too_many()) return nullptr;
    Magazine* magazine = full.load(std::memory_order_relaxed);
    if (magazine == nullptr) return nullptr;
    full.store(magazine->next, std::memory_order_relaxed);
    stacks = stacks - magazine->count;
    return magazine;
  }
};

StackCache::Depot StackCache::depots[classes];

void StackCache::release(Magazine* magazine) {
  if (magazine == nullptr) return;
  for (unsigned index = 0; index < magazine->count; ++index) core::release(magazine->stacks[index]);
  std::free(magazine);
}

void StackCache::release_all() {
  for (Shelf& shelf : shelves_) {
    release(shelf.loaded);
    release(shelf.other);
    shelf = Shelf{};
  }
}

StackCache::~StackCache() { release_all(); }

void StackCache::release_depots() {
  for (Depot& depot : depots) {
    Magazine* full = nullptr;
    {
      SpinGuard guard(depot.lock);
      full = depot.full.load(std::memory_order_relaxed);
      depot.full.store(nullptr, std::memory_order_relaxed);
      depot.stacks = 0;
      depot.kept = Depot::at_least;
    }
    while (full != nullptr) {
      Magazine* next = full->next;
      release(full);
      full = next;
    }
  }
}

void panic_without_stack(std::size_t size) {
  base::panic("no memory for a stack of %zu KiB; lower %s, or raise the limit on address space (ulimit -v)",
              size / 1024, runtime.config.stack_setting);
}

Stack* StackCache::take(std::size_t wanted) {
  Stack* stack = take_if_there_is(wanted);
  if (stack == nullptr) panic_without_stack(wanted);
  return stack;
}

Stack* StackCache::take_if_there_is(std::size_t wanted) {
  return wanted <= largest_stack ? take_of_class(class_of(wanted)) : nullptr;
}

Stack* StackCache::take_elsewhere(unsigned size_class) {
  Shelf& shelf = shelves_[size_class];
  if (!reload(shelf, size_class)) {
    depots[size_class].note_new();
    return map_new(size_class);
  }
  return shelf.loaded->stacks[--shelf.loaded->count];
}

void StackCache::give_elsewhere(Stack* stack) {
  Shelf& shelf = shelves_[stack->size_class];
  if (unload(shelf, stack->size_class)) {
    shelf.loaded->stacks[shelf.loaded->count++] = stack;
    return;
  }
  depots[stack->size_class].note_gone();
  core::release(stack);
}

// Loads a magazine that is not empty. False: there is none.
bool StackCache::reload(Shelf& shelf, unsigned size_class) {
  if (shelf.other != nullptr && shelf.other->count != 0) {
    std::swap(shelf.loaded, shelf.other);
    return true;
  }
  Depot& depot = depots[size_class];
  if (depot.full.load(std::memory_order_relaxed) == nullptr) return false;
  SpinGuard guard(depot.lock);
  Magazine* full = depot.full.load(std::memory_order_relaxed);
  if (full == nullptr) return false;
  depot.full.store(full->next, std::memory_order_relaxed);
  depot.stacks = depot.stacks - full->count;
  depot.unneeded = std::min(depot.unneeded, depot.stacks.get());
  if (shelf.other != nullptr) {
    shelf.other->next = depot.empty;
    depot.empty = shelf.other;
  }
  shelf.other = shelf.loaded;
  shelf.loaded = full;
  return true;
}

unsigned StackCache::room_now() {
  constexpr unsigned for_all = 1024;
  constexpr unsigned least = 8;
  const unsigned workers = std::max({1U, runtime.workers.get(), runtime.slots.load(std::memory_order_relaxed)});
  return std::clamp(for_all / workers, least, Magazine::most);
}

// Loads a magazine that is not full. False: there are enough stacks, or there is no memory.
bool StackCache::unload(Shelf& shelf, unsigned size_class) {
  if (shelf.other != nullptr && shelf.other->count != shelf.other->room) {
    std::swap(shelf.loaded, shelf.other);
    return true;
  }
  Depot& depot = depots[size_class];
  release(depot.take_unneeded());
  Magazine* empty = nullptr;
  {
    SpinGuard guard(depot.lock);
    if (shelf.other != nullptr) {
      if (depot.stacks >= depot.kept) return false;
      shelf.other->next = depot.full.load(std::memory_order_relaxed);
      depot.full.store(shelf.other, std::memory_order_relaxed);
      depot.stacks = depot.stacks + shelf.other->count;
    }
    empty = depot.empty;
    if (empty != nullptr) depot.empty = empty->next;
  }
  shelf.other = shelf.loaded;
  shelf.loaded = nullptr;
  if (empty == nullptr) {
    void* memory = std::malloc(sizeof(Magazine));
    if (memory == nullptr) {
      std::swap(shelf.loaded, shelf.other);
      return false;
    }
    empty = new (memory) Magazine;
  }
  empty->count = 0;
  empty->room = room_now();
  shelf.loaded = empty;
  return true;
}

void reset_shared_stacks() {
  for (auto& depot : StackCache::depots) depot.lock.unlock();
}

}  // namespace weft::core
