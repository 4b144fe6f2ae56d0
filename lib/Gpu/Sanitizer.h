//===- Sanitizer.h - compute-sanitizer, over a child ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   calls of a library -> a child under each tool -> findings
/// A tool is believed once it has found a fault that it was shown. Its log is a
/// file that the child cannot open.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_SANITIZER_H
#define STARK_GPU_SANITIZER_H

#include "ChildProcess.h"
#include "Kernels.h"

namespace stark::gpu {

struct SanitizerTool {
  const char *Name; ///< "memcheck"
  Fault Shown;      ///< what it has to find
};

struct SanitizerReport {
  const SanitizerTool *Tool = nullptr;
  std::vector<std::string> Findings;
  std::string Failed; ///< why it says nothing; empty: it looked at all
};

/// Has a child load the library of \p Work, if any, and answer \p Calls under
/// each of \p Tools, all tools at once.
std::vector<SanitizerReport>
sanitize(const std::string &Program, const ChildSpec &Spec, const Errand &Work,
         const std::vector<const SanitizerTool *> &Tools,
         const std::vector<Request> &Calls, Clock &Time);

/// Shows each tool its fault, once a process and device: those that did not
/// find it have failed.
const std::vector<SanitizerReport> &proveSanitizers(const std::string &Program,
                                                    int Device, Clock &Time);

} // namespace stark::gpu

#endif
