# The programs of the threading core: one per pattern and library, build/bench/bin/PATTERN-LIBRARY. The libraries that
# weft is compared with come from pkg-config, or from prefixes that the user names: -DWEFT_PEERS="/prefix;/prefix2". One
# that is absent is left out, and `weft bench` says so.
set(WEFT_PEERS "" CACHE STRING "Prefixes of the threading libraries to compare weft with, separated by semicolons")
set(WEFT_PATTERNS techniques fib queens producer yield sync_latency unit_memory)

# add_peer(name libraries... [PATTERNS patterns...]): the patterns built on peers/NAME.h.
function(add_peer name)
  cmake_parse_arguments(PARSE_ARGV 1 peer "" "" "PATTERNS")
  if(NOT peer_PATTERNS)
    set(peer_PATTERNS ${WEFT_PATTERNS})
  endif()
  foreach(pattern IN LISTS peer_PATTERNS)
    set(target bench_${pattern}-${name})
    add_executable(${target} ${pattern}.c)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE PEER_HEADER="peers/${name}.h")
    weft_peer_target(${target} ${pattern}-${name} ${peer_UNPARSED_ARGUMENTS})
  endforeach()
endfunction()

# A program in C++ that knows its pattern by the name it is called by.
function(add_peer_program name patterns)
  foreach(pattern IN LISTS patterns)
    set(target bench_${pattern}-${name})
    add_executable(${target} peers/${name}.cpp)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
    weft_peer_target(${target} ${pattern}-${name} ${ARGN})
  endforeach()
endfunction()

function(weft_peer_target target program)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY
                                                                    ${CMAKE_CURRENT_BINARY_DIR}/bin)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE -O3)
  target_link_libraries(${target} PRIVATE ${ARGN} Threads::Threads ${CMAKE_DL_LIBS})
  if(TARGET weft_warnings)
    target_link_libraries(${target} PRIVATE weft_warnings)
  endif()
endfunction()

# Sets ${name}_TARGET to a target for the library: by pkg-config, or by a header and a library below WEFT_PEERS. Its
# headers count as the system's: they are not ours to warn about.
function(find_peer name package header library)
  set(prefixes ${WEFT_PEERS})
  find_path(WEFT_PEER_${name}_INCLUDE ${header} PATHS ${prefixes} PATH_SUFFIXES include)
  find_library(WEFT_PEER_${name}_LIBRARY ${library} PATHS ${prefixes} PATH_SUFFIXES lib lib64)
  if(NOT (WEFT_PEER_${name}_INCLUDE AND WEFT_PEER_${name}_LIBRARY) AND package AND PKG_CONFIG_FOUND)
    pkg_check_modules(WEFT_PEER_PC_${name} QUIET ${package})
    find_path(WEFT_PEER_${name}_INCLUDE ${header} HINTS ${WEFT_PEER_PC_${name}_INCLUDE_DIRS})
    find_library(WEFT_PEER_${name}_LIBRARY ${library} HINTS ${WEFT_PEER_PC_${name}_LIBRARY_DIRS})
  endif()
  if(WEFT_PEER_${name}_INCLUDE AND WEFT_PEER_${name}_LIBRARY)
    add_library(weft_peer_${name} INTERFACE)
    target_include_directories(weft_peer_${name} SYSTEM INTERFACE ${WEFT_PEER_${name}_INCLUDE})
    target_link_libraries(weft_peer_${name} INTERFACE ${WEFT_PEER_${name}_LIBRARY})
    add_peer(${name} weft_peer_${name} ${ARGN})
  else()
    message(STATUS "bench: without ${name} (not found; -DWEFT_PEERS=PREFIX names where it is)")
  endif()
endfunction()

find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)

if(TARGET weft)
  add_peer(weft weft)
endif()
add_peer(pthreads PATTERNS techniques yield sync_latency)
find_peer(argobots argobots abt.h abt)
find_peer(massivethreads "" myth/myth.h myth)
find_peer(qthreads qthreads qthread/qthread.h qthread)

find_package(TBB QUIET)
if(TBB_FOUND)
  add_peer_program(tbb "techniques;fib;queens;producer" TBB::tbb)
else()
  message(STATUS "bench: without tbb (Debian: libtbb-dev)")
endif()

find_path(WEFT_PEER_libfork_INCLUDE libfork/core.hpp PATHS ${WEFT_PEERS} PATH_SUFFIXES include)
if(WEFT_PEER_libfork_INCLUDE)
  add_library(weft_peer_libfork INTERFACE)
  target_include_directories(weft_peer_libfork SYSTEM INTERFACE ${WEFT_PEER_libfork_INCLUDE})
  add_peer_program(libfork "fib;queens" weft_peer_libfork)
else()
  message(STATUS "bench: without libfork (not found; -DWEFT_PEERS=PREFIX names where it is)")
endif()

find_program(WEFT_PEER_GO go)
if(WEFT_PEER_GO)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/peers/main.go)
  set(programs "")
  foreach(pattern IN ITEMS techniques fib queens producer yield sync_latency unit_memory)
    set(program ${CMAKE_CURRENT_BINARY_DIR}/bin/${pattern}-go)
    add_custom_command(
      OUTPUT ${program}
      COMMAND ${CMAKE_COMMAND} -E env GOCACHE=${CMAKE_CURRENT_BINARY_DIR}/gocache GOFLAGS=
              ${WEFT_PEER_GO} build -o ${program} ${source}
      DEPENDS ${source}
      VERBATIM)
    list(APPEND programs ${program})
  endforeach()
  add_custom_target(bench_go ALL DEPENDS ${programs})
else()
  message(STATUS "bench: without go (Debian: golang-go)")
endif()
