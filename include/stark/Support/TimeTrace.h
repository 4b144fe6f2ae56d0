//===- TimeTrace.h - Where the time goes ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   stages of any thread --llvm/Support/TimeProfiler.h--> trace in Chrome's
///   stages that another program told of itself ---------^  format
/// Nothing is recorded, and next to nothing spent, until startTimeTrace().
/// docs/time-trace.md names the stages.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SUPPORT_TIMETRACE_H
#define STARK_SUPPORT_TIMETRACE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/TimeProfiler.h"
#include <functional>
#include <string>

namespace stark {

/// Records from now on what the calling thread does, which has to be the one
/// that writes the trace.
void startTimeTrace(llvm::StringRef Program);

/// Ends the recording; traced threads have to have ended.
llvm::Error writeTimeTrace(llvm::StringRef File);

/// What the stages of this thread are about, until it goes: "node 7".
class TraceSubject {
public:
  explicit TraceSubject(std::string Subject);
  TraceSubject(const TraceSubject &) = delete;
  ~TraceSubject();
  static const std::string &current();

private:
  std::string Outer;
};

/// A stage of this thread, from here to the end of the scope.
class TraceScope {
public:
  explicit TraceScope(llvm::StringRef Stage) : TraceScope(Stage, "") {}
  /// Beside the subject, \p Detail is shown.
  TraceScope(llvm::StringRef Stage, llvm::StringRef Detail);
  TraceScope(const TraceScope &) = delete;
  ~TraceScope();

private:
  llvm::TimeTraceProfilerEntry *Entry = nullptr;
};

/// \p Work for another thread, so that its stages are in the trace, too, with
/// the subject that the calling thread has now.
std::function<void()> traced(std::function<void()> Work);

/// A stage of another program, in microseconds since that program began.
struct ForeignStage {
  std::string Name, Detail;
  uint64_t BeginUs = 0, EndUs = 0;
};

/// Puts what \p Program did into the trace; it worked for \p WallUs and ends
/// now. It may have run on another machine.
void traceForeign(llvm::StringRef Program, uint64_t WallUs,
                  llvm::ArrayRef<ForeignStage> Stages);

} // namespace stark

#endif
