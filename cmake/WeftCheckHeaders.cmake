# checkheaders: every header under include/ and src/ compiles by itself (`cmake --build build --target checkheaders`).
# Headers of another instruction set than the one built for are left out.
function(weft_check_headers)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" include/*.h include/*.hpp
       src/*.h src/*.hpp)
  set(sources)
  foreach(header IN LISTS headers)
    if(header MATCHES "^src/arch/([^/]+)/" AND NOT CMAKE_MATCH_1 STREQUAL CMAKE_SYSTEM_PROCESSOR)
      continue()
    endif()
    set(extensions cpp)
    if(header MATCHES "^include/.*\\.h$")
      list(APPEND extensions c) # the public C headers are C as well as C++
    endif()
    foreach(extension IN LISTS extensions)
      set(source "${CMAKE_CURRENT_BINARY_DIR}/checkheaders/${header}.${extension}")
      file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"${CMAKE_CURRENT_SOURCE_DIR}/${header}\"\n" @ONLY)
      list(APPEND sources "${source}")
    endforeach()
  endforeach()
  if(NOT sources)
    add_custom_target(checkheaders COMMENT "There are no headers to check")
    return()
  endif()
  add_library(checkheaders OBJECT EXCLUDE_FROM_ALL ${sources})
  # src/arch/ISA: where the headers of src/arch find those of the instruction set that is built
  target_include_directories(checkheaders PRIVATE include src "src/arch/${CMAKE_SYSTEM_PROCESSOR}")
  target_link_libraries(checkheaders PRIVATE weft_warnings weft_library_flags)
endfunction()

weft_check_headers()
