//===- Lockdown.h - What a child gives up before it loads generated code -===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   After CUDA has been set up a child needs neither files to write, nor
///   sockets,
/// nor other processes.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_POSIX_LOCKDOWN_H
#define STARK_POSIX_LOCKDOWN_H

#include <string>
#include <vector>

namespace stark::posix {

/// Forbids, as far as the kernel can: new processes and programs, sockets,
/// reaching into other processes (seccomp), writing to files outside /dev,
/// /proc and the folder \p Writable, and reading any but the system's, those
/// below \p Readable and below the folders of LD_LIBRARY_PATH (landlock): a
/// home, a key, another job. Says what took hold: "seccomp landlock", "none".
std::string lockDown(std::vector<std::string> Readable = {},
                     const std::string &Writable = "");

/// Whether the kernel has what lockDown() keeps files from being written with.
bool canConfineFiles();

/// While it waits for its errand and is not locked down, a process of the same
/// user that is may not look into it or trace it; \p Closed false: it may, as
/// drivers and tools want to of themselves.
void closeToOthers(bool Closed);

} // namespace stark::posix

#endif
