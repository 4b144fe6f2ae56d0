//===- Worker.h - What stark-worker is asked for ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   the command line, and what there is to do by it
///
//===----------------------------------------------------------------------===//

#ifndef STARK_WORKER_WORKER_H
#define STARK_WORKER_WORKER_H

#include "stark/Gpu/Child.h"
#include <cstdint>
#include <string>
#include <vector>

namespace stark::worker {

struct Flags {
  std::string Job, Result, Spool, Results, Outputs, Samples, Torch;
  std::string Sanitizer, Ncu, Cupti, Gpus;
  std::vector<std::string> OfWorkers; ///< arguments, without --gpus
  bool Help = false, Watch = false, Probe = false, IsChild = false,
       Serve = false, Tensors = false;
  uint64_t IdleSeconds = 0;
  gpu::ChildOptions Child;
};

/// Says \p Message on standard error; the exit code.
int usage(const std::string &Message);
int failed(const std::string &Message);

// Each is the exit code.

/// The job in a folder.
int runOne(const Flags &F);
/// The jobs of a spool, as long as the flags say.
int runSpool(const Flags &F);
/// The same by a worker for each GPU.
int runSpools(const Flags &F);

} // namespace stark::worker

#endif
