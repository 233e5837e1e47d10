// Memory for tasks and what belongs to them, in blocks of a few sizes.
//
// A worker keeps the blocks that were given back on it, and takes them again last in, first out. Where one worker makes
// tasks and others run them, the blocks would pile up with the others: so a worker that has many passes half of them on
// to a common list in one batch, and one that has none takes a batch from there before it asks the system. Each block
// comes from malloc by itself. What the common list does not hold goes back to the system; thus a burst of tasks leaves
// a bounded number of blocks behind.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace weft::openmp {

struct Block {
  Block* next;
  Block* next_batch;  // of the first one of a batch
};

/// What a worker keeps.
struct BlockCache {
  static constexpr unsigned classes = 4;
  static constexpr std::size_t smallest = 64;
  static constexpr std::size_t largest = smallest << (classes - 1);
  static constexpr unsigned batch = 64;
  struct {
    Block* first = nullptr;
    unsigned count = 0;
  } kept[classes];
};

constexpr unsigned class_of_block(std::size_t size) {
  return size <= BlockCache::smallest ? 0 : static_cast<unsigned>(std::bit_width((size - 1) / BlockCache::smallest));
}

/// Memory of `size` bytes, aligned as malloc's; ends the process where there is none.
void* take_block(std::size_t size);
/// Gives it back; the same size. Any thread.
void give_block(void* memory, std::size_t size);

/// From here on each block comes from the system and goes back to it; before the first is taken.
void keep_no_blocks();

/// False: no block that is given back may be used again.
bool keeps_blocks();

/// In a forked child: others may have held the lock of the common list.
void forget_common_blocks();

}  // namespace weft::openmp
