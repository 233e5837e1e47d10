// Context switches for x86-64, System V ABI. Contract: src/arch/context.h.
//
// A saved context, from its stack pointer upwards:
//   +0 mxcsr (4 bytes), +4 x87 control word (2 bytes), +8 r15 r14 r13 r12 rbx rbp, +56 return address
//
// What the control words cost decides where they are read (Zen 4: stmxcsr 7 ns, ldmxcsr 0.5, fnstcw 1; a whole
// switch without them 3). mxcsr is read once for each context that is left and whose words nobody knows, and loaded
// from memory always, also after a unit that returns: it is no callee that the ABI tells to keep it, but somebody's
// thread, which may flush denormals to zero for itself. fldcw is skipped where it would change nothing.

        // As in context.h, and in the core's unit.
        .equ    weft_to_unit, 16
        .equ    weft_argument_offset, 8
        .equ    weft_entry_offset, 24

        .text

        .macro SAVE_REGISTERS
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
        .endm

        // The whole context, with the control words as they are now.
        .macro SAVE_CONTEXT
        SAVE_REGISTERS
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        stmxcsr (%rsp)
        fnstcw  4(%rsp)
        .endm

        // The same, with control words that the caller knows.
        .macro SAVE_CONTEXT_WITH words
        SAVE_REGISTERS
        pushq   \words
        .cfi_adjust_cfa_offset 8
        .endm

        // Loads the control words of the context at (%rsp) where the x87 one is `now`.
        .macro LOAD_FP_CONTROL now
        ldmxcsr (%rsp)
        cmpw    4(%rsp), \now
        je      81f
        fldcw   4(%rsp)
81:
        .endm

        // The same where nobody knows the x87 control word; clobbers r10.
        .macro LOAD_FP_CONTROL_ANEW
        fnstcw  -8(%rsp)
        movzwl  -8(%rsp), %r10d
        LOAD_FP_CONTROL %r10w
        .endm

        // A unit has returned to the context at (%rsp), and restored the other registers.
        .macro RETURN_FROM_UNIT
        LOAD_FP_CONTROL_ANEW
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
        .endm

        // The context is saved: notes it, and calls the entry on the new stack. Below that stack's top: -8 the old stack
        // pointer, -16 padding, -24 the return address.
        .macro CALL_AND_RETURN
        movq    %rsp, (%rdi)
        movq    %rsp, -8(%rsi)
        leaq    -16(%rsi), %rsp
        movq    %rcx, %rdi
        .cfi_remember_state
        .cfi_undefined rip              // unwinding a unit ends at its entry
        call    *%rdx
        .cfi_restore_state
        movq    8(%rsp), %rsp           // entry has restored the callee-saved registers
        RETURN_FROM_UNIT
        .endm

        .macro CALL_AND_FINISH
        movq    %rsp, (%rdi)
        leaq    -16(%rsi), %rsp
        movq    %rcx, %rdi
        .cfi_undefined rip
        call    *%rdx
        jmp     leave_for_good
        .endm

        // rbp stands for this stack while another is in use.
        .macro SAVE_FRAME
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        movq    %rsp, %rbp
        .cfi_def_cfa_register rbp
        .endm

        // Calls rsi(rdx) on the stack that ends at rdi, as a unit: below its top -24 is the return address.
        .macro CALL_FROM_FRAME
        leaq    -16(%rdi), %rsp
        movq    %rdx, %rdi
        .cfi_remember_state
        .cfi_undefined rip              // unwinding a unit ends at its entry
        call    *%rsi
        .cfi_restore_state
        .endm

        // Leaves the running context, noted in *rdi, for the stack at rsi, where another one is saved: the same layout
        // there, so the CFA rule stays true.
        .macro LEAVE_FOR_SAVED
        SAVE_CONTEXT
        movq    %rsp, (%rdi)
        movzwl  4(%rsp), %r10d
        movq    %rsi, %rsp
        LOAD_FP_CONTROL %r10w
        .endm

        // The same for a stack that ends at rsi, where nothing has begun, with the control words rcx.
        .macro LEAVE_FOR_NEW
        SAVE_CONTEXT
        movq    %rsp, (%rdi)
        movzwl  4(%rsp), %r10d
        movq    %rcx, -16(%rsi)
        .cfi_undefined rip
        leaq    -16(%rsi), %rsp
        LOAD_FP_CONTROL %r10w
        .endm

        .macro LOAD_REGISTERS
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
        .endm

        // To a return address that the processor does not expect: an indirect jump goes to the same place as last time.
        .macro JUMP_TO_RETURN_ADDRESS
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        .cfi_register rip, rcx
        jmp     *%rcx
        .endm

        .macro FUNCTION name
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 6
\name:
        .cfi_startproc
        .endm

        .macro END name
        .cfi_endproc
        .size   \name, . - \name
        .endm

