// All values are kept in 64 bits, as their type holds them: cut to its width, then widened by its sign. So sums and
// products wrap around as they would in that type, and only comparisons need to know the sign.
//
// A nest is counted exactly, by going through those loops whose variable an inner bound depends on; the others
// multiply. Each thread does it by itself and comes to the same parts, which differ by one iteration at most.
// Rejected: to share out the smallest box around the nest, which takes no walk, but leaves the threads at the
// corners without work.
#include "faces/openmp/collapsed_loops.h"

#include "faces/openmp/even_deal.h"

namespace weft::openmp {
namespace {

template <class T>
std::uint64_t as(std::uint64_t bits) {
  return static_cast<std::uint64_t>(static_cast<T>(bits));
}

std::uint64_t as(LoopType type, std::uint64_t bits) {
  switch (type) {
    case LoopType::u8:
      return as<std::uint8_t>(bits);
    case LoopType::i8:
      return as<std::int8_t>(bits);
    case LoopType::u16:
      return as<std::uint16_t>(bits);
    case LoopType::i16:
      return as<std::int16_t>(bits);
    case LoopType::u32:
      return as<std::uint32_t>(bits);
    case LoopType::i32:
      return as<std::int32_t>(bits);
    default:
      return bits;
  }
}

bool less(LoopType type, std::uint64_t left, std::uint64_t right) {
  if (type == LoopType::i64 || type == LoopType::i32)
    return static_cast<std::int64_t>(left) < static_cast<std::int64_t>(right);
  return left < right;
}

// Signed, whatever the bounds are.
std::int64_t step_of(const LoopLevel& level) {
  const bool is_narrow = level.type == LoopType::u32 || level.type == LoopType::i32;
  return is_narrow ? static_cast<std::int32_t>(level.step) : level.step;
}

std::uint64_t bound(const LoopLevel& level, std::uint64_t plain, std::uint64_t factor, const std::uint64_t* variables) {
  return as(level.type, factor != 0 ? plain + factor * variables[level.outer] : plain);
}
std::uint64_t lower_bound(const LoopLevel& level, const std::uint64_t* variables) {
  return bound(level, level.lower, level.lower_factor, variables);
}

bool goes_up(const LoopLevel& level) {
  if (level.comparison == LoopComparison::not_equal) return step_of(level) > 0;
  return level.comparison == LoopComparison::at_most || level.comparison == LoopComparison::less;
}

bool includes_upper(const LoopLevel& level) {
  return level.comparison == LoopComparison::at_most || level.comparison == LoopComparison::at_least;
}

// Bug: what came before an upper bound of 0 that is not included was the largest number there is, if it has no sign.
std::uint64_t trips(const LoopLevel& level, const std::uint64_t* variables) {
  const std::uint64_t lower = lower_bound(level, variables);
  const std::uint64_t upper = bound(level, level.upper, level.upper_factor, variables);
  const bool up = goes_up(level), included = includes_upper(level);
  const std::uint64_t first = up ? lower : upper;
  const std::uint64_t last = up ? upper : lower;
  if (less(level.type, last, first) || (first == last && !included)) return 0;
  const std::uint64_t distance = last - first - (included ? 0 : 1);
  const std::int64_t step = step_of(level);
  const std::uint64_t stride = step < 0 ? 0 - static_cast<std::uint64_t>(step) : static_cast<std::uint64_t>(step);
  return stride != 0 ? distance / stride + 1 : 1;
}

std::uint64_t variable_at(const LoopLevel& level, const std::uint64_t* variables, std::uint64_t trip) {
  return as(level.variable_type, lower_bound(level, variables) + trip * static_cast<std::uint64_t>(step_of(level)));
}

struct Nest {
  const LoopLevel* levels;
  unsigned count;

  bool shapes_inner_ones(unsigned level) const {
    for (unsigned inner = level + 1; inner < count; ++inner) {
      const LoopLevel& other = levels[inner];
      if (other.outer == static_cast<std::int32_t>(level) && (other.lower_factor != 0 || other.upper_factor != 0))
        return true;
    }
    return false;
  }

