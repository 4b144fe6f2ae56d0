//===- KernelBenchSuite.h - KernelBench's tasks as a suite ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   clone, subset -> each task imported once -> suite
///
//===----------------------------------------------------------------------===//

#ifndef STARK_DRIVER_KERNELBENCHSUITE_H
#define STARK_DRIVER_KERNELBENCHSUITE_H

#include "stark/Driver/SuiteRun.h"

namespace stark {

struct KernelBenchRequest {
  std::string Clone;
  std::string Subset = "representative"; ///< as findKernelBenchTasks() has it
  std::string Folder;                    ///< a task is kept in Folder/NAME
  std::string Python = "python3";
  bool AgreeWithSource = false; ///< as torch::ImportRequest has it
};

struct KernelBenchSuite {
  Suite Tasks;
  std::vector<MissingRun> Missing; ///< that cannot be imported, and why
};

/// A task is imported unless it is there, of the same text, with the same wish
/// to agree, and by the torch that Python has; where Python has none, what is
/// there of the same text is taken as it is. \p Observer is told of each
/// import.
llvm::Expected<KernelBenchSuite>
importKernelBench(const KernelBenchRequest &Request, SuiteObserver &Observer);

} // namespace stark

#endif
