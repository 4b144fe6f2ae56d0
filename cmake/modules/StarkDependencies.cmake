# What Stark builds on. Everything comes from the distribution; nothing is
# downloaded. The CUDA toolkit is optional: without it stark-worker is left out
# and the summary at the end of configure says so.

# LLVM's version file accepts only its own release, so the ones that work are
# tried in turn; 19.1 is what Stark is developed with.
foreach(version IN ITEMS 19.1 20.1 21.1)
  if(NOT LLVM_FOUND)
    string(REGEX MATCH "^[0-9]+" major ${version})
    find_package(LLVM ${version} QUIET CONFIG PATHS /usr/lib/llvm-${major}/lib/cmake/llvm)
  endif()
endforeach()
if(NOT LLVM_FOUND)
  message(FATAL_ERROR "LLVM 19 or newer was not found. On Debian: "
    "apt-get install llvm-19-dev libclang-19-dev; elsewhere set LLVM_DIR to the "
    "folder of LLVMConfig.cmake.")
endif()
find_package(Clang REQUIRED CONFIG NO_DEFAULT_PATH
  PATHS "${LLVM_INSTALL_PREFIX}/lib/cmake/clang" "${LLVM_DIR}/../clang")
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CURL 7.88 REQUIRED)
# For winners that a team keeps in Redis.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(HIREDIS QUIET IMPORTED_TARGET hiredis)
endif()
find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS context)

include(CheckLanguage)
# To projects of 3.25 and newer, CMake 3.25's FindCUDAToolkit says that
# CUDA::nvToolsExt is deprecated, also where the toolkit has none (CUDA 13), which
# ends the configuration. As a project of 3.24 it is not told.
set(stark_cmake_minimum ${CMAKE_MINIMUM_REQUIRED_VERSION})
set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
find_package(CUDAToolkit 12.0 QUIET)
set(CMAKE_MINIMUM_REQUIRED_VERSION ${stark_cmake_minimum})
unset(stark_cmake_minimum)
if(CUDAToolkit_FOUND)
  if(NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER "${CUDAToolkit_NVCC_EXECUTABLE}")
  endif()
  # Code for each generation that nvcc knows: where the driver has to compile PTX,
  # every child of stark-worker waits for it.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES all-major)
  endif()
  enable_language(CUDA)
endif()
