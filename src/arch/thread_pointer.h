// The thread pointer (FS base on x86-64), and the one word of thread-local storage that weft owns.
//
// A unit can run on several KLTs and with several thread pointers during its life, so the compiler
// must never keep the *address* of a thread-local variable across a switch. weft therefore has one
// thread-local word, and it is read and written only through these functions, whose assembly the
// compiler can neither merge nor move.
#pragma once

#include "thread_pointer_isa.h"

namespace weft::arch {

/// The word of the current thread pointer (nullptr in a thread that has never entered weft).
inline void* thread_word() { return isa_thread_word(); }
inline void set_thread_word(void* value) { isa_set_thread_word(value); }

/// The same word as seen through another thread pointer.
inline void** thread_word_of(void* thread_pointer) { return isa_thread_word_of(thread_pointer); }

/// The current thread pointer.
inline void* thread_pointer() { return isa_thread_pointer(); }

/// Makes `pointer` the thread pointer of the KLT that calls; everything thread-local changes with it.
inline void set_thread_pointer(void* pointer) { isa_set_thread_pointer(pointer); }

}  // namespace weft::arch
