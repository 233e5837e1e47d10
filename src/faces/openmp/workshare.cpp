#include "faces/openmp/workshare.h"

#include <cstdlib>
#include <new>
#include <utility>

#include "base/panic.h"
#include "faces/openmp/member.h"
#include "faces/openmp/task_wait.h"
#include "faces/openmp/team.h"

namespace weft::openmp {
namespace {

// Whoever is the first there has a few stores to make.
void wait_while_prepared(const Workshare& shared, std::uint64_t construct) {
  core::wait_while([&shared, preparing = construct * Workshare::phases + Workshare::phase_preparing] {
    return shared.state.load(std::memory_order_relaxed) == preparing;
  });
}

[[gnu::noinline]] void free_contents(Workshare& slot) {
  std::free(slot.memory);
  std::free(slot.posted);
  slot.memory = nullptr;
  slot.posted = nullptr;
}

// One that was put aside.
void destroy(Workshare& shared) {
  free_contents(shared);
  shared.~Workshare();
  std::free(&shared);
}

}  // namespace

void wait_inside(const Member& member, Workshare& shared, std::uint64_t number, core::StillWanted not_yet,
                 const void* argument) {
  for (unsigned round = 0; not_yet(argument); ++round) {
    if (keep_looking(*member.team, round)) continue;
    shared.turn_waiters.fetch_add(1, std::memory_order_seq_cst);
    core::park(waiting_place(shared, number), not_yet, argument);
    shared.turn_waiters.fetch_sub(1, std::memory_order_relaxed);
  }
}

void WorkshareRing::reset() {
  for (unsigned index = 0; index < slots; ++index) {
    ring_[index].state.store(index * Workshare::phases + Workshare::phase_free, std::memory_order_relaxed);
    ring_[index].left.store(0, std::memory_order_relaxed);
  }
}

void WorkshareRing::discard() {
  for (Workshare& slot : ring_) free_contents(slot);
  while (front_ != nullptr) destroy(*std::exchange(front_, front_->behind));
  back_ = found_ = nullptr;
  reset();
}

void WorkshareRing::wake_all() {
  const auto wake = [](Workshare& shared) {
    for (std::uint64_t place = 0; place < sizeof(Workshare) / sizeof(std::uint64_t); ++place)
      core::unpark(waiting_place(shared, place));
  };
  for (Workshare& slot : ring_) wake(slot);
  core::SpinGuard guard(lock_);
  for (Workshare* shared = front_; shared != nullptr; shared = shared->behind) wake(*shared);
}

// False: the slot is free for that construct.
bool WorkshareRing::mark(Workshare& slot, std::uint64_t construct) {
  const std::uint64_t mine = construct * Workshare::phases;
  for (;;) {
    std::uint64_t state = slot.state.load(std::memory_order_acquire);
    if (state >= mine) return false;
    if (state % Workshare::phases == (Workshare::phase_ready | Workshare::marked)) break;
    if (state % Workshare::phases != Workshare::phase_ready)
      wait_while_prepared(slot, state / Workshare::phases);
    else if (slot.state.compare_exchange_weak(state, state | Workshare::marked, std::memory_order_relaxed))
      break;
  }
  slot.next_of_slot = construct + slots;
  return true;
}

Workshare* WorkshareRing::find(std::uint64_t construct) {
  const auto number = [](const Workshare& shared) {
    return shared.state.load(std::memory_order_relaxed) / Workshare::phases;
  };
  if (back_ == nullptr || number(*back_) < construct) return nullptr;
  Workshare* shared = found_ != nullptr && number(*found_) <= construct ? found_ : front_;
  while (number(*shared) < construct) shared = shared->behind;
  if (number(*shared) != construct) return nullptr;  // the slot has become free for it since, and was taken
  return found_ = shared;
}

Workshare* WorkshareRing::aside(std::uint64_t construct, bool* first) {
  const std::uint64_t mine = construct * Workshare::phases;
  *first = false;
  core::SpinGuard guard(lock_);
  if (Workshare* shared = find(construct); shared != nullptr) return shared;
  if (!mark(slot(construct), construct)) return nullptr;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignof(Workshare), sizeof(Workshare)) != 0)
    base::panic("no memory for a worksharing construct");
  Workshare* shared = new (memory) Workshare;
  shared->state.store(mine + Workshare::phase_preparing, std::memory_order_relaxed);
  (back_ != nullptr ? back_->behind : front_) = shared;
  back_ = shared;
  *first = true;
  return shared;
}

