// Members of a watched region wait for each other at its end, in a barrier that is one to the tool: so all tasks of
// the region end within it, and what the tool hears of a thread is in the order that OpenMP describes. (Without a tool
// a member that is done is gone.)
#include "faces/openmp/ompt/regions.h"

#include <cstdlib>
#include <new>

#include "base/panic.h"
#include "core/scheduler.h"
#include "faces/openmp/nthreads_list.h"
#include "faces/openmp/ompt/events.h"
#include "faces/openmp/ompt/sync.h"
#include "faces/openmp/ompt/threads.h"
#include "faces/openmp/ompt/tool.h"
#include "faces/openmp/ompt/work.h"
#include "faces/openmp/ompt/sanitized_program.h"
#include "faces/openmp/region.h"

namespace weft::openmp::ompt {
namespace {

bool is_league(const Region& region) { return (region.flags & parallel_league) != 0; }

ImplicitRecord* make_tasks(unsigned count) {
  void* memory = std::malloc(count * sizeof(ImplicitRecord));
  if (memory == nullptr) base::panic("no memory for what a tool is told of a team of %u", count);
  auto tasks = static_cast<ImplicitRecord*>(memory);
  for (unsigned index = 0; index < count; ++index) new (tasks + index) ImplicitRecord;
  return tasks;
}

/// What a region asks for that has no clause.
unsigned threads_for_next(Member& opener) { return static_cast<unsigned>(first_of_nthreads(icv_of(opener).nthreads)); }

Region* make_region(const NextRegion& stated, unsigned size) {
  void* memory = std::malloc(sizeof(Region));
  if (memory == nullptr) base::panic("no memory for what a tool is told of a region");
  auto region = new (memory) Region;
  region->code = stated.code;
  region->flags = stated.flags;
  region->size = size;
  region->tasks = make_tasks(size);
  return region;
}

void free_region(Region& region) {
  give_threads_back(region);
  std::free(region.tasks);
  std::free(&region);
}

ImplicitRecord& seat(Region& region, Member& member) {
  ImplicitRecord& task = region.tasks[member.number];
  task.implicit = &task;
  task.region = &region;
  task.index = member.number;
  task.thread = region.threads[member.number];
  task.flags = is_league(region) ? task_initial : task_implicit | task_undeferred;
  member.implicit.notes.record = &task;
  return task;
}

void tell_begin(Region& region, ImplicitRecord& task) {
  task.thread->state.store(state_work_parallel, std::memory_order_relaxed);
  implicit_task(Endpoint::begin, &region.data, &task.data, region.size, task.index,
                is_league(region) ? task_initial : task_implicit);
}

void end_member(Member& member, Region& region, ImplicitRecord& task, const void* code) {
  end_of_single(task);
  if (region.size > 1 || region.defers) {
    const SyncKind kind = is_league(region) ? SyncKind::barrier_teams : SyncKind::barrier_implicit_parallel;
    wait_at_end(member, kind, code);
  }
  // LLVM's runtime tells a master the size once more, which its tools are used to.
  const unsigned size = is_league(region) || member.number != 0 ? 0 : region.size;
  implicit_task(Endpoint::end, nullptr, &task.data, size, task.index, is_league(region) ? task_initial : task_implicit);
}

// The thread is idle from here on.
void leave_thread(Thread& thread) {
  thread.state.store(state_work_serial, std::memory_order_relaxed);
  thread.busy.store(false, std::memory_order_release);
}

void run_member(void* argument) {
  Region& region = *static_cast<Region*>(argument);
  Member& member = this_member();
  ImplicitRecord& task = seat(region, member);
  Thread& thread = *task.thread;
  begin_as(thread);
  tell_begin(region, task);
  combined_loop_begins(member);
  call_body(region.function, region.argument);
  end_member(member, region, task, nullptr);
  leave_thread(thread);
}

void tell_parallel_begin(Team& team, Region& region, unsigned requested) {
  Member& opener = *team.master.parent;
  Record& task = Here(opener).task;
  core::Unit& unit = *core::this_worker()->current;
  become_member(unit, opener);  // the region does not exist yet
  parallel_begin(&task.data, &task.frame, &region.data, requested, region.flags, region.code);
  become_member(unit, team.master);
}

void root_appears(Team& team) {
  start_tool_once();
  if (!watched) return;
  Region& region = *make_region({}, 1);
  team.watched = &region;
  Thread& thread = thread_of_root();
  take_threads(region, team, thread);
  ImplicitRecord& task = seat(region, team.master);
  task.flags = task_initial;
  begin_as(thread);
  implicit_task(Endpoint::begin, &region.data, &task.data, 1, 1, task_initial);
}

}  // namespace

void region_opens(Team& team) {
  Member& opener = *team.master.parent;
  Thread& thread = Here(opener).thread;
  const NextRegion stated = thread.next_region;
  thread.next_region = {};
  unsigned requested = stated.requested;
  if (requested == 0) requested = (stated.flags & parallel_league) != 0 ? team.size : threads_for_next(opener);
  Region& region = *make_region(stated, team.size);
  region.function = team.function;
  region.argument = team.data;
  region.state_before = thread.state.load(std::memory_order_relaxed);
  team.watched = &region;
  take_threads(region, team, thread);
  team.own_stacks = members_have_stacks() && team.size > 1;
  tell_parallel_begin(team, region, requested);
  team.function = run_member;
  team.data = &region;
  tell_begin(region, seat(region, team.master));
}

void close_watched_region(Team& team) {
  Member& master = team.master;
  Region& region = *team.watched;
  ImplicitRecord& task = *static_cast<ImplicitRecord*>(record_of(master.implicit));
  Thread& thread = *task.thread;
  set_exit_frame(task, nullptr);
  end_member(master, region, task, region.code);
  Member& opener = *master.parent;
  complete_region(team);
  thread.state.store(region.state_before, std::memory_order_relaxed);
  Record& around = Here(opener).task;
  if (region.keeps_frame) around.frame.enter.pointer = nullptr;
  parallel_end(&region.data, &around.data, region.flags, region.code);
  free_region(region);
}

void initial_team_opens(Team& team) {
  const Member* around = team.master.parent;
  if (around == nullptr) return root_appears(team);
  team.watched = around->team->watched;
  team.master.implicit.notes.record = record_of(*around->task);
}

namespace {

void end_initial_task(Team& team) {
  Region& region = *team.watched;
  implicit_task(Endpoint::end, &region.data, &region.tasks[0].data, 0, 1, task_initial);
  leave_thread(*region.threads[0]);
}

}  // namespace

void root_ends(core::Worker& worker, Root& root) {
  if (root.team.watched == nullptr) return;
  end_initial_task(root.team);
  end_thread(worker, *root.team.watched->threads[0]);
}

// (Bug: it stayed, for each thread that a program had.)
void forget_root(Team& team) { free_region(*team.watched); }

void end_initial_task_here() {
  const core::Worker* worker = core::this_worker();
  if (worker == nullptr || worker->face == nullptr) return;
  Root* root = static_cast<WorkerCache*>(worker->face)->root;
  if (root != nullptr && root->team.watched != nullptr && details(*worker->current).face == &root->team.master)
    end_initial_task(root->team);
}

void seat_is_taken(Member& member) {
  if (member.team->watched != nullptr) seat(*member.team->watched, member);
}

// Not inlined, and no tail call: the frame is the one that the program's code is called from. Where the region is the
// first thing that the program does, it may have turned out only in opening it that there is no tool.
[[gnu::noinline]] void call_body(void (*function)(void*), void* argument) {
  if (!watched) return function(argument);
  Record& task = *record_of(this_member().implicit);
  set_exit_frame(task, __builtin_frame_address(0));
  function(argument);
  set_exit_frame(task, nullptr);
}

void call_in_region_of_its_own(void (*function)(void*), void* argument) {
  if (!watched) return function(argument);
  Member& member = this_member();
  Team& team = *member.team;
  Region& league = *team.watched;
  ImplicitRecord& initial = *record_of(member.implicit)->implicit;
  Region& region = *make_region({league.code}, 1);
  take_threads(region, team, *initial.thread);
  const unsigned requested = threads_for_next(member);
  initial.frame.enter.pointer = __builtin_frame_address(0);
  parallel_begin(&initial.data, &initial.frame, &region.data, requested, region.flags, region.code);
  team.watched = &region;
  ImplicitRecord& task = seat(region, member);
  tell_begin(region, task);
  call_body(function, argument);
  end_member(member, region, task, region.code);
  team.watched = &league;
  member.implicit.notes.record = &initial;
  initial.frame.enter.pointer = nullptr;
  parallel_end(&region.data, &initial.data, region.flags, region.code);
  free_region(region);
}

void keep_frame_of_opener(void* frame) {
  const Member& master = this_member();
  if (!watched) return;
  master.team->watched->keeps_frame = true;
  record_of(*master.parent->task)->frame.enter.pointer = frame;
}

void note_frame_of_body(void* frame) {
  if (!watched) return;
  if (Record* task = record_of(this_member().implicit); task != nullptr) set_exit_frame(*task, frame);
}

}  // namespace weft::openmp::ompt
