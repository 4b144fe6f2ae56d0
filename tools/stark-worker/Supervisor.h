//===- Supervisor.h - One job, from folder to result ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Starts a child for the source and one for the candidate, compares what
///   they
/// computed, and has them timed. Never loads a library itself.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_WORKER_SUPERVISOR_H
#define STARK_WORKER_SUPERVISOR_H

#include "ChildProcess.h"

namespace stark::worker {

/// Never fails: what kept the job from being judged is a result of outcome
/// Infrastructure. \p Outputs: unless empty, what the candidate computed for
/// the first size and seed is written to OUTPUTS.LEAF.npy, LEAF counted from 0.
job::Result runJob(const std::string &Folder, int Device,
                   const std::string &Outputs);

/// The device's facts from a child of its own; false with \p Error.
bool probeDevice(int Device, DeviceFacts &Facts, std::string &Error);

} // namespace stark::worker

#endif