void WorkshareRing::remove(Workshare& shared) {
  core::SpinGuard guard(lock_);
  Workshare* before = nullptr;
  for (Workshare* one = front_; one != &shared; one = one->behind) before = one;
  (before != nullptr ? before->behind : front_) = shared.behind;
  if (back_ == &shared) back_ = before;
  if (found_ == &shared) found_ = nullptr;
}

[[gnu::noinline]] void WorkshareRing::free_marked(Workshare& slot) {
  core::SpinGuard guard(lock_);
  slot.state.store(slot.next_of_slot * Workshare::phases + Workshare::phase_free, std::memory_order_release);
}

void WorkshareRing::free(Workshare& shared) {
  if (!has(shared)) [[unlikely]] {
    remove(shared);
    destroy(shared);
    return;
  }
  if (shared.memory != nullptr || shared.posted != nullptr) free_contents(shared);
  shared.left.store(0, std::memory_order_relaxed);
  std::uint64_t state = shared.state.load(std::memory_order_relaxed) & ~Workshare::marked;
  const std::uint64_t next = state - Workshare::phase_ready + slots * Workshare::phases + Workshare::phase_free;
  if (!shared.state.compare_exchange_strong(state, next, std::memory_order_release, std::memory_order_relaxed))
    free_marked(shared);
}

namespace {

// False where it is not that construct, or not ready for it; `state` is what it is.
inline bool try_to_enter(Workshare& shared, std::uint64_t mine, std::uint64_t& state, bool* first) {
  state = shared.state.load(std::memory_order_acquire);
  if (state == mine + Workshare::phase_free &&
      shared.state.compare_exchange_strong(state, mine + Workshare::phase_preparing, std::memory_order_acquire)) {
    shared.entry_data = nullptr;
    return *first = true;
  }
  *first = false;
  return (state | Workshare::marked) == mine + (Workshare::phase_ready | Workshare::marked);
}

[[gnu::noinline]] Workshare& enter_later(Team& team, std::uint64_t construct, bool* first) {
  const std::uint64_t mine = construct * Workshare::phases;
  Workshare* shared = &team.workshares.slot(construct);
  std::uint64_t state = 0;
  while (!try_to_enter(*shared, mine, state, first)) {
    if (state / Workshare::phases == construct) {
      wait_while_prepared(*shared, construct);
      continue;
    }
    Workshare* aside = team.workshares.aside(construct, first);
    if (*first) return *aside;
    if (aside != nullptr) shared = aside;
  }
  return *shared;
}

}  // namespace

Workshare& enter_construct(Member& member, bool* first) {
  const std::uint64_t construct = member.constructs++;
  Workshare& slot = member.team->workshares.slot(construct);
  const std::uint64_t mine = construct * Workshare::phases;
  std::uint64_t state = 0;
  if (try_to_enter(slot, mine, state, first)) [[likely]]
    return slot;
  return enter_later(*member.team, construct, first);
}

void publish_construct(Workshare& slot) {
  slot.state.store(slot.state.load(std::memory_order_relaxed) - Workshare::phase_preparing + Workshare::phase_ready,
                   std::memory_order_release);
}

void take_entry_step(Member& member, Workshare& slot, bool first, const EntryStep& step) {
  void* made = step.run(member, step.data, first ? nullptr : slot.entry_data);
  if (first) slot.entry_data = made;
}

void enter_and_leave_construct(Member& member, const EntryStep& step) {
  bool first = false;
  Workshare& slot = enter_construct(member, &first);
  take_entry_step(member, slot, first, step);
  if (first) publish_construct(slot);
  leave_construct(member, slot);
}

void leave_construct(Member& member, Workshare& slot) {
  Team& team = *member.team;
  member.loop.shared = nullptr;
  if (slot.left.fetch_add(1, std::memory_order_acq_rel) + 1 != team.size) return;
  team.workshares.free(slot);
}

}  // namespace weft::openmp
