#include "faces/openmp/lock.h"

#include <cstdlib>
#include <new>

#include "base/panic.h"
#include "faces/openmp/member.h"

namespace weft::openmp {

void NestLock::acquire(const void* self) {
  if (owner_.load(std::memory_order_relaxed) != self) {
    mutex_.lock();
    owner_.store(self, std::memory_order_relaxed);
  }
  ++count_;
}

int NestLock::try_acquire(const void* self) {
  if (owner_.load(std::memory_order_relaxed) != self) {
    if (!mutex_.try_lock()) return 0;
    owner_.store(self, std::memory_order_relaxed);
  }
  return ++count_;
}

void NestLock::release() {
  if (--count_ != 0) return;
  owner_.store(nullptr, std::memory_order_relaxed);
  mutex_.unlock();
}

NestLock* new_nest_lock() {
  void* memory = malloc(sizeof(NestLock));
  if (memory == nullptr) base::panic("out of memory for a nestable lock");
  return new (memory) NestLock;
}

void delete_nest_lock(NestLock* lock) { free(lock); }

const void* task_as_owner() { return this_member().task->key; }

const void* thread_as_owner() {
  const Member* member = &this_member();
  while (member->number == 0 && member->parent != nullptr) member = member->parent;
  return member;
}

}  // namespace weft::openmp
