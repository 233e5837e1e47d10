// What LLVM's offloading runtime, where a program has it, asks of the host's.
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/kmpc.h"
#include "faces/openmp/routines.h"

using namespace weft::openmp;

// As libomp numbers them.
WEFT_EXPORT std::int32_t __kmpc_get_target_offload() {
  switch (global_icv.target_offload) {
    case TargetOffload::disabled:
      return 0;
    case TargetOffload::mandatory:
      return 2;
    case TargetOffload::default_:
      break;
  }
  return 1;
}

WEFT_EXPORT std::int32_t __kmpc_pause_resource(std::int32_t kind) { return routines::pause_resource_all(kind); }

// Whether the current task could be suspended while a device works: it waits instead.
WEFT_EXPORT bool __kmpc_omp_has_task_team(Gtid) { return false; }
WEFT_EXPORT void** __kmpc_omp_get_target_async_handle_ptr(Gtid) { return nullptr; }
