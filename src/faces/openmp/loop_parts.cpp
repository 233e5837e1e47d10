#include "faces/openmp/loop_parts.h"

#include <cstdlib>
#include <new>

#include "base/panic.h"
#include "faces/openmp/even_deal.h"

namespace weft::openmp {

LoopParts::~LoopParts() { std::free(parts_); }

void LoopParts::deal(std::uint64_t chunks, unsigned members) {
  if (members > room_) {
    std::free(parts_);
    void* memory = nullptr;
    if (posix_memalign(&memory, alignof(LoopPart), members * sizeof(LoopPart)) != 0)
      base::panic("no memory for a loop of %u threads", members);
    parts_ = static_cast<LoopPart*>(memory);
    for (unsigned index = 0; index < members; ++index) new (parts_ + index) LoopPart;
    room_ = members;
  }
  members_ = members;
  last_chunk_ = static_cast<std::uint32_t>(chunks - 1);
  const EvenDeal<std::uint32_t> dealt(last_chunk_, members);
  for (unsigned index = 0; index < members; ++index)
    parts_[index].range.store(pack(dealt.first_of(index), dealt.first_of(index) + dealt.count_of(index)),
                              std::memory_order_relaxed);
  last_taken_.store(false, std::memory_order_relaxed);
  used_up_.store(false, std::memory_order_relaxed);
}

bool LoopParts::take(unsigned member, std::uint32_t& chunk) {
  do {
    if (take_own(member, chunk)) return true;
  } while (steal(member));
  if (last_taken_.load(std::memory_order_relaxed) || last_taken_.exchange(true, std::memory_order_relaxed))
    return false;
  chunk = last_chunk_;
  return true;
}

// What is stolen becomes the thief's part, where others find it; its word is empty until then, so nobody else writes
// it. Those who look meanwhile may miss it and stop looking: the thief itself works on it to its end.
bool LoopParts::steal(unsigned thief) {
  if (used_up_.load(std::memory_order_relaxed)) return false;
  for (unsigned step = 1; step < members_; ++step) {
    std::atomic<std::uint64_t>& victim = parts_[(thief + step) % members_].range;
    std::uint64_t range = victim.load(std::memory_order_relaxed);
    while (first_of(range) != last_of(range)) {
      const std::uint32_t last = last_of(range);
      const std::uint32_t middle = last - (last - first_of(range) + 1) / 2;
      if (!victim.compare_exchange_weak(range, pack(first_of(range), middle), std::memory_order_relaxed)) continue;
      parts_[thief].range.store(pack(middle, last), std::memory_order_relaxed);
      return true;
    }
  }
  used_up_.store(true, std::memory_order_relaxed);
  return false;
}

}  // namespace weft::openmp
