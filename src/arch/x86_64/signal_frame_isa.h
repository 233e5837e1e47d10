// x86-64 Linux: see src/arch/signal_frame.h. From the stack pointer upwards (arch/x86/kernel/signal_64.c):
//   the address to return to, which calls rt_sigreturn; the context, shorter than libc's; the siginfo; and, as XSAVE
//   wants it, the vector registers, of which the context knows where they are.
// rt_sigreturn looks for the context at the stack pointer, and for the registers where that one says.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ucontext.h>

namespace weft::arch {

constexpr std::size_t isa_vector_alignment = 64;
constexpr std::size_t isa_red_zone = 128;

// 0: the kernel has not said. Then they are another's, as Valgrind's, whose frame has more behind them (or of a CPU
// without XSAVE).
inline std::size_t isa_vector_bytes(const void* vectors) {
  constexpr std::size_t of_fxsave = 512;
  _fpx_sw_bytes software;
  static_assert(sizeof software == 48);
  memcpy(&software, static_cast<const char*>(vectors) + of_fxsave - sizeof software, sizeof software);
  constexpr unsigned said = 0x46505853;  // FP_XSTATE_MAGIC1
  return software.magic1 == said ? software.extended_size : 0;
}

template <class Frame>
Frame isa_signal_frame_of(const siginfo_t& info, const ucontext_t& context) {
  constexpr std::size_t most = 64UL * 1024;
  char* begin = const_cast<char*>(reinterpret_cast<const char*>(&context)) - sizeof(void*);
  const auto offset_of = [begin](const void* part) {
    return reinterpret_cast<std::uintptr_t>(part) - reinterpret_cast<std::uintptr_t>(begin);
  };
  const void* vectors = context.uc_mcontext.fpregs;
  const bool is_one = offset_of(&info + 1) <= offset_of(vectors) && offset_of(vectors) <= most;
  const std::size_t bytes = is_one ? isa_vector_bytes(vectors) : 0;
  if (bytes == 0) return {};
  return {begin, offset_of(vectors) + bytes};
}

inline char* isa_place_where_interrupted(const char* begin, std::size_t bytes, const ucontext_t& context) {
  const auto stack = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
  const std::uintptr_t highest = stack - isa_red_zone - bytes;
  // As it is aligned now, so it is there.
  const std::uintptr_t place = highest - (highest - reinterpret_cast<std::uintptr_t>(begin)) % isa_vector_alignment;
  return reinterpret_cast<char*>(place);
}

inline void isa_hand_over_at(char* place, const char* begin, std::size_t bytes, int signal, const siginfo_t& info,
                             ucontext_t& context, void (*handler)(int, siginfo_t*, void*)) {
  const auto moved = [place, begin](const void* part) { return place + (static_cast<const char*>(part) - begin); };
  memcpy(place, begin, bytes);
  auto* copy = reinterpret_cast<ucontext_t*>(moved(&context));
  copy->uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(moved(context.uc_mcontext.fpregs));

  greg_t* registers = context.uc_mcontext.gregs;
  registers[REG_RIP] = reinterpret_cast<greg_t>(handler);
  registers[REG_RSP] = reinterpret_cast<greg_t>(place);
  registers[REG_RDI] = signal;
  registers[REG_RSI] = reinterpret_cast<greg_t>(moved(&info));
  registers[REG_RDX] = reinterpret_cast<greg_t>(copy);
  registers[REG_RAX] = 0;
  constexpr greg_t trap = 0x100, direction = 0x400, resume = 0x10000;
  registers[REG_EFL] &= ~(trap | direction | resume);
  context.uc_mcontext.fpregs = nullptr;  // the kernel's for "as a program begins", which is what a handler gets
}

}  // namespace weft::arch
