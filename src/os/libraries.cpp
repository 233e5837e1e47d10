// glibc (2.36, at least) takes a lock in dl_iterate_phdr(3) that it does not free in a forked child: if another thread
// is in there at the fork, the child's first call waits for ever. weft calls it often, and on threads that the program
// does not know of. So a fork waits until nobody of weft's is in there; not for ever, as who forks may hold that lock,
// and the one in there wait for it.
//
// Nor does anybody of weft's go in there during a fork, which copies the page tables of a large process for seconds.
// What may come in between is a handler of the program's for forks, that waits for something which is held here, where
// weft was called; such a fork has not begun yet. So after ten seconds the look is made all the same. It is made at
// once where it is the one who forks that looks, in such a handler.
//
// No signal comes meanwhile: neither is a unit left in here, nor does a handler run that wants a lock which somebody
// holds who wants this one, as profilers do that unwind the stack.
#include "os/libraries.h"

#include <atomic>
#include <cerrno>
#include <pthread.h>

#include "os/clock.h"
#include "os/signal_mask.h"

namespace weft::os {
namespace {

// Who wants to look, or to fork, goes through `door`, and is in the room then. A mutex goes to whoever comes by when it
// is free, and who looks again and again would always be that one; but the door is free while somebody looks.
pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t room = PTHREAD_MUTEX_INITIALIZER;
bool forks_wait = false;  // in the room, as the next is written
constexpr pthread_t nobody{};
std::atomic<pthread_t> forker{nobody};  // who is there to fork

// Of the clock by which pthread_mutex_timedlock() goes.
timespec soon() {
  constexpr std::uint64_t limit_ns = 100000000;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const timespec later = to_timespec(static_cast<std::uint64_t>(now.tv_nsec) + limit_ns);
  return {now.tv_sec + later.tv_sec, later.tv_nsec};
}

// False: not for now. Who is in there may wait for a lock that the caller holds: that of the dynamic linker's, where
// this is called by a program's callback of dl_iterate_phdr().
bool enter_room() {
  const int kept = errno;
  const timespec limit = soon();
  bool entered = false;
  if (pthread_mutex_timedlock(&door, &limit) == 0) {
    entered = pthread_mutex_timedlock(&room, &limit) == 0;
    pthread_mutex_unlock(&door);
  }
  errno = kept;
  return entered;
}

pthread_t who_forks() { return forker.load(std::memory_order_relaxed); }

// To look. False during a fork only by the one who forks, or after long.
bool enter_room_to_look() {
  constexpr unsigned most_tries = 100;
  for (unsigned tries = 0; tries != most_tries; ++tries) {
    const pthread_t before = who_forks();
    if (before == pthread_self()) return false;
    if (enter_room()) return true;
    if (before == nobody && who_forks() == nobody) return false;
  }
  return false;
}

void before_fork() {
  if (enter_room()) forker.store(pthread_self(), std::memory_order_relaxed);
}

void after_fork() {
  if (who_forks() != pthread_self()) return;
  forker.store(nobody, std::memory_order_relaxed);
  pthread_mutex_unlock(&room);
}

void after_fork_in_child() {
  forker.store(nobody, std::memory_order_relaxed);
  door = PTHREAD_MUTEX_INITIALIZER;
  room = PTHREAD_MUTEX_INITIALIZER;
}

// What a call has left behind below the caller's frame is not to be found by whoever comes to run on this stack: the
// address that dl_iterate_phdr() had its callback return to says that it is under way (interrupt.cpp).
[[gnu::noinline]] void wipe_stack() {
  char below[1024] = {};
  asm volatile("" : : "r"(below) : "memory");
}

}  // namespace

void for_each_object(int (*look)(dl_phdr_info*, std::size_t, void*), void* argument) {
  const SignalMask before = block_all_signals();
  const bool entered = enter_room_to_look();
  if (entered && !forks_wait) forks_wait = pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0;
  dl_iterate_phdr(look, argument);
  wipe_stack();
  if (entered) pthread_mutex_unlock(&room);
  set_signals(before);
}

}  // namespace weft::os
