// Entry points that came with GCC 14 to 17. Of objects for interoperability and of indirect calls on devices, the host
// knows what libgomp knows without an offloading device: nothing.
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/gomp_depend.h"
#include "faces/openmp/allocated_by_us.h"
#include "faces/openmp/atomic_lock.h"
#include "faces/openmp/cancel.h"
#include "faces/openmp/ompt/sync.h"
#include "faces/openmp/ompt/work.h"
#include "faces/openmp/single.h"
#include "faces/openmp/team.h"
#include "faces/openmp/team_barrier.h"

namespace weft::openmp {
namespace {

/// A pair of numbers in one register, as the compiler takes it.
using Pair = _Complex int;
Pair pair_of(int count, int number) {
  Pair pair;
  __real__ pair = count;
  __imag__ pair = number;
  return pair;
}

Pair thread_and_team_size() {
  const Member& member = this_member();
  return pair_of(static_cast<int>(team_size(member)), static_cast<int>(member.number));
}

/// What the barrier belongs to, as the compiler numbers it.
ompt::SyncKind kind_of_barrier(int kind) {
  constexpr ompt::SyncKind kinds[] = {ompt::SyncKind::barrier_implicit_parallel,
                                      ompt::SyncKind::barrier_implicit_workshare, ompt::SyncKind::barrier_explicit};
  return kind >= 0 && kind < 3 ? kinds[kind] : ompt::SyncKind::barrier_implementation;
}

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

WEFT_EXPORT void GOMP_add_alloc(const void* block) { note_allocated(block); }
WEFT_EXPORT bool GOMP_is_alloc(const void* block) { return take_allocated_note(block); }

WEFT_EXPORT void* GOMP_target_map_indirect_ptr(void* pointer) { return pointer; }

/// The interop construct. Objects that are made, and those that are destroyed, are omp_interop_none afterwards.
WEFT_EXPORT void GOMP_interop(int, int made, void*** to_make, const void*, const void*, int, void**, int destroyed,
                              void*** to_destroy, unsigned, void** depend) {
  if (depend != nullptr) ompt::from_program(WEFT_CALLER, [&] { wait_for_dependences(this_member(), list_of(depend)); });
  for (int index = 0; index < made; ++index) *to_make[index] = nullptr;
  for (int index = 0; index < destroyed; ++index) *to_destroy[index] = nullptr;
}

// Of the next four, those with an end are called where the program is compiled for tools.

WEFT_EXPORT Pair GOMP_loop_static_worksharing() { return thread_and_team_size(); }
WEFT_EXPORT Pair GOMP_loop_static_worksharing_start() { return thread_and_team_size(); }
WEFT_EXPORT void GOMP_loop_static_worksharing_dispatch() {}
WEFT_EXPORT void GOMP_loop_static_worksharing_end() {}

WEFT_EXPORT Pair GOMP_distribute_static_worksharing() { return pair_of(league_size(), league_number()); }
WEFT_EXPORT Pair GOMP_distribute_static_worksharing_start() { return pair_of(league_size(), league_number()); }
WEFT_EXPORT void GOMP_distribute_static_worksharing_dispatch() {}
WEFT_EXPORT void GOMP_distribute_static_worksharing_end() {}

WEFT_EXPORT bool GOMP_has_masked_thread_num(int number) {
  const bool executes = static_cast<int>(this_member().number) == number;
  if (ompt::watched && executes) [[unlikely]]
    ompt::masked_changes(WEFT_CALLER, ompt::Endpoint::begin);
  return executes;
}
WEFT_EXPORT void GOMP_masked_end() {
  if (ompt::watched) [[unlikely]]
    ompt::masked_changes(WEFT_CALLER, ompt::Endpoint::end);
}

WEFT_EXPORT bool GOMP_single_start_with_end() {
  if (ompt::watched) [[unlikely]]
    return ompt::watched_single(WEFT_CALLER, true);
  return first_at_single(this_member());
}
WEFT_EXPORT void GOMP_single_end() {
  if (ompt::watched) [[unlikely]]
    ompt::single_ends(WEFT_CALLER);
}

/// Around what a member adds to a reduction's result, where GOMP_atomic_start was before.
WEFT_EXPORT void GOMP_reduction_start() {
  atomic_lock.lock();
  if (ompt::watched) [[unlikely]]
    ompt::reduction_changes(WEFT_CALLER, ompt::Endpoint::begin);
}
WEFT_EXPORT void GOMP_reduction_end() {
  if (ompt::watched) [[unlikely]]
    ompt::reduction_changes(WEFT_CALLER, ompt::Endpoint::end);
  atomic_lock.unlock();
}

WEFT_EXPORT void GOMP_barrier_ext(int kind) {
  if (ompt::watched) [[unlikely]]
    return ompt::synchronise(WEFT_CALLER, kind_of_barrier(kind), team_barrier);
  team_barrier(this_member());
}
WEFT_EXPORT bool GOMP_barrier_cancel_ext(int kind) {
  if (ompt::watched) [[unlikely]]
    return ompt::synchronise(WEFT_CALLER, kind_of_barrier(kind), cancellable_barrier);
  return cancellable_barrier(this_member());
}
