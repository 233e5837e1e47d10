# `cmake --install build --prefix FOLDER`: libweft with its headers, for find_package(weft) and pkg-config, and under
# lib/weft what the command `weft run` needs, in the order of a checkout.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(weft_package "${CMAKE_INSTALL_LIBDIR}/cmake/weft")
set(weft_home "${CMAKE_INSTALL_LIBDIR}/weft")

install(TARGETS weft EXPORT weftTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/weft" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(EXPORT weftTargets NAMESPACE weft:: DESTINATION "${weft_package}" FILE weftConfig.cmake)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/weftConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/weftConfigVersion.cmake" DESTINATION "${weft_package}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(weft_pc_prefix "${CMAKE_INSTALL_PREFIX}") # such a package cannot be moved
else()
  file(RELATIVE_PATH weft_pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(PREPEND weft_pc_prefix "\${pcfiledir}/")
endif()
foreach(folder IN ITEMS LIBDIR INCLUDEDIR)
  set(weft_pc_${folder} "${CMAKE_INSTALL_${folder}}")
  if(NOT IS_ABSOLUTE "${weft_pc_${folder}}")
    string(PREPEND weft_pc_${folder} "\${prefix}/")
  endif()
endforeach()
configure_file("${CMAKE_CURRENT_LIST_DIR}/weft.pc.in" "${PROJECT_BINARY_DIR}/weft.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/weft.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

install(PROGRAMS "${PROJECT_SOURCE_DIR}/weft" DESTINATION "${weft_home}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/python" DESTINATION "${weft_home}"
        PATTERN __pycache__ EXCLUDE PATTERN bench EXCLUDE) # which needs the programs of a build
install(DIRECTORY "${PROJECT_BINARY_DIR}/dropin/" DESTINATION "${weft_home}/build/dropin" USE_SOURCE_PERMISSIONS)
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_BINDIR}")
  set(weft_command "${CMAKE_INSTALL_FULL_LIBDIR}/weft/weft")
else()
  file(RELATIVE_PATH weft_command "/${CMAKE_INSTALL_BINDIR}" "/${weft_home}/weft")
endif()
install(
  CODE "
  get_filename_component(bin \"${CMAKE_INSTALL_BINDIR}\" ABSOLUTE BASE_DIR \"\${CMAKE_INSTALL_PREFIX}\")
  set(bin \"\$ENV{DESTDIR}\${bin}\")
  file(MAKE_DIRECTORY \"\${bin}\")
  file(CREATE_LINK \"${weft_command}\" \"\${bin}/weft\" SYMBOLIC)
  message(STATUS \"Installing: \${bin}/weft\")")
