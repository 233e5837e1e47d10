// How a function becomes a symbol of the drop-in library. Its version is given by libgomp.map.
#pragma once

#include "arch/jump.h"

#define WEFT_EXPORT extern "C" [[gnu::visibility("default")]]

/// Gives the exported function `function` a further name with a version, NAME@@VERSION (what programs
/// are linked against) or NAME@VERSION (only for those that were). For names that have two versions.
#define WEFT_VERSION(function, versioned_name) __asm__(".symver " #function ", " versioned_name)

/// Gives the exported function its version in LLVM's runtime too.
#define WEFT_ALSO_LLVM(name)                \
  WEFT_DEFINE_JUMP(weft_llvm_##name, name); \
  WEFT_VERSION(weft_llvm_##name, #name "@VERSION")
