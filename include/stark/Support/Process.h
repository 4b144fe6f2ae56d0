//===- Process.h - Child processes with a deadline ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Runs a program in a process group of its own, with a deadline after which
/// the whole group is killed, and with output kept up to a limit.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SUPPORT_PROCESS_H
#define STARK_SUPPORT_PROCESS_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stark {

struct ProcessSpec {
  std::string Program;                ///< a path, or a name to find on PATH
  std::vector<std::string> Arguments; ///< without the program's name
  std::string WorkingFolder;          ///< empty: the caller's
  /// "NAME=value" entries; unset: the caller's environment without anything
  /// that looks like a key or token.
  std::optional<std::vector<std::string>> Environment;
  uint64_t TimeoutMs = 0;               ///< 0: none
  size_t OutputLimit = size_t(1) << 20; ///< bytes kept of each stream
};

struct ProcessResult {
  int ExitCode = 0; ///< meaningful when Signal is 0
  int Signal = 0;   ///< the signal that ended it, 0 if none
  bool TimedOut = false;
  std::string Out, Err; ///< each cut at OutputLimit, with a note when cut
  uint64_t WallMs = 0;
  bool ok() const { return !TimedOut && Signal == 0 && ExitCode == 0; }
};

/// An error only when the program could not be started, or the user interrupted
/// (Interrupt.h): then its group was killed.
llvm::Expected<ProcessResult> runProcess(const ProcessSpec &Spec);

/// The environment of the caller, less what could hold a secret (names with
/// KEY, TOKEN, SECRET, PASSWORD, CREDENTIAL in them).
std::vector<std::string> environmentWithoutSecrets();

/// Empty when not found.
std::string findProgram(llvm::StringRef Name);

/// The folder of the running program, symbolic links resolved.
std::string programFolder();

} // namespace stark

#endif
