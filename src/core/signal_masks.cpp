#include "core/signal_masks.h"

#include <csignal>

#include "core/worker.h"
#include "os/frames_below.h"
#include "os/klt.h"
#include "os/signal_mask.h"

namespace weft::core {

base::Relaxed<bool> signal_masks_in_use{false};

namespace {

// While another KLT carries a root's worker, it has no home (klt_switch.cpp).
bool is_on_roots_klt(const Worker& worker) { return worker.identities.home != nullptr; }

// In force for an identity without a mask. In a handler the KLT has more blocked than what it has interrupted had: then
// what main had is as good as can be told.
os::SignalMask usual_mask(const Worker& worker) {
  if (!is_on_roots_klt(worker)) return os::signals_blocked_on_klts();
  if (worker.mask.changed) return worker.mask.of_root;
  return os::in_handler_of_program() ? os::signals_of_program() : os::signals_blocked();
}

// What it is told of those that are open on weft's KLTs, or not, is what they are.
os::SignalMask mask_without_own(const Worker& worker, os::SignalMask usual) {
  if (is_on_roots_klt(worker)) return usual;
  constexpr os::SignalMask as_they_are = os::signals_left_to_program;
  return (os::signals_of_program() & ~as_they_are) | (usual & as_they_are);
}

// Of what weft's KLTs have blocked, what no mask of the program's opens there.
os::SignalMask kept_blocked_on_klts() { return os::signals_blocked_on_klts() & ~os::signals_left_to_program; }

os::SignalMask put_in_force(Worker& worker, const os::Identity& identity, os::SignalMask usual) {
  os::SignalMask mask = identity.has_mask ? identity.blocked : usual;
  if (is_on_roots_klt(worker))
    worker.mask.of_root = usual;
  else
    mask |= kept_blocked_on_klts();
  worker.mask.changed = identity.has_mask;
  const bool is_lent = is_on_roots_klt(worker) && &identity != worker.identities.home &&
                       (identity.has_mask || worker.identities.home->has_mask);
  if (is_lent) os::note_mask_on_main(true, worker.identities.home->has_mask ? worker.identities.home->blocked : usual);
  os::set_signals(mask);
  if (!is_lent && is_on_roots_klt(worker)) os::note_mask_on_main(false, 0);
  return mask;
}

// The KLT goes on as another identity, which may have open what this one has blocked. What somebody has sent to the
// process is for whoever has it open; not so what the identity has sent to itself, or its own write() has caused. (Bug:
// SIGPIPE, blocked, came when the member waited at a barrier and another one had the KLT.)
void take_pending_along(os::Identity& left) {
  constexpr os::SignalMask by_itself = os::mask_of(SIGPIPE) | os::mask_of(SIGXFSZ);
  if (left.has_mask) left.pending = os::take_pending((left.pending | by_itself) & left.blocked);
}

// What is pending for the caller is handled; of the signals that weft's KLTs never have open, too.
void let_in(os::SignalMask in_force, os::SignalMask signals) {
  if ((in_force & signals) == 0) return;
  os::set_signals(while_letting_in(signals, in_force));
  os::set_signals(in_force);
}

bool has_own_mask(const Worker* worker) {
  return signal_masks_in_use && worker != nullptr && worker->identities.installed != nullptr &&
         worker->identities.installed->has_mask;
}

}  // namespace

void change_signal_mask(Worker& worker, const os::Identity& to) {
  if (!worker.mask.changed && !to.has_mask) return;
  // The same one again, on another KLT: what it has pending is in its word, and not here.
  os::Identity* const left = worker.identities.installed;
  if (left != nullptr && left != &to) take_pending_along(*left);
  put_in_force(worker, to, usual_mask(worker));
  if (to.has_mask) os::send_to_this_klt(to.pending);
}

void take_pending_signals_along(Worker& worker) {
  if (signal_masks_in_use && worker.mask.changed && worker.identities.installed != nullptr)
    take_pending_along(*worker.identities.installed);
}

os::SignalMask signals_of_caller(const Worker& worker) {
  if (has_own_mask(&worker)) return worker.identities.installed->blocked;
  return mask_without_own(worker, usual_mask(worker));
}

os::SignalMask set_signals_of_caller(Worker& worker, os::SignalMask blocked) {
  const os::SignalMask usual = usual_mask(worker);
  os::Identity& identity = *worker.identities.installed;
  identity.blocked = blocked;
  const os::SignalMask opened = identity.pending & ~blocked;
  identity.pending &= blocked;
  // On a root's KLT, and what it wants is what that has: but weft's, to which it may come, have something else.
  const os::SignalMask changes_elsewhere = (blocked ^ os::signals_blocked_on_klts()) & os::signals_left_to_program;
  // What is pending goes with it, and only a mask of its own does.
  identity.has_mask = blocked != mask_without_own(worker, usual) || identity.pending != 0 ||
                      (changes_elsewhere != 0 && &identity != worker.identities.home);
  if (identity.has_mask) signal_masks_in_use = true;
  const os::SignalMask in_force = put_in_force(worker, identity, usual);
  let_in(in_force, opened);
  return in_force;
}

os::SignalMask restore_signals_of_caller(Worker& worker, os::SignalMask in_force) {
  const os::SignalMask on_klts = kept_blocked_on_klts();
  os::SignalMask blocked = in_force;
  // Saved on a KLT of weft's: what that has blocked besides is not the program's.
  if (worker.identities.installed != worker.identities.home && (in_force & on_klts) == on_klts)
    blocked = (in_force & ~on_klts) | (mask_without_own(worker, usual_mask(worker)) & on_klts);
  return set_signals_of_caller(worker, blocked);
}

bool keeps_from_caller(const Worker* worker, int signal, os::SignalMask in_force) {
  const os::SignalMask on_klts = kept_blocked_on_klts();
  if (worker == nullptr || is_on_roots_klt(*worker) || (in_force & on_klts) != on_klts) return false;
  return (signals_of_caller(*worker) & os::mask_of(signal)) == 0;
}

void note_sent_to_itself(Worker& worker, int signal) {
  os::Identity* identity = worker.identities.installed;
  const Unit* unit = worker.current;
  if (identity == nullptr || unit == nullptr) return;
  if (is_root(*unit) && scope_of(*unit) == nullptr) return;  // outside of regions nobody else gets the KLT
  const os::SignalMask blocked = signals_of_caller(worker);
  if ((blocked & os::mask_of(signal)) == 0) return;
  if (!identity->has_mask) {
    if (is_on_roots_klt(worker) && !worker.mask.changed) worker.mask.of_root = usual_mask(worker);
    identity->blocked = blocked;
    identity->has_mask = worker.mask.changed = true;
    signal_masks_in_use = true;
  }
  identity->pending |= os::mask_of(signal);
}

void root_sets_signals(Worker& worker) {
  if (!signal_masks_in_use || worker.identities.installed == nullptr ||
      worker.identities.installed != worker.identities.home)
    return;
  worker.identities.installed->has_mask = false;
  worker.identities.installed->pending = 0;
  worker.mask.changed = false;
  os::note_mask_on_main(false, 0);
}

os::SignalMask signals_of_child(const Worker* worker) {
  return has_own_mask(worker) ? worker->identities.installed->blocked : os::signals_of_child();
}

void give_back_signals(const Worker* before) {
  if (has_own_mask(before))
    os::set_signals(before->identities.installed->blocked);
  else
    os::give_back_signals();
}

}  // namespace weft::core
