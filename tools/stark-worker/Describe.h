//===- Describe.h - Diagnostics as a programmer wants them ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Texts for the run observation: what was called, with what, and what was
///   seen.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_WORKER_DESCRIBE_H
#define STARK_WORKER_DESCRIBE_H

#include "ChildProcess.h"

namespace stark::worker {

/// Where in a job something happened.
struct Situation {
  unsigned Case = 0;
  uint64_t Seed = 0;
  std::string
      What; ///< "call", "second call with the same inputs", "timed call"
};

std::string describeSituation(const job::Job &J, const Situation &S);
std::string describeMismatch(const job::Job &J, const Situation &S,
                             unsigned Leaf, const job::Comparison &C);
/// Signal or exit code, and what the child printed.
std::string describeDeath(const Answer &A, const std::string &Printed);

} // namespace stark::worker

#endif
