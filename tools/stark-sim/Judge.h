//===- Judge.h - One job, from folder to result ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A job folder of the simulator holds job.json, the two sources, their
/// trampolines included, and compile.json. Nothing that was compiled runs in
/// the process that compares.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_JUDGE_H
#define STARK_SIM_JUDGE_H

#include "stark/Job/Job.h"
#include "stark/Sim/Gpu.h"

namespace stark::sim {

/// How fast the simulator itself was: what simulated threads executed in the
/// launches of one mode, and the processor time that this took.
struct Speed {
  double ThreadInstructions = 0, Seconds = 0;
};
struct Speeds {
  Speed Check, Profile;
};

/// Never fails: what kept the job from being judged is a result of outcome
/// Infrastructure. \p Jobs: calls that are simulated at once, each on one core;
/// the result does not depend on it. \p Outputs: unless empty, what the
/// candidate computed for the smallest size and first seed is written to
/// OUTPUTS.LEAF.npy, as stark-worker does. \p CountersOnly: nothing is
/// compared, and the diagnostics are the counters of the timed sizes.
job::Result judge(const std::string &Folder, const GpuDescription &Gpu,
                  unsigned Jobs, const std::string &Outputs, bool CountersOnly,
                  Speeds &Took);

} // namespace stark::sim

#endif
