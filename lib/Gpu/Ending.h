//===- Ending.h - Why a request was the last -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   what a child was asked, and what came of it -> how the job ends, in words
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_ENDING_H
#define STARK_GPU_ENDING_H

#include "ChildProcess.h"
#include "stark/Judge/Runner.h"

namespace stark::gpu {

/// A request that did not end well.
struct Ending {
  const job::Job &J;
  const Request &R;
  uint64_t LimitMs;
  const Answer &A;
  const ChildProcess &Child;
};

/// Not the candidate's fault, and no verdict.
judge::Stop endOfSource(const Ending &E);
/// \p Name: what was asked for, "timed call".
judge::Stop endOfCandidate(const Ending &E, const std::string &Name);
judge::Stop hostFailed(const std::string &Why);

} // namespace stark::gpu

#endif
