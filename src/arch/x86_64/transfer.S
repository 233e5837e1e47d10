// The rest of a system call that has transferred a part, for x86-64. Contract: src/arch/interrupted.h.
//
// Entered by the end of a handler, in place of the code behind the call, with the call's registers for what is left. On
// the stack, which is two words longer meanwhile: what has been transferred, and where the code goes on. These two lie
// in what was the code's red zone: libc's functions that make such calls have nothing there.
//
// The kernel changes rax, rcx and r11, and nothing else; nor does this.

        .text
        .globl  weft_rest_of_transfer
        .hidden weft_rest_of_transfer
        .globl  weft_rest_of_transfer_made
        .hidden weft_rest_of_transfer_made
        .type   weft_rest_of_transfer, @function
        .balign 16
weft_rest_of_transfer:
        .cfi_startproc
        .cfi_def_cfa rsp, 16
        .cfi_offset rip, -8
        syscall
weft_rest_of_transfer_made:
        cmpq    $-4096, %rax
        jbe     1f
        xorl    %eax, %eax              // an error is that of the next call
1:      addq    (%rsp), %rax
        movq    8(%rsp), %rcx
        leaq    16(%rsp), %rsp
        .cfi_def_cfa rsp, 0
        .cfi_register rip, rcx
        jmp     *%rcx
        .cfi_endproc
        .size   weft_rest_of_transfer, . - weft_rest_of_transfer

        .section .note.GNU-stack, "", @progbits
