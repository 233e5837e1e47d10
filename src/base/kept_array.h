// An array of atomics that only grows, under readers that may still hold the one before: what was
// outgrown is kept, and chained to its successor.
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

namespace weft::base {

template <class T>
class KeptArray {
 public:
  unsigned capacity() const { return capacity_; }

  /// For readers on any thread; nullptr before the first growth.
  std::atomic<T>* items() const { return items_.load(std::memory_order_acquire); }

  /// Makes room for `wanted` at least; new items are T{}. One caller at a time. False: no memory.
  bool reserve(unsigned wanted) {
    if (wanted <= capacity_) return true;
    unsigned capacity = capacity_ != 0 ? capacity_ : 1;
    while (capacity < wanted) capacity *= 2;
    void* memory = std::malloc(sizeof(Block) + capacity * sizeof(std::atomic<T>));
    if (memory == nullptr) return false;
    newest_ = new (memory) Block{newest_};
    auto grown = reinterpret_cast<std::atomic<T>*>(newest_ + 1);
    const std::atomic<T>* old = items_.load(std::memory_order_relaxed);
    for (unsigned index = 0; index < capacity; ++index)
      new (&grown[index]) std::atomic<T>(index < capacity_ ? old[index].load(std::memory_order_relaxed) : T{});
    items_.store(grown, std::memory_order_release);
    capacity_ = capacity;
    return true;
  }

  /// Once there are no readers any more: it is empty again.
  void clear() {
    while (Block* block = newest_) {
      newest_ = block->outgrown;
      std::free(block);
    }
    items_.store(nullptr, std::memory_order_relaxed);
    capacity_ = 0;
  }

 private:
  struct alignas(std::atomic<T>) alignas(void*) Block {
    Block* outgrown;
  };

  std::atomic<std::atomic<T>*> items_{nullptr};
  Block* newest_ = nullptr;
  unsigned capacity_ = 0;
};

}  // namespace weft::base
