#include "core/hand.h"

#include "os/barrier.h"

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

Hand* Hand::open_outermost(Hands& hands) {
  Hand* found = nullptr;
  for (Hand* hand = hands.top.load(std::memory_order_acquire); hand != nullptr; hand = hand->outer_)
    if (!hand->is_empty()) found = hand;
  hands.open.store(found != nullptr ? &found->share_ : nullptr, std::memory_order_relaxed);
  return found;
}

bool open_hand(Worker& worker) {
  Hands& hands = worker.hands;
  if (hands.top.load(std::memory_order_relaxed) == nullptr) return false;
  const Visit visit(hands);
  return Hand::open_outermost(hands) != nullptr;
}

Share* take_from_hand(Worker& victim, const Share* scope, Share::Run& run) {
  Hands& hands = victim.hands;
  const Visit visit(hands);
  Hand* hand = Hand::open_outermost(hands);
  if (hand == nullptr || !hand->share_.lies_within(scope)) return nullptr;
  // The owner may take one more after the fence, which it does not start before it has waited for this visit.
  const std::uint32_t next = hand->next_.load(std::memory_order_relaxed);
  const std::uint32_t end = hand->end_.load(std::memory_order_relaxed);
  if (next >= end) return nullptr;
  const std::uint32_t middle = next + (end - next) / 2;
  run = {middle, end - middle, false};
  hand->end_.store(middle, std::memory_order_relaxed);
  Hand::open_outermost(hands);
  return &hand->share_;
}

}  // namespace weft::core
