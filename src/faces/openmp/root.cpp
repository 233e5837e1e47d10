#include "faces/openmp/root.h"

#include <cstdlib>
#include <new>

#include "base/panic.h"
#include "core/identities.h"
#include "core/preempt.h"
#include "core/preempt_timer.h"
#include "core/roots.h"
#include "core/spinlock.h"
#include "faces/openmp/affinity_display.h"
#include "faces/openmp/affinity_format.h"
#include "faces/openmp/allocated_by_us.h"
#include "faces/openmp/atomic_lock.h"
#include "faces/openmp/dependence.h"
#include "faces/openmp/experiment.h"
#include "faces/openmp/kmp_defaults.h"
#include "faces/openmp/nthreads_list.h"
#include "faces/openmp/places.h"
#include "faces/openmp/ompt/regions.h"
#include "faces/openmp/ompt/threads.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/startup.h"
#include "faces/openmp/task_reduction.h"
#include "faces/openmp/threadprivate.h"

namespace weft::openmp {
namespace {

template <class T>
T* make_aligned(const char* what) {
  void* memory = nullptr;
  if (posix_memalign(&memory, alignof(T) < sizeof(void*) ? sizeof(void*) : alignof(T), sizeof(T)) != 0)
    base::panic("no memory for %s", what);
  return new (memory) T;
}

Member& begin_initial_team(Team& team) {
  team.icv = settings.icv;
  Member& member = team.master;
  member.team = &team;
  member.task = &member.implicit;
  member.implicit.runner.store(&member, std::memory_order_relaxed);
  member.implicit.icv = settings.icv;
  member.implicit.notes.record = nullptr;
  return member;
}

Team* nobodys_team = nullptr;

}  // namespace

void make_nobodys_team() {
  nobodys_team = make_aligned<Team>("a team");
  begin_initial_team(*nobodys_team);
}

Member& member_between_units(core::Worker& worker) {
  void* of_root = worker.root.unit.details.face;
  return of_root != nullptr ? *static_cast<Member*>(of_root) : nobodys_team->master;
}

[[gnu::noinline, gnu::cold]] Member& make_root() {
  load_once();
  core::Worker& worker = core::worker_here();
  Root* root = make_aligned<Root>("a thread of the program");
  Team& team = root->team;
  Member& member = begin_initial_team(team);
  cache_of(worker).root = root;
  become_member(worker.root.unit, member);
  if (attends_regions) attend_initial_team(team);
  if (core::preemption_settings.kind != core::Preemption::none) core::start_ticking();
  return member;
}

WorkerCache& make_cache(core::Worker& worker) {
  auto cache = make_aligned<WorkerCache>("a worker");
  worker.face = cache;
  return *cache;
}

Seats* grow_seats(core::Worker& worker, Seats& seats, unsigned size) {
  auto grown = static_cast<os::Identity**>(std::realloc(seats.identities, size * sizeof(os::Identity*)));
  if (grown == nullptr) base::panic("no memory for a team of %u", size);
  seats.identities = grown;
  if (seats.count == 0) grown[seats.count++] = nullptr;  // the opener's
  core::take_identities(worker, grown + seats.count, size - seats.count);
  seats.count = size;
  return &seats;
}

Seats* seats_within(core::Worker& worker, Team& initial, unsigned size) {
  if (!core::identities_enabled) return nullptr;
  if (initial.own_seats == nullptr) initial.own_seats = make_aligned<Seats>("a team");
  return seats_of_size(worker, *initial.own_seats, size);
}

void leave_seats(core::Worker& worker, Team& initial) {
  if (initial.watched_threads != nullptr) ompt::give_kept_threads_back(initial);
  Seats* seats = initial.own_seats;
  if (seats == nullptr) return;
  initial.own_seats = nullptr;
  for (unsigned number = 1; number < seats->count; ++number)
    if (os::Identity* identity = seats->identities[number]; identity != nullptr) core::give_identity(worker, identity);
  std::free(seats->identities);
  std::free(seats);
}

namespace {

// What a thread of the program was outlives it as long as an event of one of its tasks is still to be fulfilled. Who
// fulfils the last one frees it: the count of those who hold the team open changes here with the pool's lock held, so
// that of the thread that ends and those who fulfil events one alone finds that it is the last.
bool nobody_comes_after(const Root& root, std::uint64_t pending) {
  if (!root.ended || Pending::holders(pending) != 0) return false;
  return !root.team.tasks.used.load(std::memory_order_acquire) || quiescent(root.team);
}

void free_root(Root& root) {
  // Of tasks that it has made outside any region.
  if (root.team.master.implicit.children_table != nullptr) free_table(root.team.master.implicit);
  free_left_reductions(root.team);
  free_pool(root.team.tasks);
  free_displayed(root.team.displayed_opener);
  if (root.team.watched != nullptr) ompt::forget_root(root.team);
  std::free(&root);
}

void end_root_team(Root& root) {
  bool last = false;
  {
    core::SpinGuard guard(root.team.tasks.lock);
    root.ended = true;
    last = nobody_comes_after(root, root.team.pending.load(std::memory_order_acquire));
  }
  if (last) free_root(root);
}

}  // namespace

void let_root_end(Team& team) {
  auto& root = reinterpret_cast<Root&>(team);  // its first member
  bool last = false;
  {
    core::SpinGuard guard(team.tasks.lock);
    const std::uint64_t before = team.pending.fetch_sub(Pending::holder, std::memory_order_acq_rel);
    last = nobody_comes_after(root, before - Pending::holder);
  }
  if (last) free_root(root);
}

void end_seats(core::Worker& worker, os::AwaitedEnds* awaited) {
  Root* root = cache_of(worker).root;
  if (root == nullptr) return;
  if (ompt::watched) ompt::end_threads_of_root(worker, *root);
  for (unsigned number = 1; number < root->seats.count; ++number)
    if (os::Identity* identity = root->seats.identities[number]; identity != nullptr)
      core::end_identity(worker, identity, awaited);
  std::free(root->seats.identities);
  root->seats = Seats{};
}

void run_tasks_left(core::Worker& worker) {
  auto cache = static_cast<WorkerCache*>(worker.face);
  if (cache == nullptr || cache->root == nullptr || worker.current != &worker.root.unit) return;
  Member& member = cache->root->team.master;
  if (worker.root.unit.details.face == &member) run_those_put_off(member);
}

namespace {

// Whether others are still at work in a region that the member is in.
bool is_needed(const Member& member) {
  for (const Member* each = &member; each != nullptr; each = each->team->master.parent) {
    const Team& team = *each->team;
    if (team.size > 1 && !forked_inside(team) && Pending::holders(team.pending.load(std::memory_order_acquire)) != 0)
      return true;
  }
  return false;
}

}  // namespace

void root_ends(core::Worker& worker) {
  const auto member = static_cast<const Member*>(worker.root.unit.details.face);
  if (member != nullptr && is_needed(*member))  // they use what lies on the stack that goes now
    base::panic(
        "pthread_exit() or pthread_cancel() has ended a thread in a parallel region of its own, before the region's "
        "other threads");
  auto cache = static_cast<WorkerCache*>(worker.face);
  run_tasks_left(worker);
  if (ompt::watched && cache != nullptr && cache->root != nullptr) ompt::root_ends(worker, *cache->root);
  worker.root.unit.details.face = nullptr;
  worker.root.unit.scope = nullptr;
  if (cache == nullptr || cache->root == nullptr) return;
  // The threads end with their root: destructors of their thread-local objects run.
  end_seats(worker);
  Root* root = cache->root;
  cache->root = nullptr;
  cache->bound_klt = 0;
  end_root_team(*root);
}

namespace {

// The one that forked, and those that have opened the regions around it. Identities that the teams have kept for the
// regions within, or for their own members, were lent by threads that were not forked. (Bug: libc gave their storage to
// threads that the child started.)
void leave_teams_to(Member& member) {
  for (Member* each = &member; each != nullptr; each = each->team->master.parent) {
    leave_pool_to(*each);
    each->team->own_seats = nullptr;
    if (ompt::watched) ompt::forget_threads_of_team(*each->team);
  }
}

}  // namespace

// Also where a thread has forked that had nothing to do with weft: others had, and may have held each of these locks.
// (Bug: a child slept for ever that displayed its affinity.) If the caller itself holds one, in a handler of the
// program's, it lets go of it once more when it goes on, which does nothing.
void start_afresh() {
  forget_common_blocks();
  forget_teams_set_aside();
  reset_nthreads_lists();
  reset_affinity_display();
  reset_affinity_format();
  reset_allocated_notes();
  reset_defaults();
  reset_threadprivate();
  new (&atomic_lock) core::Mutex;
  if (ompt::watched) ompt::forget_all_threads();
}

void forked(core::Worker& self, const core::Worker& before, const core::Unit* what) {
  // Where it was: outside regions, or inside one whose other members exist only in the parent.
  const bool was_root = what == &before.root.unit;
  if (what != nullptr && details(*what).face != nullptr) {
    Member& member = *static_cast<Member*>(details(*what).face);
    become_member(self.root.unit, member);
    leave_teams_to(member);
    if (places.in_use()) place_forked(self, was_root);
  }
  const auto cache = static_cast<const WorkerCache*>(before.face);
  if (!was_root || cache == nullptr || cache->root == nullptr) return;
  cache_of(self).root = cache->root;
  cache->root->seats = Seats{};  // their lenders were not forked
  if (ompt::watched) ompt::forget_threads_of_root(*cache->root);
}

}  // namespace weft::openmp
