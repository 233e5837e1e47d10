// Privacy: while nobody else comes, a worker takes from its own deque, puts units that yield back there, and ends the
// units that it has created itself, without any locked instruction. Whoever comes from outside pays for both.
//
// Whoever else has a deque of his own may do the same with what lies there: he is the worker of what follows.
//
// State, of one worker: `shared_` (everybody uses the protocols that stand any concurrency), `private_` (only the owner
// may touch what is guarded, between enter() and leave()), `ending` (a visitor is making it shared), `seen` (and the
// owner knows).
//
//   Owner:    inside = 1;  light fence;  private?  -> touch; inside = 0
//             no? -> ending?  -> state = seen;   inside = 0, and the shared protocol
//   Visitor:  visits += 1;  private?  -> state = ending;  a while: seen?  if not: heavy fence;
//             wait until inside = 0;  state = shared
//             ... the shared protocol ...  visits -= 1
//
// Why nobody meets: let the owner have found `private_`. If its store to `inside` came before the visitor's heavy
// fence, the visitor sees it and waits; if after, so did the owner's look at the state, which then said `ending`.
// Of several visitors all wait until the state is `shared_`. And where the owner has said that it has seen the visitor
// (by an exchange, since the visitor may have stopped waiting for that), all that it did before is seen too, and what
// it does afterwards is by the shared protocol: no fence is needed. An owner that creates and ends units comes by every
// few nanoseconds, and answers in less than 1 us. One that computes, or has lost its CPU, does not.
//
// What is guarded may have a word of its own that says that the owner is at it: then that is the mark, and `inside` is
// not needed (is_private_after()). The owner writes the mark, and then looks at the state; a visitor that has come,
// after the heavy fence if it was the first, looks at the mark. So either the owner sees the visitor, or the visitor
// the mark, and it does what the mark asks for. Two words are such marks:
//   - Unit::state, `done` before Unit::waiters says so: the visitor waits for that (core/create.cpp, let_end()). Until
//     then nobody stands there, or the joiner that has called the unit (technique/by_joiner.cpp).
//   - The deque's bottom_, one lower: the element at it is the owner's. A visitor sees that as any thief does.
// Neither is taken by an owner that was private before, is not, and is again: only the owner makes it private.
// Back: the owner, when it has been left alone for a while, sets `private_`, then looks (seq_cst fence) whether a
// visitor is there, and takes it back if so. A visitor announces itself before it looks at the state, so one of the two
// sees the other; and between the owner's two steps it touches nothing.
//
// A visit to a private worker costs its visitor a membarrier (17 us on a virtual machine) where the owner does not
// answer; so an owner that is visited often stays shared, and pays one locked instruction per unit (5 to 9 ns) as
// without all this. It turns private after so many units in peace that these cost about as much as the visit has.
//
// Where there is no membarrier both fences would be real ones, and cost as much as they save: nobody is private there,
// but in builds with AddressSanitizer, for the tests. TSan, which knows no fences, is told by never being private.
//
// This is biased locking (K. Kawachiya, A. Koseki, T. Onodera, "Lock Reservation", OOPSLA 2002), per worker instead of
// per object.
#pragma once

#include <atomic>
#include <cstdint>

#include "arch/cpu.h"
#include "base/layout.h"
#include "core/spinlock.h"
#include "os/barrier.h"

namespace weft::core {

class Privacy {
 public:
  /// Owner only. True: what is guarded is the owner's alone until leave().
  bool enter() {
    inside_.store(true, std::memory_order_relaxed);
    if (is_private_after()) [[likely]]
      return true;
    inside_.store(false, std::memory_order_release);
    return false;
  }
  void leave() { inside_.store(false, std::memory_order_release); }
  /// For an owner that leaves by a store of 0 of its own, which releases (weft_context_swap_and_clear).
  void* inside() {
    static_assert(sizeof inside_ == 1);
    return &inside_;
  }

