// A worker comes to a unit that has, or may come to need, a KLT of its own, on the KLT that it was born with: a root's
// or one of weft's. Then it is lent: a Klt carries it, with a scheduler on a fresh stack, and the KLT that it was born
// with sleeps until that scheduler comes to its end. So a root's own frames are continued by nobody else, and a
// preempted unit never sits on a root's KLT when the root wants to go on.
//
// Rejected: to let a root's KLT itself be kept by a unit. The root could not go on before that unit has ended.
#pragma once

#include <atomic>
#include <cstdint>

#include "arch/fp_control.h"
#include "arch/thread_pointer.h"
#include "core/carrier.h"
#include "core/stack.h"
#include "os/klt.h"

namespace weft::core {

/// A worker that a KLT has lent; in that KLT's frame. An even address.
struct Lent {
  Worker* worker;
  Unit* first;
  bool loops;
  const Unit* until_done;
  weft_fp_control modes;  // with which units begin in the frame that lends
  Stack* stack;
  std::atomic<std::uint32_t> is_back{0};
  void* context = nullptr;  // of the KLT itself, while its scheduler begins there
};

/// The KLT that the worker was born with lends it to a free one, or to that of the unit (nullptr), and sleeps until it
/// is back. `stack`: for the scheduler there.
void lend(Worker& worker, Unit& unit, Klt* klt, Stack& stack);

/// Begins the scheduler on its stack, and keeps the caller's context. Returns whom the caller shall give the worker to:
/// a Klt, or, at the end, back (lent_in).
std::intptr_t begin_lent(Lent& lent, void*& context);
/// nullptr: it is a Klt.
Lent* lent_in(std::intptr_t next);
/// By the Klt that has carried the worker, as hand_over().
void give_back(Lent& lent);

/// Of the caller's worker: whether it has been lent from here, and so the caller is a handler of the program's on the
/// KLT of a root, which sleeps meanwhile. Nothing that the worker holds is about the caller then, but its root.
inline bool is_lent_from_here(const Worker& worker) {
  if (worker.use.load(std::memory_order_relaxed) != WorkerUse::root || worker.identities.home != nullptr) return false;
  const Klt* carrier = worker.carrier.load(std::memory_order_acquire);
  return carrier == nullptr || carrier->id != os::this_klt();
}

/// The same in a forked child, of the worker that the caller had in the parent. No KLT has the number here that it had;
/// but that of the root sleeps with its own thread pointer, on which nothing else runs.
inline bool was_lent_from_here(const Worker& before) {
  if (before.use.load(std::memory_order_relaxed) != WorkerUse::root || before.identities.home != nullptr) return false;
  return before.carrier.load(std::memory_order_relaxed) == nullptr ||
         before.root.unit.details.identity->thread_pointer == arch::thread_pointer();
}

}  // namespace weft::core
