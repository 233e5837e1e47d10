#include "core/hand.h"

namespace weft::core {
namespace {

// By one who looks at the hands of a worker from outside.
class Visit {
 public:
  explicit Visit(Hands& hands) : hands_(hands), guard_(hands.lock) {
    hands.visited.store(true, std::memory_order_relaxed);
    os::heavy_fence();
  }
  ~Visit() { hands_.visited.store(false, std::memory_order_release); }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  Hands& hands_;
  const SpinGuard guard_;
};

}  // namespace

bool open_hand(Worker& worker) {
  Hands& hands = worker.hands;
  if (hands.top.load(std::memory_order_relaxed) == nullptr) return false;
  const Visit visit(hands);
  bool some_left = false;
  for (const Hand* hand = hands.top.load(std::memory_order_acquire); hand != nullptr; hand = hand->outer_)
    some_left = some_left || !hand->is_empty();
  hands.open.store(some_left, std::memory_order_relaxed);
  return some_left;
}

Share* take_from_hand(Worker& victim, const Share* scope, Share::Run& run) {
  Hands& hands = victim.hands;
  const Visit visit(hands);
  Hand* found = nullptr;
  unsigned left = 0;
  for (Hand* hand = hands.top.load(std::memory_order_acquire); hand != nullptr; hand = hand->outer_) {
    if (hand->is_empty()) continue;
    ++left;
    if (hand->share_.lies_within(scope)) found = hand;
  }
  if (left == 0 || (left == 1 && found != nullptr)) hands.open.store(false, std::memory_order_relaxed);
  if (found == nullptr) return nullptr;
  const std::uint32_t first = found->next_.load(std::memory_order_relaxed);
  run = {first, found->end_.load(std::memory_order_relaxed) - first, false};
  found->end_.store(first, std::memory_order_relaxed);
  return &found->share_;
}

}  // namespace weft::core