  /// Owner only, after it has written a mark that visitors look at (above): what that guards is the owner's alone.
  bool is_private_after() {
    fence();
    const State state = state_.load(std::memory_order_acquire);
    if (state == State::private_) [[likely]]
      return true;
    answer(state);
    return false;
  }

  /// A hint: others leave the owner alone.
  bool is_private() const { return state_.load(std::memory_order_relaxed) == State::private_; }

  /// Owner only, while shared: one unit more went by.
  void pass() {
    const std::uint32_t visits = visits_.load(std::memory_order_relaxed);
    if (visits != visits_seen_) {
      visits_seen_ = visits;
      peaceful_ = 0;
    } else if (++peaceful_ >= peace_) [[unlikely]] {
      peaceful_ = 0;
      peace_ = peace_after_fence;
      close();
    }
  }

  /// Anybody but the owner, for as long as it lives: the shared protocols hold. nullptr: it is the owner, who visits
  /// nobody.
  class Visit {
   public:
    explicit Visit(Privacy* privacy) : privacy_(privacy) {
      if (privacy_ == nullptr) return;
      privacy_->visits_.fetch_add(one_visit + 1, std::memory_order_seq_cst);
      if (privacy_->state_.load(std::memory_order_seq_cst) != State::shared_) privacy_->open();
    }
    ~Visit() {
      if (privacy_ != nullptr) privacy_->visits_.fetch_sub(1, std::memory_order_release);
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    Privacy* privacy_;
  };

 private:
  enum class State : std::uint32_t { shared_, private_, ending, seen };
  static constexpr std::uint32_t peace_after_fence = 2048;
  static constexpr std::uint32_t peace_after_answer = 256;
  // visits_: who is there now in the low half, how many have ever come (modulo 2^16) in the high one.
  static constexpr std::uint32_t one_visit = 1U << 16U;

  static void fence() {
#if defined(WEFT_ASAN)
    os::light_fence();
#else
    std::atomic_signal_fence(std::memory_order_seq_cst);  // as os::light_fence() where membarrier works
#endif
  }

  void close() {
#if !defined(WEFT_ASAN)
    if (!os::membarrier_works.load(std::memory_order_relaxed)) return;
#endif
#if !defined(WEFT_TSAN)
    state_.store(State::private_, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (visits_.load(std::memory_order_acquire) % one_visit == 0) return;
    // A visitor may have found it private already, and is making it shared.
    State expected = State::private_;
    state_.compare_exchange_strong(expected, State::shared_, std::memory_order_relaxed);
#endif
  }

  void answer(State state) {
    if (state != State::ending) [[likely]]
      return;
    if (state_.compare_exchange_strong(state, State::seen, std::memory_order_acq_rel)) peace_ = peace_after_answer;
  }

  bool is_answered() const {
    constexpr unsigned rounds = 100;  // some 2 us
    for (unsigned round = 0; round < rounds; ++round) {
      if (state_.load(std::memory_order_acquire) == State::seen) return true;
      arch::relax();
    }
    return false;
  }

  void open() {
    State expected = State::private_;
    if (state_.compare_exchange_strong(expected, State::ending, std::memory_order_seq_cst)) {
      if (!is_answered()) os::heavy_fence();
      wait_while([this] { return inside_.load(std::memory_order_acquire); });
      state_.store(State::shared_, std::memory_order_release);
      return;
    }
    wait_while([this] { return state_.load(std::memory_order_acquire) != State::shared_; });
  }

  // The owner's line, but for the state, which changes seldom.
  alignas(base::cache_line) std::atomic<bool> inside_{false};
  std::atomic<State> state_{State::shared_};
  std::uint32_t peaceful_ = 0;
  std::uint32_t peace_ = peace_after_fence;
  std::uint32_t visits_seen_ = 0;
  alignas(base::cache_line) std::atomic<std::uint32_t> visits_{0};
};

}  // namespace weft::core
