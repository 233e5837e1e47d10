// The single construct (OpenMP 5.2, 11.1), and copyprivate.
#pragma once

namespace weft::openmp {

struct Member;
struct Team;

/// The member comes to a single region. True: it executes it.
bool first_at_single(Member& member);

/// copyprivate: the member that executes the region calls the one with what the others shall copy, they call the
/// other and get it. A barrier must follow before any of them does the next of these.
void hand_copies_over(Member& member, void* data);
void* wait_for_copies(Member& member);

/// Sets Team::cancelled, and prepares before what settle_copies() needs.
void mark_cancelled(Team& team);
/// At a barrier in a cancelled region.
void settle_copies(Member& member);

}  // namespace weft::openmp
