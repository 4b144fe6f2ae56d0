//===- DraftDoubts.h - What says little of an entry -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_LIB_DRIVER_DRAFTDOUBTS_H
#define STARK_LIB_DRIVER_DRAFTDOUBTS_H

#include "stark/Eval/WorkloadProof.h"

namespace stark {

/// Of a workload that runs: outputs that are constant or follow from no input,
/// inputs that nothing reads, names of sizes that move nothing. A sentence
/// each.
std::vector<std::string> doubtsOf(llvm::StringRef Workload,
                                  const WorkloadProof &Proof);

} // namespace stark

#endif
