// src/arch/context.h: what a switch keeps, and where unwinding ends.
#include "arch/context.h"

#include <cfenv>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <unwind.h>
#include <vector>

#include "core/identities.h"
#include "support.h"

#if defined(__x86_64__)
// std::uint64_t registers_lost(void (*function)(void*), void* argument, std::uint64_t seed): calls the
// function with values made from the seed in all callee-saved registers; which of them were lost (a bit each).
extern "C" std::uint64_t registers_lost(void (*function)(void*), void* argument, std::uint64_t seed);
asm(R"(
        .text
        .globl  registers_lost
        .type   registers_lost, @function
registers_lost:
        .cfi_startproc
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        pushq   %rdx
        .cfi_adjust_cfa_offset 8
        leaq    1(%rdx), %rbp
        leaq    2(%rdx), %rbx
        leaq    3(%rdx), %r12
        leaq    4(%rdx), %r13
        leaq    5(%rdx), %r14
        leaq    6(%rdx), %r15
        movq    %rdi, %rax
        movq    %rsi, %rdi
        call    *%rax
        movq    (%rsp), %rdx
        xorl    %eax, %eax
        leaq    1(%rdx), %rcx
        cmpq    %rcx, %rbp
        je      1f
        orl     $1, %eax
1:      leaq    2(%rdx), %rcx
        cmpq    %rcx, %rbx
        je      2f
        orl     $2, %eax
2:      leaq    3(%rdx), %rcx
        cmpq    %rcx, %r12
        je      3f
        orl     $4, %eax
3:      leaq    4(%rdx), %rcx
        cmpq    %rcx, %r13
        je      4f
        orl     $8, %eax
4:      leaq    5(%rdx), %rcx
        cmpq    %rcx, %r14
        je      5f
        orl     $16, %eax
5:      leaq    6(%rdx), %rcx
        cmpq    %rcx, %r15
        je      6f
        orl     $32, %eax
6:      addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r15
        .cfi_adjust_cfa_offset -8
        popq    %r14
        .cfi_adjust_cfa_offset -8
        popq    %r13
        .cfi_adjust_cfa_offset -8
        popq    %r12
        .cfi_adjust_cfa_offset -8
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   registers_lost, . - registers_lost
)");
#endif

namespace weft::test {
namespace {

// ---------------------------------------------------------------- contexts alone

struct Ping {
  void* scheduler = nullptr;
  void* flow = nullptr;
  std::intptr_t received = 0;
  int rounds = 0;
};

void returns_at_once(void* argument) { *static_cast<int*>(argument) += 1; }

void answers(void* argument) {
  auto ping = static_cast<Ping*>(argument);
  for (;;) {
    ping->received = weft_context_switch(&ping->flow, ping->scheduler, 1000 + ping->rounds);
    ++ping->rounds;
  }
}

class Context : public ::testing::Test {
 protected:
  // The sanitizers are told of switches by the techniques, one level up.
  void SetUp() override {
    if (core::sanitizer::active) GTEST_SKIP() << "below what the sanitizers are told of";
    const std::size_t size = 64 * 1024;
    memory_.resize(size + 16);
    top_ = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(memory_.data()) + size) & ~std::uintptr_t{15});
  }
  std::vector<char> memory_;
  void* top_ = nullptr;
};

TEST_F(Context, ReturnOnCompletion) {
  int calls = 0;
  void* self = nullptr;
  for (int round = 1; round <= 1000; ++round) {
    EXPECT_EQ(weft_context_start_roc(&self, top_, returns_at_once, &calls, arch::fp_control()), 0);
    EXPECT_EQ(calls, round);
  }
}

TEST_F(Context, SwitchesThereAndBackWithValues) {
  for (auto start : {&weft_context_start_roc, &weft_context_start_full}) {
    Ping ping;
    EXPECT_EQ(start(&ping.scheduler, top_, answers, &ping, arch::fp_control()), 1000);
    for (int round = 0; round < 10000; ++round) {
      ASSERT_EQ(weft_context_switch(&ping.scheduler, ping.flow, -round), 1001 + round);
      ASSERT_EQ(ping.received, -round);
    }
    // The flow is given up, as it stands.
  }
}

