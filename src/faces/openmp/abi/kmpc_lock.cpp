// LLVM's entry points for locks, as its compilers' own libraries call them: the program has room for a pointer.
#include <new>

#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/kmpc.h"
#include "faces/openmp/lock.h"

using namespace weft::openmp;

WEFT_EXPORT void __kmpc_init_lock(Ident*, Gtid, Lock* lock) { new (lock) Lock; }
// No hint changes what a lock does.
WEFT_EXPORT void __kmpc_init_lock_with_hint(Ident*, Gtid, Lock* lock, std::uintptr_t) { new (lock) Lock; }
WEFT_EXPORT void __kmpc_destroy_lock(Ident*, Gtid, Lock*) {}
WEFT_EXPORT void __kmpc_set_lock(Ident*, Gtid, Lock* lock) { lock->lock(); }
WEFT_EXPORT void __kmpc_unset_lock(Ident*, Gtid, Lock* lock) { lock->unlock(); }
WEFT_EXPORT int __kmpc_test_lock(Ident*, Gtid, Lock* lock) { return lock->try_lock() ? 1 : 0; }

WEFT_EXPORT void __kmpc_init_nest_lock(Ident*, Gtid, NestLock** lock) { *lock = new_nest_lock(); }
WEFT_EXPORT void __kmpc_init_nest_lock_with_hint(Ident*, Gtid, NestLock** lock, std::uintptr_t) {
  *lock = new_nest_lock();
}
WEFT_EXPORT void __kmpc_destroy_nest_lock(Ident*, Gtid, NestLock** lock) { delete_nest_lock(*lock); }
WEFT_EXPORT void __kmpc_set_nest_lock(Ident*, Gtid, NestLock** lock) { (*lock)->acquire(task_as_owner()); }
WEFT_EXPORT void __kmpc_unset_nest_lock(Ident*, Gtid, NestLock** lock) { (*lock)->release(); }
WEFT_EXPORT int __kmpc_test_nest_lock(Ident*, Gtid, NestLock** lock) { return (*lock)->try_acquire(task_as_owner()); }