  // Iterations of the loops from `level` on, for these values of the variables outside; changes those inside.
  std::uint64_t iterations(unsigned level, std::uint64_t* variables) const {
    const std::uint64_t own = trips(levels[level], variables);
    if (own == 0 || level + 1 == count) return own;
    if (!shapes_inner_ones(level)) {
      variables[level] = variable_at(levels[level], variables, 0);
      return own * iterations(level + 1, variables);
    }
    std::uint64_t sum = 0;
    for (std::uint64_t trip = 0; trip < own; ++trip) {
      variables[level] = variable_at(levels[level], variables, trip);
      sum += iterations(level + 1, variables);
    }
    return sum;
  }

  // The trip of the loop in which its iteration number `left` lies; `left` counts within that trip afterwards.
  std::uint64_t trip_of(unsigned level, std::uint64_t* variables, std::uint64_t& left) const {
    std::uint64_t trip = 0;
    if (level + 1 == count) {
      trip = left;
      left = 0;
    } else if (!shapes_inner_ones(level)) {
      variables[level] = variable_at(levels[level], variables, 0);
      const std::uint64_t each = iterations(level + 1, variables);
      trip = left / each;
      left %= each;
    } else {
      for (;; ++trip) {
        variables[level] = variable_at(levels[level], variables, trip);
        const std::uint64_t here = iterations(level + 1, variables);
        if (left < here) break;
        left -= here;
      }
    }
    return trip;
  }

  void find(std::uint64_t iteration, std::uint64_t* variables) const {
    for (unsigned level = 0; level < count; ++level) {
      const std::uint64_t trip = trip_of(level, variables, iteration);
      variables[level] = variable_at(levels[level], variables, trip);
    }
  }
};

}  // namespace

void make_canonical(LoopLevel* levels, unsigned count) {
  for (unsigned index = 0; index < count; ++index) {
    LoopLevel& level = levels[index];
    LoopComparison& comparison = level.comparison;
    if (comparison == LoopComparison::not_equal)
      comparison = step_of(level) > 0 ? LoopComparison::less : LoopComparison::greater;
    if (comparison == LoopComparison::less) {
      level.upper = as(level.type, level.upper - 1);
      comparison = LoopComparison::at_most;
    } else if (comparison == LoopComparison::greater) {
      level.upper = as(level.type, level.upper + 1);
      comparison = LoopComparison::at_least;
    }
  }
}

std::uint64_t count_rectangular(LoopLevel* levels, unsigned count) {
  std::uint64_t product = 1;
  for (unsigned index = 0; index < count; ++index) {
    LoopLevel& level = levels[index];
    LoopLevel alone = level;
    alone.lower_factor = alone.upper_factor = 0;
    level.trips = trips(alone, nullptr);
    product *= level.trips;
  }
  return product;
}

void find_rectangular(const LoopLevel* levels, unsigned count, std::uint64_t iteration, std::uint64_t* variables) {
  std::uint64_t trip[most_collapsed];
  for (unsigned index = count; index-- != 0;) {
    trip[index] = iteration % levels[index].trips;
    iteration /= levels[index].trips;
  }
  for (unsigned index = 0; index < count; ++index)
    variables[index] = variable_at(levels[index], variables, trip[index]);
}

void share_out(const LoopLevel* levels, unsigned count, unsigned number, unsigned size, CollapsedPart& part) {
  const Nest nest{levels, count};
  std::uint64_t variables[most_collapsed];
  const std::uint64_t all = nest.iterations(0, variables);
  const EvenDeal<std::uint64_t> dealt(all, size);
  const std::uint64_t first = dealt.first_of(number);
  const std::uint64_t own = dealt.count_of(number);
  part.first = first;
  part.count = own;
  part.all = all;
  if (own == 0) return;
  part.last = first + own == all;
  nest.find(first, part.from);
  nest.find(first + own - 1, part.to);
}

}  // namespace weft::openmp
