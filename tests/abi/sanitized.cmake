# The ABI tests in trees with a sanitizer: gcc's programs are built with it like the drop-in, so that ThreadSanitizer
# sees whether what one member writes is ordered before another member's reads; clang's programs have a sanitizer
# runtime of another compiler's, so they are built without, and the drop-in's is preloaded.
#
# What cannot pass there is left out by name, with the reason:
# - Identities are off under AddressSanitizer and ThreadSanitizer: they keep their own state in thread-local storage. So
#   members share what is kept per thread with others on the same worker: threadprivate variables above all.
# - ThreadSanitizer does not know of fences, which are what the flush directive is.
# Programs of which a part cannot pass leave that out where check_sanitized() says so: they hold an exception while they
# wait, tell threads apart, or nest calls deeper than one stack is (core/segment.cpp goes on on another, but not here).
add_compile_options(${weft_without_ubsan})
set(abi_sanitized_pairs 8_2 8_8)
set(abi_not_sanitized)
set(abi_sanitized_environment)
if(WEFT_SANITIZE MATCHES "address|thread")
  set(abi_sanitized_environment CHECK_SANITIZED=1)
  set(abi_not_sanitized
    nested_identity pause_destroys clang.pause_destroys threadprivate threadprivate_class threadprivate_common_f threadprivate_nested threadprivate_teams clang.threadprivate
    clang.threadprivate_class clang.threadprivate_nested clang.threadprivate_no_tls clang.threadprivate_class_no_tls)
endif()
if(WEFT_SANITIZE STREQUAL "thread")
  # pause has a threadprivate variable; detach_discarded hands over events by an atomic variable of its own, of which
  # ThreadSanitizer is not told in clang's.
  list(APPEND abi_not_sanitized flush pause clang.detach_discarded)
  # Archer, where it is installed, is for programs that stand on a runtime without ThreadSanitizer.
  list(APPEND abi_sanitized_environment OMP_TOOL=disabled TSAN_OPTIONS=atexit_sleep_ms=0)
endif()

set(abi_preloaded)
if(WEFT_SANITIZE MATCHES "address|thread")
  string(SUBSTRING ${WEFT_SANITIZE} 0 1 initial)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${initial}san.so
    OUTPUT_VARIABLE abi_sanitizer_runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(abi_preloaded LD_PRELOAD=${abi_sanitizer_runtime})
endif()

# Registers the tests of a program that has been built.
function(abi_register_sanitized name program)
  foreach(pair ${abi_sanitized_pairs})
    string(REPLACE "_" ";" numbers ${pair})
    list(GET numbers 0 threads)
    list(GET numbers 1 workers)
    abi_register(abi.${name}.t${threads}w${workers} 300 COMMAND ${program}
      ENV OMP_NUM_THREADS=${threads} WEFT_NUM_WORKERS=${workers} ${abi_sanitized_environment} ${ARGN})
  endforeach()
endfunction()
