//===- SlurmWorkers.h - Workers that Slurm starts -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   jobs in a spool -> so many workers in Slurm's queue, and again where they
/// were lost
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_SLURMWORKERS_H
#define STARK_LIB_EVAL_SLURMWORKERS_H

#include "SlurmQueue.h"
#include "SpoolWorkers.h"
#include "stark/Posix/Clock.h"

namespace stark {

/// Workers for the jobs in \p Folder, at most as many as are \p Asked for.
/// Polls by \p Time: after a second, then more and more seldom, up to every 30
/// seconds while nothing changes. Those that are lost without a result (a node
/// that failed, a limit of time) are submitted again, each time later; after
/// five times in a row, with none left, it is an error.
std::unique_ptr<SpoolWorkers>
makeSlurmWorkers(std::unique_ptr<SlurmQueue> Queue, const SlurmJobs &Asked,
                 llvm::StringRef Folder, Clock &Time);

} // namespace stark

#endif
