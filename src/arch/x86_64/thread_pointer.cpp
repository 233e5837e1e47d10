#include "arch/thread_pointer.h"

#include <asm/prctl.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "arch/system_call.h"

thread_local void* weft_thread_word = nullptr;

namespace {
constexpr unsigned long hwcap2_fsgsbase = 1UL << 1;
}

bool weft_fsgsbase = (getauxval(AT_HWCAP2) & hwcap2_fsgsbase) != 0;

// Not through libc: its wrapper would write errno through the very pointer that changes.
void weft_set_fs_base_by_system_call(void* pointer) {
  weft::arch::system_call(SYS_arch_prctl, ARCH_SET_FS, reinterpret_cast<long>(pointer));
}
