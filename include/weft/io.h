/* weft: input and output for units. Part of the native C API; see weft/weft.h for its conventions.
 *
 * These are the system calls of the same names, except that the caller's worker runs other units while one waits, and
 * a root runs units itself. The kernel does the waiting, in one io_uring of the process's; where it has none for us
 * (before Linux 5.18, in many containers), threads of weft's do, one for each unit that waits. WEFT_IO=klts has them do
 * it anyway; WEFT_IO=io_uring says so in a line if that cannot be. Threads serve terminals in any case, and other
 * devices that cannot but keep whoever asks. What is ready already costs only the system call. A
 * program that closes all files that it has not opened (closefrom(3)) closes one of weft's: then threads wait as well.
 *
 * Any caller but a stackless unit: STACKLESS, nothing has happened. What the system call answers with errno is returned
 * as WEFT_ERR_SYSTEM + errno: weft_error_errno(), weft_error_name() and weft_error_text() know it. errno itself is left
 * alone; but a unit without WEFT_OWN_TLS, and a root, may find there what units that ran on the same thread meanwhile
 * have left. Never returned: EINTR, what was interrupted goes on; EAGAIN, O_NONBLOCK makes no difference; and SIGPIPE
 * is not raised, EPIPE says all. LIMIT: there is neither an io_uring nor a thread to wait.
 *
 * Time limits are those of weft/sync.h: relative, in nanoseconds; 0 never waits; WEFT_FOREVER is no limit. TIMEOUT: the
 * time is over, and nothing has happened. Whether a read from a disk can be broken off is up to the kernel.
 *
 * A file that is closed while a unit waits for it: the unit goes on waiting for it, as a thread in the system call
 * would, or it gets EBADF (a write then says how much was written); what gets its number is not touched, if it can be
 * told apart (docs/design/io.md). So do not close what is waited for: shutdown(2) ends the waiting of those who have a
 * socket. Memory that was handed over belongs to the kernel until the call has come back. To sleep for a time:
 * weft_sleep(). In a forked child all begins anew. */
#ifndef WEFT_IO_H
#define WEFT_IO_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "weft/weft.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads what there is, but waits for a byte at least: *count of them, 0 at the end. A file on a disk is read until
 * `size` bytes are there, or its end. A terminal's VMIN and VTIME count only without a limit. At most 0x7ffff000 bytes
 * at once. read(2). */
WEFT_API int weft_read(int fd, void* buffer, size_t size, size_t* count);
WEFT_API int weft_timed_read(int fd, void* buffer, size_t size, uint64_t nanoseconds, size_t* count);

/* Writes all of it, *count == size; less if an error, or the limit, came when some was written: the error is that of
 * the next call. At most 0x7ffff000 bytes at once. write(2). */
WEFT_API int weft_write(int fd, const void* buffer, size_t size, size_t* count);
WEFT_API int weft_timed_write(int fd, const void* buffer, size_t size, uint64_t nanoseconds, size_t* count);

/* Waits for a connection; its descriptor is *connection. `address` and `length` may be NULL; `flags` are SOCK_NONBLOCK
 * and SOCK_CLOEXEC. accept4(2). Where threads wait, the limit is not kept if another takes the connection away. */
WEFT_API int weft_accept(int fd, struct sockaddr* address, socklen_t* length, int flags, int* connection);
WEFT_API int weft_timed_accept(int fd, struct sockaddr* address, socklen_t* length, int flags, uint64_t nanoseconds,
                               int* connection);

/* Waits until the socket is connected, or is not. After TIMEOUT it may come to be connected later: close it.
 * connect(2). To keep a limit on a Unix socket, and where threads wait on any, the socket has O_NONBLOCK for as long as
 * that takes, and is set back to what it had: all see that whose descriptors share its open file description (dup(2),
 * fork(2)), and what they set of it meanwhile may be lost. connect(2) has no flag for one call alone. */
WEFT_API int weft_connect(int fd, const struct sockaddr* address, socklen_t length);
WEFT_API int weft_timed_connect(int fd, const struct sockaddr* address, socklen_t length, uint64_t nanoseconds);

/* Waits until some of the files are ready: *ready of them, as their `revents` say. TIMEOUT: none is. MEMORY. poll(2).
 */
WEFT_API int weft_poll(struct pollfd* files, size_t count, uint64_t nanoseconds, size_t* ready);

#ifdef __cplusplus
}
#endif

#endif
