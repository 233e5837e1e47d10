// Parallel regions: a team of n members is the range [1, n), published by the thread that opens it.
//
// The opener is member 0. Any worker that looks for work may claim numbers from the range, and so
// does the opener once it is done with its own part (members.cpp). region_end.cpp says when the team is complete.
//
// Identities (rung 3): the members of an outermost team have one each, kept by the root from region
// to region, so that threadprivate variables persist; likewise those of the teams that an initial team opens. Members
// of inner teams, and the teams of a large league, run on the claimer's free identity, and keep it if they suspend.
#include "faces/openmp/region.h"

#include <bit>
#include <cstdlib>
#include <new>

#include "arch/cpu.h"
#include "base/panic.h"
#include "core/find.h"
#include "core/identities.h"
#include "core/idle.h"
#include "core/scheduler.h"
#include "core/watchdog.h"
#include "faces/openmp/experiment.h"
#include "faces/openmp/members.h"
#include "faces/openmp/nthreads_list.h"
#include "faces/openmp/ompt/regions.h"
#include "faces/openmp/region_end.h"
#include "faces/openmp/report.h"
#include "faces/openmp/root.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/task_reduction.h"
#include "faces/openmp/task_wait.h"
#include "faces/openmp/team.h"
#include "os/clock.h"

