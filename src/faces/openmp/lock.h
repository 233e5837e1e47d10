// Locks (OpenMP 5.2, section 18.9): a thread that waits for one lets the worker run others.
#pragma once

#include <atomic>

#include "core/sync/mutex.h"

namespace weft::openmp {

struct Member;

/// omp_lock_t, and a simple lock of every other version and language.
using Lock = core::Mutex;
static_assert(sizeof(Lock) == 4);

/// omp_nest_lock_t: owned by a task (or, for programs built before OpenMP 3.0, by a thread), of which
/// all that matters is that no two have the same address.
class NestLock {
 public:
  void acquire(const void* self);
  /// How often it is held now; 0: somebody else holds it.
  int try_acquire(const void* self);
  void release();
  /// For who holds it.
  int times_held() const { return count_; }

 private:
  // Only who holds the lock writes the two below, and only itself can find itself in `owner_`: a
  // relaxed read is enough.
  Lock mutex_;
  int count_ = 0;
  std::atomic<const void*> owner_{nullptr};
};
static_assert(sizeof(NestLock) == 16);

/// A nest lock where the program has room for a pointer only.
NestLock* new_nest_lock();
void delete_nest_lock(NestLock* lock);

/// Who owns nest locks: the task in hand, or the thread (which stays the same where it is the master
/// of a region it opens).
const void* task_as_owner();
const void* thread_as_owner();

}  // namespace weft::openmp
