# What Stark builds on. Everything comes from the distribution; nothing is
# downloaded. The CUDA toolkit is optional: without it stark-worker is left out
# and the summary at the end of configure says so.

find_package(LLVM 19 REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/llvm)
find_package(Clang REQUIRED CONFIG HINTS "${LLVM_DIR}/../clang" /usr/lib/llvm-19/lib/cmake/clang)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CURL 7.88 REQUIRED)
find_package(Threads REQUIRED)

include(CheckLanguage)
find_package(CUDAToolkit 12.0 QUIET)
if(CUDAToolkit_FOUND)
  if(NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER "${CUDAToolkit_NVCC_EXECUTABLE}")
  endif()
  # The worker runs on any GPU from sm_75 on: the driver compiles its PTX.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 75-virtual)
  endif()
  enable_language(CUDA)
endif()
