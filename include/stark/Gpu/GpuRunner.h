//===- GpuRunner.h - Source and candidate on a GPU ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Judge -> GpuRunner -> a child for the source, one for the candidate
/// Never loads a library itself, and needs no CUDA in this process.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_GPURUNNER_H
#define STARK_GPU_GPURUNNER_H

#include "stark/Gpu/Device.h"
#include "stark/Judge/Runner.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace stark {
class Clock;
}
namespace stark::gpu {

class WaitingChildren;

/// Calls the libraries in \p Folder on the GPU that the driver lists as
/// \p Device. The children are this program, started with --child (Child.h).
/// \p Torch: where libtorch is, for jobs that need it; empty: found when it is
/// needed, as findLibtorch() does. \p Samples: a file to which every sample is
/// added, a line a size and pair of processes; empty: none.
struct GpuRunnerOptions {
  int Device = 0;
  std::string Torch;   ///< where libtorch is; empty: it is looked for
  std::string Samples; ///< the file that they go to; empty: none
  /// Path of compute-sanitizer, "none", or empty: it is looked for.
  std::string Sanitizer;
  std::string Ncu;   ///< likewise of ncu
  std::string Cupti; ///< likewise of the library CUPTI
  /// What probeDevice() said of the device; unset: it is measured again.
  std::optional<DeviceFacts> Known;
  /// Waits for what an earlier runner left behind; called before anything is
  /// timed, and where there is too little memory. May be empty.
  std::function<void()> Settle;
  /// Outlives the runner, and gives it children that have the device already;
  /// null: there are none.
  WaitingChildren *Waiting = nullptr;
  bool Follows = false; ///< another job does: others are to wait for it
};

/// Of the job in \p Folder.
std::unique_ptr<judge::Runner>
makeGpuRunner(const std::string &Folder, GpuRunnerOptions Options, Clock &Time);

} // namespace stark::gpu

#endif
