//===- Workers.h - A worker for each GPU of a machine --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   GPUs -> a process each, which sees its own alone; one that dies is started
/// again
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_WORKERS_H
#define STARK_GPU_WORKERS_H

#include <functional>
#include <string>
#include <vector>

namespace stark {
class Clock;
}

namespace stark::gpu {

/// What CUDA_VISIBLE_DEVICES is to hold for each worker. \p Asked: "all", a
/// number of GPUs, or places among those that are visible, from 0: "0,2", "1,".
/// \p Visible: CUDA_VISIBLE_DEVICES (numbers, UUIDs, MIG instances), empty
/// where it is not set. \p Count: GPUs that the driver shows. Empty, with
/// \p Error: what, got, wanted.
std::vector<std::string> chooseGpus(const std::string &Asked,
                                    const std::string &Visible, unsigned Count,
                                    std::string &Error);

struct WorkersOptions {
  std::vector<std::string> Gpus; ///< of chooseGpus()
  std::string Program;
  std::vector<std::string> Arguments; ///< without the program's name
  /// A worker has died and is started again, or is not.
  std::function<void(const std::string &Line)> Warn;
};

/// Until each has ended by itself or the user wants to stop, which ends them. A
/// worker that a signal ended is started again, after a while, up to five times
/// in a row; one that says that it has failed is not. False, with \p Error:
/// a worker has failed.
bool runWorkers(const WorkersOptions &Options, Clock &Time, std::string &Error);

} // namespace stark::gpu

#endif
