//===- CudaTool.h - A tool of CUDA's, over a child ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   name -> path; a folder for what the tool writes; what a child did not do
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_CUDATOOL_H
#define STARK_GPU_CUDATOOL_H

#include "ChildProcess.h"

namespace stark::gpu {

/// \p Asked is a path, "none", or empty: \p Name on PATH, else in
/// /usr/local/cuda. The path, empty when there is none.
std::string findCudaTool(const std::string &Name, const std::string &Asked);

/// Likewise of a library of CUDA's: "libcupti.so.13" in \p Folders, which are
/// joined by ':', or LD_LIBRARY_PATH, else in /usr/local/cuda.
std::string findCudaLibrary(const std::string &Name, const std::string &Folders,
                            const std::string &Asked);

/// Where a tool writes, which no child can; removed in the end.
class ToolFolder {
public:
  /// \p Name: "stark-sanitizer"
  explicit ToolFolder(const std::string &Name);
  ~ToolFolder();
  ToolFolder(const ToolFolder &) = delete;
  ToolFolder &operator=(const ToolFolder &) = delete;
  std::string Path; ///< empty: there is none, and Error says why
  std::string Error;
};

/// What a child did not do within \p LimitMs, in words; empty: it did.
std::string failureOf(const Answer &A, const ChildProcess &Child,
                      uint64_t LimitMs);

/// Asks what is a call in two parts, as a child wants it.
void sendWhole(ChildProcess &Child, const Request &R);

} // namespace stark::gpu

#endif
