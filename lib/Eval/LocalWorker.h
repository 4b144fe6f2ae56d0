//===- LocalWorker.h - A worker beside the tool ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   this machine's GPU -> a stark-worker for as long as the evaluator lives
/// It has the device open before the first candidate is compiled, and shows
/// each sanitizer a known fault once.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_LOCALWORKER_H
#define STARK_LIB_EVAL_LOCALWORKER_H

#include "SpoolWorkers.h"
#include "stark/Gpu/Device.h"
#include "stark/Posix/Clock.h"
#include "stark/Support/File.h"
#include <memory>

namespace stark {

/// Starts \p Program on the spool in \p Folder, which goes with what is
/// returned, and waits until device.json there says which GPU it has; an error,
/// with what it said, when it ends before. \p Facts: the GPU. \p Tensors:
/// entries take tensors. A worker that a signal ended is started again, and
/// takes up its job again, five times in all.
llvm::Expected<std::unique_ptr<SpoolWorkers>>
makeLocalWorker(llvm::StringRef Program, TemporaryFolder Folder, bool Tensors,
                gpu::DeviceFacts &Facts, Clock &Time);

} // namespace stark

#endif
