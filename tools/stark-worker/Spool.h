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

#ifndef STARK_WORKER_SPOOL_H
#define STARK_WORKER_SPOOL_H

#include "Protocol.h"
#include <functional>
#include <string>

namespace stark::worker {

struct SpoolOptions {
  std::string Folder;
  std::string Results; ///< empty: Folder/results
  bool Watch = false;  ///< wait for more jobs, else stop when there are none
  /// Judges the job in a folder: runJob() but in tests.
  std::function<job::Result(const std::string &Folder)> Judge;
  /// Does the device work? probeDevice() but in tests.
  std::function<bool(DeviceFacts &Facts, std::string &Error)> Probe;
};

/// An exit code: 0 when all jobs at hand have a result, 1 when the device
/// stopped working or a result could not be written.
int workOffSpool(const SpoolOptions &Options);

/// Writes beside \p Path and renames; false with \p Error.
bool writeResultFile(const std::string &Path, const std::string &Text,
                     std::string &Error);

} // namespace stark::worker

#endif
