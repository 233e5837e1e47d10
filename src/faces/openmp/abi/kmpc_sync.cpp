// LLVM's entry points for barrier, single, copyprivate, master, masked, critical, reduction, ordered and flush.
#include <atomic>

#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/kmpc.h"
#include "faces/openmp/loop.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/ompt/mutexes.h"
#include "faces/openmp/ompt/sync.h"
#include "faces/openmp/ompt/work.h"
#include "faces/openmp/reduction.h"
#include "faces/openmp/single.h"
#include "faces/openmp/team.h"
#include "faces/openmp/team_barrier.h"

namespace weft::openmp {
namespace {

// What the compiler says of a barrier.
ompt::SyncKind kind_of_barrier(const Ident* place) {
  constexpr std::int32_t is_explicit = 0x20, is_implicit = 0x40;
  const std::int32_t flags = place != nullptr ? place->flags : 0;
  if ((flags & is_implicit) != 0) return ompt::SyncKind::barrier_implicit_workshare;
  return (flags & is_explicit) != 0 ? ompt::SyncKind::barrier_explicit : ompt::SyncKind::barrier_implementation;
}

// Nobody else has a part: of a teams construct's reduction, the other teams' initial threads have.
bool is_alone(const Member& member) {
  const Team& team = *member.team;
  return team.size == 1 && (team.level != 0 || team.league_size == 1);
}

// The answers to a compiler that asks how the members put their parts of a reduction together. It may have made code
// with atomic operations too, for an answer that is never given: docs/design/reductions.md says why.
enum : std::int32_t { added_by_other = 0, add_alone = 1 };

// The initial threads of a league have no team in common.
[[gnu::noinline, gnu::cold]] std::int32_t begin_in_league(const Member& member, CriticalName& name) {
  if (!is_alone(member)) name.lock();
  return add_alone;
}
[[gnu::noinline, gnu::cold]] void end_in_league(const Member& member, CriticalName& name) {
  if (!is_alone(member)) name.unlock();
}

inline std::int32_t begin_reduction(Member& member, const ReductionPart& part, CriticalName& name) {
  if (member.team->size == 1) [[unlikely]]
    return begin_in_league(member, name);
  return begin_reduction(member, part) ? add_alone : added_by_other;
}

inline void end_reduction(Member& member, CriticalName& name) {
  if (member.team->size == 1) [[unlikely]]
    return end_in_league(member, name);
  end_reduction(member);
}

// One after the other, whatever the compiler has made: where atomic operations end, it tells nobody.
[[gnu::noinline, gnu::cold]] std::int32_t begin_watched_reduction(ompt::Caller caller, CriticalName& name) {
  if (!is_alone(this_member())) name.lock();
  ompt::reduction_changes(caller, ompt::Endpoint::begin);
  return 1;
}

[[gnu::noinline, gnu::cold]] void end_watched_reduction(ompt::Caller caller, CriticalName& name) {
  ompt::reduction_changes(caller, ompt::Endpoint::end);
  if (!is_alone(this_member())) name.unlock();
}

std::int32_t is_member(std::int32_t number) {
  return static_cast<std::int32_t>(this_member().number) == number ? 1 : 0;
}

// master and masked.
inline std::int32_t enters_masked(ompt::Caller caller, std::int32_t number) {
  const std::int32_t executes = is_member(number);
  if (ompt::watched && executes != 0) [[unlikely]]
    ompt::masked_changes(caller, ompt::Endpoint::begin);
  return executes;
}

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

WEFT_EXPORT void __kmpc_barrier(Ident* place, Gtid) {
  if (settings.cancellation) [[unlikely]]  // whoever left a loop for that comes here from the midst of it
    if (Member& member = this_member(); member.loop.shared != nullptr) leave_loop(member);
  if (ompt::watched) [[unlikely]]
    return ompt::synchronise(WEFT_CALLER, kind_of_barrier(place), team_barrier);
  team_barrier(this_member());
}

// A barrier that one member leaves first, to do something before the others go on.
WEFT_EXPORT std::int32_t __kmpc_barrier_master(Ident*, Gtid) {
  Member& member = this_member();
  team_barrier(member);
  if (member.number == 0) return 1;
  team_barrier(member);
  return 0;
}
WEFT_EXPORT void __kmpc_end_barrier_master(Ident*, Gtid) { team_barrier(this_member()); }
WEFT_EXPORT std::int32_t __kmpc_barrier_master_nowait(Ident*, Gtid) {
  Member& member = this_member();
  team_barrier(member);
  return member.number == 0 ? 1 : 0;
}

WEFT_EXPORT void __kmpc_flush(Ident*) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (ompt::watched) [[unlikely]]
    ompt::tell_flush(WEFT_CALLER);
}

WEFT_EXPORT std::int32_t __kmpc_single(Ident*, Gtid) {
  if (ompt::watched) [[unlikely]]
    return ompt::watched_single(WEFT_CALLER, true) ? 1 : 0;
  return first_at_single(this_member()) ? 1 : 0;
}
WEFT_EXPORT void __kmpc_end_single(Ident*, Gtid) {
  if (ompt::watched) [[unlikely]]
    ompt::single_ends(WEFT_CALLER);
}

WEFT_EXPORT void __kmpc_copyprivate(Ident*, Gtid, std::size_t, void* data, void (*copy)(void* to, void* from),
                                    std::int32_t executed) {
  const auto exchange = [=](Member& member) {
    if (executed != 0) {
      hand_copies_over(member, data);
    } else {
      copy(data, wait_for_copies(member));
    }
  };
  if (ompt::watched) [[unlikely]] {
    ompt::synchronise(WEFT_CALLER, ompt::SyncKind::barrier_implicit_workshare, exchange);
    return ompt::synchronise(WEFT_CALLER, ompt::SyncKind::barrier_implicit_workshare, team_barrier);
  }
  Member& member = this_member();
  exchange(member);
  team_barrier(member);
}

// As above, but the compiler copies, and adds the barrier.
WEFT_EXPORT void* __kmpc_copyprivate_light(Ident*, Gtid, void* data) {
  const auto exchange = [data](Member& member) -> void* {
    if (data == nullptr) return wait_for_copies(member);
    hand_copies_over(member, data);
    return data;
  };
  if (ompt::watched) [[unlikely]]
    return ompt::synchronise(WEFT_CALLER, ompt::SyncKind::barrier_implicit_workshare, exchange);
  return exchange(this_member());
}

WEFT_EXPORT std::int32_t __kmpc_master(Ident*, Gtid) { return enters_masked(WEFT_CALLER, 0); }
WEFT_EXPORT void __kmpc_end_master(Ident*, Gtid) {
  if (ompt::watched) [[unlikely]]
    ompt::masked_changes(WEFT_CALLER, ompt::Endpoint::end);
}
WEFT_EXPORT std::int32_t __kmpc_masked(Ident*, Gtid, std::int32_t filter) { return enters_masked(WEFT_CALLER, filter); }
WEFT_EXPORT void __kmpc_end_masked(Ident*, Gtid) {
  if (ompt::watched) [[unlikely]]
    ompt::masked_changes(WEFT_CALLER, ompt::Endpoint::end);
}

// Only tools look at the begin and the end of a scope region.
WEFT_EXPORT void __kmpc_scope(Ident*, Gtid, void*) {
  if (ompt::watched) ompt::scope_changes(WEFT_CALLER, ompt::Endpoint::begin);
}
WEFT_EXPORT void __kmpc_end_scope(Ident*, Gtid, void*) {
  if (ompt::watched) ompt::scope_changes(WEFT_CALLER, ompt::Endpoint::end);
}

WEFT_EXPORT void __kmpc_critical(Ident*, Gtid, CriticalName* name) {
  if (ompt::watched) [[unlikely]]
    return ompt::acquire(WEFT_CALLER, ompt::MutexKind::critical, name, 0, [name] { name->lock(); });
  name->lock();
}
// A hint never changes what a critical construct means.
WEFT_EXPORT void __kmpc_critical_with_hint(Ident*, Gtid, CriticalName* name, std::uint32_t hint) {
  if (ompt::watched) [[unlikely]]
    return ompt::acquire(WEFT_CALLER, ompt::MutexKind::critical, name, hint, [name] { name->lock(); });
  name->lock();
}
WEFT_EXPORT void __kmpc_end_critical(Ident*, Gtid, CriticalName* name) {
  if (ompt::watched) [[unlikely]]
    return ompt::release(WEFT_CALLER, ompt::MutexKind::critical, name, [name] { name->unlock(); });
  name->unlock();
}

WEFT_EXPORT void __kmpc_ordered(Ident*, Gtid) {
  Member& member = this_member();
  if (ompt::watched) [[unlikely]]
    return ompt::begin_ordered(WEFT_CALLER, member);
  begin_ordered(member);
}
// The turn is passed with the chunk.
WEFT_EXPORT void __kmpc_end_ordered(Ident*, Gtid) {
  if (ompt::watched) [[unlikely]]
    ompt::end_ordered(WEFT_CALLER, this_member());
}

WEFT_EXPORT std::int32_t __kmpc_reduce_nowait(Ident*, Gtid, std::int32_t, std::size_t, void* data,
                                              void (*combine)(void*, void*), CriticalName* name) {
  if (ompt::watched) [[unlikely]]
    return begin_watched_reduction(WEFT_CALLER, *name);
  return begin_reduction(this_member(), {data, combine}, *name);
}
WEFT_EXPORT void __kmpc_end_reduce_nowait(Ident*, Gtid, CriticalName* name) {
  if (ompt::watched) [[unlikely]]
    return end_watched_reduction(WEFT_CALLER, *name);
  end_reduction(this_member(), *name);
}
WEFT_EXPORT std::int32_t __kmpc_reduce(Ident*, Gtid, std::int32_t, std::size_t, void* data,
                                       void (*combine)(void*, void*), CriticalName* name) {
  if (ompt::watched) [[unlikely]]
    return begin_watched_reduction(WEFT_CALLER, *name);
  Member& member = this_member();
  const std::int32_t answer = begin_reduction(member, {data, combine}, *name);
  if (answer == added_by_other) team_barrier(member);
  return answer;
}
WEFT_EXPORT void __kmpc_end_reduce(Ident*, Gtid, CriticalName* name) {
  if (ompt::watched) [[unlikely]] {
    end_watched_reduction(WEFT_CALLER, *name);
    return ompt::synchronise(WEFT_CALLER, ompt::SyncKind::barrier_implicit_workshare, team_barrier);
  }
  Member& member = this_member();
  end_reduction(member, *name);
  team_barrier(member);
}
