// nthreads-var where it is a list that a num_threads clause gave (OpenMP 6.0, section 12.1.2): the first entry is for
// the next region, the others for those within it. Icv::nthreads holds a list as a negative number, which most regions
// never meet: what they pay is the comparison with listed_levels, as without any list.
#pragma once

#include <atomic>

namespace weft::openmp {

struct Team;
struct Member;

/// Levels up to this, exclusive, get nthreads-var from a list: OMP_NUM_THREADS's length, or all once a clause had one.
extern std::atomic<int> listed_levels;

/// The list as Icv::nthreads holds it; never given back, but the same for equal lists. 0: there is no room for more
/// lists.
int keep_nthreads_list(const int* numbers, unsigned count);

/// The entry for the next region, of a list or a plain number.
int first_of_list(int nthreads);
inline int first_of_nthreads(int nthreads) { return nthreads > 0 ? nthreads : first_of_list(nthreads); }

/// With another first entry.
int with_first(int nthreads, int first);

/// Gives the new team the nthreads-var that its opener's list, or OMP_NUM_THREADS, has for it.
void take_nthreads_list(Team& team, Member& opener);

/// In a forked child.
void reset_nthreads_lists();

}  // namespace weft::openmp
