// Identities (rung 3 of the ladder): who a unit is to everything that is thread-local.
//
// An identity is the thread pointer of a real thread of libc: with it come `__thread` variables,
// errno, pthread_getspecific, malloc's caches and the owner field of mutexes. A *lender* is a KLT
// that sleeps for as long as it lives, so that somebody else may use its thread pointer. The KLT of
// a worker can serve as a lender too: its own scheduler runs on any identity that is free.
//
// The one rule: at any time at most one KLT runs on an identity. Whoever holds an Identity* and
// publishes a unit that keeps it must have changed to another thread pointer before it publishes.
//
// Argument that libc works on a lent thread pointer: everything it keeps per thread is reached
// through that pointer, and the descriptor there is alive (the lender sleeps, it has not ended).
// What the kernel knows per KLT is not moved: signal mask, alternate signal stack, robust-mutex
// list, and restartable sequences, which lenders and workers therefore unregister.
//
// Argument that a unit cannot end what it runs on without a word: pthread_exit(), and pthread_cancel() on what
// pthread_self() says, end the thread whose identity the unit has. libc leaps to where that began, on whichever KLT,
// and calls the destructors of its keys; one of weft's is among them from begin_lending() to end_lending(). What runs
// until then has room of its own on that stack (os/lending_klt.h).
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::os {

struct AwaitedEnds;

struct Identity {
  void* thread_pointer = nullptr;
  Identity* next = nullptr;  // in caches
  std::atomic<std::uint32_t> command{0};
  std::atomic<bool> lent_by_sleeper{false};  // false: the KLT of a worker or of a root
  AwaitedEnds* awaited = nullptr;            // who waits until it has ended
  // What the program has blocked on it, where it has said so (core/signal_masks.h).
  bool has_mask = false;
  std::uint64_t blocked = 0;
  // And what is for it alone of that, and pending: on the KLT that runs it, or else here. Some may have been taken
  // since.
  std::uint64_t pending = 0;
};

/// Before the first of them.
void expect_lenders();

/// The calling KLT, one of weft's that has just begun, lets units have its thread pointer, which this is.
void* begin_lending();
/// It does no longer, and may end. In a forked child: the caller, whoever it was.
void end_lending();

/// The process ends with a line: a unit has ended a thread that is not its own.
[[noreturn]] void end_for_ended_thread();

/// A chain of new identities with a sleeping KLT behind each: `count`, or as many as KLTs can be had; nullptr: none.
/// The KLTs begin while the caller starts more of them, and it waits for all at the end. (One after the other was two
/// context switches of the caller's for each.)
Identity* create_lenders(unsigned count);

/// Lets the KLT behind `identity` end: its thread-local destructors run there. Only for identities
/// that a sleeper lends (lent_by_sleeper) and nobody runs on. `awaited`: it is one of these, from now on.
void end_lender(Identity* identity, AwaitedEnds* awaited = nullptr);

/// A KLT that is done with all else makes itself the lender of the identity that it was born with, which others may be
/// running on already: it has all signals blocked and that thread pointer, but touches nothing thread-local any more.
/// From now on others may end it, and it calls sleep_as_lender() soon. Wakes who waits for that.
void become_lender(Identity& identity);

/// Until somebody has called end_lender(): then the KLT is to return from its entry. Frees the identity.
void sleep_as_lender(Identity* identity);

}  // namespace weft::os
