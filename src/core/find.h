// Finding work: in the worker's own pools and its scheduler's, in the shares that others publish, in the pools of
// others. And offering it.
//
// A root that waits may lend its KLT only to what lies within a share (Worker::lends_within). What it
// comes across and may not run, it puts aside where it found it; the others take it from there.
#pragma once

#include "core/own_scheduler.h"
#include "core/place_pools.h"
#include "core/pool/share.h"
#include "core/unit.h"
#include "core/worker.h"

namespace weft::core {

struct Found {
  Unit* unit = nullptr;
  Share* share = nullptr;
  Share::Run run{};  // what another worker has had in hand of the share; none: the share is to be taken from
  explicit operator bool() const { return unit != nullptr || share != nullptr; }
};

/// The newest unit of the calling worker's own deque, or nullptr.
inline Unit* take_newest(Worker& worker) { return worker.deque.pop(worker.privacy); }

/// Scheduling points between two looks whether it is somebody else's turn (find.cpp).
inline constexpr std::uint64_t points_in_a_row = 61;

/// Whether units other than the newest ones have been waiting for so long that one of them is to be next (next_local).
/// The clock is looked at once per points_in_a_row, so not each call tells.
bool is_turn_of_others_by_time(Worker& worker);
inline bool is_turn_of_others(Worker& worker) {
  const std::uint64_t points = worker.scheduling_points.load(std::memory_order_relaxed) - worker.turns.points;
  return points >= points_in_a_row && is_turn_of_others_by_time(worker);
}

/// The next ready unit of the worker's own pools; nullptr if there is none that it may run.
Unit* next_local(Worker& worker);
/// The same of its deque alone: nothing is put into any other pool, as it may be on the way out of an inbox.
Unit* next_of_deque(Worker& worker);
/// Of what others have put into the worker's inbox, the oldest; the rest become ready units of the worker. nullptr:
/// none.
Unit* next_handed_in(Worker& worker);

/// The next ready unit that the worker has at hand: the one it was handed, then those of its scheduler's pools, if it
/// has one of the program's, then next_local().
inline Unit* next_ready(Worker& worker) {
  if (worker.claims.has_new_scheduler) [[unlikely]]
    worker.claims.has_new_scheduler = false;
  if (Unit* unit = worker.handed_on; unit != nullptr) {
    worker.handed_on = nullptr;
    return unit;
  }
  if (worker.scheduler() != nullptr) {
    // Its pools may never be empty, and what has become ready here without a pool must not wait for that for ever.
    if (is_turn_of_others(worker)) [[unlikely]]
      if (Unit* unit = next_local(worker); unit != nullptr) return unit;
    if (Unit* unit = worker.scheduler()->next(worker); unit != nullptr) return unit;
  }
  return next_local(worker);
}

/// Something that another worker offers: a unit or a share, or a share only.
enum class Sought : std::uint8_t { anything, share };
Found search(Worker& worker, Sought sought = Sought::anything);

/// What lies where nobody comes to it: at spares that rest, and, for a worker that may run anything, at threads of the
/// program's in its own code, or that have ended, and at workers that are switched off; and what is put aside, wherever
/// that is. For a worker that is never without something of its own to do, and so never searches: now and then
/// (Turns::of_what_was_left).
Found search_what_was_left(Worker& worker);

/// Offers a share on the calling worker, for others to take from; follow it with notify().
void publish(Worker& worker, Share& share);
/// Withdraws it; from any worker. Late thieves may still look at the share afterwards.
void unpublish(Share& share);

/// Whether the worker has something that another could run (a hint).
bool offers_work(const Worker& worker);
/// The first of the shares it offers that is not used up (a hint); nullptr: none.
const Share* offered_share(const Worker& worker);

/// Whether a search on the worker would find something (a hint), whatever the caller is.
bool any_work(const Worker& worker);

/// How many units are ready in the workers' own pools (a hint; without those that others have just put there).
std::size_t count_ready();

/// Whether anybody offers anything, `scope` aside.
bool any_work();

/// The same, or something waits at a place.
inline bool something_waits() { return any_work() || any_placed(); }

}  // namespace weft::core
