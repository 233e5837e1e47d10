// `pending` says when a team is complete (layout in `Pending`, team.h). A member's claimer lowers it
// after the member's last access to the team; the master leaves when it is 0. Since the word of a
// closed team is 0, a thief that holds a stale pointer can do nothing to it: it joins only by raising
// `pending` from a value with tasks_in_use set, and then whatever region the team now serves is one
// that it may help.
//
// Orders. Each change of `pending` is a read-modify-write that releases what its author did to the team, and the master
// acquires all of them when it reads 0; or it is the master itself that lowers it to 0, for the last members, without
// tasks in use: then nobody else writes it any more, and the master has acquired the others' changes as it read it. The
// bit of a vacant seat is set (release) before `pending` is lowered, by one who still holds the team; who takes the
// seat acquires by that bit what the member before has left there, its deque and its counts, for it may have joined
// before `pending` was lowered.
#include "faces/openmp/region_end.h"

#include "core/scheduler.h"
#include "faces/openmp/root.h"
#include "faces/openmp/task_waiters.h"

namespace weft::openmp {
namespace {

void set_bits(std::atomic<std::uint64_t>* words, unsigned first, unsigned count) {
  while (count != 0) {
    const unsigned bit = first % 64;
    const unsigned here = count < 64 - bit ? count : 64 - bit;
    const std::uint64_t ones = here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1;
    words[first / 64].fetch_or(ones << bit, std::memory_order_release);  // partner: take_vacant()
    first += here;
    count -= here;
  }
}

// Whoever takes the number of holders to 0 resumes the master if it sleeps, and takes the mark away
// with the same step, so that a helper that comes and goes afterwards does not resume it again.
bool completes(std::uint64_t& word) {
  if (Pending::holders(word) != 0 || (word & Pending::master_waits) == 0) return false;
  word &= ~Pending::master_waits;
  return true;
}

// Some members or a helper are done, in a team that uses tasks: the master may sleep at the end of
// the region until the last of them is. The caller still holds the team open.
void tell_region_end(Team& team) {
  wake_chosen(team.tasks, [&team]() -> TaskWaiter* {
    TaskWaiter* waiter = team.end_waiter;
    return waiter != nullptr && waiter->listed && RegionEnd{team}.over() ? waiter : nullptr;
  });
}

}  // namespace

bool any_vacant(const Team& team) {
  const unsigned words = team.vacant_words.load(std::memory_order_acquire);
  const auto vacant = team.vacant.items();
  for (unsigned word = 0; word < words; ++word)
    if (vacant[word].load(std::memory_order_relaxed) != 0) return true;
  return false;
}

unsigned take_vacant(Team& team) {
  const unsigned words = team.vacant_words.load(std::memory_order_acquire);
  const auto vacant = team.vacant.items();
  for (unsigned word = 0; word < words && word < (team.size + 63) / 64; ++word) {
    std::uint64_t bits = vacant[word].load(std::memory_order_relaxed);
    while (bits != 0) {
      if (vacant[word].compare_exchange_weak(bits, bits & (bits - 1), std::memory_order_acquire))
        return word * 64 + static_cast<unsigned>(__builtin_ctzll(bits));
    }
  }
  return 0;
}

// It does not go to sleep once it has seen the mark; and if it has gone to sleep before, that is seen here.
void wake_master_for_tasks(Team& team) {
  core::Unit* master = team.master_unit;
  std::uint64_t word = team.pending.load(std::memory_order_relaxed);
  while ((word & Pending::master_waits) != 0) {
    if (!team.pending.compare_exchange_weak(word, word & ~Pending::master_waits, std::memory_order_acq_rel,
                                            std::memory_order_relaxed))
      continue;
    core::resume(*master);
    return;
  }
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

void members_done(Team& team, unsigned first, unsigned count) {
  core::Unit* master = team.master_unit;
  const std::uint64_t both = Pending::of_members(count);
  std::uint64_t word = team.pending.load(std::memory_order_acquire);
  set_bits(team.vacant.items(), first, count);
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

}  // namespace weft::openmp
