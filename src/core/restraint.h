// Restraint: how soon a worker that has nothing takes numbers of another's share (pool/share.h). Whoever opens a share
// runs all of it itself, if nobody else does. What another worker takes costs the opener a few cache lines from core to
// core before it can go on: 0.1 to 0.5 us each, and on a virtual machine that changes from minute to minute. So what
// runs for less than that is better left to the opener. The worker finds out: it has the same way to the share's word,
// and measures what its claim took, and what it then ran. If that was not worth it some times in a row, it looks less
// often, and takes only from a share that is still open a moment later. The first time that it was worth it ends this.
//
// It delays what a worker takes by some 3 us at most, whatever it has learned, and nobody waits for ever: a share that
// stays open is taken from. (Appetite, which is for units, pauses for longer: units lie in their pool until their owner
// comes to them, while the opener of a share is at it already.)
#pragma once

#include <algorithm>
#include <cstdint>

#include "arch/cpu.h"
#include "core/pool/share.h"

namespace weft::core {

class Restraint {
 public:
  /// The worker, which had nothing, has claimed numbers of a share, and run them: the ticks (arch::ticks) of both.
  void took(std::uint64_t claim, std::uint64_t run) {
    const std::uint64_t faded = std::max(way_ - way_ / 8, shortest_way);
    way_ = std::max(std::min(claim, longest_way), faded);
    if (run > moment())
      in_vain_ = 0;
    else if (in_vain_ < enough)
      ++in_vain_;
  }

  bool on() const { return in_vain_ == enough; }

  /// Whether the worker may take from the share that it has found. `wait` lets a number of ticks pass.
  template <class Wait>
  bool allows(const Share& share, Wait wait) const {
    return !on() || share.left() == 0 || stays_open(share, wait);
  }
  bool allows(const Share& share) const { return allows(share, spin); }

 private:
  static constexpr unsigned ways = 4;                 // that the opener has to wait for
  static constexpr std::uint64_t shortest_way = 200;  // between caches that are near
  static constexpr std::uint64_t longest_way = 1500;  // half a microsecond or more
  static constexpr unsigned enough = 4;

  std::uint64_t moment() const { return ways * way_; }

  static void spin(std::uint64_t ticks) {
    const std::uint64_t began = arch::ticks();
    while (arch::ticks() - began < ticks) arch::relax();
  }

  template <class Wait>
  bool stays_open(const Share& share, Wait wait) const {
    const std::uint64_t opening = share.opening();
    wait(moment());
    return share.opening() == opening && share.has_work();
  }

  std::uint64_t way_ = shortest_way;  // of a cache line, of late
  unsigned in_vain_ = 0;
};

}  // namespace weft::core
