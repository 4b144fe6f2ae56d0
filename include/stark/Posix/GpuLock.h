//===- GpuLock.h - One process at a time on a GPU -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A file lock for each GPU, in a folder that all processes of the user
/// share. It is held round one judgement, so that times are of a GPU that does
/// nothing else for this user; models are asked meanwhile. The kernel lets it
/// go when its holder and all that this one started have died.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_POSIX_GPULOCK_H
#define STARK_POSIX_GPULOCK_H

#include "stark/Posix/File.h"
#include <functional>

namespace stark {
class Clock;
}

namespace stark::posix {

/// Waits until no other process holds the GPU that is known as \p Id ("GPU-"
/// and its UUID). The lock lies in $STARK_LOCK_DIR, else in /tmp/stark-UID,
/// which must be a folder that the user alone may write to. \p OnWait is told
/// once, and only when there is somebody to wait for. Null with \p Error; null
/// without one when the user interrupts.
std::unique_ptr<FileLock>
lockGpu(const std::string &Id, Clock &Time,
        const std::function<void(const std::string &Why)> &OnWait,
        std::string &Error);

/// The same for who would rather not wait: null without \p Error when another
/// process holds it.
std::unique_ptr<FileLock> tryToLockGpu(const std::string &Id,
                                       std::string &Error);

} // namespace stark::posix

#endif
