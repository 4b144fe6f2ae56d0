//===- ProgressPrinter.h - A search as it goes on, on standard error ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   what a SearchObserver is told
///     --> a block that is drawn again in place, on a terminal
///     --> a line a step, elsewhere; a line an attempt, in a build's log
///     --> a file of events, where one is wanted
///
//===----------------------------------------------------------------------===//

#ifndef STARK_REPORT_PROGRESSPRINTER_H
#define STARK_REPORT_PROGRESSPRINTER_H

#include "stark/Search/Search.h"

namespace stark {

struct ProgressOptions {
  bool Quiet = false;   ///< notes alone
  bool Explain = false; ///< which node was selected, why, and who sees what
  /// Not empty: "STARK: ", before each line of a build's log, which has an
  /// attempt a line; and what it is about: "softmax.cu: ".
  std::string Prefix, Subject;
  std::string EventsFile; ///< empty: none
  Clock *Time = &machineClock();
};

/// Prints until it goes. The block is drawn by a thread of its own, several
/// times a second.
class ProgressPrinter : public SearchObserver {
public:
  static llvm::Expected<std::unique_ptr<ProgressPrinter>>
  create(ProgressOptions Options);
  /// Ends what is drawn; it stays. \p E is handed on, and is in the events.
  virtual llvm::Error finish(llvm::Error E) = 0;
};

} // namespace stark

#endif
