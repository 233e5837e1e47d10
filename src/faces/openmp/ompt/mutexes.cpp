#include "faces/openmp/ompt/mutexes.h"

#include "faces/openmp/loop.h"

namespace weft::openmp::ompt {

int state_of(MutexKind kind) {
  switch (kind) {
    case MutexKind::lock:
    case MutexKind::test_lock:
    case MutexKind::nest_lock:
    case MutexKind::test_nest_lock:
      return state_wait_lock;
    case MutexKind::critical:
      return state_wait_critical;
    case MutexKind::atomic:
      return state_wait_atomic;
    case MutexKind::ordered:
      return state_wait_ordered;
  }
  return state_wait_mutex;
}

void begin_ordered(Caller caller, Member& member) {
  acquire(caller, MutexKind::ordered, member.loop.shared, 0, [&member] { openmp::begin_ordered(member); });
}

void end_ordered(Caller caller, Member& member) {
  release(caller, MutexKind::ordered, member.loop.shared, [] {});
}

void lock_is_made(Caller caller, MutexKind kind, const void* mutex, unsigned hint) {
  const Call call(caller);
  lock_init(kind, hint, mutex_impl_queuing, wait_id_of(mutex), call.code);
}

void lock_is_destroyed(Caller caller, MutexKind kind, const void* mutex) {
  const Call call(caller);
  lock_destroy(kind, wait_id_of(mutex), call.code);
}

}  // namespace weft::openmp::ompt
