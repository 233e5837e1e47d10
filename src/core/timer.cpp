// One heap holds the deadlines of all units that wait with one, and one KLT serves it: started before the first
// of them waits, asleep in the kernel until the earliest. A wait that ends before its deadline costs two short
// holds of the heap's lock, and no system call unless its deadline was the earliest of all.
//
// Who ends a wait. A unit that waits with a deadline stands in two places, in a queue (that of the parking
// lot) and in the heap, and exactly one of unparker and timer may resume it. The queue decides: who unlinks
// the unit there, under the queue's lock, resumes it. Timer::expire does so if the unit is still linked,
// and otherwise does nothing; an unparker never looks at the heap.
//
// When the Timer may go. It lies on the stack of the unit, which goes on as soon as it is resumed. So expire() is
// called under the heap's lock, and the unit, once it is back, calls disarm(): under that lock nobody looks at
// the Timer, and afterwards nobody finds it. The order of locks is heap, then queue; arm() and disarm() are
// called with no queue locked. A unit whose timer has not expired yet may therefore be resumed between
// its queueing and its arm(): then arm() puts a Timer into the heap that disarm() takes out at once. One that only
// sleeps (sleep_until) stands in the heap alone: nobody but its timer resumes it, and that once the heap's lock has
// been released. It needs no disarm().
//
// The sleep of the KLT: it reads `changes` under the lock and sleeps while that is unchanged; arm() raises it under
// the lock if the new deadline is earlier than the one the KLT sleeps for. A disarmed deadline is not
// taken back: the KLT wakes up once for nothing.
//
// The heap is a pairing heap (M. Fredman, R. Sedgewick, D. Sleator, R. Tarjan, "The Pairing Heap", Algorithmica
// 1, 1986): its links lie in the Timers, so that a wait allocates nothing. Rejected: an array (grows under the
// lock), a wheel (ticks), a timerfd or a POSIX timer per wait (a system call each).
#include "core/timer.h"

#include <atomic>
#include <new>

#include "base/layout.h"
#include "base/panic.h"
#include "core/own_klt.h"
#include "core/preempt.h"
#include "core/scheduler.h"
#include "core/spinlock.h"
#include "os/clock.h"
#include "os/futex.h"

namespace weft::core {
namespace {

// ---------------------------------------------------------------- the heap

Timer* meld(Timer* one, Timer* other) {
  if (one == nullptr) return other;
  if (other == nullptr) return one;
  if (other->deadline < one->deadline) {
    Timer* later = one;
    one = other;
    other = later;
  }
  other->before = one;
  other->sibling = one->child;
  if (one->child != nullptr) one->child->before = other;
  one->child = other;
  one->sibling = nullptr;
  one->before = nullptr;
  return one;
}

// The children of a node that goes, as one heap: pairs from the left, then the pairs from the right.
Timer* meld_siblings(Timer* first) {
  Timer* pairs = nullptr;  // linked by `sibling`, the last one first
  while (first != nullptr) {
    Timer* second = first->sibling;
    Timer* rest = second != nullptr ? second->sibling : nullptr;
    Timer* pair = meld(first, second);
    pair->sibling = pairs;
    pairs = pair;
    first = rest;
  }
  Timer* heap = nullptr;
  while (pairs != nullptr) {
    Timer* next = pairs->sibling;
    pairs->sibling = nullptr;
    pairs->before = nullptr;
    heap = meld(heap, pairs);
    pairs = next;
  }
  return heap;
}

struct alignas(base::cache_line) Heap {
  Spinlock lock;
  Timer* earliest = nullptr;
  std::uint64_t sleeps_until = 0;  // the KLT: it looks at the heap before it sleeps longer
  std::atomic<std::uint32_t> changes{0};
  std::atomic<std::uint32_t> service{none};  // a Service

  enum Service : std::uint32_t { none, starting, running };

  void put(Timer& timer) {
    timer.child = timer.sibling = timer.before = nullptr;
    timer.armed = true;
    earliest = meld(earliest, &timer);
  }

  void take(Timer& timer) {
    timer.armed = false;
    if (&timer == earliest) {
      earliest = meld_siblings(timer.child);
      return;
    }
    (timer.before->child == &timer ? timer.before->child : timer.before->sibling) = timer.sibling;
    if (timer.sibling != nullptr) timer.sibling->before = timer.before;
    earliest = meld(earliest, meld_siblings(timer.child));
  }
};
Heap heap;

// ---------------------------------------------------------------- the KLT

// The units whose time has come, linked by Unit::next in the order of their deadlines.
Unit* expire_due() {
  Unit* due = nullptr;
  Unit** end = &due;
  const std::uint64_t now = os::now_ns();
  while (heap.earliest != nullptr && heap.earliest->deadline <= now) {
    Timer& timer = *heap.earliest;
    heap.take(timer);
    Unit* unit = timer.expire(timer);
    if (unit == nullptr) continue;
    *end = unit;
    end = &unit->next;
  }
  *end = nullptr;
  return due;
}

void* serve(void*) {
  for (;;) {
    heap.lock.lock();
    Unit* due = expire_due();
    const std::uint64_t next = heap.earliest != nullptr ? heap.earliest->deadline : never;
    heap.sleeps_until = next;
    const std::uint32_t seen = heap.changes.load(std::memory_order_relaxed);
    heap.lock.unlock();
    if (due != nullptr) resume_all(due);  // which needs no worker
    os::futex_wait_until(heap.changes, seen, next);
  }
}

bool start_serving() {
  constexpr std::size_t stack_bytes = 64U << 10U;
  return start_own_klt(serve, nullptr, stack_bytes, os::Signals::none) == 0;
}

}  // namespace

std::uint64_t deadline_after(std::uint64_t nanoseconds) {
  const std::uint64_t now = os::now_ns();
  return nanoseconds < never - now ? now + nanoseconds : never;
}

bool serves_deadlines() {
  if (heap.service.load(std::memory_order_relaxed) == Heap::running) return true;
  const HeldOff held;  // others on this worker may sleep until it has been tried
  for (;;) {
    std::uint32_t now = Heap::none;
    if (heap.service.compare_exchange_strong(now, Heap::starting, std::memory_order_relaxed)) break;
    if (now == Heap::running) return true;
    os::futex_wait(heap.service, now);
  }
  const bool started = start_serving();
  heap.service.store(started ? Heap::running : Heap::none, std::memory_order_relaxed);
  os::futex_wake(heap.service, INT32_MAX);
  return started;
}

void arm(Timer& timer) {
  if (!serves_deadlines()) base::panic("no further thread can be had, and waiting with a time limit needs one");
  heap.lock.lock();
  heap.put(timer);
  const bool sooner = timer.deadline < heap.sleeps_until;
  if (sooner) {
    heap.sleeps_until = timer.deadline;
    heap.changes.fetch_add(1, std::memory_order_relaxed);
  }
  heap.lock.unlock();
  if (sooner) os::futex_wake(heap.changes, 1);
}

void disarm(Timer& timer) {
  SpinGuard guard(heap.lock);
  if (timer.armed) heap.take(timer);
}

void sleep_until(std::uint64_t deadline) {
  struct Sleep : Timer {
    Unit* unit;
  } sleep;
  sleep.deadline = deadline;
  sleep.unit = &this_unit();
  sleep.expire = [](Timer& timer) { return static_cast<Sleep&>(timer).unit; };
  if (deadline <= os::now_ns()) {
    yield();
    return;
  }
  prepare_suspend(*sleep.unit);
  arm(sleep);
  suspend();
}

void reset_timer() { new (&heap) Heap; }

}  // namespace weft::core
