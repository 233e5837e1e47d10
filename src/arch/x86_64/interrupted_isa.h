// x86-64: see src/arch/interrupted.h.
#pragma once

#include <cerrno>
#include <cstdint>
#include <ucontext.h>

namespace weft::arch {

inline std::uintptr_t isa_interrupted_instruction(const ucontext_t& context) {
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
}

inline std::uintptr_t isa_interrupted_stack_pointer(const ucontext_t& context) {
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
}

// The segments of 64-bit programs; no context behind; and vector registers close by, as the kernel aligns them.
constexpr std::size_t isa_saved_context_alignment = 16;
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] inline bool isa_looks_like_saved_context(
    const ucontext_t& there) {
  constexpr greg_t code_and_stack_segment = 0x002b000000000033;
  constexpr std::uintptr_t most_vector_bytes = 16384;
  if (there.uc_mcontext.gregs[REG_CSGSFS] != code_and_stack_segment || there.uc_link != nullptr) return false;
  const auto begin = reinterpret_cast<std::uintptr_t>(&there);
  const auto vectors = reinterpret_cast<std::uintptr_t>(there.uc_mcontext.fpregs);
  return vectors > begin && vectors - begin < most_vector_bytes && vectors % 16 == 0;
}

inline long isa_system_call_to_be_made(const ucontext_t& context) {
  const auto code = reinterpret_cast<const unsigned char*>(isa_interrupted_instruction(context));
  const bool calls = code[0] == 0x0f && code[1] == 0x05;
  return calls ? static_cast<long>(context.uc_mcontext.gregs[REG_RAX]) : -1;
}

inline constexpr int isa_places_of_arguments[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
inline std::uint64_t isa_system_call_argument(const ucontext_t& context, unsigned index) {
  return static_cast<std::uint64_t>(context.uc_mcontext.gregs[isa_places_of_arguments[index]]);
}
inline void isa_set_system_call_argument(ucontext_t& context, unsigned index, std::uint64_t value) {
  context.uc_mcontext.gregs[isa_places_of_arguments[index]] = static_cast<greg_t>(value);
}

inline bool isa_system_call_was_cut_short(const ucontext_t& context) {
  const auto code = reinterpret_cast<const unsigned char*>(isa_interrupted_instruction(context));
  return context.uc_mcontext.gregs[REG_RAX] == -EINTR && code[-2] == 0x0f && code[-1] == 0x05;
}

// The kernel has changed RAX, RCX and R11, and nothing else.
inline void isa_make_system_call_anew(ucontext_t& context, long number) {
  context.uc_mcontext.gregs[REG_RIP] -= 2;
  context.uc_mcontext.gregs[REG_RAX] = number;
}

extern "C" const char weft_rest_of_transfer[];
extern "C" const char weft_rest_of_transfer_made[];

inline long isa_transferred(const ucontext_t& context) {
  const auto code = reinterpret_cast<const unsigned char*>(isa_interrupted_instruction(context));
  const auto answer = static_cast<long>(context.uc_mcontext.gregs[REG_RAX]);
  return answer > 0 && code[-2] == 0x0f && code[-1] == 0x05 ? answer : 0;
}

inline bool isa_makes_rest_of_transfer(const ucontext_t& context) {
  const std::uintptr_t instruction = isa_interrupted_instruction(context);
  return instruction == reinterpret_cast<std::uintptr_t>(weft_rest_of_transfer) ||
         instruction == reinterpret_cast<std::uintptr_t>(weft_rest_of_transfer_made);
}

inline std::uintptr_t isa_goes_on_after_rest(const ucontext_t& context) {
  return reinterpret_cast<const std::uintptr_t*>(context.uc_mcontext.gregs[REG_RSP])[1];
}

inline void isa_transfer_rest(ucontext_t& context, long number, unsigned address, unsigned size) {
  const auto part = context.uc_mcontext.gregs[REG_RAX];
  auto* words = reinterpret_cast<greg_t*>(context.uc_mcontext.gregs[REG_RSP]);
  if (isa_makes_rest_of_transfer(context)) {
    words[0] += part;
  } else {
    words -= 2;
    words[0] = part;
    words[1] = context.uc_mcontext.gregs[REG_RIP];
    context.uc_mcontext.gregs[REG_RSP] = reinterpret_cast<greg_t>(words);
  }
  context.uc_mcontext.gregs[isa_places_of_arguments[address]] += part;
  context.uc_mcontext.gregs[isa_places_of_arguments[size]] -= part;
  context.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(weft_rest_of_transfer);
  context.uc_mcontext.gregs[REG_RAX] = number;
}

inline constexpr unsigned isa_general_registers = 16;
inline std::uint64_t isa_general_register(const ucontext_t& context, unsigned index) {
  constexpr int places[isa_general_registers] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
                                                 REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                                 REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<std::uint64_t>(context.uc_mcontext.gregs[places[index]]);
}

inline std::uint64_t isa_hash_of_vectors(const ucontext_t& context) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
  std::uint64_t hash = 0;
  if (context.uc_mcontext.fpregs == nullptr) return hash;
  for (const auto& vector : context.uc_mcontext.fpregs->_xmm)
    for (const std::uint32_t word : vector.element) hash = (hash ^ word) * golden ^ (hash >> 32U);
  return hash;
}

}  // namespace weft::arch
