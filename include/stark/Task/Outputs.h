//===- Outputs.h - Whether a workload has something to compare -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_TASK_OUTPUTS_H
#define STARK_TASK_OUTPUTS_H

namespace stark {

struct Workload;

/// Whether a call of \p W returns tensors, or some buffer is output or inout.
bool hasOutputs(const Workload &W);

} // namespace stark

#endif
