// setuid(2) and its like, which for the kernel concern one thread, and for POSIX all of the process.
#pragma once

namespace weft::os {

/// When libc has started a thread, so that it has its handler: has threads that wear another's thread pointer take
/// part.
void let_user_ids_change();

}  // namespace weft::os
