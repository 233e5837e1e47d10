# WEFT_SANITIZE=address|thread|undefined builds everything C and C++ in the tree with that sanitizer; `address` brings
# UndefinedBehaviorSanitizer with it, `undefined` has that one alone, and so all of weft: units keep their identities there,
# and are preempted. A sanitizer tree holds src and the tests that make sense there; it has no benchmarks.
set(WEFT_SANITIZE "" CACHE STRING "Sanitizer of this build tree: address, thread, undefined, or empty")
set_property(CACHE WEFT_SANITIZE PROPERTY STRINGS "" address thread undefined)

if(WEFT_SANITIZE)
  if(NOT WEFT_SANITIZE MATCHES "^(address|thread|undefined)$")
    message(FATAL_ERROR "WEFT_SANITIZE is '${WEFT_SANITIZE}'; expected address, thread or undefined")
  endif()
  set(weft_sanitize_flags -fsanitize=${WEFT_SANITIZE})
  if(WEFT_SANITIZE STREQUAL "address")
    list(APPEND weft_sanitize_flags -fsanitize=undefined)
  endif()
  if(NOT WEFT_SANITIZE STREQUAL "thread")
    list(APPEND weft_sanitize_flags -fno-sanitize-recover=undefined)
  endif()
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${weft_sanitize_flags}>")
  if(WEFT_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # ThreadSanitizer does not model fences, and gcc says so at each one.
    add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-Wno-tsan>")
  endif()
  add_link_options(${weft_sanitize_flags})
  # For programs that see weft from outside alone: UBSan takes long to compile, has nothing to say of them, and gcc's
  # leaves no atomic instruction of an `atomic` shift or division, whose operands it looks at.
  set(weft_without_ubsan)
  if(NOT WEFT_SANITIZE STREQUAL "thread")
    set(weft_without_ubsan "$<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize=undefined>")
  endif()
endif()
