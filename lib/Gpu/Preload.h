//===- Preload.h - What a child loads before it is locked down ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_PRELOAD_H
#define STARK_GPU_PRELOAD_H

#include "Protocol.h"
#include "stark/Gpu/Child.h"
#include <vector>

namespace stark::gpu {

/// By name, so that the job's libraries find them loaded wherever they lie.
/// What went wrong; empty when all is well.
std::string preload(const ChildOptions &Options);

/// Those that the child may read: the job's, and those of libtorch, which loads
/// parts of itself later.
std::vector<std::string> readFolders(const ChildOptions &Options,
                                     const ErrandRecord &Work);

/// The one that it may write to after \p Take, empty: none. The part of a
/// profiler that is in its process may lock a file there.
std::string writeFolder(const Request &Take);

/// \p Text: the job, with which the shared memory begins. What went wrong;
/// empty when all is well.
std::string readShared(const ChildOptions &Options, const ErrandRecord &Work,
                       std::string &Text);
/// \p Shared: the memory for the outputs; null where there is none. What went
/// wrong; empty when all is well.
std::string mapShared(const ChildOptions &Options, const ErrandRecord &Work,
                      char *&Shared);

} // namespace stark::gpu

#endif
