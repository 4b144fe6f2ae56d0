//===- Process.h - Child processes with a deadline ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Posix/Process.h with LLVM's strings and errors.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SUPPORT_PROCESS_H
#define STARK_SUPPORT_PROCESS_H

#include "stark/Posix/Process.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace stark {

using posix::ProcessResult;
using posix::ProcessSpec;

/// An error only when the program could not be started, or the user interrupted
/// (Interrupt.h): then its group was killed.
llvm::Expected<ProcessResult> runProcess(const ProcessSpec &Spec);

using posix::environmentWithin;

/// Empty when not found.
std::string findProgram(llvm::StringRef Name);

/// The folder of the running program, symbolic links resolved.
std::string programFolder();

/// What an installed program has in share/stark/\p Name; where it is not
/// installed, \p Otherwise.
std::string sharedFolder(llvm::StringRef Name, llvm::StringRef Otherwise);

} // namespace stark

#endif
