// libc's functions as weft itself calls them: under HeldOff. The linker puts these in place of the calls of the shipped
// libraries (--wrap, cmake/WeftHeldCalls.cmake). weft's code is not left, but code that it calls looks like the
// program's own: an allocator that replaces libc's lies in a library of its own.
#include <cstddef>
#include <ctime>
#include <pthread.h>
#include <sys/types.h>

#include "core/preempt.h"

using weft::core::HeldOff;

#define WEFT_HELD(result, name, parameters, arguments) \
  result __real_##name parameters;                     \
  result __wrap_##name parameters;                     \
  result __wrap_##name parameters {                    \
    const HeldOff held;                                \
    return __real_##name arguments;                    \
  }

extern "C" {
WEFT_HELD(void*, malloc, (std::size_t size), (size))
WEFT_HELD(void*, calloc, (std::size_t count, std::size_t size), (count, size))
WEFT_HELD(void*, realloc, (void* memory, std::size_t size), (memory, size))
WEFT_HELD(void, free, (void* memory), (memory))
WEFT_HELD(void*, aligned_alloc, (std::size_t alignment, std::size_t size), (alignment, size))
WEFT_HELD(int, posix_memalign, (void** memory, std::size_t alignment, std::size_t size), (memory, alignment, size))
WEFT_HELD(void*, memcpy, (void* to, const void* from, std::size_t size), (to, from, size))
WEFT_HELD(void*, memmove, (void* to, const void* from, std::size_t size), (to, from, size))
WEFT_HELD(void*, memset, (void* to, int byte, std::size_t size), (to, byte, size))
WEFT_HELD(void*, mmap, (void* at, std::size_t size, int protection, int flags, int file, off_t offset),
          (at, size, protection, flags, file, offset))
WEFT_HELD(int, munmap, (void* at, std::size_t size), (at, size))
WEFT_HELD(int, madvise, (void* at, std::size_t size, int advice), (at, size, advice))
WEFT_HELD(int, mprotect, (void* at, std::size_t size, int protection), (at, size, protection))
WEFT_HELD(int, pthread_create,
          (pthread_t * thread, const pthread_attr_t* attributes, void* (*entry)(void*), void* argument),
          (thread, attributes, entry, argument))
WEFT_HELD(int, pthread_setspecific, (pthread_key_t key, const void* value), (key, value))
WEFT_HELD(long, syscall, (long number, long a, long b, long c, long d, long e, long f), (number, a, b, c, d, e, f))
}
