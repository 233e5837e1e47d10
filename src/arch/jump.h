// A second function of another name and address that does the same. An alias would have the same address, and where
// two versions of one name do, GNU ld drops the one that stands in the version script.
#pragma once

#include "jump_isa.h"

#define WEFT_DEFINE_JUMP(name, target)                                     \
  __asm__(                                                                 \
      ".pushsection .text\n"                                               \
      ".p2align 4\n"                                                       \
      ".globl " #name                                                      \
      "\n"                                                                 \
      ".type " #name ", @function\n" #name ":\n" WEFT_ISA_JUMP " " #target \
      "\n"                                                                 \
      ".size " #name ", . - " #name                                        \
      "\n"                                                                 \
      ".popsection")
