//===- SourceLines.cpp - Where in the source a node's anchors lie ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SourceLines.h"
#include "stark/Agent/Quote.h"
#include "stark/Support/Utf8.h"
#include <algorithm>

using namespace stark;

namespace {
/// The lines that stand in both, of a source and a candidate.
class LineMap {
public:
  LineMap(llvm::StringRef Source, llvm::StringRef Candidate)
      : Last(unsigned(Source.count('\n')) + !Source.ends_with("\n")) {
    if (std::optional<std::string> Diff = unifiedDiff(Source, Candidate))
      read(*Diff);
  }

  /// The line of the source that line \p Of of the candidate is, or the one
  /// before it.
  unsigned sourceLine(unsigned Of) const {
    int64_t Line = Of;
    for (const Step &S : Steps) {
      if (S.Candidate > Of)
        break;
      Line = S.Added ? S.Source : int64_t(S.Source) + Of - S.Candidate;
    }
    return unsigned(std::clamp<int64_t>(Line, 1, std::max(1u, Last)));
  }

private:
  /// From the candidate's line on, what lines of the source they are.
  struct Step {
    unsigned Candidate, Source;
    bool Added; ///< none: it stands after that line
  };

  void read(llvm::StringRef Diff) {
    unsigned Old = 1, New = 1;
    while (!Diff.empty()) {
      auto [Line, Rest] = Diff.split('\n');
      Diff = Rest;
      if (Line.consume_front("@@ -")) {
        Line.consumeInteger(10, Old);
        Line = Line.split('+').second;
        Line.consumeInteger(10, New);
        Steps.push_back({New, Old, false});
        continue;
      }
      char Kind = Line.empty() ? ' ' : Line.front();
      if (Kind == '+')
        Steps.push_back({New++, Old > 1 ? Old - 1 : 1, true});
      else if (Kind == '-')
        Steps.push_back({New, ++Old, false});
      else
        Steps.push_back({New++, Old++, false});
    }
    Steps.push_back({New, Old, false});
  }

  std::vector<Step> Steps;
  unsigned Last; ///< line of the source
};
} // namespace

std::string stark::sourceFile(const RecordedRun &Run) {
  return visibleLine(Run.Identity.TaskName) + ".cu";
}

std::vector<SourceRegion> stark::sourceRegions(const RecordedRun &Run,
                                               unsigned Number) {
  const Node &N = Run.Nodes.node(Number);
  std::vector<SourceRegion> Regions;
  if (N.Base < 0 || N.Given.Anchors.empty())
    return Regions;
  LineMap Map(Run.Nodes.node(0).Text, Run.Nodes.node(unsigned(N.Base)).Text);
  for (const Anchor &A : N.Given.Anchors) {
    SourceRegion R;
    R.Line = Map.sourceLine(A.Line);
    R.EndLine = std::max(R.Line, Map.sourceLine(A.EndLine));
    if (!A.SiteIds.empty())
      R.Function =
          visibleLine(llvm::StringRef(A.SiteIds.front()).split(':').first);
    Regions.push_back(std::move(R));
  }
  return Regions;
}
