// x86-64: see src/arch/thread_pointer.h. The word is `weft_thread_word`, initial-exec.
#pragma once

#include <cstdint>

extern "C" {
extern thread_local void* weft_thread_word __attribute__((tls_model("initial-exec"), visibility("hidden")));
/// Whether the kernel lets user space write FS base (AT_HWCAP2 bit 1); else arch_prctl is used.
extern bool weft_fsgsbase __attribute__((visibility("hidden")));
void weft_set_fs_base_by_system_call(void* pointer) __attribute__((visibility("hidden")));
}

namespace weft::arch {

inline void* isa_thread_word() {
  void* value;
  asm volatile(
      "movq weft_thread_word@gottpoff(%%rip), %0\n\t"
      "movq %%fs:(%0), %0"
      : "=&r"(value));
  return value;
}

inline void isa_set_thread_word(void* value) {
  void* scratch;
  asm volatile(
      "movq weft_thread_word@gottpoff(%%rip), %0\n\t"
      "movq %1, %%fs:(%0)"
      : "=&r"(scratch)
      : "r"(value)
      : "memory");
}

inline void** isa_thread_word_of(void* thread_pointer) {
  std::intptr_t offset;
  asm("movq weft_thread_word@gottpoff(%%rip), %0" : "=r"(offset));
  return reinterpret_cast<void**>(reinterpret_cast<std::intptr_t>(thread_pointer) + offset);
}

inline void* isa_thread_pointer() {
  void* pointer;
  asm volatile("movq %%fs:0, %0" : "=r"(pointer));
  return pointer;
}

inline void isa_set_thread_pointer(void* pointer) {
  if (weft_fsgsbase) [[likely]] {
    asm volatile("wrfsbase %0" : : "r"(pointer) : "memory");
  } else {
    weft_set_fs_base_by_system_call(pointer);
  }
}

}  // namespace weft::arch
