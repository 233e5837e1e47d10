// The lists of a worker are touched by the KLT that carries it alone; the common ones are guarded by a lock that is
// taken once for each batch.
#include "faces/openmp/blocks.h"

#include <cstdlib>
#include <new>

#include "base/panic.h"
#include "core/sanitizer.h"
#include "core/spinlock.h"
#include "faces/openmp/root.h"

namespace weft::openmp {
namespace {

constexpr unsigned most_batches = 256;  // of a class, in the common list

struct alignas(base::cache_line) CommonBlocks {
  core::Spinlock lock;
  Block* first = nullptr;  // of the first batch
  unsigned batches = 0;
};

constinit CommonBlocks common[BlockCache::classes];

// AddressSanitizer shall see each use of what has been freed.
constinit std::size_t largest_kept = core::sanitizer::active ? 0 : BlockCache::largest;

[[gnu::noinline]] void* from_system(std::size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) base::panic("no memory for a task of %zu bytes", size);
  return memory;
}

void free_all(Block* block) {
  while (block != nullptr) {
    Block* next = block->next;
    std::free(block);
    block = next;
  }
}

// False: there is none.
bool take_batch(CommonBlocks& from, Block*& first) {
  core::SpinGuard guard(from.lock);
  if (from.first == nullptr) return false;
  first = from.first;
  from.first = first->next_batch;
  --from.batches;
  return true;
}

void give_batch(CommonBlocks& to, Block* first) {
  {
    core::SpinGuard guard(to.lock);
    if (to.batches < most_batches) {
      first->next_batch = to.first;
      to.first = first;
      ++to.batches;
      return;
    }
  }
  free_all(first);
}

[[gnu::noinline]] void* refill(BlockCache& cache, unsigned which) {
  auto& kept = cache.kept[which];
  Block* first = nullptr;
  if (!take_batch(common[which], first)) return from_system(BlockCache::smallest << which);
  kept.first = first->next;
  kept.count = BlockCache::batch - 1;
  return first;
}

// The newest half goes: it is what the worker has touched last, but finding the oldest would cost more.
[[gnu::noinline]] void pass_half_on(BlockCache& cache, unsigned which) {
  auto& kept = cache.kept[which];
  Block* first = kept.first;
  Block* last = first;
  for (unsigned index = 1; index < BlockCache::batch; ++index) last = last->next;
  kept.first = last->next;
  kept.count -= BlockCache::batch;
  last->next = nullptr;
  give_batch(common[which], first);
}

}  // namespace

void keep_no_blocks() { largest_kept = 0; }

bool keeps_blocks() { return largest_kept != 0; }

void forget_common_blocks() {
  for (CommonBlocks& each : common) new (&each) CommonBlocks;
}

void* take_block(std::size_t size) {
  core::Worker* worker = core::this_worker();
  if (size > largest_kept) [[unlikely]]
    return from_system(size);
  const unsigned which = class_of_block(size);
  if (worker == nullptr) [[unlikely]]
    return from_system(BlockCache::smallest << which);  // it may be given back on a worker
  BlockCache& cache = cache_of(*worker).blocks;
  auto& kept = cache.kept[which];
  Block* block = kept.first;
  if (block == nullptr) [[unlikely]]
    return refill(cache, which);
  kept.first = block->next;
  --kept.count;
  return block;
}

void give_block(void* memory, std::size_t size) {
  core::Worker* worker = core::this_worker();
  if (size > largest_kept || worker == nullptr) [[unlikely]]
    return std::free(memory);
  const unsigned which = class_of_block(size);
  BlockCache& cache = cache_of(*worker).blocks;
  auto& kept = cache.kept[which];
  auto block = static_cast<Block*>(memory);
  block->next = kept.first;
  kept.first = block;
  if (++kept.count >= 2 * BlockCache::batch) [[unlikely]]
    pass_half_on(cache, which);
}

}  // namespace weft::openmp
