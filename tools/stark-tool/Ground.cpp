//===- Ground.cpp - stark-tool ground -------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   base + plan -> anchors; with a candidate also its footprint and contract
///
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/AST/Contract.h"
#include "stark/AST/Flags.h"
#include "stark/AST/Footprint.h"
#include "stark/AST/Parse.h"
#include "stark/Json/Fields.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>

using namespace stark;
using tool::Flag;
using tool::FlagList;
namespace cl = llvm::cl;
using nlohmann::json;

static cl::SubCommand Command(
    "ground",
    "Turn a plan's marks into exact ranges, and hold a candidate to them\n\n"
    "  stark-tool ground --base B.cu --plan P.cu [-- flags]\n"
    "  stark-tool ground --base B.cu --sites ID,ID [-- flags]\n"
    "      Prints the anchors: ids, lines, byte ranges, and by how many "
    "tokens\n"
    "      each had to grow to cover whole statements or declarations.\n"
    "      P.cu is B.cu (or a whole function of it) with comments\n"
    "      // <<<IMPROVE BEGIN>>> and // <<<IMPROVE END>>> around what is to\n"
    "      change.\n"
    "  stark-tool ground --base B.cu --plan P.cu --candidate C.cu [--entry F]\n"
    "      Prints what C.cu changed, each range inside an anchor, supporting\n"
    "      one, or outside, and every breach of the contract: changed\n"
    "      signatures and exported symbols, forbidden calls. With --entry "
    "that\n"
    "      function must keep its signature and defaults. --source is the "
    "file\n"
    "      the search began with, when that is not B.cu.\n\n"
    "Flags after -- are for the compiler, as for clang++ or nvcc. Without\n"
    "flags, those that compile_commands.json has for B.cu are used.\n"
    "Exit codes: 0 grounded, 1 not grounded, or the plan cannot be used,\n"
    "2 usage.\n");
static Flag<std::string> Base(Command, "base", cl::Required,
                              cl::value_desc("file"),
                              cl::desc("The source that was planned for"));
static Flag<std::string> Plan(Command, "plan", cl::value_desc("file"),
                              cl::desc("The source with marks"));
static FlagList SiteIds(Command, "sites", cl::value_desc("id,id"),
                        cl::CommaSeparated,
                        cl::desc("Sites instead of marks, as stark-tool sites "
                                 "names them"));
static Flag<std::string> CandidateFile(Command, "candidate",
                                       cl::value_desc("file"),
                                       cl::desc("A rewritten source"));
static Flag<std::string> SourceFile(
    Command, "source", cl::value_desc("file"),
    cl::desc("What the contract is compared with (default: --base)"));
static Flag<std::string> Entry(Command, "entry", cl::value_desc("name"),
                               cl::desc("The function whose signature and "
                                        "defaults must stay"));
static Flag<std::string>
    How(Command, "grounding", cl::value_desc("strict|support|off"),
        cl::init("support"),
        cl::desc("strict: only changes inside anchors; support (default): also "
                 "new declarations, includes and the anchored kernels' "
                 "launches; off: anything"));
static Flag<bool> Json(Command, "json", cl::desc("Print JSON (version 1)"));

static llvm::Expected<std::unique_ptr<ParsedSource>>
parseFile(llvm::StringRef Path, llvm::StringRef As,
          const std::vector<std::string> &Flags) {
  llvm::Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  ParseOptions Options;
  Options.Flags = Flags;
  if (Flags.empty())
    if (llvm::Error E = addFlagsFromDatabase(As, Options))
      return E;
  return parseSource(As, *Text, Options);
}

static json rangeJson(const Range &R) { return json::array({R.Begin, R.End}); }

static json anchorsJson(const std::vector<Anchor> &Anchors) {
  json Result = json::array();
  for (const Anchor &A : Anchors)
    Result.push_back(json{{"sites", A.SiteIds},
                          {"line", A.Line},
                          {"end_line", A.EndLine},
                          {"bytes", rangeJson(A.Bytes)},
                          {"grew_before", A.GrewBefore},
                          {"grew_after", A.GrewAfter}});
  return Result;
}

