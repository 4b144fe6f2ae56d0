//===- BuildTool.h - Which build this process belongs to ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   the processes above this one -> the build
/// A build tool tells a step nothing of the build, but it is the step's
/// ancestor, and a process's number and the time when it began are those of no
/// other until the machine starts again.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_CACHE_BUILDTOOL_H
#define STARK_LIB_CACHE_BUILDTOOL_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace stark {

/// "4711-123456": number and beginning of the build tool (ninja, make, ...)
/// that is above \p Process, the outermost of several; empty when there is none
/// or
/// \p Proc, where processes are files, cannot be read.
std::string findBuildTool(long Process, llvm::StringRef Proc = "/proc");

} // namespace stark

#endif
