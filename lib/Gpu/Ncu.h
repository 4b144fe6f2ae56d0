//===- Ncu.h - Nsight Compute's ncu, over a child
//--------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   calls of a library -> a child under ncu -> report -> its pages as CSV
/// ncu is believed once it has counted a kernel that it was shown, before the
/// library was loaded. The same kernel stands before each call. The report
/// lies where the child cannot write.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_NCU_H
#define STARK_GPU_NCU_H

#include "ChildProcess.h"
#include "NcuReport.h"

namespace stark::gpu {

struct NcuPages {
  /// Of each call, as far as there was room for them; those of the first are
  /// not empty where nothing Failed.
  std::vector<std::vector<NcuLaunch>> Calls;
  std::string Source; ///< linesIn() reads it; may be empty
  std::string Failed; ///< why there is nothing; empty: there is
  bool AtAll = false; ///< Failed, and so would another library's call
};

/// Launches of all calls that are looked at, for each of them.
inline constexpr unsigned MostProfiled = 12;

struct NcuCall {
  Request Prepare, Run;
};

/// Has a child load the library of \p Work and make \p Calls, at least one,
/// under \p Program.
NcuPages runUnderNcu(const std::string &Program, const ChildSpec &Spec,
                     const Errand &Work, const std::vector<NcuCall> &Calls,
                     Clock &Time);

} // namespace stark::gpu

#endif
