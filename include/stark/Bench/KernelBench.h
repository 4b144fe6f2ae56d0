//===- KernelBench.h - Which of KernelBench's tasks -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   a clone of KernelBench and the name of a subset -> tasks
/// github.com/ScalingIntelligence/KernelBench; the ids are those of commit
/// 423217d.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_BENCH_KERNELBENCH_H
#define STARK_BENCH_KERNELBENCH_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace stark {

struct KernelBenchTask {
  unsigned Level = 0, Id = 0;
  std::string File;  ///< ".../level1/3_Batched_matrix_multiplication.py"
  std::string Name;  ///< "level1-3_Batched_matrix_multiplication"
  std::string Group; ///< "level 1"
};

/// The tasks of \p Subset in \p Clone, in the subset's order: "representative"
/// (18, 8 and 9 tasks of levels 1 to 3, as KernelBench's dataset.py lists
/// them), "paper" (the 30 of these that STARK's tables seem to be of), "all"
/// (levels 1 to 3), or ids, "1/3,2/33". A task that is not there, or twice, is
/// a usage error.
llvm::Expected<std::vector<KernelBenchTask>>
findKernelBenchTasks(llvm::StringRef Clone, llvm::StringRef Subset);

} // namespace stark

#endif
