//===- Together.h - Kernels whose blocks wait for each other -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_TASK_TOGETHER_H
#define STARK_TASK_TOGETHER_H

namespace stark {

struct Task;

/// Whether the entry of \p T is a kernel that takes its grid for a group, here
/// or in a function of the source that it calls: what the generated call
/// launches with cudaLaunchCooperativeKernel().
bool launchesTogether(const Task &T);

} // namespace stark

#endif
