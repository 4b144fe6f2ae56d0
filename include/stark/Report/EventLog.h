//===- EventLog.h - A search as it goes on, for programs ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   what a SearchObserver is told -> JSON objects, one a line, as it happens
/// docs/progress.md has the fields.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_REPORT_EVENTLOG_H
#define STARK_REPORT_EVENTLOG_H

#include "stark/Search/Search.h"

namespace stark {

/// Each line is written at once. A file that takes no more is told to \p Note
/// once, and ends nothing but the log.
class EventLog : public SearchObserver {
public:
  /// Creates or empties \p File.
  static llvm::Expected<std::unique_ptr<EventLog>>
  create(llvm::StringRef File, Clock &Time,
         std::function<void(llvm::StringRef)> Note);
  /// What stopped the search, if something did, with the program's exit code.
  virtual void stopped(llvm::StringRef Why, int ExitCode) = 0;
};

} // namespace stark

#endif
