// A hand: the numbers of a share (pool/share.h) that a loop has claimed in one go and not started yet. The loop starts
// them one after the other, and as long as each comes back, that is the quickest way. But what it has started may sleep
// in the kernel, for something that one of the others is to do: then nobody else would ever come to those. (Seen: six
// members of a team that took turns by pthread_cond_wait(), four of them in one hand.) Or it takes long, where those
// before it did not. So when the watchdog has found a worker's KLT asleep, or where it cannot be interrupted, or its
// outermost loop at the same number for some time, it opens the worker's hand, and whoever looks for work takes half of
// what is left in it, until nothing is.
//
// Why each number is started once. The loop notes that it takes n (`next_`), then looks whether there is a visitor and
// whether n is still its own (`end_`). A visitor, of whom the lock lets in one at a time, says that it is there, then
// looks at `next_`, and lowers `end_`. Of the two, one sees what the other has written first: os::light_fence() in the
// loop, os::heavy_fence() in the visitor, who comes seldom. If the loop sees a visitor it waits for the lock, and
// `end_` says to whom n belongs; a visitor that has left before the loop has looked has written `end_` before
// (release, acquire). In the same way a hand lies on the frame of its loop for as long as a visitor may look at it: the
// loop takes it off the list, then looks for a visitor; a visitor says that it is there before it follows the list.
//
// A hand of one number has nothing to give away, and is not on the list. The model is tests/models/hand.pml.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/pool/share.h"
#include "core/spinlock.h"
#include "core/worker.h"
#include "os/barrier.h"

namespace weft::core {

class Hand {
 public:
  /// On the calling worker, by a loop that starts all of the run, here.
  Hand(Worker& worker, Share& share, const Share::Run& run)
      : worker_(worker),
        share_(share),
        next_(run.first),
        end_(run.first + run.count),
        left_(run.count),
        listed_(run.count > 1) {
    if (!listed_) return;
    worker.in_hand += run.count;
    outer_ = worker.hands.top.load(std::memory_order_relaxed);
    worker.hands.top.store(this, std::memory_order_release);
  }
  /// Its owner has come to the end of it.
  ~Hand() {
    if (!listed_) return;
    worker_.in_hand -= left_;
    worker_.hands.top.store(outer_, std::memory_order_relaxed);
    os::light_fence();
    if (worker_.hands.visited.load(std::memory_order_acquire)) [[unlikely]] {
      const SpinGuard until_it_has_left(worker_.hands.lock);
    }
  }
  Hand(const Hand&) = delete;
  Hand& operator=(const Hand&) = delete;

  /// The next number to be started; false: there are none left.
  bool take(std::uint32_t& number) {
    number = next_.load(std::memory_order_relaxed);
    if (number == end_.load(std::memory_order_relaxed)) return false;
    next_.store(number + 1, std::memory_order_relaxed);
    if (listed_) {
      os::light_fence();
      const bool visited = worker_.hands.visited.load(std::memory_order_acquire);
      if (visited || number >= end_.load(std::memory_order_relaxed)) [[unlikely]]
        if (!is_still_here(number)) return false;
      if (outer_ == nullptr) note_taken();
      --left_;
      --worker_.in_hand;
    }
    return true;
  }

 private:
  friend bool open_hand(Worker& worker);
  friend Share* take_from_hand(Worker& victim, const Share* scope, Share::Run& run);

  // For a visitor: the outermost that is not empty, or nullptr; from now on that is the one that is open.
  static Hand* open_outermost(Hands& hands);
  bool is_empty() const { return next_.load(std::memory_order_relaxed) >= end_.load(std::memory_order_relaxed); }

  // Only the owner writes.
  void note_taken() {
    std::atomic<std::uint32_t>& taken = worker_.hands.taken;
    taken.store(taken.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  [[gnu::noinline]] bool is_still_here(std::uint32_t number) {
    const SpinGuard guard(worker_.hands.lock);
    const std::uint32_t end = end_.load(std::memory_order_relaxed);
    if (number < end) return true;
    next_.store(end, std::memory_order_relaxed);
    return false;
  }

  Worker& worker_;
  Share& share_;
  Hand* outer_ = nullptr;
  std::atomic<std::uint32_t> next_;
  std::atomic<std::uint32_t> end_;  // what a visitor takes lies behind it
  unsigned left_;                   // that its owner has not started, whoever has them
  const bool listed_;
};

/// From the watchdog: the worker does not get on, so what it has in hand is for others. False: it has nothing.
bool open_hand(Worker& worker);
/// The same: it gets on.
inline void close_hand(Worker& worker) {
  if (worker.hands.open.load(std::memory_order_relaxed) != nullptr)
    worker.hands.open.store(nullptr, std::memory_order_relaxed);
}

/// Whether the worker's hand is open, and what it holds lies within the scope (a hint).
inline bool offers_hand(const Worker& worker, const Share* scope) {
  const Share* share = worker.hands.open.load(std::memory_order_relaxed);
  return share != nullptr && share->lies_within(scope);
}

/// Half of what is left in the outermost of the victim's hands, the upper one, if that lies within the scope; nullptr:
/// nothing. The caller starts all of the run.
Share* take_from_hand(Worker& victim, const Share* scope, Share::Run& run);

}  // namespace weft::core
