//===- Interrupt.h - The user wants it to stop ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Signals are the process's, so this is too: a flag that SIGINT and SIGTERM
/// set, and that whoever waits looks at. What is being written is finished
/// first; a second signal ends the process at once.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_POSIX_INTERRUPT_H
#define STARK_POSIX_INTERRUPT_H

#include <atomic>

namespace stark {

/// Set once a signal came; false as long as watchInterrupts() was not called.
const std::atomic<bool> &interruptFlag();

/// From now on SIGINT and SIGTERM set the flag, and a file that reaches its
/// size limit is an error of the write. Called by programs.
void watchInterrupts();

} // namespace stark

#endif
