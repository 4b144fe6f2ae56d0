//===- Guard.h - Where a winner was proved  ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   workload -> a condition on the entry's arguments, in C++
///
//===----------------------------------------------------------------------===//

#ifndef STARK_TASK_GUARD_H
#define STARK_TASK_GUARD_H

#include "stark/Task/Task.h"

namespace stark {

struct Guard {
  /// Of the entry's parameters; calls stark_aligned(), stark_apart() and
  /// stark_device() of lib/Cache/Dispatch.cpp.
  std::string Condition;
  std::string Covers; ///< the same for people: "n=1000; n=65536"
};

/// The sizes of the workload's own file, timed or not: the judge compared each
/// with the source's outputs. With "envelope": "between" those between them as
/// well. Scalars are as they were, pointers aligned as the judge's buffers,
/// which do not overlap where one is written. An error names the argument of
/// which that cannot be asked.
llvm::Expected<Guard> makeGuard(const Task &T);

} // namespace stark

#endif
