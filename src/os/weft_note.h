// The ELF note by which a library that contains weft says so: another one in the process, libweft beside a face that
// stands in for another library, has locks of its own, and its code is left by a signal as little as malloc() is.
#pragma once

#include <cstdint>
#include <link.h>

namespace weft::os {

/// Whether the object with these program headers, loaded at `base`, has the note. Also from handlers.
bool has_weft_note(const ElfW(Phdr) * headers, unsigned count, std::uintptr_t base);

/// The same of an object that lies in memory from its ELF header on. False also where there is none.
bool has_weft_note(const void* begin, std::uintptr_t base);

}  // namespace weft::os
