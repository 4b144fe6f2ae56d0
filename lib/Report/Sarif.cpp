//===- Sarif.cpp - Refused candidates as static analysis results ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   run -> one run of SARIF 2.1.0 (OASIS): a rule a kind of verdict, a result
/// a candidate that is not correct
///
//===----------------------------------------------------------------------===//

#include "SourceLines.h"
#include "stark/Report/Progress.h"
#include "stark/Report/Review.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/StringExtras.h"
#include <nlohmann/json.hpp>

using namespace stark;
using Json = nlohmann::ordered_json;

static const char *describe(VerdictKind K) {
  switch (K) {
  case VerdictKind::NotCompiled:
    return "The candidate does not compile or link.";
  case VerdictKind::ContractBroken:
    return "The candidate changes what callers rely on: signature, linkage, "
           "symbols.";
  case VerdictKind::Forbidden:
    return "The candidate does what no candidate may, such as keeping state.";
  case VerdictKind::Ungrounded:
    return "The candidate changes lines that its plan did not name.";
  case VerdictKind::Unsupported:
    return "The evaluator cannot run the candidate.";
  case VerdictKind::Crashed:
    return "The candidate crashed, or did what a GPU may not bear: an access "
           "out of bounds, a race.";
  case VerdictKind::TimedOut:
    return "The candidate did not end in time.";
  case VerdictKind::Wrong:
    return "The candidate's outputs are not those of the source.";
  case VerdictKind::Unstable:
    return "The candidate's outputs differ from call to call.";
  case VerdictKind::NoCandidate:
    return "The agent's reply held no candidate.";
  case VerdictKind::Correct:
    break;
  }
  return "The candidate is correct.";
}

/// Of a candidate that would have misbehaved where it ran, more than a note.
static const char *levelOf(VerdictKind K) {
  switch (K) {
  case VerdictKind::ContractBroken:
  case VerdictKind::Forbidden:
  case VerdictKind::Crashed:
  case VerdictKind::TimedOut:
  case VerdictKind::Wrong:
  case VerdictKind::Unstable:
    return "warning";
  default:
    return "note";
  }
}

/// \p Path as a reference that RFC 3986 allows.
static std::string uriOf(llvm::StringRef Path) {
  std::string Uri = Path.starts_with("/") ? "file://" : "";
  for (unsigned char C : Path) {
    if (llvm::isAlnum(char(C)) || llvm::StringRef("-._~/").contains(char(C)))
      Uri += char(C);
    else
      Uri += "%" + llvm::utohexstr(C, /*LowerCase=*/false, /*Width=*/2);
  }
  return Uri;
}

static Json physical(llvm::StringRef Path,
                     const std::optional<SourceRegion> &Where) {
  Json Place = {{"artifactLocation", {{"uri", uriOf(Path)}}}};
  if (Where)
    Place["region"] = {{"startLine", Where->Line}, {"endLine", Where->EndLine}};
  return {{"physicalLocation", std::move(Place)}};
}

/// The first "line N" of \p Text, which is of the candidate's; 0: none.
static unsigned lineIn(llvm::StringRef Text) {
  while (!Text.empty()) {
    size_t At = Text.find("line ");
    if (At == llvm::StringRef::npos)
      return 0;
    bool Begins = At == 0 || !llvm::isAlnum(Text[At - 1]);
    Text = Text.drop_front(At + 5);
    unsigned Line = 0;
    if (Begins && !llvm::StringRef(Text).consumeInteger(10, Line) && Line > 0 &&
        Line < 10000000)
      return Line;
  }
  return 0;
}

/// What compiler or judge said.
static llvm::StringRef saidOf(const Verdict &V) {
  return llvm::StringRef(V.Run.empty() ? V.Compiler : V.Run).trim();
}

/// The line of the text itself that was named.
static std::optional<SourceRegion> regionIn(llvm::StringRef Said) {
  unsigned Line = lineIn(Said);
  if (!Line)
    return std::nullopt;
  return SourceRegion{Line, Line, ""};
}

namespace {
/// The results of one log, and the rules that they name.
class Log {
public:
  /// Without locations.
  Json &add(const Verdict &V, const std::string &Subject) {
    VerdictKind K = V.Kind;
    auto [Rule, New] = Known.try_emplace(K, Rules.size());
    if (New)
      Rules.push_back({{"id", nameOf(K)},
                       {"shortDescription", {{"text", describe(K)}}},
                       {"defaultConfiguration", {{"level", levelOf(K)}}}});
    std::string Text = Subject + " is " + verdictName(K).str();
    if (llvm::StringRef Said = saidOf(V); !Said.empty())
      Text += ": " + visibleText(Said);
    Results.push_back({{"ruleId", nameOf(K)},
                       {"ruleIndex", Rule->second},
                       {"level", levelOf(K)},
                       {"message", {{"text", Text}}},
                       {"locations", Json::array()}});
    return Results.back();
  }
  void print(const std::string &Version, llvm::raw_ostream &OS) {
    Json Driver = {{"name", "stark"}};
    if (!Version.empty())
      Driver["version"] = Version;
    Driver["rules"] = std::move(Rules);
    Json Whole = {
        {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
        {"version", "2.1.0"},
        {"runs", Json::array({{{"tool", {{"driver", std::move(Driver)}}},
                               {"columnKind", "unicodeCodePoints"},
                               {"results", std::move(Results)}}})}};
    OS << Whole.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  }

private:
  Json Rules = Json::array(), Results = Json::array();
  std::map<VerdictKind, size_t> Known;
};
} // namespace

static void addNode(const RecordedRun &Run, const Node &N, Log &To) {
  std::string Subject = "node " + std::to_string(N.Number);
  if (!N.Given.Title.empty())
    Subject += " (" + visibleLine(N.Given.Title) + ")";
  Json &Result = To.add(N.Found, Subject);
  std::vector<SourceRegion> Regions = sourceRegions(Run, N.Number);
  for (const SourceRegion &R : Regions)
    Result["locations"].push_back(physical(sourceFile(Run), R));
  if (Regions.empty())
    Result["locations"].push_back(physical(sourceFile(Run), std::nullopt));
  if (N.Text.empty())
    return;
  Json Related = physical(candidateFile(N.Number), regionIn(saidOf(N.Found)));
  Related["id"] = 1;
  Related["message"] = {{"text", "the candidate, in the run folder"}};
  Result["relatedLocations"] = Json::array({std::move(Related)});
  Result["partialFingerprints"] = {{"candidate/v1", sha256(N.Text)}};
}

void stark::printSarif(const RecordedRun &Run, llvm::raw_ostream &OS) {
  Log To;
  for (unsigned I = 1; I < Run.Nodes.size(); ++I)
    if (const Node &N = Run.Nodes.node(I); !N.Found.correct())
      addNode(Run, N, To);
  auto Version = Run.Identity.Versions.find("stark");
  To.print(Version == Run.Identity.Versions.end() ? "" : Version->second, OS);
}

void stark::printSarif(const Verdict &V, llvm::StringRef File,
                       llvm::raw_ostream &OS) {
  Log To;
  if (!V.correct())
    To.add(V, visibleLine(File))["locations"].push_back(
        physical(File, regionIn(saidOf(V))));
  To.print("", OS);
}
