//===- TimeTrace.cpp - Where the time goes -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/TimeTrace.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/JSON.h"
#include <atomic>
#include <chrono>
#include <mutex>

using namespace stark;
namespace json = llvm::json;

/// Shorter stages are in the sums alone: Clang has very many of them.
static constexpr unsigned LeastUs = 500;

namespace {
using SteadyClock = std::chrono::steady_clock;

/// What LLVM's profiler has no room for.
struct Recording {
  std::atomic<bool> On = false;
  SteadyClock::time_point Began;
  std::mutex Guard; ///< of what follows
  json::Array Foreign;
  int64_t Programs = 0;
};

Recording &recording() {
  static Recording Of;
  return Of;
}

thread_local std::string Subject;
} // namespace

void stark::startTimeTrace(llvm::StringRef Program) {
  recording().Began = SteadyClock::now();
  recording().On = true;
  llvm::timeTraceProfilerInitialize(LeastUs, Program);
}

TraceSubject::TraceSubject(std::string Now)
    : Outer(std::exchange(Subject, std::move(Now))) {}
TraceSubject::~TraceSubject() { Subject = std::move(Outer); }
const std::string &TraceSubject::current() { return Subject; }

TraceScope::TraceScope(llvm::StringRef Stage, llvm::StringRef Detail) {
  if (!llvm::timeTraceProfilerEnabled())
    return;
  std::string Shown = Subject;
  if (!Detail.empty())
    Shown += (Shown.empty() ? "" : ", ") + Detail.str();
  Entry = llvm::timeTraceProfilerBegin(Stage, llvm::StringRef(Shown));
}

TraceScope::~TraceScope() {
  if (Entry)
    llvm::timeTraceProfilerEnd(Entry);
}

std::function<void()> stark::traced(std::function<void()> Work) {
  if (!recording().On)
    return Work;
  return [Work = std::move(Work), Outer = Subject] {
    llvm::timeTraceProfilerInitialize(LeastUs, "");
    {
      TraceSubject Of(Outer);
      Work();
    }
    llvm::timeTraceProfilerFinishThread();
  };
}

static int64_t microseconds(SteadyClock::duration D) {
  return std::chrono::duration_cast<std::chrono::microseconds>(D).count();
}

void stark::traceForeign(llvm::StringRef Program, uint64_t WallUs,
                         llvm::ArrayRef<ForeignStage> Stages) {
  Recording &Of = recording();
  if (!Of.On)
    return;
  int64_t Began = microseconds(SteadyClock::now() - Of.Began) - int64_t(WallUs);
  std::lock_guard Lock(Of.Guard);
  // Below any process's number; each call of a program has a row of its own.
  int64_t Row = -++Of.Programs;
  std::string Name = Program.str();
  if (!Subject.empty())
    Name += ", " + Subject;
  Of.Foreign.push_back(json::Object{{"ph", "M"},
                                    {"pid", Row},
                                    {"tid", 0},
                                    {"ts", 0},
                                    {"name", "process_name"},
                                    {"args", json::Object{{"name", Name}}}});
  for (const ForeignStage &S : Stages) {
    uint64_t Ends = std::max(S.BeginUs, S.EndUs);
    Of.Foreign.push_back(json::Object{
        {"ph", "X"},
        {"pid", Row},
        {"tid", 0},
        {"ts", Began + int64_t(S.BeginUs)},
        {"dur", int64_t(Ends - S.BeginUs)},
        {"name", json::fixUTF8(S.Name)},
        {"args", json::Object{{"detail", json::fixUTF8(S.Detail)}}}});
  }
}

llvm::Error stark::writeTimeTrace(llvm::StringRef File) {
  Recording &Of = recording();
  Of.On = false;
  llvm::SmallString<0> Text;
  {
    llvm::raw_svector_ostream OS(Text);
    llvm::timeTraceProfilerWrite(OS);
  }
  llvm::timeTraceProfilerCleanup();
  llvm::Expected<json::Value> Trace = json::parse(Text);
  if (!Trace)
    return withContext(Trace.takeError(), "the time trace");
  json::Array *Events = nullptr;
  if (json::Object *Whole = Trace->getAsObject())
    Events = Whole->getArray("traceEvents");
  if (!Events)
    return failed("the time trace has no events");
  for (json::Value &Event : std::exchange(Of.Foreign, {}))
    Events->push_back(std::move(Event));
  std::string Bytes;
  llvm::raw_string_ostream(Bytes) << *Trace << "\n";
  return writeFileAtomically(File, Bytes, /*Flush=*/false);
}
