// Locks of the dynamic linker. That which dl_iterate_phdr(3) holds while it calls back: a unit that waits for a worker
// may hold it, so whoever others may wait for does not wait for it. And those that dlopen(3) and dlclose(3) hold while
// they call functions of the library (resolvers of IFUNCs, constructors and destructors): whoever starts a thread wants
// one of them.
#pragma once

#include <cstdint>

namespace weft::os {

/// While the library is loaded.
void find_linker_lock();

/// Whether somebody holds it at the moment. Also from handlers.
enum class Held : std::uint8_t { no, yes, not_known };
Held linker_lock();

/// Whether the code that has the calling thread's storage is within dlopen() or dlclose(). Also from handlers.
bool loads_libraries();

}  // namespace weft::os
