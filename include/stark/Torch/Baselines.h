//===- Baselines.h - What PyTorch itself needs for a module ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   tasks -> the program that times them -> baselines.json -> times by task
/// The program is Python's, and runs by itself where there is no Stark.
/// docs/bench.md describes the file.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_TORCH_BASELINES_H
#define STARK_TORCH_BASELINES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace stark::torch {

struct BaselineRequest {
  std::vector<std::string> Tasks; ///< files of Python
  std::string Folder;             ///< of baselines.json
  std::string Python = "python3"; ///< a path, or a name to find on PATH
  std::string Variants, Device;   ///< empty: the program's defaults
  std::string Budget;             ///< seconds; empty: none
  unsigned TimeoutSeconds = 300;  ///< of each variant
  bool Again = false;             ///< measure what is measured already
};

/// The words of the command that measures; its exit codes are those of `bench`.
std::vector<std::string> baselineCommand(const BaselineRequest &Request);

/// What one variant of a task needs on a GPU, as the judge would time it.
struct BaselineTime {
  std::string Digest;  ///< SHA-256 of the task's file
  std::string Variant; ///< "eager", "compile", ...
  std::string Gpu;     ///< "NVIDIA H200"
  double MedianUs = 0;
  double CopyGBs = 0; ///< of that GPU, read and written; 0: not taken
};

/// Those of \p Folder's baselines.json that ran on a GPU and agreed with eager,
/// in the order in which they were taken.
llvm::Expected<std::vector<BaselineTime>> readBaselines(llvm::StringRef Folder);

} // namespace stark::torch

#endif
