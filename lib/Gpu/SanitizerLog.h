//===- SanitizerLog.h - What compute-sanitizer wrote ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   its log -> findings, in a programmer's words
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_SANITIZERLOG_H
#define STARK_GPU_SANITIZERLOG_H

#include <string>
#include <string_view>
#include <vector>

namespace stark::gpu {

/// A finding has a place in a kernel: "Invalid __global__ read of size 4
/// bytes\n  at k(const float *)+0x40 in k.cu:12\n  by thread (0,0,0) in block
/// (1,0,0)". Equal ones but for thread and block are one; what racecheck calls
/// a warning, a hazard that a program may intend, is none. Host frames are left
/// out, and what cannot be printed is '?'. \p Log is compute-sanitizer's
/// (12.0 to 13.0): blocks of lines that begin with "=========".
std::vector<std::string> findingsIn(std::string_view Log);

/// What it says of itself where it could not work: "Error: ...", the first
/// line; empty when there is none.
std::string complaintIn(std::string_view Log);

} // namespace stark::gpu

#endif
