// Calls with any number of pointers, for x86-64, System V ABI. Contract: src/arch/call.h.

        .text

// void weft_call_with_pointers(void (*function)(), void* first, void* second, void* const* rest, size_t count)
//
// The first six pointers go into registers (first, second, rest[0..3]), the others onto the stack, the last one
// highest. The frame pointer holds the stack pointer that the caller knows.
        .globl  weft_call_with_pointers
        .hidden weft_call_with_pointers
        .type   weft_call_with_pointers, @function
        .p2align 4
weft_call_with_pointers:
        .cfi_startproc
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        movq    %rsp, %rbp
        .cfi_def_cfa_register rbp
        movq    %rdi, %rax              // function
        movq    %rcx, %r10              // rest
        movq    %r8, %r11               // count
        movq    %rsi, %rdi
        movq    %rdx, %rsi
        cmpq    $4, %r11
        jbe     2f
        // An odd number of words above the return address would leave the stack unaligned.
        testb   $1, %r11b
        je      1f
        subq    $8, %rsp
1:      pushq   -8(%r10,%r11,8)
        decq    %r11
        cmpq    $4, %r11
        jne     1b
2:      testq   %r11, %r11
        je      3f
        movq    (%r10), %rdx
        cmpq    $2, %r11
        jb      3f
        movq    8(%r10), %rcx
        je      3f
        movq    16(%r10), %r8
        cmpq    $4, %r11
        jb      3f
        movq    24(%r10), %r9
3:      movq    %rax, %r11
        xorl    %eax, %eax
        call    *%r11
        leave
        .cfi_def_cfa rsp, 8
        .cfi_restore rbp
        ret
        .cfi_endproc
        .size   weft_call_with_pointers, . - weft_call_with_pointers

        .section .note.GNU-stack, "", @progbits
