// A share: a range of units that exist only as numbers until somebody starts them.
//
// Whoever opens a range [first, last) publishes it on its worker; it takes numbers from the low end
// itself, and so does every worker that finds nothing else to do. What a number means is the
// business of `take`, which the opener provides. One 64-bit word holds both ends, so that a claim is
// one compare-exchange: what was claimed is what the word said, whichever opening of a recycled
// share that was, and there is no ABA to fear. Everything else in the object that embeds the share
// must be read after the claim (acquire), and be written before open() (release). The word also
// counts the openings (modulo 2^16), so that what a claimer looked at before it claimed still holds. Claims need no
// release of their own: they are read-modify-writes, so who claims after others still acquires what open() released.
//
// Shares form a tree: `within` is the share that the opener itself belongs to. A root that waits may
// be allowed to run only what lies within the share that it waits for (scheduler.h, suspend).
//
// Rejected: thieves that take half of the range into a range of their own. It makes start-up a tree,
// but a thief's part must then be findable and recyclable itself, and with shares claimed in runs
// that grow while the units turn out to be short (see docs/design/range.md) the word is contended
// once per many units.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/layout.h"

namespace weft::core {

struct Worker;

class Share {
 public:
  /// Where publish() has put it.
  Worker* published_by = nullptr;        // nullptr: nowhere
  std::atomic<Share*>* place = nullptr;  // nullptr: in the worker's overflow list
  Share* next_in_overflow = nullptr;
  /// What the opener belongs to; written before open(). A late thief may look.
  std::atomic<const Share*> within{nullptr};

  /// How many numbers one claim should be for, as far as the opener knows; written before open(). A late thief may
  /// look.
  std::atomic<std::uint32_t> run_length{1};

  static constexpr std::uint32_t most = (1U << 24U) - 1;  // the largest number that may stand in a range

  struct Run {
    std::uint32_t first;
    std::uint32_t count;  // 0: nothing was left
    bool last;            // nothing is left after it
  };

  /// Claims and runs something of the share on the calling worker. False if there was nothing.
  bool (*take)(Share&, Worker&) = nullptr;
  /// Runs numbers of it that somebody else has claimed, and cannot start; may be nullptr, if nobody has a Hand of it.
  void (*run)(Share&, Worker&, Run) = nullptr;
  /// Whether take would find something although the range is used up (a hint); may be nullptr.
  bool (*wants_help)(const Share&) = nullptr;
  /// Whether the opener, which lies below what runs on its worker, would have something to do that nobody else can (a
  /// hint; also in signal handlers); may be nullptr.
  bool (*wants_opener)(const Share&) = nullptr;

  void open(std::uint32_t first, std::uint32_t last) {
    const std::uint64_t opening = (range_.load(std::memory_order_relaxed) & openings) + one_opening;
    range_.store(opening | pack(first, last), std::memory_order_release);
  }

  /// Claims at most `count` numbers; none if the share does not lie within `scope` (nullptr: anywhere).
  Run claim(std::uint32_t count, const Share* scope = nullptr) {
    std::uint64_t word = range_.load(std::memory_order_acquire);
    for (;;) {
      const std::uint32_t first = first_of(word);
      const std::uint32_t left = last_of(word) - first;
      if (left == 0 || !lies_within(scope)) return {first, 0, false};
      if (count > left) count = left;
      if (range_.compare_exchange_weak(word, (word & openings) | pack(first + count, last_of(word)),
                                       std::memory_order_acquire, std::memory_order_acquire))
        return {first, count, count == left};
    }
  }

  /// Whether it is `scope` or was opened, at any depth, inside it; nullptr: everything lies within.
  bool lies_within(const Share* scope) const {
    if (scope == nullptr) return true;
    for (const Share* share = this; share != nullptr; share = share->within.load(std::memory_order_relaxed))
      if (share == scope) return true;
    return false;
  }

  std::uint32_t left() const {
    const std::uint64_t word = range_.load(std::memory_order_relaxed);
    return last_of(word) - first_of(word);
  }

  /// Another number after each open().
  std::uint64_t opening() const { return range_.load(std::memory_order_relaxed) & openings; }

  bool has_work() const { return left() != 0 || (wants_help != nullptr && wants_help(*this)); }

 private:
  static constexpr std::uint64_t one_opening = std::uint64_t{1} << 48U;
  static constexpr std::uint64_t openings = ~(one_opening - 1);

  static std::uint64_t pack(std::uint32_t first, std::uint32_t last) {
    return first | (static_cast<std::uint64_t>(last) << 24U);
  }
  static std::uint32_t first_of(std::uint64_t word) { return static_cast<std::uint32_t>(word) & most; }
  static std::uint32_t last_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 24U) & most; }

  std::atomic<std::uint64_t> range_{0};
};

}  // namespace weft::core
