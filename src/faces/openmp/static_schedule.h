// Which iterations of a loop with a static schedule a thread works on, for compilers that make the loop over them
// themselves. Values are those of the loop variable, bounds are inclusive, and arithmetic is modulo 2^n.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "faces/openmp/even_deal.h"

namespace weft::openmp {

/// One of `size` threads among which a loop is divided.
struct LoopShare {
  std::uint64_t number;
  std::uint64_t size;
};

/// Iterations of a loop: lower, lower + increment, ... at most upper (increment > 0), at least upper (< 0).
template <class T>
struct LoopRange {
  using U = std::make_unsigned_t<T>;
  using S = std::make_signed_t<T>;
  T lower, upper;
  S increment;

  bool empty() const { return increment > 0 ? upper < lower : lower < upper; }
  /// Of a range that is not empty. 0 stands for 2^n.
  U trips() const {
    const U low = static_cast<U>(lower), high = static_cast<U>(upper), step = static_cast<U>(increment);
    if (increment == 1) return static_cast<U>(high - low + 1);
    return static_cast<U>(increment > 0 ? (high - low) / step + 1 : (low - high) / (0 - step) + 1);
  }
  /// How many values the type has behind the first one, in steps of the increment.
  U room() const {
    using Limits = std::numeric_limits<T>;
    const U low = static_cast<U>(lower), step = static_cast<U>(increment);
    if (increment == 1) return static_cast<U>(static_cast<U>(Limits::max()) - low);
    if (increment > 0) return static_cast<U>(static_cast<U>(Limits::max()) - low) / step;
    return static_cast<U>(low - static_cast<U>(Limits::min())) / (0 - step);
  }
  /// The value in iteration `index`, counted from 0.
  T value(U index) const { return static_cast<T>(static_cast<U>(lower) + index * static_cast<U>(increment)); }
  LoopRange part(U first, U count) const { return {value(first), value(first + count - 1), increment}; }
  /// No iteration, near the end of the range: the next value behind it, unless the type ends there.
  LoopRange nothing() const {
    const U step = static_cast<U>(increment);
    const LoopRange behind{static_cast<T>(static_cast<U>(upper) + step), upper, increment};
    return behind.empty() ? behind : LoopRange{upper, static_cast<T>(static_cast<U>(upper) - step), increment};
  }
};

template <class T>
struct StaticPart {
  LoopRange<T> range;               // the thread's first chunk
  typename LoopRange<T>::S stride;  // from each of its chunks to the next
  bool last = false;                // the last iteration of the loop is among the thread's
};

/// schedule(static): a block for each thread, the first ones an iteration longer.
template <class T>
StaticPart<T> static_block_of(const LoopRange<T>& loop, LoopShare share) {
  using U = typename LoopRange<T>::U;
  const U trips = loop.trips();
  const U size = static_cast<U>(share.size), number = static_cast<U>(share.number);
  const EvenDeal<U> dealt(trips, size);
  const U first = dealt.first_of(number), count = dealt.count_of(number);
  StaticPart<T> part{loop.nothing(), static_cast<typename LoopRange<T>::S>(trips)};
  if (count == 0) return part;
  part.range = loop.part(first, count);
  part.last = first + count == trips;
  return part;
}

/// static_block_of() for code that goes from chunk to chunk: behind the block it finds the loop's end.
template <class T>
StaticPart<T> static_block_as_chunk(const LoopRange<T>& loop, LoopShare share) {
  using U = typename LoopRange<T>::U;
  StaticPart<T> part = static_block_of(loop, share);
  const U end = static_cast<U>(loop.value(loop.trips()));
  if (!part.range.empty()) part.stride = static_cast<typename LoopRange<T>::S>(end - static_cast<U>(part.range.lower));
  return part;
}

/// schedule(static, chunk): chunks dealt round robin. The compiler's code goes from the first one to the others, and
/// one round behind its last one finds that it is through. Where there are no values left so far behind the loop's end,
/// each thread has a block. (Bug: the last chunk was lost, or others came that are none.) Not where chunks are single
/// iterations, for code of `distribute parallel for` goes by the stride alone then: there are fewer threads.
template <class T>
StaticPart<T> static_chunk_of(const LoopRange<T>& loop, LoopShare share, typename LoopRange<T>::S chunk) {
  using U = typename LoopRange<T>::U;
  const U count = chunk < 1 ? 1 : static_cast<U>(chunk);
  const U number = static_cast<U>(share.number);
  const U trips = loop.trips();
  U size = static_cast<U>(share.size), round, behind;
  const bool several = !__builtin_mul_overflow(count, size, &round) && round < trips;
  StaticPart<T> part{loop.nothing(), static_cast<typename LoopRange<T>::S>(trips)};
  if (several && (__builtin_add_overflow((trips - 1) / count * count, round, &behind) || behind > loop.room())) {
    if (count != 1) return static_block_as_chunk(loop, share);
    round = size = loop.room() >= trips ? loop.room() - (trips - 1) : 1;
    if (number >= size) return part;
  }
  U first;
  if (__builtin_mul_overflow(count, number, &first) || first >= trips) return part;
  part.range = loop.part(first, count < trips - first ? count : trips - first);
  if (!several || round >= trips - first) round = trips - first;  // straight to the loop's end
  part.stride = static_cast<typename LoopRange<T>::S>(round * static_cast<U>(loop.increment));
  part.last = number == ((trips - 1) / count) % size;
  return part;
}

}  // namespace weft::openmp
