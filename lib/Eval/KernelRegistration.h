//===- KernelRegistration.h - Kernels without nvcc's host code ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   device's half --nvcc -fatbin--> code --+
///   host half with stubs of kernels -------+-> what tells the CUDA runtime
///                                              which stub is which kernel
/// nvcc reads a text three times, two of them for host code that only does
/// this. A stub and its kernel have the same symbol.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_KERNELREGISTRATION_H
#define STARK_LIB_EVAL_KERNELREGISTRATION_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace stark {

struct KernelParts {
  std::string HostObject; ///< with the stubs, as Clang makes it
  std::string DeviceCode; ///< what `nvcc -fatbin` made, in the same folder
  std::string DeviceSaid; ///< ptxas's list of kernels among it, as of `-v`
};

/// Makes \p Object, in their folder, which registers each stub and defines
/// stark_launch(); links with \p Parts.HostObject. False where a stub has no
/// kernel, or no symbol by which another object knows it. Nothing of it takes
/// the code back: the process ends with the library.
llvm::Expected<bool> registerKernels(const KernelParts &Parts,
                                     llvm::StringRef Object,
                                     unsigned TimeoutMs);

} // namespace stark

#endif