// intptr_t weft_context_switch(void** save, void* to, intptr_t value)
// int weft_context_leave(void** save, void* to, intptr_t value)
FUNCTION weft_context_switch
        .globl  weft_context_leave
        .hidden weft_context_leave
        .type   weft_context_leave, @function
weft_context_leave:
        SAVE_CONTEXT
        movq    %rsp, (%rdi)
        movzwl  4(%rsp), %r10d
        movq    %rsi, %rsp              // same layout there: the CFA rule stays true
        movq    %rdx, %rax
        LOAD_FP_CONTROL %r10w
        LOAD_REGISTERS
        JUMP_TO_RETURN_ADDRESS
END weft_context_switch

// int weft_context_pass(void** save, void* to)
// The return is predicted well where both have called the same.
FUNCTION weft_context_pass
        LEAVE_FOR_SAVED
        call    weft_unit_passed        // aligned: a saved context is 56 bytes and a return address
        xorl    %eax, %eax
        LOAD_REGISTERS
        ret
END weft_context_pass

// int weft_context_swap(void** save, void* to)
FUNCTION weft_context_swap
        LEAVE_FOR_SAVED
        xorl    %eax, %eax
        LOAD_REGISTERS
        ret
END weft_context_swap

// intptr_t weft_context_resume(void** save, void* to, intptr_t value, weft_fp_control known)
FUNCTION weft_context_resume
        SAVE_CONTEXT_WITH %rcx
        movq    %rsp, (%rdi)
        shrq    $32, %rcx
        movq    %rsi, %rsp
        movq    %rdx, %rax
        LOAD_FP_CONTROL %cx
        LOAD_REGISTERS
        JUMP_TO_RETURN_ADDRESS
END weft_context_resume

        .macro POP_REGISTERS
        addq    $8, %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        .endm

// int weft_context_pass_to_new(void** save, void* top, void* unit, weft_fp_control words)
//
// And what units that began so return to. All that goes on from there, a unit that begins or one that had left, is entered
// by the one call below, for the sake of the processor's return predictor: when the function of such a unit returns,
// the last call that has not returned yet is that one, whoever else may have come and gone.
FUNCTION weft_context_pass_to_new
        LEAVE_FOR_NEW
        movq    %rdx, %rdi
        call    weft_unit_begin
        movq    %rdx, %rdi
        movq    %rax, %r11
enter:  call    *%r11
        call    weft_unit_returned
to:     cmpq    $weft_to_unit, %rdx
        jb      to_scheduler
        leaq    resume(%rip), %r11
        je      enter
        movq    %rdx, %rdi
        leaq    -16(%rax), %rsp
        LOAD_FP_CONTROL_ANEW
        call    weft_unit_begin_after_end
        movq    %rdx, %rdi
        movq    %rax, %r11
        jmp     enter
resume: movq    %rax, %rsp              // and no way back
        LOAD_FP_CONTROL_ANEW
        call    weft_unit_passed_by_end
        xorl    %eax, %eax
        POP_REGISTERS
        popq    %rcx
        jmp     *%rcx
to_scheduler:
        movq    %rax, %rsp
        movq    %rdx, %rax
        LOAD_FP_CONTROL_ANEW
        POP_REGISTERS
        popq    %rcx
        jmp     *%rcx
END weft_context_pass_to_new

// int weft_context_swap_and_clear(void** save, void* to, void* byte)
FUNCTION weft_context_swap_and_clear
        LEAVE_FOR_SAVED
        movb    $0, (%rdx)              // stores become visible in their order: the context before this
        xorl    %eax, %eax
        LOAD_REGISTERS
        ret
END weft_context_swap_and_clear

// int weft_context_swap_to_new(void** save, void* top, void* unit, weft_fp_control words)
FUNCTION weft_context_swap_to_new
        LEAVE_FOR_NEW
        movq    weft_argument_offset(%rdx), %rdi
        movq    weft_entry_offset(%rdx), %r11
        jmp     enter
