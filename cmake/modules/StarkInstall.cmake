# find_package(Stark) from the build tree (Stark_DIR=<build>) and from an
# install. Programs find prompts relative to themselves: ../share/stark.

set(stark_programs stark-tool stark-sim stark-sim-host stark-cache stark-remote)
# The worker is a package of its own, for machines with a GPU alone. What else
# is installed belongs to the other.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME stark)
set(stark_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Stark")

install(TARGETS ${stark_programs} EXPORT StarkTargets RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
if(TARGET stark-worker)
  install(TARGETS stark-worker EXPORT StarkWorkerTargets
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT stark-worker)
  install(EXPORT StarkWorkerTargets NAMESPACE Stark:: DESTINATION "${stark_package_dir}" COMPONENT stark-worker)
  export(EXPORT StarkWorkerTargets NAMESPACE Stark:: FILE "${PROJECT_BINARY_DIR}/StarkWorkerTargets.cmake")
endif()
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
foreach(file IN ITEMS cmake/modules/StarkOptimizeKernels.cmake cmake/modules/StarkTargetFlags.cmake
    cmake/modules/StarkVerbTargets.cmake
    include/stark/Cache/BuildModes.def)
  cmake_path(GET file FILENAME name)
  configure_file(${file} "${PROJECT_BINARY_DIR}/${name}" COPYONLY)
endforeach()
install(FILES
  "${PROJECT_BINARY_DIR}/StarkConfig.cmake"
  "${PROJECT_BINARY_DIR}/StarkConfigVersion.cmake"
  cmake/modules/StarkOptimizeKernels.cmake
  cmake/modules/StarkTargetFlags.cmake
  cmake/modules/StarkVerbTargets.cmake
  include/stark/Cache/BuildModes.def
  DESTINATION "${stark_package_dir}")

# A project that adds this one as a folder (add_subdirectory, FetchContent)
# says find_package(Stark) all the same, and finds what is here.
if(NOT PROJECT_IS_TOP_LEVEL)
  include("${PROJECT_BINARY_DIR}/StarkOptimizeKernels.cmake")
  file(WRITE "${CMAKE_FIND_PACKAGE_REDIRECTS_DIR}/stark-config.cmake" "set(Stark_FOUND TRUE)\n")
  configure_file("${PROJECT_BINARY_DIR}/StarkConfigVersion.cmake"
    "${CMAKE_FIND_PACKAGE_REDIRECTS_DIR}/stark-config-version.cmake" COPYONLY)
endif()

# Debian packages: `cpack -G DEB` in the build folder.
if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_PACKAGE_NAME stark)
  set(CPACK_PACKAGE_VENDOR "Stark")
  set(CPACK_PACKAGE_CONTACT "Stark <stark@localhost>")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SECTION devel)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_COMPONENTS_ALL stark)
  set(CPACK_DEBIAN_STARK_PACKAGE_NAME stark)
  set(CPACK_COMPONENT_STARK_DESCRIPTION "Makes CUDA kernels faster: stark-tool, the simulator and the CMake package")
  if(TARGET stark-worker)
    list(APPEND CPACK_COMPONENTS_ALL stark-worker)
    set(CPACK_DEBIAN_STARK-WORKER_PACKAGE_NAME stark-worker)
    set(CPACK_COMPONENT_STARK-WORKER_DESCRIPTION "Judges Stark's candidates on a machine with a GPU")
  endif()
  include(CPack)
endif()
