// Where the code lies that a signal has interrupted, and whether it may be left there: locks inside malloc() or stdio
// would be held by something that waits. From the handler, unless something else is said.
#pragma once

#include <cstdint>

namespace weft::os {

struct CodePlace {
  bool in_weft;     // in the library that contains weft
  bool in_runtime;  // the same, or libc, the dynamic linker, the C++ runtime, the library that malloc() comes from,
                    // the kernel's vdso, another library that contains weft (weft_note.h)
  bool beside_allocator;  // in the program, of which malloc() is a part: perhaps in there
};
/// Nothing is known: it lies everywhere.
CodePlace place_of_code(std::uintptr_t instruction);

/// Whether the address belongs to dl_iterate_phdr(), which holds a lock of the dynamic linker's while it calls others.
bool is_in_walk_of_objects(std::uintptr_t instruction);

/// Whether the instruction belongs to one of libc's functions in which a program that waits is most of the time
/// (sched_yield, clock_nanosleep, pthread_spin_lock); no lock of libc's is held in there.
bool is_in_waiting_call(std::uintptr_t instruction);

/// sched_yield() as libc has it: found there, a unit may be left.
void libc_sched_yield();

/// Whether the instruction belongs to the library that malloc() comes from, which is not libc.
bool is_in_replaced_allocator(std::uintptr_t instruction);

/// Whether malloc() is a part of the program itself (Interruption::beside_allocator).
bool allocator_lies_in_program();

/// Finds out anew which code is not to be left, if libraries have come or gone; by the watchdog too, while there are
/// ticks. Not from the handler.
void refresh_code_not_to_leave();

}  // namespace weft::os
