// How many numbers of a share (pool/share.h) are worth one claim. Who takes numbers begins with one, and takes twice as
// many each time that they turned out to be short; but each claim, and what is reported after it, takes cache lines
// from core to core, and of units that do nothing that is most of what they cost. A program opens the same shares again
// and again: so the opener keeps what it has learned of the numbers that stand for the same function, and the next
// share begins there. The length doubles from share to share while all that was measured was short, and is one again as
// soon as something was not: what does little and much by turns gets no long runs. However long, a run is never more
// than a fair part of what is left.
//
// Of one worker, for the shares that are opened on it. Functions share a few places; who finds another's in its place
// begins anew.
#pragma once

#include <cstdint>

#include "base/hash.h"

namespace weft::core {

class RunLengths {
 public:
  static constexpr std::uint32_t longest = 1024;

  /// For the next share of the function at this address.
  std::uint32_t of(std::uintptr_t function) const {
    const Known& known = known_[base::place_of_address(function, bits)];
    return known.function == function ? known.length : 1;
  }

  /// What its last one has shown.
  void learn(std::uintptr_t function, bool all_short) {
    Known& known = known_[base::place_of_address(function, bits)];
    if (known.function != function) known = {function, 1};
    if (!all_short)
      known.length = 1;
    else if (known.length < longest)
      known.length *= 2;
  }

 private:
  static constexpr unsigned bits = 3;
  struct Known {
    std::uintptr_t function = 0;
    std::uint32_t length = 1;
  };
  Known known_[1U << bits];
};

}  // namespace weft::core
