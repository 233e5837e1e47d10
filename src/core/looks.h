// Looks at a lock or a flag while it may be about to change: ever more seldom, since each takes the cache line from
// whoever is about to change it, and so many pauses in all, since longer only costs what others could run meanwhile.
#pragma once

#include "arch/cpu.h"

namespace weft::core {

class Looks {
 public:
  explicit Looks(unsigned pauses) : left_(pauses) {}
  /// Waits until the next look. False: enough has been looked.
  bool pause() {
    if (left_ == 0) return false;
    const unsigned now = next_ < left_ ? next_ : left_;
    for (unsigned count = 0; count < now; ++count) arch::relax();
    left_ -= now;
    if (next_ < most_at_once) next_ *= 2;
    return true;
  }

 private:
  static constexpr unsigned most_at_once = 32;
  unsigned left_;
  unsigned next_ = 1;
};

}  // namespace weft::core
