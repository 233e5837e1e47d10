// Which identity a worker runs on (rung 3; the rule itself stands in os/identity.h).
//
// Invariants, at every point where another KLT can see the change:
//   - the scheduler of a KLT of weft's runs on `own`; that of a root on the root's native identity,
//     which nobody else ever installs, so that a signal that arrives while it idles finds the thread
//     that the program knows;
//   - an identity that a suspended unit keeps is installed nowhere.
// Where no lender can be had, units go without: they see the thread-local storage of whichever
// worker runs them. That is said once on stderr.
#pragma once

#include "core/sanitizer.h"
#include "core/signal_masks.h"
#include "core/worker.h"

namespace weft::core {

/// False: rung 3 is off (WEFT_IDENTITY=0, sanitizer builds).
extern bool identities_enabled;

inline void install(Worker& worker, os::Identity* identity) {
  if (worker.identities.installed == identity) return;
  if (signal_masks_in_use) [[unlikely]]
    change_signal_mask(worker, *identity);
  worker.identities.installed = identity;
  *arch::thread_word_of(identity->thread_pointer) = &worker;
  arch::set_thread_pointer(identity->thread_pointer);
}

/// A free-standing unit that asks for none sees the thread-local storage of the worker that it runs on.
inline bool runs_on_any_identity(const Unit& unit) {
  constexpr std::uint16_t both = UnitFlag::free_standing | UnitFlag::wants_identity;
  return (unit.flags.load(std::memory_order_relaxed) & both) == UnitFlag::free_standing;
}

/// A description of an identity, of none yet; freed by free(). nullptr without memory.
os::Identity* new_identity();

/// A free identity, from the worker's cache, from the shared one, or new; nullptr if none can be had.
os::Identity* take_identity(Worker& worker);
/// So many, for less than one by one where they have to be made; nullptr in the place of each that cannot be had.
void take_identities(Worker& worker, os::Identity** identities, unsigned count);
void give_identity(Worker& worker, os::Identity* identity);

/// This one, if it is among the worker's spare ones or the shared ones. False: it is not.
bool take_identity_back(Worker& worker, os::Identity* identity);

/// The worker runs nothing for a while: what it has spare, others may take before they have a KLT made. (Units are
/// suspended on one worker and end on another, so that some would have new ones made while others have plenty.)
void leave_identities_to_others(Worker& worker);

/// From a signal handler: moves one from the shared cache into the worker's. False: there is none, or somebody is
/// just at it.
bool take_spare_in_handler(Worker& worker);
/// The calling KLT, of weft's, does not need its own any more: it is in the shared cache from now on.
void offer_identity_of_this_klt();
/// From a signal handler: there shall be one more, soon.
void want_identity();
/// Not from a handler: makes those that are wanted.
void make_wanted_identities();

/// An identity that nobody will use again: its KLT ends. `awaited`: as one of these.
void end_identity(Worker& worker, os::Identity* identity, os::AwaitedEnds* awaited = nullptr);
/// The same for a free one; that of a KLT that lives on stays, for all.
void end_or_share_identity(os::Identity* identity, os::AwaitedEnds* awaited);
/// For those that are shared.
void end_shared_identities(os::AwaitedEnds* awaited);
/// Ends one that a sleeper lends and that is free, if the worker or the shared cache has any.
void end_free_lender(Worker& worker);

/// Gives the worker an `own` identity if it has none (a root that runs its first foreign unit).
/// False: none can be had, and `own` stays nullptr.
bool ensure_own_identity(Worker& worker);

/// For a scheduler frame that wants to run units without identity: changes to `own`.
inline void install_own(Worker& worker) {
  if (!identities_enabled) return;
  if (worker.identities.own != nullptr || ensure_own_identity(worker)) [[likely]]
    install(worker, worker.identities.own);
}

/// For the scheduler itself: changes to an identity that no unit can be running on elsewhere.
inline void install_home(Worker& worker) {
  if (!identities_enabled) return;
  os::Identity* home = worker.identities.home != nullptr ? worker.identities.home : worker.identities.own;
  if (home == nullptr) __builtin_unreachable();  // a root has the one, a KLT of weft's the other
  install(worker, home);
}

/// The unit that runs on the worker is about to be shown to others as suspended, or sets up a
/// scheduler frame of its own: it keeps the identity it runs on, the worker changes to another.
void keep_identity_slowly(Worker& worker, Unit& unit);
inline void keep_identity(Worker& worker, Unit& unit) {
  if (runs_on_any_identity(unit)) [[likely]]
    return;
  if (identities_enabled) keep_identity_slowly(worker, unit);
}

/// For a unit that runs (again): its own identity if it has one, else the worker's.
inline void install_for(Worker& worker, const Unit& unit) {
  if (runs_on_any_identity(unit) || !identities_enabled) return;
  if (os::Identity* kept = details(unit).identity; kept != nullptr)
    install(worker, kept);
  else
    install_own(worker);
}

/// The unit is done: what it kept is free again (unless it is its own for good).
void drop_identity_slowly(Worker& worker, Unit& unit);
inline void drop_identity(Worker& worker, Unit& unit) {
  if (runs_on_any_identity(unit)) [[likely]]
    return;
  if (identities_enabled) drop_identity_slowly(worker, unit);
}

/// In a forked child: no KLT but this one is left.
void forget_identities();

}  // namespace weft::core
