#include "os/storage.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <linux/rseq.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "arch/system_call.h"
#include "arch/thread_pointer.h"

namespace weft::os {
namespace {

// The signature with which glibc registers, and the least length (sysdeps/unix/sysv/linux, since 2.35).
constexpr std::uint32_t rseq_signature = 0x53053053;
constexpr unsigned long least_rseq_length = 32;
// Of the area that the kernel knows how to fill (linux/auxvec.h, since 6.3).
constexpr unsigned long at_rseq_feature_size = 27;

// Of libc's, looked up while the library is loaded (os/exported_function.h says why).
const std::ptrdiff_t* rseq_offset = nullptr;
const unsigned* rseq_size = nullptr;

[[gnu::constructor]] void look_up_rseq() {
  rseq_offset = static_cast<const std::ptrdiff_t*>(dlsym(RTLD_DEFAULT, "__rseq_offset"));
  rseq_size = static_cast<const unsigned*>(dlsym(RTLD_DEFAULT, "__rseq_size"));
}

// It is 0 where threads are not registered: a kernel without, or the program does that itself.
bool libc_registers() { return rseq_offset != nullptr && rseq_size != nullptr && *rseq_size != 0; }

std::intptr_t rseq_area(void* thread_pointer) { return reinterpret_cast<std::intptr_t>(thread_pointer) + *rseq_offset; }

// As the kernel leaves the area when its registration is withdrawn: no CPU's number.
bool is_withdrawn(void* thread_pointer) {
  const auto& area = *reinterpret_cast<const volatile struct rseq*>(rseq_area(thread_pointer));
  return static_cast<std::int32_t>(area.cpu_id) < 0;
}

}  // namespace

void unregister_rseq(void* thread_pointer) {
  if (!libc_registers()) return;
  const long area = rseq_area(thread_pointer);
  // The kernel takes only the length that was registered. glibc registers what it calls the size, the least at any
  // rate; a version may call less the size than the area has in which the kernel fills all that it knows.
  for (const unsigned long length : {std::max(least_rseq_length, static_cast<unsigned long>(*rseq_size)),
                                     std::max(least_rseq_length, getauxval(at_rseq_feature_size)), least_rseq_length})
    if (arch::system_call(SYS_rseq, area, static_cast<long>(length), RSEQ_FLAG_UNREGISTER, rseq_signature) == 0) return;
}

// glibc tells the kernel, for each thread that it starts and in each child of a fork, where its list of robust mutexes
// begins: within its descriptor, to which the thread pointer points. Two descriptors are as far from each other as
// stacks are, or farther.
bool is_on_borrowed_storage() {
  constexpr std::uintptr_t most_of_descriptor = 4096;
  constexpr long of_caller = 0;
  std::uintptr_t list = 0;
  std::size_t size = 0;
  const long error =
      arch::system_call(SYS_get_robust_list, of_caller, reinterpret_cast<long>(&list), reinterpret_cast<long>(&size));
  if (error != 0 || list == 0) return false;
  return list - reinterpret_cast<std::uintptr_t>(arch::thread_pointer()) >= most_of_descriptor;
}

bool is_on_storage_to_lend() { return libc_registers() && is_withdrawn(arch::thread_pointer()); }

}  // namespace weft::os
