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

static Json physical(const std::string &Uri,
                     const std::optional<SourceRegion> &Where) {
  Json Place = {{"artifactLocation", {{"uri", Uri}}}};
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

static Json resultOf(const RecordedRun &Run, const Node &N, size_t Rule) {
  std::string Said = N.Found.Run.empty() ? N.Found.Compiler : N.Found.Run;
  std::string Text = "node " + std::to_string(N.Number) + " is " +
                     verdictName(N.Found.Kind).str();
  if (!N.Given.Title.empty())
    Text += " (" + visibleLine(N.Given.Title) + ")";
  if (!llvm::StringRef(Said).trim().empty())
    Text += ": " + visibleText(llvm::StringRef(Said).trim());
  Json Result = {{"ruleId", nameOf(N.Found.Kind)},
                 {"ruleIndex", Rule},
                 {"level", levelOf(N.Found.Kind)},
                 {"message", {{"text", Text}}},
                 {"locations", Json::array()}};
  std::vector<SourceRegion> Regions = sourceRegions(Run, N.Number);
  for (const SourceRegion &R : Regions)
    Result["locations"].push_back(physical(sourceFile(Run), R));
  if (Regions.empty())
    Result["locations"].push_back(physical(sourceFile(Run), std::nullopt));
  if (!N.Text.empty()) {
    std::optional<SourceRegion> Where;
    if (unsigned Line = lineIn(Said))
      Where = SourceRegion{Line, Line, ""};
    Json Related = physical(candidateFile(N.Number), Where);
    Related["id"] = 1;
    Related["message"] = {{"text", "the candidate, in the run folder"}};
    Result["relatedLocations"] = Json::array({std::move(Related)});
    Result["partialFingerprints"] = {{"candidate/v1", sha256(N.Text)}};
  }
  return Result;
}

void stark::printSarif(const RecordedRun &Run, llvm::raw_ostream &OS) {
  Json Rules = Json::array(), Results = Json::array();
  std::map<VerdictKind, size_t> Known;
  for (unsigned I = 1; I < Run.Nodes.size(); ++I) {
    const Node &N = Run.Nodes.node(I);
    VerdictKind K = N.Found.Kind;
    if (N.Found.correct())
      continue;
    auto [Rule, New] = Known.try_emplace(K, Rules.size());
    if (New)
      Rules.push_back({{"id", nameOf(K)},
                       {"shortDescription", {{"text", describe(K)}}},
                       {"defaultConfiguration", {{"level", levelOf(K)}}}});
    Results.push_back(resultOf(Run, N, Rule->second));
  }
  auto Version = Run.Identity.Versions.find("stark");
  Json Driver = {{"name", "stark"}};
  if (Version != Run.Identity.Versions.end())
    Driver["version"] = Version->second;
  Driver["rules"] = std::move(Rules);
  Json Whole = {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", Json::array({{{"tool", {{"driver", std::move(Driver)}}},
                             {"columnKind", "unicodeCodePoints"},
                             {"results", std::move(Results)}}})}};
  OS << Whole.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}
