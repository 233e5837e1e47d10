// Thread-local storage, and the KLT that it was made for. Runtimes that lend thread pointers (weft: os/identity.h) have
// them run on other KLTs; two of them may be in one process, libweft and a face that stands in for another library.
#pragma once

namespace weft::os {

/// Withdraws the calling KLT's restartable-sequences registration, whose area lies beside this thread pointer: in
/// thread-local storage that other KLTs come to use, or that is free from now on. Where there is none, nothing happens.
void unregister_rseq(void* thread_pointer);

/// Whether the storage that the caller runs on is that of another KLT. False also where nobody knows: a libc that has
/// no list of robust mutexes there. Costs a system call.
bool is_on_borrowed_storage();

/// Whether somebody has withdrawn the registration for restartable sequences of the storage that the caller runs on, as
/// a runtime does that lends it: then the caller may go on on another KLT. False also where libc registers none.
bool is_on_storage_to_lend();

}  // namespace weft::os
