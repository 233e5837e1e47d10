# weft_hold_off_calls(TARGET): what a shipped library calls in libc, it calls through src/core/held_calls.cpp. A sanitizer
# has functions of its own for these, and nothing is preempted there.
function(weft_hold_off_calls target)
  if(WEFT_SANITIZE)
    return()
  endif()
  foreach(name IN ITEMS malloc calloc realloc free aligned_alloc posix_memalign memcpy memmove memset mmap munmap
                        madvise mprotect pthread_create pthread_setspecific syscall)
    target_link_options(${target} PRIVATE "-Wl,--wrap=${name}")
  endforeach()
endfunction()
