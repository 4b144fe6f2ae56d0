//===- SpoolWorkers.h - Who works a spool off -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   jobs in a folder -> somebody who sees to it that workers come
/// Without one, whoever has a GPU starts `stark-worker --spool` by hand.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_SPOOLWORKERS_H
#define STARK_LIB_EVAL_SPOOLWORKERS_H

#include "llvm/Support/Error.h"
#include <string>

namespace stark {

/// Used by several threads.
class SpoolWorkers {
public:
  /// Ends those that nobody needs any more: all when the user wants to stop, or
  /// when no job is left.
  virtual ~SpoolWorkers() = default;
  /// A job has been put into the folder.
  virtual void posted() = 0;
  /// Looks, not more often than is good, whether there are workers for the jobs
  /// in the folder, and has more come. An error: none will.
  virtual llvm::Error attend() = 0;
  /// For the user: why none is at work; empty when one is, or nothing is known.
  virtual std::string waitsFor() = 0;
  /// "slurm:gpu", part of the run's identity.
  virtual std::string identity() const = 0;
};

} // namespace stark

#endif
