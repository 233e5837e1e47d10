// LLVM's entry points for barrier, single, copyprivate, master, masked, critical, reduction, ordered and flush.
#include <atomic>

#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/kmpc.h"
#include "faces/openmp/loop.h"
#include "faces/openmp/single.h"
#include "faces/openmp/team.h"

namespace weft::openmp {
namespace {

bool is_atomic(const Ident* place) { return place != nullptr && (place->flags & ident_atomic_reduce) != 0; }

// Nobody else has a part: of a teams construct's reduction, the other teams' initial threads have.
bool is_alone(const Member& member) {
  const Team& team = *member.team;
  return team.size == 1 && (team.level != 0 || team.league_size == 1);
}

// How the members put their parts of a reduction together: 1, one after the other, between here and the end of the
// reduction; 2, each by atomic operations, for which the compiler has made code if it says so.
std::int32_t begin_reduction(const Member& member, const Ident* place, CriticalName& name) {
  if (is_alone(member)) return 1;
  if (is_atomic(place)) return 2;
  name.lock();
  return 1;
}

void end_reduction(const Member& member, const Ident* place, CriticalName& name) {
  if (!is_alone(member) && !is_atomic(place)) name.unlock();
}

std::int32_t is_member(std::int32_t number) {
  return static_cast<std::int32_t>(this_member().number) == number ? 1 : 0;
}

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

WEFT_EXPORT void __kmpc_barrier(Ident*, Gtid) { team_barrier(this_member()); }

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

WEFT_EXPORT void __kmpc_flush(Ident*) { std::atomic_thread_fence(std::memory_order_seq_cst); }

WEFT_EXPORT std::int32_t __kmpc_single(Ident*, Gtid) { return first_at_single(this_member()) ? 1 : 0; }
WEFT_EXPORT void __kmpc_end_single(Ident*, Gtid) {}

WEFT_EXPORT void __kmpc_copyprivate(Ident*, Gtid, std::size_t, void* data, void (*copy)(void* to, void* from),
                                    std::int32_t executed) {
  Member& member = this_member();
  if (executed != 0) {
    hand_copies_over(member, data);
  } else {
    copy(data, wait_for_copies(member));
  }
  team_barrier(member);
}

// As above, but the compiler copies, and adds the barrier.
WEFT_EXPORT void* __kmpc_copyprivate_light(Ident*, Gtid, void* data) {
  Member& member = this_member();
  if (data == nullptr) return wait_for_copies(member);
  hand_copies_over(member, data);
  return data;
}

WEFT_EXPORT std::int32_t __kmpc_master(Ident*, Gtid) { return is_member(0); }
WEFT_EXPORT void __kmpc_end_master(Ident*, Gtid) {}
WEFT_EXPORT std::int32_t __kmpc_masked(Ident*, Gtid, std::int32_t filter) { return is_member(filter); }
WEFT_EXPORT void __kmpc_end_masked(Ident*, Gtid) {}

// Only tools look at the begin and the end of a scope region.
WEFT_EXPORT void __kmpc_scope(Ident*, Gtid, void*) {}
WEFT_EXPORT void __kmpc_end_scope(Ident*, Gtid, void*) {}

WEFT_EXPORT void __kmpc_critical(Ident*, Gtid, CriticalName* name) { name->lock(); }
// A hint never changes what a critical construct means.
WEFT_EXPORT void __kmpc_critical_with_hint(Ident*, Gtid, CriticalName* name, std::uint32_t) { name->lock(); }
WEFT_EXPORT void __kmpc_end_critical(Ident*, Gtid, CriticalName* name) { name->unlock(); }

WEFT_EXPORT void __kmpc_ordered(Ident*, Gtid) { begin_ordered(this_member()); }
WEFT_EXPORT void __kmpc_end_ordered(Ident*, Gtid) {}  // the turn is passed with the chunk

WEFT_EXPORT std::int32_t __kmpc_reduce_nowait(Ident* place, Gtid, std::int32_t, std::size_t, void*,
                                              void (*)(void*, void*), CriticalName* name) {
  return begin_reduction(this_member(), place, *name);
}
WEFT_EXPORT void __kmpc_end_reduce_nowait(Ident* place, Gtid, CriticalName* name) {
  end_reduction(this_member(), place, *name);
}
WEFT_EXPORT std::int32_t __kmpc_reduce(Ident* place, Gtid, std::int32_t, std::size_t, void*, void (*)(void*, void*),
                                       CriticalName* name) {
  return begin_reduction(this_member(), place, *name);
}
WEFT_EXPORT void __kmpc_end_reduce(Ident* place, Gtid, CriticalName* name) {
  Member& member = this_member();
  end_reduction(member, place, *name);
  team_barrier(member);
}
