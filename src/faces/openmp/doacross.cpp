#include "faces/openmp/doacross.h"

#include <cstdlib>

#include "base/panic.h"
#include "faces/openmp/team.h"
#include "faces/openmp/workshare.h"

namespace weft::openmp {
namespace {

constexpr unsigned bits = 64;

struct Awaited {
  const Team* team;
  const Workshare* shared;
  std::uint64_t row, column;
};

std::atomic<std::uint64_t>& word_of(const Workshare& shared, std::uint64_t row) {
  return shared.posted[shared.columns == 1 ? row / bits : row];
}

bool not_posted(const void* argument) {
  const auto& awaited = *static_cast<const Awaited*>(argument);
  const std::uint64_t word = word_of(*awaited.shared, awaited.row).load(std::memory_order_seq_cst);
  const bool posted = awaited.shared->columns == 1 ? (word >> (awaited.row % bits) & 1U) != 0 : word > awaited.column;
  return !posted && !awaited.team->cancelled.load(std::memory_order_seq_cst);
}

}  // namespace

void prepare_doacross(Workshare& shared, const Iterations& iterations, unsigned members) {
  // Bug: a lone member, whose iterations come in their order, noted all of them, in memory for all of them.
  const std::uint64_t rows = members != 1 ? iterations.rows : 0;
  std::uint64_t columns = 1;
  for (unsigned dimension = 0; dimension < iterations.dimensions; ++dimension) columns *= iterations.extents[dimension];
  shared.rows = rows;
  shared.columns = columns;
  shared.dimensions = iterations.dimensions;
  const std::uint64_t words = columns == 1 ? rows / bits + 1 : rows;
  void* memory = std::calloc(words + iterations.dimensions + 1, sizeof(std::uint64_t));
  if (memory == nullptr)
    base::panic("no memory for an ordered loop of %llu iterations", static_cast<unsigned long long>(rows));
  shared.posted = static_cast<std::atomic<std::uint64_t>*>(memory);
  std::uint64_t* extents = static_cast<std::uint64_t*>(memory) + words;
  for (unsigned dimension = 0; dimension < iterations.dimensions; ++dimension)
    extents[dimension] = iterations.extents[dimension];
  shared.extents = extents;
}

void post_iteration(Workshare& shared, std::uint64_t row, std::uint64_t column) {
  if (row >= shared.rows) return;  // a lone member's loop has none, nor has a cancelled region's empty one
  if (shared.columns == 1)
    word_of(shared, row).fetch_or(std::uint64_t{1} << (row % bits), std::memory_order_seq_cst);
  else
    word_of(shared, row).store(column + 1, std::memory_order_seq_cst);
  wake_inside(shared, row);
}

void wait_for_iteration(const Member& member, Workshare& shared, std::uint64_t row, std::uint64_t column) {
  if (row >= shared.rows) return;  // alone, a member has done all that comes before
  const Awaited awaited{member.team, &shared, row, column};
  if (not_posted(&awaited)) wait_inside(member, shared, row, not_posted, &awaited);
}

}  // namespace weft::openmp
