// What the entry points for locks of every language and version do.
#pragma once

#include <new>

#include "faces/openmp/lock.h"
#include "faces/openmp/ompt/mutexes.h"

namespace weft::openmp {

inline void init_lock(ompt::Caller caller, Lock* lock, unsigned hint = 0) {
  new (lock) Lock;
  if (ompt::watched) [[unlikely]]
    ompt::lock_is_made(caller, ompt::MutexKind::lock, lock, hint);
}

inline void destroy_lock(ompt::Caller caller, const Lock* lock) {
  if (ompt::watched) [[unlikely]]
    ompt::lock_is_destroyed(caller, ompt::MutexKind::lock, lock);
}

inline void set_lock(ompt::Caller caller, Lock* lock) {
  if (ompt::watched) [[unlikely]]
    return ompt::acquire(caller, ompt::MutexKind::lock, lock, 0, [lock] { lock->lock(); });
  lock->lock();
}

inline void unset_lock(ompt::Caller caller, Lock* lock) {
  if (ompt::watched) [[unlikely]]
    return ompt::release(caller, ompt::MutexKind::lock, lock, [lock] { lock->unlock(); });
  lock->unlock();
}

inline int test_lock(ompt::Caller caller, Lock* lock) {
  const auto test = [lock] { return lock->try_lock() ? 1 : 0; };
  if (ompt::watched) [[unlikely]]
    return ompt::try_to_acquire(caller, ompt::MutexKind::test_lock, lock, test);
  return test();
}

// A tool knows a nestable lock by its own address, whatever the program holds.

inline void tell_nest_lock_made(ompt::Caller caller, const NestLock* lock, unsigned hint = 0) {
  if (ompt::watched) [[unlikely]]
    ompt::lock_is_made(caller, ompt::MutexKind::nest_lock, lock, hint);
}

inline void tell_nest_lock_destroyed(ompt::Caller caller, const NestLock* lock) {
  if (ompt::watched) [[unlikely]]
    ompt::lock_is_destroyed(caller, ompt::MutexKind::nest_lock, lock);
}

/// Where the program has room for a pointer only.
inline void init_nest_lock(ompt::Caller caller, NestLock** lock, unsigned hint = 0) {
  *lock = new_nest_lock();
  tell_nest_lock_made(caller, *lock, hint);
}
inline void destroy_nest_lock(ompt::Caller caller, NestLock** lock) {
  tell_nest_lock_destroyed(caller, *lock);
  delete_nest_lock(*lock);
}

inline void set_nest_lock(ompt::Caller caller, NestLock& lock, const void* owner) {
  if (ompt::watched) [[unlikely]] {
    ompt::acquire_nest(caller, ompt::MutexKind::nest_lock, &lock, [&] {
      lock.acquire(owner);
      return lock.times_held();
    });
    return;
  }
  lock.acquire(owner);
}

inline void unset_nest_lock(ompt::Caller caller, NestLock& lock) {
  if (ompt::watched) [[unlikely]]
    return ompt::release_nest(caller, &lock, lock.times_held(), [&] { lock.release(); });
  lock.release();
}

inline int test_nest_lock(ompt::Caller caller, NestLock& lock, const void* owner) {
  const auto test = [&] { return lock.try_acquire(owner); };
  if (ompt::watched) [[unlikely]]
    return ompt::acquire_nest(caller, ompt::MutexKind::test_nest_lock, &lock, test);
  return test();
}

}  // namespace weft::openmp
