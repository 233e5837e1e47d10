// Parallel regions: a team of n members is the range [1, n), published by the thread that opens it.
//
// The opener is member 0. Any worker that looks for work may claim numbers from the range, and so
// does the opener once it is done with its own part. A claimed member is run as a rung-1 unit: on a
// stack that the claimer holds in its hand and uses for one member after the other, with the
// member's data at the top of that stack, where they are warm in the cache. Only a member that
// deviates keeps the stack. So a member that reaches no barrier costs a function call.
//
// Claims come in runs that double while members turn out to be short, so that cores meet on the
// range's word once per many members; a run is never more than a fair part of what is left.
//
// `pending` says when a team is complete (layout in `Pending` below). A member's claimer lowers it
// after the member's last access to the team; the master leaves when it is 0. Since the word of a
// closed team is 0, a thief that holds a stale pointer can do nothing to it: it joins only by raising
// `pending` from a value with tasks_in_use set, and then whatever region the team now serves is one
// that it may help.
//
// Identities (rung 3): the members of an outermost team have one each, kept by the root from region
// to region, so that threadprivate variables persist; likewise those of the teams that an initial team opens. Members
// of inner teams run on the claimer's free identity, and keep it if they suspend.
#include <cstdlib>
#include <new>

#include "arch/cpu.h"
#include "base/panic.h"
#include "core/identities.h"
#include "core/place_pools.h"
#include "core/preempt.h"
#include "core/scheduler.h"
#include "core/technique/start.h"
#include "core/watchdog.h"
#include "faces/openmp/experiment.h"
#include "faces/openmp/nthreads_list.h"
#include "faces/openmp/ompt/regions.h"
#include "faces/openmp/ompt/sanitized_program.h"
#include "faces/openmp/report.h"
#include "faces/openmp/root.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/task_reduction.h"
#include "faces/openmp/task_wait.h"
#include "faces/openmp/team.h"

