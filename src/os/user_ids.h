// setuid(2) and its like, which for the kernel concern one thread, and for POSIX all of the process.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::os {

/// When libc has started a thread, so that it has its handler: has threads that wear another's thread pointer take
/// part.
void let_user_ids_change();

/// Whether a FUTEX_WAIT of libc's for `word`, as long as it is `value`, is that of a change of user ids, for the other
/// threads; `stack` is the stack pointer there. The caller has the lock then that libc needs to start a thread, or to
/// end one. For handlers.
bool awaits_change_of_user_ids(const std::atomic<std::uint32_t>* word, std::uint32_t value, std::uintptr_t stack);

}  // namespace weft::os
