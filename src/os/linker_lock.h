// The lock of the dynamic linker that dl_iterate_phdr(3) holds while it calls back. A unit that waits for a worker may
// hold it: so whoever others may wait for does not wait for it.
#pragma once

#include <cstdint>

namespace weft::os {

/// While the library is loaded.
void find_linker_lock();

/// Whether somebody holds it at the moment. Also from handlers.
enum class Held : std::uint8_t { no, yes, not_known };
Held linker_lock();

}  // namespace weft::os
