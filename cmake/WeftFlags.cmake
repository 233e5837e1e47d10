# Two interface targets that the parts of weft link to:
#   weft_warnings       the warnings our own C and C++ is clean under
#   weft_library_flags  how code of the shipped libraries is compiled and linked
# The optimisation level comes from the build type: -O2 -g in every preset but debug.
include(CheckLinkerFlag)

add_library(weft_warnings INTERFACE)
target_compile_options(
  weft_warnings INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wshadow>")

add_library(weft_library_flags INTERFACE)
target_compile_features(weft_library_flags INTERFACE cxx_std_20)
target_compile_options(
  weft_library_flags
  INTERFACE
    # Thread-local storage of the shipped libraries is reached at a fixed offset from the thread pointer. Each function
    # begins a cache line: else a few bytes more or less in one move all that follow, and what takes 10 ns by 4 %.
    "$<$<COMPILE_LANGUAGE:C,CXX>:-fPIC;-fvisibility=hidden;-ftls-model=initial-exec;-falign-functions=64>"
    "$<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions;-fno-rtti;-fno-threadsafe-statics;-fvisibility-inlines-hidden>")

# No shipped library may need libstdc++, and none may leave a symbol open. A sanitizer's own runtime is
# brought in by the driver's default libraries, so those trees keep them.
# clang links it with the program alone.
if(NOT (WEFT_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
  target_link_options(weft_library_flags INTERFACE -Wl,--no-undefined)
endif()
if(NOT WEFT_SANITIZE)
  check_linker_flag(CXX -nostdlib++ WEFT_HAVE_NOSTDLIBXX) # clang, and gcc from 13 on
  if(WEFT_HAVE_NOSTDLIBXX)
    target_link_options(weft_library_flags INTERFACE -nostdlib++)
  else()
    target_link_options(weft_library_flags INTERFACE -nodefaultlibs)
    target_link_libraries(weft_library_flags INTERFACE -lc -lgcc)
  endif()
endif()
