# Uses ccache where it is installed; without it everything builds the same, only slower the second time.
option(WEFT_CCACHE "Compile through ccache if it is installed" ON)
if(WEFT_CCACHE)
  find_program(WEFT_CCACHE_PROGRAM ccache)
  mark_as_advanced(WEFT_CCACHE_PROGRAM)
  if(WEFT_CCACHE_PROGRAM)
    foreach(language IN ITEMS C CXX)
      if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
        # The tests have precompiled headers, which ccache takes only so; nobody here uses __TIME__.
        set(CMAKE_${language}_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros
                                                "${WEFT_CCACHE_PROGRAM}")
      endif()
    endforeach()
  endif()
endif()
