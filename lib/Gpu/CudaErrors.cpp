//===- CudaErrors.cpp - Errors of the runtime for people ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Buffers.h"

using namespace stark;

std::string gpu::describe(cudaError_t E) {
  return std::string(cudaGetErrorString(E)) + " (" + cudaGetErrorName(E) + ")";
}

std::string gpu::hintFor(cudaError_t E) {
  switch (E) {
  case cudaErrorIllegalAddress:
    return ": a kernel read or wrote memory that is not its own";
  case cudaErrorMisalignedAddress:
    return ": a vector access is not aligned to its size";
  case cudaErrorInvalidConfiguration:
    return ": a grid or block dimension is 0 or above the device's limit";
  case cudaErrorLaunchOutOfResources:
    return ": the block needs more registers than there are; fewer threads or "
           "__launch_bounds__ would help";
  case cudaErrorInvalidValue:
    return ": an argument of a launch or runtime call is out of range, for "
           "instance more dynamic shared memory than the kernel may use";
  case cudaErrorLaunchFailure:
    return ": a kernel stopped with an exception on the device";
  case cudaErrorAssert:
    return ": a device-side assert failed";
  case cudaErrorNoKernelImageForDevice:
    return ": the library was built for another architecture";
  default:
    return "";
  }
}