END weft_context_swap_to_new

// int weft_context_swap_to_new_and_clear(void** save, void* top, void* unit, weft_fp_control words, void* byte)
FUNCTION weft_context_swap_to_new_and_clear
        LEAVE_FOR_NEW
        movb    $0, (%r8)
        movq    weft_argument_offset(%rdx), %rdi
        movq    weft_entry_offset(%rdx), %r11
        jmp     enter
END weft_context_swap_to_new_and_clear

// void weft_unit_finish(void)
FUNCTION weft_unit_finish
        .cfi_undefined rip
        andq    $-16, %rsp
leave_for_good:
        call    weft_unit_ends
        jmp     to
END weft_unit_finish

// void weft_context_jump(void* to, intptr_t value)
FUNCTION weft_context_jump
        .cfi_undefined rip
        movq    %rdi, %rsp
        movq    %rsi, %rax
        LOAD_FP_CONTROL_ANEW
        POP_REGISTERS
        popq    %rcx
        jmp     *%rcx
END weft_context_jump

// intptr_t weft_context_start_roc(void** save, void* top, void (*entry)(void*), void* argument,
//                                 weft_fp_control known)
FUNCTION weft_context_start_roc
        SAVE_CONTEXT_WITH %r8
        CALL_AND_RETURN
END weft_context_start_roc

// intptr_t weft_context_spawn_roc(void** save, void* top, void (*entry)(void*), void* argument)
FUNCTION weft_context_spawn_roc
        SAVE_CONTEXT
        CALL_AND_RETURN
END weft_context_spawn_roc

// intptr_t weft_context_start_full(void** save, void* top, void (*entry)(void*), void* argument,
//                                  weft_fp_control known)
FUNCTION weft_context_start_full
        SAVE_CONTEXT_WITH %r8
        CALL_AND_FINISH
END weft_context_start_full

// intptr_t weft_context_spawn_full(void** save, void* top, void (*entry)(void*), void* argument)
FUNCTION weft_context_spawn_full
        SAVE_CONTEXT
        CALL_AND_FINISH
END weft_context_spawn_full

// The instruction before the label belongs to the same unwind region: an unwinder looks up the
// return address minus one.
FUNCTION weft_context_diverted_region
        .cfi_undefined rip
        nop
        .globl  weft_context_diverted
        .hidden weft_context_diverted
        .type   weft_context_diverted, @function
weft_context_diverted:
        call    weft_diverted_unit_returned     // aligned: the return address was at the stack's top - 24
        jmp     to
END weft_context_diverted_region

// intptr_t weft_context_call_saved(void** save, void (*entry)(void*), void* argument)
FUNCTION weft_context_call_saved
        SAVE_CONTEXT
        movq    %rsp, (%rdi)
        movq    %rdx, %rdi
        call    *%rsi
        RETURN_FROM_UNIT
END weft_context_call_saved

// intptr_t weft_context_call_saved_with(void** save, void (*entry)(void*), void* argument, weft_fp_control known)
FUNCTION weft_context_call_saved_with
        SAVE_CONTEXT_WITH %rcx
        movq    %rsp, (%rdi)
        movq    %rdx, %rdi
        call    *%rsi
        RETURN_FROM_UNIT
END weft_context_call_saved_with

// void weft_context_start_ss(void* top, void (*entry)(void*), void* argument, weft_fp_control known)
// On the new stack: top-24 the return address, as with start_roc.
// The words lie at rbp-8; what is below them on the old stack is free, and near enough to rsp not to be touched.
FUNCTION weft_context_start_ss
        SAVE_FRAME
        pushq   %rcx
        CALL_FROM_FRAME
        movq    %rbp, %rsp
        fnstcw  -16(%rsp)
        movzwl  -16(%rsp), %eax
        ldmxcsr -8(%rsp)
        cmpw    -4(%rsp), %ax
        jne     2f
1:      .cfi_remember_state
        popq    %rbp
        .cfi_def_cfa rsp, 8
        .cfi_restore rbp
        ret
        .cfi_restore_state
2:      fldcw   -4(%rsp)
        jmp     1b
END weft_context_start_ss

// void weft_context_call_on(void* top, void (*entry)(void*), void* argument)
FUNCTION weft_context_call_on
        SAVE_FRAME
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
