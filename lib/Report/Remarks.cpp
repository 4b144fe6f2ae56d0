//===- Remarks.cpp - A run as LLVM's optimisation remarks -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   run -> YAML: the winner has passed, what is not correct was missed, what
///   is
/// correct and did not win is an analysis
///
//===----------------------------------------------------------------------===//

#include "Figures.h"
#include "SourceLines.h"
#include "stark/Report/Progress.h"
#include "stark/Report/Review.h"
#include "stark/Support/Error.h"
#include "stark/Support/Utf8.h"
#include "llvm/Remarks/Remark.h"
#include "llvm/Remarks/RemarkSerializer.h"
#include <deque>

using namespace stark;
namespace remarks = llvm::remarks;

namespace {
/// A remark and the texts that it points to.
class Writer {
public:
  Writer(const RecordedRun &Run, remarks::RemarkSerializer &To)
      : Run(Run), F(countFigures(Run)), To(To), File(sourceFile(Run)) {}

  void write(const Node &N) {
    std::vector<SourceRegion> Regions = sourceRegions(Run, N.Number);
    if (Regions.empty())
      Regions.push_back({1, 1, ""});
    for (const SourceRegion &R : Regions)
      emit(N, R);
  }

private:
  void emit(const Node &N, const SourceRegion &Where);
  void add(remarks::Remark &R, llvm::StringRef Key, std::string Value) {
    Texts.push_back(std::move(Value));
    R.Args.emplace_back();
    R.Args.back().Key = Key;
    R.Args.back().Val = Texts.back();
  }

  const RecordedRun &Run;
  const Figures F;
  remarks::RemarkSerializer &To;
  const std::string File;
  std::deque<std::string> Texts; ///< which stay where they are
};
} // namespace

void Writer::emit(const Node &N, const SourceRegion &Where) {
  Texts.clear();
  bool Won = int(N.Number) == F.Winner;
  const Verdict &V = Won ? *F.WinnerFound : N.Found;
  remarks::Remark R;
  R.RemarkType = Won           ? remarks::Type::Passed
                 : V.correct() ? remarks::Type::Analysis
                               : remarks::Type::Missed;
  R.PassName = "stark";
  R.RemarkName = Won           ? llvm::StringRef("Winner")
                 : V.correct() ? llvm::StringRef("Correct")
                               : verdictName(V.Kind);
  std::string Function =
      Where.Function.empty() ? visibleLine(Run.Identity.Entry) : Where.Function;
  R.FunctionName = Function;
  R.Loc = remarks::RemarkLocation{File, Where.Line, 1};
  add(R, "String", "node ");
  add(R, "Node", std::to_string(N.Number));
  add(R, "String", N.Given.Title.empty() ? ": " : ", ");
  if (!N.Given.Title.empty()) {
    add(R, "Title", visibleLine(N.Given.Title));
    add(R, "String", ": ");
  }
  if (!V.correct() || V.Timings.empty()) {
    add(R, "Verdict", verdictName(V.Kind).str());
    if (std::string Why = whyNot(V); !Why.empty()) {
      add(R, "String", ": ");
      add(R, "Why", Why);
    }
  } else {
    add(R, "Speedup", fixed(V.speedup(), 3));
    add(R, "String", " times as fast as the source (95 %: ");
    add(R, "SpeedupLow", fixed(V.speedupLow(), 3));
    add(R, "String", " to ");
    add(R, "SpeedupHigh", fixed(V.speedupHigh(), 3));
    add(R, "String", "), " + visibleLine(howTaken(V)));
  }
  To.emit(R);
}

llvm::Error stark::printRemarks(const RecordedRun &Run, llvm::raw_ostream &OS) {
  auto To = remarks::createRemarkSerializer(
      remarks::Format::YAML, remarks::SerializerMode::Standalone, OS);
  if (!To)
    return To.takeError();
  Writer W(Run, **To);
  for (unsigned I = 1; I < Run.Nodes.size(); ++I)
    W.write(Run.Nodes.node(I));
  return llvm::Error::success();
}
