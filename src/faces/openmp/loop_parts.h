// A dynamic loop as ranges: each member has a part of the iterations, takes chunks from its front, and, when
// it is used up, half of what is left of another member's, from the back. So members meet on a word only where there is
// something to be evened out. A member may get iterations that come before those it has had: only for loops that are
// nonmonotonic, and not ordered.
//
// The loop's last chunk is nobody's part: who finds nothing else gets it, as the last that it works on. Compilers' code
// for lastprivate tells by its last chunk whether a thread has had the last iteration.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/layout.h"

namespace weft::openmp {

/// Chunks [first, last) in one word. Whatever is taken is taken by a compare-exchange of the whole word, whose value is
/// all there is to know: one that comes back to an earlier value stands for the same chunks again. Nothing is handed
/// over with a chunk but its number, so relaxed orders do.
struct alignas(base::cache_line) LoopPart {
  std::atomic<std::uint64_t> range{0};
};

class LoopParts {
 public:
  static constexpr std::uint64_t most_chunks = UINT32_MAX;

  LoopParts() = default;
  ~LoopParts();
  LoopParts(const LoopParts&) = delete;
  LoopParts& operator=(const LoopParts&) = delete;

  /// Deals out so many chunks, at least one; before anybody takes one.
  void deal(std::uint64_t chunks, unsigned members);
  /// The member's next chunk; false: there is none left for it.
  bool take(unsigned member, std::uint32_t& chunk);
  /// The same from the member's own part alone.
  bool take_own(unsigned member, std::uint32_t& chunk) {
    std::atomic<std::uint64_t>& own = parts_[member].range;
    std::uint64_t range = own.load(std::memory_order_relaxed);
    while (first_of(range) != last_of(range)) {
      chunk = first_of(range);
      if (own.compare_exchange_weak(range, pack(chunk + 1, last_of(range)), std::memory_order_relaxed)) return true;
    }
    return false;
  }

 private:
  static constexpr std::uint64_t pack(std::uint32_t first, std::uint32_t last) {
    return std::uint64_t{first} | std::uint64_t{last} << 32U;
  }
  static constexpr std::uint32_t first_of(std::uint64_t range) { return static_cast<std::uint32_t>(range); }
  static constexpr std::uint32_t last_of(std::uint64_t range) { return static_cast<std::uint32_t>(range >> 32U); }

  bool steal(unsigned thief);

  LoopPart* parts_ = nullptr;  // kept from loop to loop, as a team is
  unsigned room_ = 0;
  unsigned members_ = 0;
  std::uint32_t last_chunk_ = 0;
  std::atomic<bool> last_taken_{false};
  std::atomic<bool> used_up_{false};  // nobody's part has any left, but for what their owners are about to take
};

}  // namespace weft::openmp
