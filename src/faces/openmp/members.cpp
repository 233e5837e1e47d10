// A claimed member is run as a rung-1 unit: on a stack that the claimer holds in its hand and uses for one
// member after the other, with the member's data at the top of that stack, where they are warm in the
// cache. Only a member that deviates keeps the stack. So a member that reaches no barrier costs a function call.
//
// Claims come in runs that double while members turn out to be short, so that cores meet on the
// range's word once per many members; a run is never more than a fair part of what is left. What an opener has learned
// of its members is where the next region of the same function begins (core/run_lengths.h).
#include "faces/openmp/members.h"

#include <cstdlib>
#include <new>

#include "arch/cpu.h"
#include "base/panic.h"
#include "core/hand.h"
#include "core/identities.h"
#include "core/place_pools.h"
#include "core/preempt.h"
#include "core/scheduler.h"
#include "core/technique/start.h"
#include "faces/openmp/experiment.h"
#include "faces/openmp/ompt/regions.h"
#include "faces/openmp/ompt/sanitized_program.h"
#include "faces/openmp/region_end.h"
#include "faces/openmp/root.h"
#include "faces/openmp/task_wait.h"

namespace weft::openmp {

constinit Dispatch usual_dispatch = Dispatch::claimed;

namespace {

// WEFT_PREEMPT=klt-switch: members are units that can be left with their KLT.
bool members_keep_klts = false;
core::Technique technique_of_units = core::Technique::roc_l;

// Members that take no longer are claimed in runs; well below a microsecond.
unsigned long long short_ticks = 2000;

// A member other than the master, at the high end of the stack that it runs on.
struct alignas(base::cache_line) MemberFrame {
  core::WholeUnit unit;
  Member member;
  bool helper = false;  // took the seat of a member that is done, for tasks
};

static_assert(sizeof(MemberFrame) % 16 == 0);

void run_tasks_while_there_are_some(Member& member) {
  TaskSearch search;
  while (Task* task = find_task(member, nullptr, search)) run_found(member, *task, search);
}

void member_entry(void* argument) {
  auto frame = static_cast<MemberFrame*>(argument);
  Member& member = frame->member;
  if (member.team->dispatch >= Dispatch::as_units) [[unlikely]]
    arch::load_fp_control(member.team->modes);
  if (!frame->helper) member.team->function(member.team->data);
  if (member.team->tasks.used.load(std::memory_order_acquire)) run_tasks_while_there_are_some(member);
  end_implicit_task(member);
}

// A member that deviated has come to its end.
void deviated_member_finished(core::Unit* unit) {
  auto frame = reinterpret_cast<MemberFrame*>(unit);  // its first member
  Team& team = *frame->member.team;
  if (frame->helper)
    helper_done(team, frame->member.number);
  else
    members_done(team, frame->member.number, 1);
}

[[gnu::noinline]] void mark_unit(const Team& team, core::Unit& unit, const Member& member) {
  unsigned flags = members_keep_klts ? unsigned{core::UnitFlag::switches_klt} : 0;
  if (team.dispatch == Dispatch::at_places)
    unit.pool.store(core::place_pool(place_of(member).place), std::memory_order_relaxed);
  if (team.dispatch != Dispatch::as_units) flags |= core::UnitFlag::placed;
  unit.flags.store(static_cast<std::uint16_t>(flags), std::memory_order_relaxed);
}

MemberFrame& seat_member_in(void* memory, Team& team, unsigned number, bool helper) {
  auto frame = new (memory) MemberFrame;
  core::WholeUnit& unit = frame->unit;
  unit.entry = member_entry;
  unit.argument = frame;
  unit.finished = deviated_member_finished;
  unit.details.name = "an OpenMP thread";
  if (team.seats != nullptr) {
    unit.details.identity = team.seats->identity(number);
    unit.details.keeps_identity = unit.details.identity != nullptr;
  }
  Member& member = frame->member;
  member.team = &team;
  member.number = number;
  become_member(unit, member);
  if (team.dispatch != Dispatch::claimed) [[unlikely]]
    mark_unit(team, unit, member);
  member.task = &member.implicit;
  member.implicit.runner.store(&member, std::memory_order_relaxed);
  member.implicit.icv = team.icv;
  member.implicit.group = team.group;
  member.constructs = team.first_construct;
  if (team.first_construct != 0) member.loop.shared = &team.workshares.slot(0);
  frame->helper = helper;
  return *frame;
}

MemberFrame& seat_member(Team& team, unsigned number, core::Stack* stack, bool helper) {
  return seat_member_in(stack->top() - sizeof(MemberFrame), team, number, helper);
}

[[gnu::always_inline]] inline core::Event run_member(core::Worker& worker, MemberFrame& frame, core::Stack* stack) {
  core::install_for(worker, frame.unit);
  core::take_place(worker, frame.unit);
  return core::start_roc(worker, frame.unit, stack, &frame);
}

// A member that has returned may have kept an identity while members of its own ran.
[[gnu::always_inline]] inline void drop_identity_kept_meanwhile(core::Worker& worker, core::WholeUnit& unit) {
  if (unit.details.identity != nullptr && !unit.details.keeps_identity) core::drop_identity(worker, unit);
}

// Back from units to what the frame around belongs to: a unit, a root, or the scheduler.
void reinstall(core::Worker& worker, core::Unit* below) {
  if (below != nullptr) core::take_place(worker, *below);
  if (!core::identities_enabled) return;
  if (below != nullptr)
    core::install_for(worker, *below);
  else
    core::install_home(worker);
}

// Members that have returned.
struct Unreported {
  unsigned first, count;
};

void report(Team& team, const Unreported& returned, bool by_master) {
  if (returned.count == 0) return;
  if (by_master)
    members_done_by_master(team, returned.first, returned.count);
  else
    members_done(team, returned.first, returned.count);
}

// Whether all of them have come to their end; the last ones in a row that returned are still to be reported. (By
// reference: a Run that is passed in registers is written field by field, and read back as one word, which the
// processor makes wait for 8 ns.)
bool run_members(core::Worker& worker, Team& team, const core::Share::Run& run, Unreported& returned) {
  core::Unit* below = worker.current;
  core::Stack* stack = nullptr;
  unsigned finished_first = run.first;
  unsigned finished = 0;
  {
    core::SchedulerFrame frame(worker, false, team.modes);
    core::Hand hand(worker, team.share, run);
    unsigned number;
    while (hand.take(number)) {
      if (stack == nullptr) stack = core::take_stack(worker, 0);
      MemberFrame& member = seat_member(team, number, stack, false);
      const core::Event event = run_member(worker, member, stack);
      if (event == core::Event::returned) {
        drop_identity_kept_meanwhile(worker, member.unit);
        core::nothing_runs(worker);
        ++finished;
        if (!is_cancelled(team)) [[likely]]
          continue;
        // Bug: one of the others in hand may wait here until this one is done (single.cpp), and for ever.
        core::install_home(worker);
        members_done(team, finished_first, finished);
        finished_first = number + 1;
        finished = 0;
        continue;
      }
      core::settle_current(worker, event);
      stack = nullptr;
      if (finished != 0) {
        core::install_home(worker);
        members_done(team, finished_first, finished);
      }
      finished_first = number + 1;
      finished = 0;
    }
  }
  if (stack != nullptr) worker.stacks.give(stack);
  reinstall(worker, below);
  returned.first = finished_first;
  returned.count = finished;
  return finished == run.count;
}

void run_and_report(core::Worker& worker, Team& team, const core::Share::Run& run, bool by_master) {
  Unreported returned;
  run_members(worker, team, run, returned);
  report(team, returned, by_master);
}

// One member, on this stack, which is the caller's again where the member has returned: true. `prepare` is called with
// the member before it runs.
template <class Prepare>
[[gnu::always_inline]] inline bool run_one(core::Worker& worker, Team& team, unsigned number, core::Stack* stack,
                                           bool helper, Prepare prepare) {
  core::Unit* below = worker.current;
  core::Event event;
  {
    core::SchedulerFrame frame(worker, false, team.modes);
    MemberFrame& member = seat_member(team, number, stack, helper);
    prepare(member);
    event = run_member(worker, member, stack);
    if (event == core::Event::returned)
      drop_identity_kept_meanwhile(worker, member.unit);
    else
      core::settle_current(worker, event);
  }
  reinstall(worker, below);
  return event == core::Event::returned;
}

// A member on a stack that is not the worker's.
void run_member_on_its_stack(core::Worker& worker, Team& team, unsigned number) {
  core::Stack* stack = ompt::stack_for(team, number);
  const bool returned = run_one(worker, team, number, stack, false, [](MemberFrame& member) {
    member.unit.flags.fetch_or(core::UnitFlag::own_memory, std::memory_order_relaxed);
  });
  if (returned) members_done(team, number, 1);
}

// The last member that is left, by the master.
void run_last(core::Worker& worker, Team& team, unsigned number) {
  core::Stack* stack = core::take_stack(worker, 0);
  if (!run_one(worker, team, number, stack, false, [](MemberFrame&) {})) return;
  worker.stacks.give(stack);
  members_done_by_master(team, number, 1);
}

// Claims and runs such members until there are none left, or, unless it is to run `all`, the worker has something
// better to do.
[[gnu::noinline]] void take_members_on_their_stacks(core::Worker& worker, Team& team, bool all) {
  for (;;) {
    const core::Share::Run run = team.share.claim(1, worker.lends_within.load(std::memory_order_relaxed));
    if (run.count == 0) return;
    run_member_on_its_stack(worker, team, run.first);
    if (!all && core::has_local_work(worker)) return;
  }
}

// So many, but no more than a fair part of what is left.
[[gnu::always_inline]] inline core::Share::Run claim(core::Worker& worker, Team& team, unsigned length) {
  if (length != 1) {
    const unsigned active = core::runtime.active.load(std::memory_order_relaxed);
    const unsigned fair = (team.share.left() + active - 1) / active;
    if (length > fair) length = fair;
    if (length == 0) length = 1;
  }
  return team.share.claim(length, worker.lends_within.load(std::memory_order_relaxed));
}

bool were_short(core::Share::Run run, unsigned long long ticks) { return ticks <= short_ticks * run.count; }

unsigned length_after(core::Share::Run run, bool short_ones) { return short_ones ? 2 * run.count : 1; }

// For a worker that looks for work: until there are none left, or it has something better to do.
void take_members(core::Worker& worker, Team& team) {
  if (ompt::watched && team.own_stacks) [[unlikely]]
    return take_members_on_their_stacks(worker, team, false);
  unsigned length = team.share.run_length.load(std::memory_order_relaxed);
  for (;;) {
    const unsigned long long began = arch::ticks();
    const core::Share::Run run = claim(worker, team, length);
    if (run.count == 0) return;
    const unsigned long long claimed = arch::ticks();
    Unreported returned;
    const bool finished = run_members(worker, team, run, returned);
    const bool short_ones = were_short(run, arch::ticks() - claimed);
    // Only while some are to be reported: so the region is still open. (Bug: this was said of the next one.)
    if (!short_ones && returned.count != 0) team.share.run_length.store(0, std::memory_order_relaxed);
    report(team, returned, false);
    worker.restraint.took(claimed - began, finished ? arch::ticks() - claimed : UINT64_MAX);
    if (core::has_local_work(worker)) return;
    length = length_after(run, short_ones);
  }
}

}  // namespace

void run_members_left(core::Worker& worker, Team& team) {
  if (ompt::watched && team.own_stacks) [[unlikely]]
    return take_members_on_their_stacks(worker, team, true);
  core::Share::Run run = claim(worker, team, team.share.run_length.load(std::memory_order_relaxed));
  bool measured = false, all_short = true;
  while (run.count != 0 && !run.last) {
    const unsigned long long began = arch::ticks();
    run_and_report(worker, team, run, true);
    const bool short_ones = were_short(run, arch::ticks() - began);
    measured = true;
    all_short = all_short && short_ones;
    run = claim(worker, team, length_after(run, short_ones));
  }
  if (measured) cache_of(worker).run_lengths.learn(team.code, all_short);
  if (run.count == 1)
    run_last(worker, team, run.first);
  else if (run.count != 0)
    run_and_report(worker, team, run, true);
}

void let_master_go_on(const Member& member) {
  core::Worker& worker = *core::this_worker();
  if (member.number != 0 && member.team->master_runs_on.load(std::memory_order_relaxed) == &worker)
    core::leave_unit(worker, *worker.current, core::Event::yielded);
}

bool wants_master(const core::Share& share) {
  auto& team = reinterpret_cast<const Team&>(share);
  return team.master_runs_on.load(std::memory_order_relaxed) != nullptr &&
         team.tasks.used.load(std::memory_order_acquire) && has_queued_tasks(team.tasks);
}

namespace {

void help(core::Worker& worker, Team& team, unsigned number) {
  core::Stack* stack = core::take_stack(worker, 0);
  const bool returned = run_one(worker, team, number, stack, true, [](MemberFrame& member) {
    if (ompt::watched) ompt::seat_is_taken(member.member);
  });
  if (!returned) return;
  worker.stacks.give(stack);
  helper_done(team, number);
}

}  // namespace

bool wants_help(const core::Share& share) {
  auto& team = reinterpret_cast<const Team&>(share);
  if ((team.pending.load(std::memory_order_acquire) & Pending::tasks_in_use) == 0) return false;
  const TaskPool& pool = team.tasks;
  if (!has_queued_tasks(pool)) return false;
  std::atomic_thread_fence(std::memory_order_acquire);  // the tasks first, then those who sleep: see list_waiter()
  if (pool.free_waiters.load(std::memory_order_relaxed) != 0 || any_vacant(team)) return true;
  return pool.bound_waiters.load(std::memory_order_relaxed) != 0 &&
         pool.bound_seen.load(std::memory_order_relaxed) != tasks_offered(pool);
}

void run_members_of(core::Share& share, core::Worker& worker, core::Share::Run run) {
  run_and_report(worker, reinterpret_cast<Team&>(share), run, false);
}

bool take_from_team(core::Share& share, core::Worker& worker) {
  auto& team = reinterpret_cast<Team&>(share);
  if (share.left() != 0) {
    take_members(worker, team);
    return true;
  }
  if (!hold_open(team)) return false;
  if (!share.lies_within(worker.lends_within.load(std::memory_order_relaxed))) {
    drop_holders(team, Pending::holder);  // another team by now
    return false;
  }
  if (has_queued_tasks(team.tasks)) {
    if (const unsigned number = take_vacant(team); number != 0) {
      help(worker, team, number);
      return true;
    }
  }
  const bool woke = wake_waiter(team.tasks);
  drop_holders(team, Pending::holder);
  return woke;
}

// A frame serves until its member is done, and nobody looks at it after that: so the team can keep them.
void push_members(Team& team) {
  if (team.placed_room < team.size) {
    std::free(team.placed_members);
    void* memory = nullptr;
    if (posix_memalign(&memory, alignof(MemberFrame), team.size * sizeof(MemberFrame)) != 0)
      base::panic("no memory for a team of %u", team.size);
    team.placed_members = memory;
    team.placed_room = team.size;
  }
  auto frames = static_cast<MemberFrame*>(team.placed_members);
  core::Pool* pool = nullptr;
  for (unsigned number = 1; number < team.size; ++number) {
    core::Unit& unit = seat_member_in(frames + number, team, number, false).unit;
    unit.technique = technique_of_units;
    if (ompt::watched && team.own_stacks) {
      unit.stack = ompt::stack_for(team, number);
      unit.flags.fetch_or(core::UnitFlag::own_memory, std::memory_order_relaxed);
    }
    if (team.dispatch == Dispatch::as_units) {
      core::start(unit);
      continue;
    }
    core::Pool* before = pool;
    pool = unit.pool.load(std::memory_order_relaxed);
    pool->push(&unit);
    if (before != nullptr && pool != before) core::notify_place(*before, &team.share);
  }
  if (pool != nullptr) core::notify_place(*pool, &team.share);
}

void choose_members(core::Preemption kind) {
  members_keep_klts = kind == core::Preemption::klt_switch;
  const bool units = members_keep_klts || is_off(Optimisation::range) || is_off(Optimisation::borrowed_stacks);
  usual_dispatch = units ? Dispatch::as_units : Dispatch::claimed;
  if (is_off(Optimisation::borrowed_stacks)) technique_of_units = core::Technique::full_l;
  if (is_off(Optimisation::runs)) short_ticks = 0;
}

}  // namespace weft::openmp
