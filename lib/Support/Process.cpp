//===- Process.cpp - Child processes with a deadline ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   how a run ended -> result or llvm::Error
///
//===----------------------------------------------------------------------===//

#include "stark/Support/Process.h"
#include "stark/Posix/Clock.h"
#include "stark/Support/Error.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace stark;

llvm::Expected<ProcessResult> stark::runProcess(const ProcessSpec &Spec) {
  TraceScope Traced("run", llvm::sys::path::filename(Spec.Program));
  ProcessResult Result;
  std::string Error;
  switch (posix::runProcess(Spec, machineClock(), Result, Error)) {
  case posix::Ran::ToAnEnd:
    break;
  case posix::Ran::NotStarted:
    return failed(Error);
  case posix::Ran::Interrupted:
    return interrupted(Error);
  }
  return Result;
}

std::string stark::findProgram(llvm::StringRef Name) {
  return posix::findProgram(Name.str());
}

std::string stark::programFolder() {
  static int Anchor;
  std::string Program = llvm::sys::fs::getMainExecutable(nullptr, &Anchor);
  return llvm::sys::path::parent_path(Program).str();
}

std::string stark::sharedFolder(llvm::StringRef Name,
                                llvm::StringRef Otherwise) {
  std::string Installed = (programFolder() + "/../share/stark/" + Name).str();
  return llvm::sys::fs::exists(Installed) ? Installed : Otherwise.str();
}
