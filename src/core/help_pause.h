// The pause that a worker makes between two helps: what it takes for a share beyond the share's numbers
// (Share::wants_help), from whoever made it and would run it next. That one pays with a few cache lines for each, as
// the opener of a share does (core/restraint.h), and the helper with some more: the deque, and what lies in it. The
// worker measures how long it took until it had the thing in hand, and how long that ran. If this was not worth it some
// times in a row, and the maker was at it all the time, it pauses, longer from time to time. The first time that it was
// worth it ends this.
//
// Of one worker, and only its own business. Nothing waits for longer than a pause of some 60 us; and a worker, or one
// that runs there, ends the pause and looks once more before it goes to sleep.
#pragma once

#include <cstdint>

#include "arch/cpu.h"
#include "core/growing_pause.h"

namespace weft::core {

class HelpPause {
 public:
  /// Ticks are those of arch::ticks(). `way`: until the worker had what it took; `run`: those that it ran for.
  /// `maker_goes_on()`: whether who made it has made more since.
  template <class GoesOn>
  void took(std::uint64_t way, std::uint64_t run, std::uint64_t now, GoesOn maker_goes_on) {
    if (run > worth * way || run > always_worth || !maker_goes_on()) {
      in_vain_ = 0;
      pause_.forget();
      return;
    }
    if (in_vain_ == enough || ++in_vain_ == enough) pause_.begin(now);
  }

  /// Whether it is over, or there is none.
  bool is_over(std::uint64_t now) const { return pause_.is_over(now); }
  bool is_over() const { return !pause_.exists() || is_over(arch::ticks()); }

  /// Ends it early; false: it was over.
  bool end(std::uint64_t now) {
    if (is_over(now)) return false;
    pause_.end();
    return true;
  }
  bool end() { return pause_.exists() && end(arch::ticks()); }

  static constexpr std::uint64_t shortest = 20000;  // some 8 us
  static constexpr std::uint64_t longest = 8 * shortest;

 private:
  static constexpr unsigned enough = 4;
  static constexpr std::uint64_t worth = 2;
  static constexpr std::uint64_t always_worth = 15000;  // the way may be long by chance: the first visit (Privacy)

  GrowingPause<shortest, longest> pause_;
  unsigned in_vain_ = 0;  // in a row
};

}  // namespace weft::core