// The same from a caller that is not told its control words, and back by weft_context_resume().
TEST_F(Context, SpawnAndResume) {
  for (auto spawn : {&weft_context_spawn_roc, &weft_context_spawn_full}) {
    Ping ping;
    EXPECT_EQ(spawn(&ping.scheduler, top_, answers, &ping), 1000);
    for (int round = 0; round < 10000; ++round) {
      ASSERT_EQ(weft_context_resume(&ping.scheduler, ping.flow, -round, arch::fp_control()), 1001 + round);
      ASSERT_EQ(ping.received, -round);
    }
  }
}

void jumps(void* argument) {
  auto ping = static_cast<Ping*>(argument);
  ping->rounds = 7;
  weft_context_jump(ping->scheduler, 42);
}

TEST_F(Context, JumpResumesWithoutSaving) {
  for (auto start : {&weft_context_start_roc, &weft_context_start_full}) {
    Ping ping;
    EXPECT_EQ(start(&ping.scheduler, top_, jumps, &ping, arch::fp_control()), 42);
    EXPECT_EQ(ping.rounds, 7);
  }
}

void notes_alignment(void* argument) {
  alignas(16) volatile char object[16] = {};
  *static_cast<std::uintptr_t*>(argument) = reinterpret_cast<std::uintptr_t>(&object) % 16;
}

TEST_F(Context, StacksAreAlignedAsTheAbiSays) {
  void* self = nullptr;
  std::uintptr_t misaligned = 1;
  weft_context_start_roc(&self, top_, notes_alignment, &misaligned, arch::fp_control());
  EXPECT_EQ(misaligned, 0U);
  misaligned = 1;
  weft_context_call_on(top_, notes_alignment, &misaligned);
  EXPECT_EQ(misaligned, 0U);
}

void throws(void*) { throw std::runtime_error("through the border"); }

// The caller of call_on and the function are one flow of control: exceptions go through.
TEST_F(Context, CallOnAnotherStackIsUnwound) {
  EXPECT_THROW(weft_context_call_on(top_, throws, nullptr), std::runtime_error);
}

// ---------------------------------------------------------------- what units keep

struct Kept : TechniqueTest {};
INSTANTIATE_TEST_SUITE_P(Techniques, Kept,
                         ::testing::Values(core::Technique::full_l, core::Technique::roc_l, core::Technique::ss_l,
                                           core::Technique::sc),
                         technique_name);

#if defined(__x86_64__)
void yields_a_lot(void*) {
  for (int round = 0; round < 50; ++round) core::yield();
}
void does_nothing(void*) {}

TEST_P(Kept, CalleeSavedRegisters) {
  std::atomic<std::uint64_t> lost{0};
  Jobs jobs(GetParam());
  for (std::uint64_t number = 0; number < scaled(200); ++number)
    jobs.start([&lost, number] {
      lost |= registers_lost(yields_a_lot, nullptr, number << 32U);
      lost |= registers_lost(does_nothing, nullptr, number << 32U);
    });
  // The root too keeps its own while it runs others.
  struct Joins {
    static void all(void* argument) { static_cast<Jobs*>(argument)->join(); }
  };
  lost |= registers_lost(Joins::all, &jobs, 0xABCDEF00000000U);
  EXPECT_EQ(lost.load(), 0U);
}

unsigned mxcsr_control() { return __builtin_ia32_stmxcsr() & 0xffc0U; }
std::uint16_t x87_control() {
  std::uint16_t word;
  asm volatile("fnstcw %0" : "=m"(word));
  return word;
}
void set_x87_control(std::uint16_t word) { asm volatile("fldcw %0" : : "m"(word)); }

