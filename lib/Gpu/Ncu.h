//===- Ncu.h - Nsight Compute's ncu, over a child
//--------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   one call of a library -> a child under ncu -> report -> its pages as CSV
/// ncu is believed once it has counted a kernel that it was shown, before the
/// library was loaded. Its report lies where the child cannot write.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_NCU_H
#define STARK_GPU_NCU_H

#include "ChildProcess.h"
#include "NcuReport.h"

namespace stark::gpu {

struct NcuPages {
  std::vector<NcuLaunch> Launches; ///< of the library, the first few
  std::string Source;              ///< linesIn() reads it; may be empty
  std::string Failed;              ///< why there is nothing; empty: there is
  bool AtAll = false; ///< Failed, and so would another library's call
};

/// Launches of one call that are looked at.
inline constexpr unsigned MostProfiled = 12;

/// Has a child load the library of \p Spec and make the call \p Run under
/// \p Program, after \p Prepare.
NcuPages runUnderNcu(const std::string &Program, const ChildSpec &Spec,
                     const Request &Prepare, const Request &Run, Clock &Time);

} // namespace stark::gpu

#endif
