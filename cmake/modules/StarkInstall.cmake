# find_package(Stark) from the build tree (Stark_DIR=<build>) and from an
# install. Programs find prompts relative to themselves: ../share/stark.

set(stark_programs stark-tool stark-sim stark-sim-host stark-cache)
if(TARGET stark-worker)
  list(APPEND stark_programs stark-worker)
endif()
set(stark_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Stark")

install(TARGETS ${stark_programs} EXPORT StarkTargets RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/prompts" "${PROJECT_SOURCE_DIR}/lib/Torch/exporter"
  "${PROJECT_SOURCE_DIR}/lib/Torch/baselines"
  "${PROJECT_SOURCE_DIR}/lib/Torch/export"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/stark")
# What the simulator reads before every source, precompiled.
install(DIRECTORY "${PROJECT_BINARY_DIR}/share/stark/sim" DESTINATION "${CMAKE_INSTALL_DATADIR}/stark")
if(STARK_STATIC_LLVM)
  # For hosts without LLVM: Clang's own headers too.
  install(DIRECTORY "${LLVM_LIBRARY_DIR}/clang/${LLVM_VERSION_MAJOR}/include"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/stark/clang")
endif()
install(EXPORT StarkTargets NAMESPACE Stark:: DESTINATION "${stark_package_dir}")
export(EXPORT StarkTargets NAMESPACE Stark:: FILE "${PROJECT_BINARY_DIR}/StarkTargets.cmake")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/modules/StarkConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/StarkConfig.cmake" INSTALL_DESTINATION "${stark_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/StarkConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
# The module reads the list of modes.
foreach(file IN ITEMS cmake/modules/StarkOptimizeKernels.cmake include/stark/Cache/BuildModes.def)
  cmake_path(GET file FILENAME name)
  configure_file(${file} "${PROJECT_BINARY_DIR}/${name}" COPYONLY)
endforeach()
install(FILES
  "${PROJECT_BINARY_DIR}/StarkConfig.cmake"
  "${PROJECT_BINARY_DIR}/StarkConfigVersion.cmake"
  cmake/modules/StarkOptimizeKernels.cmake
  include/stark/Cache/BuildModes.def
  DESTINATION "${stark_package_dir}")
