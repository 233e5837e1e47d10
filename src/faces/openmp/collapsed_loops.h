// Nests of collapsed loops that the compiler leaves to the runtime, since bounds of inner loops may depend on outer
// variables (OpenMP 5.2, section 4.4.1, "non-rectangular").
#pragma once

#include <cstdint>

namespace weft::openmp {

enum class LoopType : std::int32_t { u8, i8, u16, i16, u32, i32, u64, i64 };

enum class LoopComparison : std::int32_t { at_most, at_least, not_equal, less, greater };

/// One loop of a nest, as LLVM's compilers describe it: from lower + lower_factor * OUTER to upper + upper_factor *
/// OUTER, where OUTER is the variable of loop `outer`. Of 32-bit types the low halves count.
struct LoopLevel {
  LoopType type;           // of the bounds: 32 or 64 bits
  LoopType variable_type;  // of the loop's own variable
  LoopComparison comparison;
  std::int32_t outer;  // any, where both factors are 0
  std::uint64_t lower;
  std::uint64_t lower_factor;
  std::uint64_t upper;
  std::uint64_t upper_factor;
  std::int64_t step;
  std::uint64_t trips;
};

/// Makes of all comparisons one that includes the upper bound, which of a loop without iterations there may be none:
/// these are counted before.
void make_canonical(LoopLevel* levels, unsigned count);

/// Of a nest whose bounds do not depend on each other: fills in the trip counts; returns their product.
std::uint64_t count_rectangular(LoopLevel* levels, unsigned count);

/// The variables at one iteration of such a nest.
void find_rectangular(const LoopLevel* levels, unsigned count, std::uint64_t iteration, std::uint64_t* variables);

inline constexpr unsigned most_collapsed = 64;

/// What one of `size` threads has of a nest: its first and last iteration, and where they are among all.
struct CollapsedPart {
  bool last = false;  // it has the nest's last iteration
  std::uint64_t first = 0;
  std::uint64_t count = 0;  // 0: it has none
  std::uint64_t all = 0;
  std::uint64_t from[most_collapsed];
  std::uint64_t to[most_collapsed];
};
void share_out(const LoopLevel* levels, unsigned count, unsigned number, unsigned size, CollapsedPart& part);

}  // namespace weft::openmp
