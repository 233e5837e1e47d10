// OMP_DISPLAY_AFFINITY (OpenMP 5.2, section 21.2.4): which regions tell where their members are.
//
// What counts as a change differs between the runtimes that programs know. For gcc's, libgomp's rule: an outermost
// region of another size or in other places than the one before, and each inner region of more than one
// thread. For LLVM's, libomp's rule: a region, of any size, with a thread whose level, team size or place is another
// than at the last region that it was in and that was told of.
#pragma once

#include "faces/openmp/dialect.h"

namespace weft::openmp {

struct Member;
struct Team;

/// What was last told of a thread, and the threads of the regions that it opens: they are the same each time.
struct DisplayedThread;

/// Which runtime the program's code knows that opens the next region of the calling thread; gcc's where nothing says
/// it. To be called only where regions are attended to (placement.h).
void note_opener(Dialect dialect);

/// A team's master is set. OMP_DISPLAY_AFFINITY is true.
void attend_displayed_region(Team& team);
void attend_displayed_initial_team(Team& team);

/// Of a thread of the program that has ended.
void free_displayed(DisplayedThread* thread);

/// In a forked child.
void reset_affinity_display();

}  // namespace weft::openmp
