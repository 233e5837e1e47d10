// Context switches for x86-64, System V ABI. Contract: src/arch/context.h.
//
// A saved context, from its stack pointer upwards:
//   +0 mxcsr (4 bytes), +4 x87 control word (2 bytes), +8 r15 r14 r13 r12 rbx rbp, +56 return address
// The loads of the control words are skipped when they would change nothing: they cost more than
// the comparison.

        .text

        .macro SAVE_CONTEXT
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbx, 0
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r12, 0
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r13, 0
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r14, 0
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r15, 0
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        stmxcsr (%rsp)
        fnstcw  4(%rsp)
        .endm

        // Loads the floating-point control words of the context at (%rsp); clobbers r10, r11.
        .macro LOAD_FP_CONTROL
        leaq    -16(%rsp), %r11
        stmxcsr (%r11)
        movl    (%r11), %r10d
        xorl    (%rsp), %r10d
        testl   $0xffc0, %r10d
        jz      81f
        ldmxcsr (%rsp)
81:     fnstcw  4(%r11)
        movw    4(%r11), %r10w
        cmpw    4(%rsp), %r10w
        je      82f
        fldcw   4(%rsp)
82:
        .endm

        .macro LOAD_REGISTERS_AND_RETURN
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore r15
        popq    %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore r14
        popq    %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore r13
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore r12
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbx
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbp
        ret
        .endm

        .macro FUNCTION name
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        .endm

        .macro END name
        .cfi_endproc
        .size   \name, . - \name
        .endm

// intptr_t weft_context_switch(void** save, void* to, intptr_t value)
FUNCTION weft_context_switch
        SAVE_CONTEXT
        movq    %rsp, (%rdi)
        movq    %rsi, %rsp              // same layout there: the CFA rule stays true
        movq    %rdx, %rax
        LOAD_FP_CONTROL
        LOAD_REGISTERS_AND_RETURN
END weft_context_switch

// void weft_context_jump(void* to, intptr_t value)
FUNCTION weft_context_jump
        .cfi_undefined rip
        movq    %rdi, %rsp
        movq    %rsi, %rax
        LOAD_FP_CONTROL
        addq    $8, %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        ret
END weft_context_jump

// intptr_t weft_context_start_roc(void** save, void* top, void (*entry)(void*), void* argument)
// On the new stack: top-8 the caller's stack pointer, top-16 padding, top-24 the return address.
FUNCTION weft_context_start_roc
        SAVE_CONTEXT
        movq    %rsp, (%rdi)
        movq    %rsp, -8(%rsi)
        leaq    -16(%rsi), %rsp
        movq    %rcx, %rdi
        .cfi_remember_state
        .cfi_undefined rip              // unwinding a unit ends at its entry
        call    *%rdx
        .cfi_restore_state
        movq    8(%rsp), %rsp           // entry has restored the callee-saved registers
        LOAD_FP_CONTROL
        addq    $56, %rsp
        .cfi_adjust_cfa_offset -56
        .cfi_same_value rbp
        .cfi_same_value rbx
        .cfi_same_value r12
        .cfi_same_value r13
        .cfi_same_value r14
        .cfi_same_value r15
        xorl    %eax, %eax
        ret
END weft_context_start_roc

// intptr_t weft_context_start_full(void** save, void* top, void (*entry)(void*), void* argument)
FUNCTION weft_context_start_full
        SAVE_CONTEXT
        movq    %rsp, (%rdi)
        leaq    -16(%rsi), %rsp
        movq    %rcx, %rdi
        .cfi_undefined rip
        call    *%rdx
        call    weft_unit_finish
        ud2
END weft_context_start_full

// The instruction before the label belongs to the same unwind region: an unwinder looks up the
// return address minus one.
FUNCTION weft_context_diverted_region
        .cfi_undefined rip
        nop
        .globl  weft_context_diverted
        .hidden weft_context_diverted
        .type   weft_context_diverted, @function
weft_context_diverted:
        call    weft_unit_finish
        ud2
END weft_context_diverted_region

// intptr_t weft_context_call_saved(void** save, void (*entry)(void*), void* argument)
FUNCTION weft_context_call_saved
        SAVE_CONTEXT
        movq    %rsp, (%rdi)
        movq    %rdx, %rdi
        call    *%rsi
        LOAD_FP_CONTROL
        addq    $56, %rsp
        .cfi_adjust_cfa_offset -56
        .cfi_same_value rbp
        .cfi_same_value rbx
        .cfi_same_value r12
        .cfi_same_value r13
        .cfi_same_value r14
        .cfi_same_value r15
        xorl    %eax, %eax
        ret
END weft_context_call_saved

// void weft_context_start_ss(void* top, void (*entry)(void*), void* argument)
// On the new stack: top-24 the return address, as with start_roc.
FUNCTION weft_context_start_ss
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        movq    %rsp, %rbp
        .cfi_def_cfa_register rbp
        leaq    -16(%rdi), %rsp
        movq    %rdx, %rdi
        .cfi_remember_state
        .cfi_undefined rip              // unwinding a unit ends at its entry
        call    *%rsi
        .cfi_restore_state
        movq    %rbp, %rsp
        popq    %rbp
        .cfi_def_cfa rsp, 8
        .cfi_restore rbp
        ret
END weft_context_start_ss

// void weft_context_call_on(void* top, void (*entry)(void*), void* argument)
FUNCTION weft_context_call_on
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        movq    %rsp, %rbp
        .cfi_def_cfa_register rbp
        movq    %rdi, %rsp
        movq    %rdx, %rdi
        call    *%rsi
        movq    %rbp, %rsp
        popq    %rbp
        .cfi_def_cfa rsp, 8
        .cfi_restore rbp
        ret
END weft_context_call_on

        .section .note.GNU-stack, "", @progbits