static void printAnchors(const std::vector<Anchor> &Anchors) {
  for (size_t I = 0; I < Anchors.size(); ++I) {
    const Anchor &A = Anchors[I];
    llvm::outs() << "anchor " << I + 1 << ": line " << A.Line;
    if (A.EndLine != A.Line)
      llvm::outs() << "-" << A.EndLine;
    llvm::outs() << ", bytes " << A.Bytes.Begin << "-" << A.Bytes.End << ": ";
    for (size_t J = 0; J < A.SiteIds.size(); ++J)
      llvm::outs() << (J ? ", " : "") << A.SiteIds[J];
    if (A.SiteIds.empty())
      llvm::outs() << "no site";
    if (A.GrewBefore || A.GrewAfter)
      llvm::outs() << "; grew by " << A.GrewBefore << " tokens before, "
                   << A.GrewAfter << " after";
    llvm::outs() << "\n";
  }
}

static json changesJson(const Footprint &Print) {
  json Result = json::array();
  for (const Change &C : Print.Changes)
    Result.push_back(json{{"class", changeClassName(C.Why.changeClass()).str()},
                          {"why", C.Why.str()},
                          {"base", rangeJson(C.Base)},
                          {"candidate", rangeJson(C.Candidate)},
                          {"base_line", C.BaseLine},
                          {"line", C.CandidateLine},
                          {"end_line", C.CandidateEndLine}});
  return Result;
}

/// Prints what is wrong with the candidate; the number of such lines.
static llvm::Error reportCandidate(const Footprint &Print,
                                   const std::vector<Violation> &Violations,
                                   Grounding G) {
  std::vector<std::string> Problems = Print.complaints(G);
  for (const Violation &V : Violations)
    Problems.push_back(
        (V.Line ? "line " + std::to_string(V.Line) + ": " : std::string()) +
        V.message());
  if (Problems.empty())
    return llvm::Error::success();
  llvm::Error All = llvm::Error::success();
  for (const std::string &P : Problems)
    All = llvm::joinErrors(std::move(All), failed(P));
  return All;
}

static llvm::Error run(const std::vector<std::string> &Flags) {
  llvm::Expected<Grounding> G = parseGrounding(How);
  if (!G)
    return G.takeError();
  if (Plan.empty() == SiteIds.empty())
    return usageError("ground: give either --plan or --sites");
  auto Source = parseFile(Base, Base, Flags);
  if (!Source)
    return Source.takeError();
  Sites Found = findSites(**Source);
  std::vector<Anchor> Anchors;
  if (!Plan.empty()) {
    llvm::Expected<std::string> Marked = readFile(Plan);
    if (!Marked)
      return Marked.takeError();
    auto Grounded = groundMarks(**Source, Found, *Marked);
    if (!Grounded)
      return Grounded.takeError();
    Anchors = std::move(*Grounded);
  } else {
    auto Grounded = groundSites(**Source, Found, SiteIds.values());
    if (!Grounded)
      return Grounded.takeError();
    Anchors = std::move(*Grounded);
  }

  json Out = {{"version", 1}, {"anchors", anchorsJson(Anchors)}};
  if (!Json)
    printAnchors(Anchors);
  llvm::Error Problems = llvm::Error::success();
  if (!CandidateFile.empty()) {
    // The candidate stands in for the base: quoted includes are found there.
    auto Candidate = parseFile(CandidateFile, Base, Flags);
    if (!Candidate) {
      llvm::consumeError(std::move(Problems));
      return Candidate.takeError();
    }
    std::unique_ptr<ParsedSource> Origin;
    if (!SourceFile.empty()) {
      auto Parsed = parseFile(SourceFile, Base, Flags);
      if (!Parsed) {
        llvm::consumeError(std::move(Problems));
        return Parsed.takeError();
      }
      Origin = std::move(*Parsed);
    }
    Footprint Print =
        findFootprint((*Source)->text(), Anchors, (*Candidate)->text());
    std::vector<Violation> Violations =
        checkContract(Origin ? *Origin : **Source, **Candidate, Entry);
    if (!Json)
      Print.print(llvm::outs());
    Out["changes"] = changesJson(Print);
    json List = json::array();
    for (const Violation &V : Violations)
      List.push_back(json{{"line", V.Line},
                          {"forbidden", V.forbidden()},
                          {"message", V.message()}});
    Out["violations"] = std::move(List);
    Out["grounded"] = Print.grounded(*G);
    Problems = llvm::joinErrors(std::move(Problems),
                                reportCandidate(Print, Violations, *G));
  }
  if (Json)
    llvm::outs() << dumpJson(Out, 2) << "\n";
  return Problems;
}

static const tool::Verb Registered(Command, run);
