//===- Child.h - The process that loads one library ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Answers the supervisor's requests until the pair is closed.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_CHILD_H
#define STARK_GPU_CHILD_H

#include <cstdint>
#include <string>

namespace stark::gpu {

struct ChildOptions {
  int Control = -1, Shared = -1; ///< inherited descriptors
  int Device = 0;
  /// Libraries that are loaded before the job's, in their order: those of
  /// libtorch, when the job needs it. Joined by ':'.
  std::string Preload;
  /// Under a sanitizer or a profiler: each buffer is an allocation of its own,
  /// of just its size, no output is written to before a call and none looked at
  /// after it.
  bool Sanitized = false;
  /// CUPTI, which records what the device does for each timed call; empty: it
  /// does not.
  std::string Cupti;
};

/// Returns when the supervisor has closed its end.
int runChild(const ChildOptions &Options);

} // namespace stark::gpu

#endif