namespace weft::openmp {
namespace {

// ---------------------------------------------------------------- how many

void release_threads(const Team& team) {
  if (team.icv.thread_limit != no_thread_limit)
    initial_team(*team.master.parent)
        .threads_in_use.fetch_sub(static_cast<int>(team.size) - 1, std::memory_order_relaxed);
}

// As many more threads as the limit of the contention group leaves, `wanted` at most; counted as in use.
unsigned acquire_threads(Member& member, unsigned wanted, int limit) {
  std::atomic<int>& in_use = initial_team(member).threads_in_use;
  int used = in_use.load(std::memory_order_relaxed);
  int granted;
  do {
    const int left = limit - 1 - used;
    granted = left < 0 ? 0 : (static_cast<int>(wanted) < left ? static_cast<int>(wanted) : left);
  } while (!in_use.compare_exchange_weak(used, used + granted, std::memory_order_relaxed));
  return static_cast<unsigned>(granted);
}

// ---------------------------------------------------------------- opening and closing

[[gnu::noinline]] Team* new_team(WorkerCache& cache) {
  if (Team* team = take_team_set_aside(cache)) return team;
  void* memory = nullptr;
  if (posix_memalign(&memory, base::cache_line, sizeof(Team)) != 0) base::panic("no memory for a team");
  Team* team = new (memory) Team;
  team->share.take = take_from_team;
  team->share.run = run_members_of;
  team->share.wants_help = wants_help;
  team->share.wants_opener = wants_master;
  return team;
}

Team* take_team(core::Worker& worker) {
  WorkerCache& cache = cache_of(worker);
  Team* team = cache.free_teams;
  if (team == nullptr) return new_team(cache);
  cache.free_teams = team->next;
  return team;
}

void put_back(core::Worker& worker, Team& team) {
  WorkerCache& cache = cache_of(worker);
  team.next = cache.free_teams;
  cache.free_teams = &team;
}

// A root that waits outside any region waits for nothing that could be opened inside.
void stands_within(Team& team, const Team& outer) {
  const bool outside = outer.level == 0 && outer.standing == Standing::root;
  team.share.within.store(outside ? nullptr : &outer.share, std::memory_order_relaxed);
}

[[gnu::always_inline]] inline void become_master(core::Worker& worker, Team& team, Member& opener) {
  Member& master = team.master;
  master.parent = &opener;
  master.team = &team;
  master.number = 0;
  master.reductions = 0;
  master.task = &master.implicit;
  master.implicit.runner.store(&master, std::memory_order_relaxed);
  master.implicit.icv = team.icv;
  master.implicit.group = nullptr;
  master.implicit.room_ends = opener.task->room_ends;
  master.constructs = 0;
  master.singles = master.copies = 0;
  master.seat = nullptr;
  master.doacross = nullptr;
  master.loop = LoopPosition{};
  become_member(*worker.current, master);
}

void clear_vacancies(Team& team, unsigned size) {
  const unsigned words = (size + 63) / 64;
  if (!team.vacant.reserve(words)) base::panic("no memory for a team of %u", size);
  const auto vacant = team.vacant.items();
  for (unsigned word = 0; word < words; ++word) vacant[word].store(0, std::memory_order_relaxed);
  team.vacant_words.store(words, std::memory_order_release);
}

// The range is used up. Unless the team has tasks, there is nothing to find here any more, and the
// place can serve another region.
void unpublish_if_of_no_use(Team& team) {
  core::SpinGuard guard(team.tasks.lock);
  if (!team.tasks.used.load(std::memory_order_relaxed) && team.share.left() == 0) core::unpublish(team.share);
}

// Or until one of them makes the first task of the team (wake_master_for_tasks). Whether it is the former.
[[gnu::always_inline]] inline bool wait_for_members(Team& team) {
  const auto may_sleep = [](std::uint64_t word) {
    return Pending::holders(word) != 0 && (word & Pending::tasks_in_use) == 0;
  };
  for (unsigned round = 0; may_sleep(team.pending.load(std::memory_order_acquire)); ++round) {
    if (keep_looking(team, round)) continue;
    unpublish_if_of_no_use(team);
    core::Unit& unit = core::this_unit();
    core::prepare_suspend(unit);
    std::uint64_t word = team.pending.load(std::memory_order_relaxed);
    bool waits = false;
    while (may_sleep(word) && !waits)
      waits = team.pending.compare_exchange_weak(word, word | Pending::master_waits, std::memory_order_acq_rel,
                                                 std::memory_order_acquire);
    if (!waits) {
      core::cancel_suspend(unit);
      continue;
    }
    core::suspend();
  }
  return Pending::holders(team.pending.load(std::memory_order_acquire)) == 0;
}

void end_tasks(Team& team, Member& master) {
  RegionEnd end{team};
  wait_for(master, end);
  // Nobody makes tasks any more, and nobody runs one: helpers, if any, are on their way out.
  team.tasks.used.store(false, std::memory_order_relaxed);
  team.pending.fetch_and(~Pending::tasks_in_use, std::memory_order_acq_rel);
}

// Its members left in the midst of what they were at.
void end_cancelled(Team& team) {
  team.workshares.discard();
  team.arrived.store(0, std::memory_order_relaxed);
  team.cancelled.store(false, std::memory_order_relaxed);
}

// Of the constructs that the team has met nothing is left for the next region that it serves.
[[gnu::always_inline]] inline void forget_constructs(Team& team, const Member& master) {
  const bool cancelled = team.cancelled.load(std::memory_order_relaxed);
  if (cancelled) [[unlikely]]
    end_cancelled(team);
  else if (master.constructs != 0)
    team.workshares.reset();
  if (team.left_reductions != nullptr) [[unlikely]]
    free_left_reductions(team);
  // That of a combined construct ends with the region, not with a barrier.
  if (team.worksharing_cancelled.load(std::memory_order_relaxed)) [[unlikely]]
    team.worksharing_cancelled.store(false, std::memory_order_relaxed);
  // In a cancelled region others may have met some that the master has not.
  if (master.singles != 0 || cancelled) {
    team.singles.store(0, std::memory_order_relaxed);
    team.copies_of.store(0, std::memory_order_relaxed);
  }
}

// And has it until the first of them begins: others may have taken them all meanwhile.
void keep_own_identity_while_members_run(core::Worker& worker) {
  core::Unit& unit = *worker.current;
  if (core::is_root(unit) || details(unit).identity != nullptr) return;
  core::keep_identity(worker, unit);
  core::install_for(worker, unit);
}

// GCC's code hands on a negative num_threads. One thread, as omp_set_num_threads() makes of it. (Bug: it was 16
// million.)
[[gnu::noinline, gnu::cold]] unsigned size_beyond_most(unsigned requested, const Icv& icv) {
  if (static_cast<int>(requested) < 0) {
    base::warn("num_threads(%d): must be positive; the region has one thread", static_cast<int>(requested));
    return 1;
  }
  const int listed = requested != 0 ? 0 : first_of_list(icv.nthreads);
  return listed > 0 && static_cast<unsigned>(listed) < core::Share::most ? static_cast<unsigned>(listed)
                                                                         : core::Share::most;
}

}  // namespace

unsigned resolve_size(Member& member, unsigned requested, unsigned useful) {
  const Icv& icv = icv_of(member);
  if (member.team->active_level >= icv.max_active_levels) return 1;
  unsigned size = requested != 0 ? requested : static_cast<unsigned>(icv.nthreads);
  if (size > core::Share::most) [[unlikely]]
    size = size_beyond_most(requested, icv);
  if (icv.dynamic) {
    core::worker_here();  // starts the runtime, which knows the number of workers
    const unsigned active = core::runtime.active.load(std::memory_order_relaxed);
    if (size > active) {
      core::watch();  // sees when CPUs come: a team of one would not
      size = active;
    }
    if (useful != 0 && size > useful) size = useful;
  }
  if (icv.thread_limit != no_thread_limit && size > 1) size = 1 + acquire_threads(member, size - 1, icv.thread_limit);
  return size;
}

namespace {

// A handler of the program's over weft's scheduler, on a KLT that runs no unit, opens a region: it calls exit(), say,
// and a function of atexit() does. What stands for its unit cannot wait: so it is the only member, of this region and
// of those within. The size of the region, of which `threads` were asked for. (Bug: it crashed.)
[[gnu::noinline, gnu::cold]] unsigned begin_between_units(core::Worker& worker, Member& opener, unsigned threads) {
  worker.scheduler_code.technique = core::Technique::stackless;
  worker.current = &worker.scheduler_code;
  attends_ends = true;
  if (icv_of(opener).thread_limit != no_thread_limit)
    initial_team(opener).threads_in_use.fetch_sub(static_cast<int>(threads) - 1, std::memory_order_relaxed);
  return 1;
}

void stay_alone(const core::Worker& worker, Team& team) {
  if (worker.current == &worker.scheduler_code) team.icv.max_active_levels = 0;
}

// The outermost of these regions has ended.
void end_between_units(core::Worker& worker) {
  if (worker.current == &worker.scheduler_code && core::details(*worker.current).face == &member_between_units(worker))
    worker.current = nullptr;
}

// A team for the calling thread to open within `outer`; what it stands for, and its members, are the caller's to say.
[[gnu::always_inline]] inline Team& begin_team(core::Worker& worker, const Team& outer, unsigned size, unsigned level,
                                               unsigned active_level, const Icv& icv) {
  Team& team = *take_team(worker);
  stands_within(team, outer);
  team.size = size;
  team.level = level;
  team.active_level = active_level;
  team.first_construct = 0;
  team.epoch = core::runtime.epoch.load(std::memory_order_relaxed);
  team.icv = icv;
  team.group = nullptr;
  team.seats = nullptr;
  team.master_unit = worker.current;
  return team;
}

// Members of an outermost team keep their identities, and those of the regions that an initial team opens.
void give_seats(core::Worker& worker, Team& team, Team& outer) {
  if (team.standing == Standing::outermost) {
    team.seats = seats_for(worker, team.size);
  } else if (outer.standing == Standing::initial && !ompt::watched) {
    team.seats = seats_within(worker, outer, team.size);
  }
}

template <bool members_have_seats>
[[gnu::always_inline]] inline Team& prepare(Member& opener, unsigned size, void (*function)(void*), void* data) {
  core::Worker& worker = core::worker_here();
  if (worker.current == nullptr) [[unlikely]]
    size = begin_between_units(worker, opener, size);
  Team& outer = *opener.team;
  const unsigned active_level = outer.active_level + (size > 1 ? 1 : 0);
  Team& team = begin_team(worker, outer, size, outer.level + 1, active_level, icv_of(opener));
  team.function = function;
  team.data = data;
  team.code = reinterpret_cast<std::uintptr_t>(function);
  if (static_cast<int>(team.level) < listed_levels.load(std::memory_order_relaxed)) take_nthreads_list(team, opener);
  if (static_cast<int>(team.level) < settings.bind_levels) team.icv.bind = settings.bind_list[team.level];
  team.dispatch = usual_dispatch;
  team.standing = Standing::inner;
  if (outer.standing == Standing::root) team.standing = size > 1 ? Standing::outermost : Standing::root;
  if (size > 1) {
    team.modes = arch::fp_control();
    if (members_have_seats) give_seats(worker, team, outer);
    team.activates = !worker.active.load(std::memory_order_relaxed);
    if (team.activates) worker.active.store(true, std::memory_order_relaxed);
    team.pending.store(Pending::of_members(size - 1), std::memory_order_relaxed);
    clear_vacancies(team, size);
  } else {
    team.vacant_words.store(0, std::memory_order_relaxed);
    stay_alone(worker, team);
  }

  become_master(worker, team, opener);
  count_region(worker, team.level, size);
  if (attends_regions) [[unlikely]]
    attend_region(team);
  return team;
}

}  // namespace

Team& prepare_region(Member& opener, unsigned size, void (*function)(void*), void* data) {
  return prepare<true>(opener, size, function, data);
}

Team& prepare_region_without_seats(Member& opener, unsigned size, void (*function)(void*), void* data) {
  return prepare<false>(opener, size, function, data);
}

void start_members(Team& team) {
  if (team.size == 1) return;
  // Published first: a thief that still knows the share from an earlier region can claim a member as soon as it
  // is open, and that member's first task looks whether the share is published (open_pool).
  core::Worker& worker = *core::this_worker();
  core::publish(worker, team.share);
  if (team.dispatch >= Dispatch::as_units) [[unlikely]] {
    push_members(team);
  } else {
    const std::uint32_t run_length = team.size > 2 ? cache_of(worker).run_lengths.of(team.code) : 1;
    team.share.run_length.store(run_length, std::memory_order_relaxed);
    team.share.open(1, team.size);
    core::notify(&team.share);
  }
  core::watch();
}

Team& open_region(Member& opener, unsigned size, void (*function)(void*), void* data) {
  Team& team = prepare_region(opener, size, function, data);
  start_members(team);
  return team;
}

namespace {

[[gnu::always_inline]] inline void wait_for_members_and_tasks(Team& team, Member& master) {
  // Before the members, on top of which nothing of the master's would run: one of them may wait for these, in a way of
  // its own.
  if (master.seat != nullptr) run_own_tasks(master);
  if (team.share.left() != 0) {
    core::Worker& worker = *core::this_worker();
    keep_own_identity_while_members_run(worker);
    team.master_runs_on.store(&worker, std::memory_order_relaxed);  // which it does not leave meanwhile
    run_members_left(worker, team);
    team.master_runs_on.store(nullptr, std::memory_order_relaxed);
  }
  bool used_tasks = false;
  do {
    if (team.tasks.used.load(std::memory_order_acquire)) {
      used_tasks = true;
      end_tasks(team, master);
    }
  } while (!wait_for_members(team) || team.tasks.used.load(std::memory_order_acquire));
  if (used_tasks) close_pool(team);
  core::unpublish(team.share);
  if (team.size > 2 && team.share.run_length.load(std::memory_order_relaxed) == 0) [[unlikely]]
    cache_of(*core::this_worker()).run_lengths.learn(team.code, false);
}

}  // namespace

void complete_region(Team& team) {
  Member& master = team.master;
  const bool forked = forked_inside(team);
  master.copies = Member::has_left;
  if ((team.size > 1 || team.tasks.used.load(std::memory_order_relaxed)) && !forked) {
    wait_for_members_and_tasks(team, master);
  }
  end_implicit_task(master);
  forget_constructs(team, master);
  core::Worker& worker = *core::this_worker();
  become_member(*worker.current, *master.parent);
  if (team.size > 1) {
    if (team.activates) core::become_inactive(worker);
    release_threads(team);
  }
  if (forked) return;  // the team is a picture of the parent's
  put_back(worker, team);
}

namespace {

// For the experiment: the master leaves all members to whoever looks for work, if only on its own worker.
void wait_without_helping(Team& team) {
  if (team.size == 1 || forked_inside(team)) return;
  while (!wait_for_members(team) && team.share.left() != 0) core::yield();
}

[[gnu::noinline, gnu::cold]] void close_attended_region(Team& team) {
  const bool held = holds_master(team);
  if (is_off(Optimisation::master_helps)) wait_without_helping(team);
  if (ompt::watched)
    ompt::close_watched_region(team);
  else
    complete_region(team);
  core::Worker& worker = *core::this_worker();
  end_between_units(worker);
  if (held) let_master_go(worker);
  if (sets_teams_aside()) set_closed_teams_aside(cache_of(worker));
}

}  // namespace

void close_region(Team& team) {
  if (attends_ends) [[unlikely]]
    close_attended_region(team);
  else
    complete_region(team);
}

Team& open_initial_team(const Icv& icv) {
  core::Worker& worker = core::worker_here();
  Member& opener = this_member();
  if (worker.current == nullptr) begin_between_units(worker, opener, 1);
  Team& team = begin_team(worker, *opener.team, 1, 0, 0, icv);
  stay_alone(worker, team);
  team.standing = Standing::initial;
  team.vacant_words.store(0, std::memory_order_relaxed);
  team.league_size = 1;
  team.league_number = 0;
  team.threads_in_use.store(0, std::memory_order_relaxed);
  become_master(worker, team, opener);
  if (attends_regions) attend_initial_team(team);
  return team;
}

void close_initial_team() {
  Member& master = this_member();
  Team& team = *master.team;
  const bool forked = forked_inside(team);
  if (team.tasks.used.load(std::memory_order_relaxed) && !forked) wait_for_members_and_tasks(team, master);
  end_implicit_task(master);
  forget_constructs(team, master);
  core::Worker& worker = *core::this_worker();
  become_member(*worker.current, *master.parent);
  end_between_units(worker);
  if (forked) return;
  leave_seats(worker, team);
  put_back(worker, team);
}

bool keep_looking(const Team& team, unsigned round) {
  arch::relax();
  const core::Worker& worker = *core::this_worker();
  if (core::has_local_work(worker)) return false;
  if (const unsigned left = team.share.left(); left != 0) {
    // A root that starts a member is away until that member ends or waits, even if what the root waits for
    // comes true in the next moment: so it leaves the last ones to the workers that are on their way.
    return core::is_root(*worker.current) && core::searchers() >= left && round < 2 * settings.looks;
  }
  constexpr unsigned first_rounds = 64;
  if (round < first_rounds) return settings.wait_policy != WaitPolicy::passive;
  // What it asks now and then looks at all workers. Others may want its CPU by now; and what waits at another worker
  // this one could take, if it had nothing to look for, but not in the first 10 us: mostly it is run where it lies
  // before it would have come here. (Bug: with the active policy 8 members on 2 CPUs took ten times as long as on
  // libgomp.)
  constexpr unsigned rounds_to_others = 512;
  constexpr unsigned most_between_questions = 4096;
  if (std::has_single_bit(round) || round % most_between_questions == 0) {
    if (!core::spinning_pays(worker, os::now_ns())) return false;
    if (round >= rounds_to_others && core::any_work(worker)) return false;
  }
  if (settings.wait_policy == WaitPolicy::hybrid) return round < settings.looks;
  return settings.wait_policy == WaitPolicy::active && round < 1000 * settings.looks;
}

int ancestor_number(const Member& member, int level) {
  const Member* at = &member;
  if (level < 0 || level > static_cast<int>(at->team->level)) return -1;
  while (static_cast<int>(at->team->level) > level) at = at->team->master.parent;
  return static_cast<int>(at->number);
}

int ancestor_team_size(const Member& member, int level) {
  const Member* at = &member;
  if (level < 0 || level > static_cast<int>(at->team->level)) return -1;
  while (static_cast<int>(at->team->level) > level) at = at->team->master.parent;
  return static_cast<int>(at->team->size);
}

}  // namespace weft::openmp
