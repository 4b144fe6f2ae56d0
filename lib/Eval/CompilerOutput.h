//===- CompilerOutput.h - What nvcc says, for a programmer ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   nvcc's and ptxas's text -> errors first, or registers, shared memory and
///   spills
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_COMPILEROUTPUT_H
#define STARK_LIB_EVAL_COMPILEROUTPUT_H

#include "stark/Sim/Resources.h"
#include "stark/Support/Process.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace stark {

/// Errors with the lines that belong to them, each once; warnings left out.
std::string compilerErrors(llvm::StringRef Said);

/// Undefined and doubly defined symbols, demangled.
std::string linkerErrors(llvm::StringRef Said);

/// What ptxas's `-v` says of each kernel.
sim::ResourceTable resourcesIn(llvm::StringRef Said);

/// One line a kernel: "softmax_kernel: 32 registers, 1024 bytes of shared
/// memory, no spills".
std::string describeResources(llvm::StringRef Said);

/// The symbols of the kernels that ptxas compiled, as `-v` lists them.
llvm::StringSet<> compiledKernels(llvm::StringRef Said);

/// A signal that comes from outside; one that a program gets for what it does
/// (SIGSEGV) is the fault of what it was given.
bool isFromOutside(int Signal);

/// True when it is not the text that is wrong: no space, no licence to write,
/// a compiler that was killed from outside. \p How nvcc ended, which did not go
/// well, and what it \p Said.
bool compilerItselfFailed(const ProcessResult &How, llvm::StringRef Said);

} // namespace stark

#endif
