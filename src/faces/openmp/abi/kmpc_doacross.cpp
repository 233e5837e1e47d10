// LLVM's entry points for loops with ordered(n) and depend. The compiler shares the loop out by itself or by the loop
// routines, and names iterations by the values of the loop variables: they are numbered here.
//
// clang counts the iterations of each loop from 0, and gives their number for the last one, as if there were one more.
// Such a one is waited for in a program whose sink lies beside the loops' end, which then is no iteration. (Bug: it was
// taken for one, so that the program waited for ever, as it does on libomp.) That it is meant so shows when the loop is
// shared out: the numbers of iterations, multiplied, are as many as are shared out of the loops that are collapsed.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/panic.h"
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/kmpc.h"
#include "faces/openmp/doacross.h"
#include "faces/openmp/ompt/work.h"
#include "faces/openmp/team.h"

namespace weft::openmp {
namespace {

/// kmp_dim: one of the loops, with inclusive bounds.
struct Dimension {
  std::int64_t lower, upper, step;

  std::uint64_t trips() const {
    const auto low = static_cast<std::uint64_t>(lower), high = static_cast<std::uint64_t>(upper);
    const auto stride = static_cast<std::uint64_t>(step);
    if (step > 0) return lower > upper ? 0 : (high - low) / stride + 1;
    return lower < upper ? 0 : (low - high) / (0 - stride) + 1;
  }
  /// Whether there is an iteration with that value, and its number.
  bool number(std::int64_t value, std::uint64_t* result) const {
    if (step > 0 ? value < lower || value > upper : value > lower || value < upper) return false;
    const auto low = static_cast<std::uint64_t>(lower), at = static_cast<std::uint64_t>(value);
    const auto stride = static_cast<std::uint64_t>(step);
    *result = step > 0 ? (at - low) / stride : (low - at) / (0 - stride);
    return true;
  }
};

/// In the construct's memory.
struct Dimensions {
  std::size_t count;
  std::atomic<bool> upper_excluded{false};  // of all of them; each member says so to itself
  Dimension* list() { return reinterpret_cast<Dimension*>(this + 1); }
};

Dimensions* copy_dimensions(std::size_t count, const Dimension* list) {
  void* memory = std::malloc(sizeof(Dimensions) + count * sizeof(Dimension));
  if (memory == nullptr) base::panic("no memory for an ordered loop");
  auto copy = new (memory) Dimensions{count};
  std::memcpy(copy->list(), list, count * sizeof(Dimension));
  return copy;
}

// False: the loop has no such iteration.
bool number_of(const Workshare& shared, const std::int64_t* values, std::uint64_t* number) {
  auto dimensions = static_cast<Dimensions*>(shared.memory);
  if (dimensions == nullptr) return false;  // the empty construct of a cancelled region
  const bool upper_excluded = dimensions->upper_excluded.load(std::memory_order_relaxed);
  *number = 0;
  for (std::size_t index = 0; index < dimensions->count; ++index) {
    const Dimension& dimension = dimensions->list()[index];
    std::uint64_t place = 0;
    if (!dimension.number(values[index], &place) || (upper_excluded && values[index] == dimension.upper)) return false;
    *number = *number * dimension.trips() + place;
  }
  return true;
}

// Whether the bounds with the upper ones excluded make so many iterations, of some of the loops from the outermost on.
// Where the upper ones included do as well, it is clang's code all the same.
bool excludes_upper(Dimensions& dimensions, std::uint64_t trips) {
  bool excludes = false;
  std::uint64_t excluded = 1;
  for (std::size_t index = 0; index < dimensions.count; ++index) {
    const Dimension& dimension = dimensions.list()[index];
    if (dimension.lower != 0 || dimension.step != 1) return false;
    excluded *= static_cast<std::uint64_t>(dimension.upper);
    if (excluded == trips) excludes = true;
  }
  return excludes;
}

[[gnu::noinline, gnu::cold]] void tell_place(const Member& member, ompt::DependenceKind kind,
                                             const std::int64_t* values) {
  const auto dimensions =
      member.doacross != nullptr ? static_cast<const Dimensions*>(member.doacross->memory) : nullptr;
  if (dimensions != nullptr)
    ompt::tell_doacross(kind, reinterpret_cast<const std::uint64_t*>(values), static_cast<unsigned>(dimensions->count));
}

}  // namespace

void tell_trips_of_doacross(const Member& member, std::uint64_t trips) {
  auto dimensions = static_cast<Dimensions*>(member.doacross->memory);
  if (dimensions != nullptr && excludes_upper(*dimensions, trips))
    dimensions->upper_excluded.store(true, std::memory_order_relaxed);
}

}  // namespace weft::openmp

using namespace weft::openmp;

WEFT_EXPORT void __kmpc_doacross_init(Ident*, Gtid, std::int32_t count, const Dimension* list) {
  Member& member = this_member();
  if (member.team->size == 1) return;  // the iterations come in their order
  bool first = false;
  Workshare& shared = enter_construct(member, &first);
  if (first) {
    std::uint64_t rows = 1;
    for (std::int32_t index = 0; index < count; ++index) rows *= list[index].trips();
    prepare_doacross(shared, {rows}, member.team->size);
    shared.memory = copy_dimensions(static_cast<std::size_t>(count), list);
    publish_construct(shared);
  }
  member.doacross = &shared;
}

WEFT_EXPORT void __kmpc_doacross_post(Ident*, Gtid, const std::int64_t* values) {
  Member& member = this_member();
  std::uint64_t number = 0;
  if (member.doacross == nullptr || !number_of(*member.doacross, values, &number)) return;
  post_iteration(*member.doacross, number, 0);
  if (ompt::watched) [[unlikely]]
    tell_place(member, ompt::DependenceKind::source, values);
}

WEFT_EXPORT void __kmpc_doacross_wait(Ident*, Gtid, const std::int64_t* values) {
  Member& member = this_member();
  std::uint64_t number = 0;
  if (member.doacross == nullptr || !number_of(*member.doacross, values, &number)) return;
  wait_for_iteration(member, *member.doacross, number, 0);
  if (ompt::watched) [[unlikely]]
    tell_place(member, ompt::DependenceKind::sink, values);
}

WEFT_EXPORT void __kmpc_doacross_fini(Ident*, Gtid) {
  Member& member = this_member();
  if (member.doacross == nullptr) return;
  leave_construct(member, *member.doacross);
  member.doacross = nullptr;
}
