// LLVM's entry points for locks, as its compilers' own libraries call them: the program has room for a pointer.
#include <new>

#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/kmpc.h"
#include "faces/openmp/abi/lock_operations.h"

using namespace weft::openmp;

WEFT_EXPORT void __kmpc_init_lock(Ident*, Gtid, Lock* lock) { init_lock(WEFT_CALLER, lock); }
// No hint changes what a lock does.
WEFT_EXPORT void __kmpc_init_lock_with_hint(Ident*, Gtid, Lock* lock, std::uintptr_t hint) {
  init_lock(WEFT_CALLER, lock, static_cast<unsigned>(hint));
}
WEFT_EXPORT void __kmpc_destroy_lock(Ident*, Gtid, Lock* lock) { destroy_lock(WEFT_CALLER, lock); }
WEFT_EXPORT void __kmpc_set_lock(Ident*, Gtid, Lock* lock) { set_lock(WEFT_CALLER, lock); }
WEFT_EXPORT void __kmpc_unset_lock(Ident*, Gtid, Lock* lock) { unset_lock(WEFT_CALLER, lock); }
WEFT_EXPORT int __kmpc_test_lock(Ident*, Gtid, Lock* lock) { return test_lock(WEFT_CALLER, lock); }

WEFT_EXPORT void __kmpc_init_nest_lock(Ident*, Gtid, NestLock** lock) { init_nest_lock(WEFT_CALLER, lock); }
WEFT_EXPORT void __kmpc_init_nest_lock_with_hint(Ident*, Gtid, NestLock** lock, std::uintptr_t hint) {
  init_nest_lock(WEFT_CALLER, lock, static_cast<unsigned>(hint));
}
WEFT_EXPORT void __kmpc_destroy_nest_lock(Ident*, Gtid, NestLock** lock) { destroy_nest_lock(WEFT_CALLER, lock); }
WEFT_EXPORT void __kmpc_set_nest_lock(Ident*, Gtid, NestLock** lock) {
  set_nest_lock(WEFT_CALLER, **lock, task_as_owner());
}
WEFT_EXPORT void __kmpc_unset_nest_lock(Ident*, Gtid, NestLock** lock) { unset_nest_lock(WEFT_CALLER, **lock); }
WEFT_EXPORT int __kmpc_test_nest_lock(Ident*, Gtid, NestLock** lock) {
  return test_nest_lock(WEFT_CALLER, **lock, task_as_owner());
}
