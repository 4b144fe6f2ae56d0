//===- Spool.h - Works off a folder of jobs ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   jobs/ID -> claimed/ID by a rename, so that of several workers one has it
///   ->
/// results/ID.json, written atomically -> the claimed folder is removed
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_SPOOL_H
#define STARK_GPU_SPOOL_H

#include "stark/Gpu/Device.h"
#include "stark/Job/Job.h"
#include <functional>
#include <string>

namespace stark {
class Clock;
}

namespace stark::gpu {

struct SpoolOptions {
  std::string Folder;
  std::string Results; ///< empty: Folder/results
  bool Watch = false;  ///< wait for more jobs, else stop when there are none
  uint64_t IdleMs = 0; ///< without Watch: wait so long for another job
  /// Judges the job in a folder.
  std::function<job::Result(const std::string &Folder)> Judge;
  /// Waits for so long, or until it is told of a job; false: no more will
  /// come. Empty: waits by the clock.
  std::function<bool(uint64_t Ms)> Wait;
  /// Waits until nothing of the last job is left; may be empty.
  std::function<void()> Settle;
  /// The result is written, and the device was tried if that was called for;
  /// may be empty.
  std::function<void()> Done;
  /// Does the device work? probeDevice() but in tests.
  std::function<bool(DeviceFacts &Facts, std::string &Error)> Probe;
  /// One line for the user: of a job, of the device.
  std::function<void(const std::string &Line)> Say;
  /// Something went wrong; the work may go on.
  std::function<void(const std::string &Line)> Warn;
};

/// True when all jobs at hand have a result; false with \p Error when the
/// device stopped working or a result could not be written.
bool workOffSpool(const SpoolOptions &Options, Clock &Time, std::string &Error);

} // namespace stark::gpu

#endif