TEST_P(Kept, FloatingPointControl) {
  const unsigned mxcsr_before = mxcsr_control();
  const std::uint16_t x87_before = x87_control();
  std::atomic<unsigned> wrong{0};
  Jobs jobs(GetParam());
  for (unsigned number = 0; number < 64; ++number)
    jobs.start([&wrong, number] {
      const unsigned mxcsr_of_parent = mxcsr_control();
      const std::uint16_t x87_of_parent = x87_control();
      // Rounding in bits 13-14 of mxcsr and 10-11 of the x87 word; flush-to-zero in bit 15.
      const unsigned mxcsr = 0x1f80U | (number % 4) << 13U | (number / 4 % 2) << 15U;
      const auto x87 = static_cast<std::uint16_t>(0x37fU | (number / 8 % 4) << 10U);
      __builtin_ia32_ldmxcsr(mxcsr);
      set_x87_control(x87);
      for (int round = 0; round < 20; ++round) {
        core::yield();
        if (mxcsr_control() != (mxcsr & 0xffc0U) || x87_control() != x87) ++wrong;
      }
      __builtin_ia32_ldmxcsr(mxcsr_of_parent);
      set_x87_control(x87_of_parent);
    });
  // Some that leave theirs changed: the worker must not be infected.
  for (int number = 0; number < 16; ++number)
    jobs.start([number] {
      constexpr unsigned flush_to_zero = 1U << 15U;  // in mxcsr alone
      if (number % 3 == 0)
        __builtin_ia32_ldmxcsr(mxcsr_control() | flush_to_zero);
      else
        std::fesetround(number % 2 == 0 ? FE_UPWARD : FE_DOWNWARD);
      if (number % 4 < 2) core::yield();
    });
  jobs.join();
  EXPECT_EQ(wrong.load(), 0U);
  EXPECT_EQ(mxcsr_control(), mxcsr_before);
  EXPECT_EQ(x87_control(), x87_before);
}
#endif

// ---------------------------------------------------------------- unwinding

struct Walk {
  int frames = 0;
  std::vector<std::uintptr_t> addresses;
};

_Unwind_Reason_Code count_frame(_Unwind_Context* context, void* argument) {
  auto walk = static_cast<Walk*>(argument);
  walk->addresses.push_back(_Unwind_GetIP(context));
  return ++walk->frames > 1000 ? _URC_FATAL_PHASE1_ERROR : _URC_NO_REASON;
}

_Unwind_Reason_Code walk_the_stack(Walk& walk) { return _Unwind_Backtrace(count_frame, &walk); }

// The unwinder comes to a clean end, at the unit's entry, and never into the scheduler that started it.
TEST_P(Kept, UnwindingEndsAtTheEntry) {
  struct Result {
    _Unwind_Reason_Code code[3];
    int frames[3];
  };
  std::vector<Result> results(16);
  {
    Jobs jobs(GetParam());
    for (Result& result : results)
      jobs.start([&result] {
        for (int round = 0; round < 3; ++round) {
          Walk walk;
          result.code[round] = walk_the_stack(walk);
          result.frames[round] = walk.frames;
          core::yield();
        }
      });
  }
  for (const Result& result : results)
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(result.code[round], _URC_END_OF_STACK);
      EXPECT_GE(result.frames[round], 2);
      EXPECT_LE(result.frames[round], 20) << "the walk went on into the scheduler";
    }
}

int deep_throw(int depth) {
  if (depth == 0) throw std::runtime_error("deep");
  const std::string object = "destroyed on the way";
  return deep_throw(depth - 1) + static_cast<int>(object.size());
}

TEST_P(Kept, ExceptionsAreCaughtInsideTheUnit) {
  std::atomic<unsigned> caught{0};
  const unsigned count = scaled(500);
  {
    Jobs jobs(GetParam());
    for (unsigned number = 0; number < count; ++number)
      jobs.start([&caught, number] {
        for (int round = 0; round < 3; ++round) {
          try {
            if (number % 2 == 0) core::yield();
            deep_throw(20);
          } catch (const std::runtime_error& error) {
            if (std::string(error.what()) == "deep") ++caught;
          }
          core::yield();
        }
      });
  }
  EXPECT_EQ(caught.load(), 3 * count);
}

// The exceptions in flight hang on the thread pointer: they are the unit's own only with an identity.
TEST_P(Kept, ExceptionInFlightAcrossASwitch) {
  if (!core::identities_enabled) GTEST_SKIP() << "needs identities";
  std::atomic<unsigned> right{0};
  const unsigned count = scaled(200);
  {
    Jobs jobs(GetParam());
    for (unsigned number = 0; number < count; ++number)
      jobs.start([&right, number] {
        try {
          try {
            throw std::runtime_error(std::to_string(number));
          } catch (const std::runtime_error&) {
            for (int round = 0; round < 5; ++round) core::yield();
            throw;
          }
        } catch (const std::runtime_error& error) {
          core::yield();
          if (error.what() == std::to_string(number) && std::uncaught_exceptions() == 0) ++right;
        }
      });
  }
  EXPECT_EQ(right.load(), count);
}

}  // namespace
}  // namespace weft::test