namespace weft::openmp {

namespace {

// WEFT_PREEMPT=klt-switch: members are units that can be left with their KLT.
bool members_keep_klts = false;
Dispatch usual_dispatch = Dispatch::claimed;
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

// ---------------------------------------------------------------- the word `pending`

void set_bits(std::atomic<std::uint64_t>* words, unsigned first, unsigned count) {
  while (count != 0) {
    const unsigned bit = first % 64;
    const unsigned here = count < 64 - bit ? count : 64 - bit;
    const std::uint64_t ones = here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1;
    words[first / 64].fetch_or(ones << bit, std::memory_order_relaxed);
    first += here;
    count -= here;
  }
}

bool any_vacant(const Team& team) {
  const unsigned words = team.vacant_words.load(std::memory_order_acquire);
  const auto vacant = team.vacant.items();
  for (unsigned word = 0; word < words; ++word)
    if (vacant[word].load(std::memory_order_relaxed) != 0) return true;
  return false;
}

// The number of a vacant seat, now the caller's; 0 (the master's, never vacant) if there is none.
unsigned take_vacant(Team& team) {
  const auto vacant = team.vacant.items();
  const unsigned words = team.vacant_words.load(std::memory_order_acquire);
  for (unsigned word = 0; word < words && word < (team.size + 63) / 64; ++word) {
    std::uint64_t bits = vacant[word].load(std::memory_order_relaxed);
    while (bits != 0) {
      if (vacant[word].compare_exchange_weak(bits, bits & (bits - 1), std::memory_order_acquire))
        return word * 64 + static_cast<unsigned>(__builtin_ctzll(bits));
    }
  }
  return 0;
}

// The master's wait at the end of a region that uses tasks: an implicit barrier.
struct RegionEnd {
  static constexpr bool arms = true;
  Team& team;
  bool over() const { return Pending::members(team.pending.load(std::memory_order_acquire)) == 0 && quiescent(team); }
  const Task* only_below() const { return nullptr; }
  bool try_to_end() const { return false; }
  bool arm(TaskWaiter& waiter) {
    team.end_waiter = &waiter;
    return true;
  }
  void disarm() { team.end_waiter = nullptr; }
};

// Whoever takes the number of holders to 0 resumes the master if it sleeps, and takes the mark away
// with the same step, so that a helper that comes and goes afterwards does not resume it again.
bool completes(std::uint64_t& word) {
  if (Pending::holders(word) != 0 || (word & Pending::master_waits) == 0) return false;
  word &= ~Pending::master_waits;
  return true;
}

void drop_holders(Team& team, std::uint64_t count) {
  core::Unit* master = team.master_unit;
  std::uint64_t word = team.pending.load(std::memory_order_relaxed);
  std::uint64_t lower;
  bool resumes;
  do {
    lower = word - count;
    resumes = completes(lower);
  } while (!team.pending.compare_exchange_weak(word, lower, std::memory_order_acq_rel, std::memory_order_relaxed));
  if (resumes) core::resume(*master);
}

// Some members or a helper are done, in a team that uses tasks: the master may sleep at the end of
// the region until the last of them is. The caller still holds the team open.
void tell_region_end(Team& team) {
  core::Unit* master = nullptr;
  {
    core::SpinGuard guard(team.tasks.lock);
    TaskWaiter* waiter = team.end_waiter;
    if (waiter != nullptr && waiter->listed && RegionEnd{team}.over()) {
      unlist_waiter(team.tasks, *waiter);
      master = waiter->unit;
    }
  }
  if (master != nullptr) core::resume(*master);
}

// `count` members starting at `first` are done; nothing of theirs touches the team after this.
void members_done(Team& team, unsigned first, unsigned count) {
  core::Unit* master = team.master_unit;
  set_bits(team.vacant.items(), first, count);
  const std::uint64_t both = Pending::holder * count + Pending::member * count;
  std::uint64_t word = team.pending.load(std::memory_order_relaxed);
  while ((word & Pending::tasks_in_use) == 0) {
    std::uint64_t lower = word - both;
    const bool resumes = completes(lower);
    if (!team.pending.compare_exchange_weak(word, lower, std::memory_order_acq_rel, std::memory_order_relaxed))
      continue;
    if (resumes) core::resume(*master);
    return;
  }
  team.pending.fetch_sub(Pending::member * count, std::memory_order_acq_rel);
  tell_region_end(team);
  drop_holders(team, Pending::holder * count);
}

void helper_done(Team& team, unsigned number) {
  set_bits(team.vacant.items(), number, 1);
  tell_region_end(team);
  drop_holders(team, Pending::holder);
}

// ---------------------------------------------------------------- running members

void run_tasks_while_there_are_some(Member& member) {
  TaskSearch search;
  while (Task* task = find_task(member, nullptr, search)) run_found(member, *task, search);
}

void member_entry(void* argument) {
  auto frame = static_cast<MemberFrame*>(argument);
  Member& member = frame->member;
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

core::Event run_member(core::Worker& worker, MemberFrame& frame, core::Stack* stack) {
  core::install_for(worker, frame.unit);
  core::take_place(worker, frame.unit);
  return core::start_roc(worker, frame.unit, stack, &frame);
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

void run_members(core::Worker& worker, Team& team, core::Share::Run run) {
  core::Unit* below = worker.current;
  core::Stack* stack = nullptr;
  unsigned finished_first = run.first;
  unsigned finished = 0;  // members in a row that returned and are not reported yet
  {
    core::SchedulerFrame frame(worker);
    worker.in_hand += run.count;
    for (unsigned number = run.first; number != run.first + run.count; ++number) {
      if (stack == nullptr) stack = worker.stacks.take(core::runtime.config.stack_size);
      MemberFrame& member = seat_member(team, number, stack, false);
      --worker.in_hand;
      const core::Event event = run_member(worker, member, stack);
      if (event == core::Event::returned) {
        // It may have kept one while members of its own ran.
        if (member.unit.details.identity != nullptr && !member.unit.details.keeps_identity)
          core::drop_identity(worker, member.unit);
        ++finished;
        continue;
      }
      core::settle(worker, member.unit, event);
      stack = nullptr;
      if (finished != 0) {
        core::install_home(worker);
        members_done(team, finished_first, finished);
      }
      finished_first = number + 1;
      finished = 0;
    }
  }
  reinstall(worker, below);
  if (stack != nullptr) worker.stacks.give(stack);
  if (finished != 0) members_done(team, finished_first, finished);
}

// A member on a stack that is not the worker's.
void run_member_on_its_stack(core::Worker& worker, Team& team, unsigned number) {
  core::Unit* below = worker.current;
  core::Event event;
  {
    core::SchedulerFrame frame(worker);
    core::Stack* stack = ompt::stack_for(team, number);
    MemberFrame& member = seat_member(team, number, stack, false);
    member.unit.flags.fetch_or(core::UnitFlag::own_memory, std::memory_order_relaxed);
    event = run_member(worker, member, stack);
    if (event != core::Event::returned) core::settle(worker, member.unit, event);
    core::install_home(worker);
  }
  if (event == core::Event::returned) members_done(team, number, 1);
  reinstall(worker, below);
}

// take_members() for a team of such members.
[[gnu::noinline]] void take_members_on_their_stacks(core::Worker& worker, Team& team, bool all) {
  for (;;) {
    const core::Share::Run run = team.share.claim(1, worker.lends_within.load(std::memory_order_relaxed));
    if (run.count == 0) return;
    run_member_on_its_stack(worker, team, run.first);
    if (!all && core::has_local_work(worker)) return;
  }
}

// Claims and runs members until there are none left, or the worker has something better to do.
void take_members(core::Worker& worker, Team& team, bool all) {
  if (ompt::watched && team.own_stacks) [[unlikely]]
    return take_members_on_their_stacks(worker, team, all);
  unsigned most = 1;
  for (;;) {
    const core::Share::Run run = team.share.claim(most, worker.lends_within.load(std::memory_order_relaxed));
    if (run.count == 0) return;
    const unsigned long long before = arch::ticks();
    run_members(worker, team, run);
    if (!all && core::has_local_work(worker)) return;
    if (arch::ticks() - before > short_ticks * run.count) {
      most = 1;
      continue;
    }
    const unsigned fair = team.share.left() / (2 * core::runtime.workers) + 1;
    most = most * 2 < fair ? most * 2 : fair;
  }
}

// ---------------------------------------------------------------- helping with tasks

void help(core::Worker& worker, Team& team, unsigned number) {
  core::Unit* below = worker.current;
  core::Stack* stack = worker.stacks.take(core::runtime.config.stack_size);
  core::Event event;
  {
    core::SchedulerFrame frame(worker);
    MemberFrame& member = seat_member(team, number, stack, true);
    if (ompt::watched) ompt::seat_is_taken(member.member);
    event = run_member(worker, member, stack);
    if (event != core::Event::returned)
      core::settle(worker, member.unit, event);
    else
      core::drop_identity(worker, member.unit);
  }
  reinstall(worker, below);
  if (event != core::Event::returned) return;
  worker.stacks.give(stack);
  helper_done(team, number);
}

bool wants_help(const core::Share& share) {
  auto& team = reinterpret_cast<const Team&>(share);
  if ((team.pending.load(std::memory_order_acquire) & Pending::tasks_in_use) == 0) return false;
  const TaskPool& pool = team.tasks;
  if (!has_queued_tasks(pool)) return false;
  if (pool.free_waiters.load(std::memory_order_relaxed) != 0 || any_vacant(team)) return true;
  return pool.bound_waiters.load(std::memory_order_relaxed) != 0 &&
         pool.bound_seen.load(std::memory_order_relaxed) != tasks_offered(pool);
}

// What an idle worker takes from a team: members, tasks on a vacant seat, or a member that sleeps
// where it could run tasks.
bool take_from_team(core::Share& share, core::Worker& worker) {
  auto& team = reinterpret_cast<Team&>(share);
  if (share.left() != 0) {
    take_members(worker, team, false);
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

Team* new_team(WorkerCache& cache) {
  if (Team* team = take_team_set_aside(cache)) return team;
  void* memory = nullptr;
  if (posix_memalign(&memory, base::cache_line, sizeof(Team)) != 0) base::panic("no memory for a team");
  Team* team = new (memory) Team;
  team->share.take = take_from_team;
  team->share.wants_help = wants_help;
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

void become_master(core::Worker& worker, Team& team, Member& opener) {
  Member& master = team.master;
  master.parent = &opener;
  master.team = &team;
  master.number = 0;
  master.task = &master.implicit;
  master.implicit.runner.store(&master, std::memory_order_relaxed);
  master.implicit.icv = team.icv;
  master.implicit.group = nullptr;
  master.constructs = 0;
  master.singles = 0;
  master.seat = nullptr;
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

[[gnu::always_inline]] inline void wait_for_members(Team& team) {
  const auto complete = [&team] { return Pending::holders(team.pending.load(std::memory_order_acquire)) == 0; };
  for (unsigned round = 0; !complete(); ++round) {
    if (keep_looking(team, round)) continue;
    unpublish_if_of_no_use(team);
    core::Unit& unit = core::this_unit();
    core::prepare_suspend(unit);
    std::uint64_t word = team.pending.load(std::memory_order_relaxed);
    bool waits = false;
    while (Pending::holders(word) != 0 && !waits)
      waits = team.pending.compare_exchange_weak(word, word | Pending::master_waits, std::memory_order_acq_rel,
                                                 std::memory_order_acquire);
    if (!waits) {
      core::cancel_suspend(unit);
      continue;
    }
    core::suspend();
  }
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
  free_left_reductions(team);
  team.arrived.store(0, std::memory_order_relaxed);
  team.worksharing_cancelled.store(false, std::memory_order_relaxed);
  team.cancelled.store(false, std::memory_order_relaxed);
}

void keep_own_identity_while_members_run(core::Worker& worker) {
  core::Unit& unit = *worker.current;
  if (!core::is_root(unit) && details(unit).identity == nullptr) core::keep_identity(worker, unit);
}

}  // namespace

bool hold_open(Team& team) {
  std::uint64_t word = team.pending.load(std::memory_order_relaxed);
  while ((word & Pending::tasks_in_use) != 0)
    if (team.pending.compare_exchange_weak(word, word + Pending::holder, std::memory_order_acquire,
                                           std::memory_order_relaxed))
      return true;
  return false;
}

void let_close(Team& team) {
  if (team.level == 0 && team.standing == Standing::root)
    let_root_end(team);
  else
    drop_holders(team, Pending::holder);
}

unsigned resolve_size(Member& member, unsigned requested, unsigned useful) {
  const Icv& icv = icv_of(member);
  if (member.team->active_level >= icv.max_active_levels) return 1;
  unsigned size = requested != 0 ? requested : static_cast<unsigned>(icv.nthreads);
  if (size > core::Share::most) [[unlikely]] {
    const int listed = requested != 0 ? 0 : first_of_list(icv.nthreads);
    size = listed > 0 && static_cast<unsigned>(listed) < core::Share::most ? static_cast<unsigned>(listed)
                                                                           : core::Share::most;
  }
  if (icv.dynamic) {
    core::worker_here();  // starts the runtime, which knows the number of workers
    if (size > core::runtime.workers) size = core::runtime.workers;
    if (useful != 0 && size > useful) size = useful;
  }
  if (icv.thread_limit != no_thread_limit && size > 1) size = 1 + acquire_threads(member, size - 1, icv.thread_limit);
  return size;
}

Team& prepare_region(unsigned size, void (*function)(void*), void* data) {
  core::Worker& worker = core::worker_here();
  Member& opener = this_member();
  Team* team = take_team(worker);
  Team& outer = *opener.team;
  stands_within(*team, outer);
  team->function = function;
  team->data = data;
  team->size = size;
  team->level = outer.level + 1;
  team->active_level = outer.active_level + (size > 1 ? 1 : 0);
  team->first_construct = 0;
  team->epoch = core::runtime.epoch.load(std::memory_order_relaxed);
  team->icv = icv_of(opener);
  team->group = nullptr;
  if (static_cast<int>(team->level) < listed_levels.load(std::memory_order_relaxed)) take_nthreads_list(*team, opener);
  if (static_cast<int>(team->level) < settings.bind_levels) team->icv.bind = settings.bind_list[team->level];
  team->master_unit = worker.current;
  team->seats = nullptr;
  team->dispatch = usual_dispatch;
  team->standing = Standing::inner;
  if (outer.standing == Standing::root) team->standing = size > 1 ? Standing::outermost : Standing::root;
  if (size > 1) {
    if (team->standing == Standing::outermost) {
      team->seats = seats_for(worker, size);
      worker.active.store(true, std::memory_order_relaxed);
    } else if (outer.standing == Standing::initial && !ompt::watched) {
      team->seats = seats_within(worker, outer, size);
    }
    team->pending.store((Pending::holder + Pending::member) * (size - 1), std::memory_order_relaxed);
    clear_vacancies(*team, size);
  } else {
    team->vacant_words.store(0, std::memory_order_relaxed);
  }

  become_master(worker, *team, opener);
  count_region(worker, team->level, size);
  if (attends_regions) [[unlikely]]
    attend_region(*team);
  return *team;
}

namespace {

// Each into the pool of its place, or of the calling worker. A frame serves until its member is done, and nobody looks
// at it after that: so the team can keep them.
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

}  // namespace

void choose_members(core::Preemption kind) {
  members_keep_klts = kind == core::Preemption::klt_switch;
  const bool units = members_keep_klts || is_off(Optimisation::range) || is_off(Optimisation::borrowed_stacks);
  usual_dispatch = units ? Dispatch::as_units : Dispatch::claimed;
  if (is_off(Optimisation::borrowed_stacks)) technique_of_units = core::Technique::full_l;
  if (is_off(Optimisation::runs)) short_ticks = 0;
}

void start_members(Team& team) {
  if (team.size == 1) return;
  // Published first: a thief that still knows the share from an earlier region can claim a member as soon as it
  // is open, and that member's first task looks whether the share is published (open_pool).
  core::publish(*core::this_worker(), team.share);
  if (team.dispatch >= Dispatch::as_units) [[unlikely]] {
    push_members(team);
  } else {
    team.share.open(1, team.size);
    core::notify(&team.share);
  }
  core::watch();
}

Team& open_region(unsigned size, void (*function)(void*), void* data) {
  Team& team = prepare_region(size, function, data);
  start_members(team);
  return team;
}

namespace {

void wait_for_members_and_tasks(Team& team, Member& master) {
  core::Worker& worker = *core::this_worker();
  if (team.share.left() != 0) {
    keep_own_identity_while_members_run(worker);
    take_members(worker, team, true);
  }
  bool used_tasks = false;
  do {  // again where the last members to end were the first to make tasks
    if (team.tasks.used.load(std::memory_order_acquire)) {
      used_tasks = true;
      end_tasks(team, master);
    }
    wait_for_members(team);
  } while (team.tasks.used.load(std::memory_order_acquire));
  if (used_tasks) close_pool(team.tasks);
  core::unpublish(team.share);
}

}  // namespace

void complete_region() {
  Member& master = this_member();
  Team& team = *master.team;
  const bool forked_inside = team.epoch != core::runtime.epoch.load(std::memory_order_relaxed);
  if ((team.size > 1 || team.tasks.used.load(std::memory_order_relaxed)) && !forked_inside) {
    wait_for_members_and_tasks(team, master);
  }
  end_implicit_task(master);
  const bool cancelled = team.cancelled.load(std::memory_order_relaxed);
  if (cancelled) [[unlikely]]
    end_cancelled(team);
  else if (master.constructs != 0)
    team.workshares.reset();
  if (master.singles != 0) team.singles.store(0, std::memory_order_relaxed);
  core::Worker& worker = *core::this_worker();
  become_member(*worker.current, *master.parent);
  if (team.size > 1) {
    if (team.standing == Standing::outermost) worker.active.store(false, std::memory_order_relaxed);
    release_threads(team);
  }
  if (forked_inside) return;  // the team is a picture of the parent's
  put_back(worker, team);
}

namespace {

// For the experiment: the master leaves all members to whoever looks for work, if only on its own worker.
void wait_without_helping(Team& team) {
  const bool forked_inside = team.epoch != core::runtime.epoch.load(std::memory_order_relaxed);
  if (team.size > 1 && !forked_inside) wait_for_members(team);
}

[[gnu::noinline, gnu::cold]] void close_attended_region() {
  Team& team = *this_member().team;
  const bool held = holds_master(team);
  if (is_off(Optimisation::master_helps)) wait_without_helping(team);
  if (ompt::watched)
    ompt::close_watched_region();
  else
    complete_region();
  core::Worker& worker = *core::this_worker();
  if (held) let_master_go(worker);
  if (sets_teams_aside()) set_closed_teams_aside(cache_of(worker));
}

}  // namespace

void close_region() {
  if (attends_ends) [[unlikely]]
    close_attended_region();
  else
    complete_region();
}

Team& open_initial_team(const Icv& icv) {
  core::Worker& worker = core::worker_here();
  Member& opener = this_member();
  Team* team = take_team(worker);
  stands_within(*team, *opener.team);
  team->size = 1;
  team->level = 0;
  team->active_level = 0;
  team->first_construct = 0;
  team->epoch = core::runtime.epoch.load(std::memory_order_relaxed);
  team->standing = Standing::initial;
  team->group = nullptr;
  team->vacant_words.store(0, std::memory_order_relaxed);
  team->icv = icv;
  team->seats = nullptr;
  team->master_unit = worker.current;
  team->league_size = 1;
  team->league_number = 0;
  team->threads_in_use.store(0, std::memory_order_relaxed);
  become_master(worker, *team, opener);
  if (attends_regions) attend_initial_team(*team);
  return *team;
}

void close_initial_team() {
  Member& master = this_member();
  Team& team = *master.team;
  const bool forked_inside = team.epoch != core::runtime.epoch.load(std::memory_order_relaxed);
  if (team.tasks.used.load(std::memory_order_relaxed) && !forked_inside) wait_for_members_and_tasks(team, master);
  end_implicit_task(master);
  if (master.constructs != 0) team.workshares.reset();
  core::Worker& worker = *core::this_worker();
  become_member(*worker.current, *master.parent);
  if (forked_inside) return;
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
  if (round == first_rounds && !core::spinning_pays()) return false;
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
