//===- HostSyscalls.h - Host code that asks the kernel itself -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   object files -> instructions -> those that reach the kernel or its clock
/// What the symbol gate sees has a name. What calls the kernel without one is
/// an instruction, wherever it came from: assembly that one compiler saw and
/// the other did not, or bytes of a constant that something jumps into.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_HOSTSYSCALLS_H
#define STARK_LIB_EVAL_HOSTSYSCALLS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace stark {

/// A line for each place in the host code of \p Paths that makes a system call
/// by itself or reads the processor's clock; empty when there is none, and of
/// objects that are not for x86-64. Errors: an object cannot be read.
llvm::Expected<std::string> systemCallsIn(llvm::ArrayRef<std::string> Paths);

} // namespace stark

#endif
