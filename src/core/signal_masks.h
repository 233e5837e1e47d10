// Which signals the program's threads have blocked. The kernel keeps that for each KLT; but what runs on a worker goes
// from one KLT to another, and weft's own have nearly all signals blocked (os/klt.h). So a mask that the program has
// set belongs to the identity that it has set it on (rung 3), and is in force wherever that identity is installed.
//
// Most programs set none, and an identity has none of its own then: what runs on it has blocked whatever its KLT
// usually has. That is one load where a worker changes identities (identities.h).
//
// What is in force on a KLT:
//   one of weft's   its usual mask (os::signals_blocked_on_klts), and besides what the identity has blocked; of the
//                   signals that these KLTs take where the program does (os::signals_left_to_program) just that
//   a root's own    the identity's mask; of those that have none the one that the root had before any was changed
//                   (WorkersMask::of_root)
// What the program is told that has not set any: on a root's KLT what the root had, on one of weft's what main had, but
// for those signals: of them what the KLT has.
//
// What an identity with a mask has blocked, and has itself caused, goes with it, too (Identity::pending).
//
// WorkersMask::changed says that the KLT that runs the worker has another mask in force than its usual one. Where
// another KLT takes a worker over (klt_switch.cpp), it begins with its own usual one, and a unit that held its KLT
// comes back with that.
#pragma once

#include "base/relaxed.h"
#include "os/identity.h"
#include "os/signal_mask.h"

namespace weft::core {

struct Worker;

/// Whether any identity has, or has had, a mask of its own.
extern base::Relaxed<bool> signal_masks_in_use;

/// The worker, the caller's, goes on on this identity. Also from a handler.
void change_signal_mask(Worker& worker, const os::Identity& to);

/// Another KLT goes on with the worker: what is pending on this one for the identity that is installed goes with that.
void take_pending_signals_along(Worker& worker);

/// What runs on the worker, the caller's, has blocked, as the program sees it.
os::SignalMask signals_of_caller(const Worker& worker);

/// The program wants it to have these blocked; returns what the KLT has blocked now.
os::SignalMask set_signals_of_caller(Worker& worker, os::SignalMask blocked);

/// The same, where it is a mask that a KLT had in force once, this one or another (sigsetjmp).
os::SignalMask restore_signals_of_caller(Worker& worker, os::SignalMask in_force);

/// Whether the caller, on a KLT of weft's, has the signal open as far as the program knows, and does not get it.
bool keeps_from_caller(const Worker* worker, int signal, os::SignalMask in_force);

/// What a KLT has blocked while it lets these in: not another one either, that nobody sends. So the handler has more
/// blocked than what it has interrupted had, by which weft knows that it is one.
constexpr os::SignalMask while_letting_in(os::SignalMask signals, os::SignalMask in_force) {
  return in_force & ~(signals | os::mask_of(SIGSTKFLT));
}

/// The caller is about to send itself the signal. If it has that blocked, it stays pending wherever the caller goes on,
/// until it takes it or has it open.
void note_sent_to_itself(Worker& worker, int signal);

/// The root, outside of anything that could change identities, sets its mask itself.
void root_sets_signals(Worker& worker);

/// What a child that the caller starts shall have blocked; worker: nullptr of another thread of the program.
os::SignalMask signals_of_child(const Worker* worker);

/// In a forked child.
void give_back_signals(const Worker* before);

}  // namespace weft::core
