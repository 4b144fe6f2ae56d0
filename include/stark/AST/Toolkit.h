//===- Toolkit.h - The CUDA toolkit that is installed --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Finds the CUDA toolkit (CUDA_PATH, CUDAToolkit_ROOT, nvcc on PATH, the
/// usual folders) and what Clang needs to parse its headers. Without one, a
/// small built-in header set still parses kernels.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_TOOLKIT_H
#define STARK_AST_TOOLKIT_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace stark {

struct Toolkit {
  std::string Root;              ///< e.g. /usr/local/cuda
  std::string Nvcc;              ///< path of nvcc; empty if there is none
  unsigned Major = 0, Minor = 0; ///< 13, 0
  std::string version() const;   ///< "13.0"
};

/// \p Explicit, when not empty, is the only place that is looked at. The place
/// "none" ends the search: there is no toolkit. Looking costs a few stat calls;
/// nothing is run.
std::optional<Toolkit> findToolkit(llvm::StringRef Explicit = "");

/// The places findToolkit() looks at, in order, for messages.
std::vector<std::string> toolkitPlaces();

} // namespace stark

#endif
