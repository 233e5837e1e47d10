// What a tool is told of locks, critical, atomic and ordered regions. Each of these is the operation with its events.
#pragma once

#include "faces/openmp/ompt/events.h"
#include "faces/openmp/ompt/records.h"

namespace weft::openmp::ompt {

inline std::uint64_t wait_id_of(const void* mutex) { return reinterpret_cast<std::uintptr_t>(mutex); }

int state_of(MutexKind kind);

/// lock() may wait.
template <class Function>
[[gnu::noinline, gnu::cold]] void acquire(Caller caller, MutexKind kind, const void* mutex, unsigned hint,
                                          Function lock) {
  const Call call(caller);
  const std::uint64_t id = wait_id_of(mutex);
  mutex_acquire(kind, hint, mutex_impl_queuing, id, call.code);
  {
    const InState state(call.here.thread, state_of(kind), id);
    lock();
  }
  mutex_acquired(kind, id, call.code);
}

/// try_lock() does not, and says whether the mutex was free.
template <class Function>
[[gnu::noinline, gnu::cold]] int try_to_acquire(Caller caller, MutexKind kind, const void* mutex, Function try_lock) {
  const Call call(caller);
  mutex_acquire(kind, 0, mutex_impl_queuing, wait_id_of(mutex), call.code);
  const int got = try_lock();
  if (got != 0) mutex_acquired(kind, wait_id_of(mutex), call.code);
  return got;
}

template <class Function>
[[gnu::noinline, gnu::cold]] void release(Caller caller, MutexKind kind, const void* mutex, Function unlock) {
  const Call call(caller);
  mutex_released(kind, wait_id_of(mutex), call.code);
  unlock();
}

/// Nestable locks: `lock` returns how often the lock is held then.
template <class Function>
[[gnu::noinline, gnu::cold]] int acquire_nest(Caller caller, MutexKind kind, const void* mutex, Function lock) {
  const Call call(caller);
  const std::uint64_t id = wait_id_of(mutex);
  mutex_acquire(kind, 0, mutex_impl_queuing, id, call.code);
  int count = 0;
  {
    const InState state(call.here.thread, state_of(kind), id);
    count = lock();
  }
  if (count == 1)
    mutex_acquired(kind, id, call.code);
  else if (count > 1)
    nest_lock(Endpoint::begin, id, call.code);
  return count;
}

/// `held`: how often, before.
template <class Function>
[[gnu::noinline, gnu::cold]] void release_nest(Caller caller, const void* mutex, int held, Function unlock) {
  const Call call(caller);
  const std::uint64_t id = wait_id_of(mutex);
  if (held <= 1)
    mutex_released(MutexKind::nest_lock, id, call.code);
  else
    nest_lock(Endpoint::end, id, call.code);
  unlock();
}

/// ordered: the mutex is the loop that the member is in.
void begin_ordered(Caller caller, Member& member);
void end_ordered(Caller caller, Member& member);

void lock_is_made(Caller caller, MutexKind kind, const void* mutex, unsigned hint = 0);
void lock_is_destroyed(Caller caller, MutexKind kind, const void* mutex);

}  // namespace weft::openmp::ompt
