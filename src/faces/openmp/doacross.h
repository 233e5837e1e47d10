// Doacross loops (OpenMP 5.2, 15.10): iterations that wait for others of the same loop.
//
// What has been posted is kept by row: a row is what one member works on in ascending order, and its columns are the
// iterations that it consists of. With one column a row is a bit; else a word, the number of columns posted so far,
// since to wait for one means to wait for all of the row before it. GCC's loops have the iterations that are shared out
// as rows, and the inner ones that `ordered(n)` names as columns; where the order within is not known, each iteration
// is a row.
//
// A member that waits looks for a moment and then suspends its unit, so that those it waits for run however few workers
// there are. It parks on one of the addresses within the Workshare, chosen by the row, after it has been counted in
// `turn_waiters`; who posts looks at that count after the post (both seq_cst, so one of the two sees the other).
#pragma once

#include <cstdint>

#include "faces/openmp/member.h"
#include "faces/openmp/workshare.h"

namespace weft::openmp {

struct Iterations {
  std::uint64_t rows;
  const std::uint64_t* extents = nullptr;  // of the loops inside, outermost first
  unsigned dimensions = 0;                 // how many those are
};

/// For the member that prepares the construct (loop.cpp): memory for the iterations, none of them posted.
void prepare_doacross(Workshare& shared, const Iterations& iterations, unsigned members);

/// The column of an iteration by its place in each loop inside: index(d) with d from 0, outermost first.
template <class Index>
std::uint64_t column_of(const Workshare& shared, Index index) {
  std::uint64_t column = 0;
  for (unsigned dimension = 0; dimension < shared.dimensions; ++dimension)
    column = column * shared.extents[dimension] + index(dimension);
  return column;
}

/// ordered depend(source): the iteration is through. Nothing is noted where the loop has no such row.
void post_iteration(Workshare& shared, std::uint64_t row, std::uint64_t column);

/// ordered depend(sink): waits until it is. Returns at once if the loop has no such row, or its region is cancelled.
void wait_for_iteration(const Member& member, Workshare& shared, std::uint64_t row, std::uint64_t column);

}  // namespace weft::openmp
