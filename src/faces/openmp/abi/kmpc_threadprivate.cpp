// LLVM's entry points for threadprivate variables.
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/kmpc.h"
#include "faces/openmp/threadprivate.h"

using namespace weft::openmp;

WEFT_EXPORT void __kmpc_threadprivate_register(Ident*, void* variable, void* construct, void* copy, void* destroy) {
  register_threadprivate(variable, {construct, copy, destroy});
}
WEFT_EXPORT void __kmpc_threadprivate_register_vec(Ident*, void* variable, void* construct, void* copy, void* destroy,
                                                   std::size_t elements) {
  register_threadprivate(variable, {construct, copy, destroy, elements});
}
WEFT_EXPORT void* __kmpc_threadprivate(Ident*, Gtid, void* variable, std::size_t size) {
  return threadprivate_copy(variable, size);
}
// The cache stays empty: compilers that look into it come here then.
WEFT_EXPORT void* __kmpc_threadprivate_cached(Ident*, Gtid, void* variable, std::size_t size, void***) {
  return threadprivate_copy(variable, size);
}
