#include "faces/openmp/workshare.h"

#include <cstdlib>

#include "arch/cpu.h"
#include "faces/openmp/member.h"
#include "faces/openmp/task_wait.h"
#include "faces/openmp/team.h"
#include "os/futex.h"

namespace weft::openmp {
namespace {

struct SlotState {
  const Team* team;
  const Workshare* slot;
  std::uint64_t state;
};

bool still_used(const void* argument) {
  auto seen = static_cast<const SlotState*>(argument);
  return seen->slot->state.load(std::memory_order_seq_cst) / Workshare::phases < seen->state / Workshare::phases &&
         !seen->team->cancelled.load(std::memory_order_seq_cst);
}

// The member is `slots` constructs ahead of another one. False: which may never come.
bool wait_until_free(const Team& team, Workshare& slot, std::uint64_t wanted) {
  const SlotState argument{&team, &slot, wanted};
  while (still_used(&argument)) {
    slot.awaited.store(true, std::memory_order_seq_cst);
    core::park(&slot.awaited, still_used, &argument);
  }
  return slot.state.load(std::memory_order_acquire) / Workshare::phases >= wanted / Workshare::phases;
}

[[gnu::noinline]] void free_contents(Workshare& slot) {
  std::free(slot.memory);
  std::free(slot.posted);
  slot.memory = nullptr;
  slot.posted = nullptr;
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
  reset();
}

void WorkshareRing::wake_all() {
  for (Workshare& slot : ring_)
    for (std::uint64_t place = 0; place < sizeof(Workshare) / sizeof(std::uint64_t); ++place)
      core::unpark(waiting_place(slot, place));
}

namespace {

// False where the slot is neither free nor ready for the construct whose number `mine` stands for; `state` is what it
// is.
inline bool try_to_enter(Workshare& slot, std::uint64_t mine, std::uint64_t& state, bool* first) {
  state = slot.state.load(std::memory_order_acquire);
  if (state == mine + Workshare::phase_free &&
      slot.state.compare_exchange_strong(state, mine + Workshare::phase_preparing, std::memory_order_acquire)) {
    slot.entry_data = nullptr;
    return *first = true;
  }
  *first = false;
  return state == mine + Workshare::phase_ready;
}

[[gnu::noinline]] Workshare& enter_later(Team& team, Workshare& slot, std::uint64_t mine, bool* first) {
  std::uint64_t state = 0;
  for (unsigned round = 0; !try_to_enter(slot, mine, state, first); ++round) {
    if (state == mine + Workshare::phase_preparing) {  // a few stores away
      if (round < 256)
        arch::relax();
      else
        os::give_up_cpu();
    } else if (!wait_until_free(team, slot, mine)) {
      return team.workshares.nothing();
    }
  }
  return slot;
}

}  // namespace

Workshare& enter_construct(Member& member, bool* first) {
  const std::uint64_t construct = member.constructs++;
  Workshare& slot = member.team->workshares.slot(construct);
  const std::uint64_t mine = construct * Workshare::phases;
  std::uint64_t state = 0;
  if (try_to_enter(slot, mine, state, first)) [[likely]]
    return slot;
  return enter_later(*member.team, slot, mine, first);
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
  if (&slot == &team.workshares.nothing()) return;
  if (slot.memory != nullptr || slot.posted != nullptr) free_contents(slot);
  slot.left.store(0, std::memory_order_relaxed);
  const std::uint64_t construct = slot.state.load(std::memory_order_relaxed) / Workshare::phases;
  slot.state.store((construct + WorkshareRing::slots) * Workshare::phases + Workshare::phase_free,
                   std::memory_order_seq_cst);
  if (slot.awaited.load(std::memory_order_seq_cst)) {
    slot.awaited.store(false, std::memory_order_relaxed);
    core::unpark(&slot.awaited);
  }
}

}  // namespace weft::openmp
