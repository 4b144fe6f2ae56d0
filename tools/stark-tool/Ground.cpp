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
#include "stark/AST/Flags.h"
#include "stark/AST/GroundingReport.h"
#include "stark/AST/SourceFile.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

using namespace stark;
using tool::Flag;
using tool::FlagList;
namespace cl = llvm::cl;

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

/// Marked in a plan, or named.
static llvm::Expected<std::vector<Anchor>>
findAnchors(const ParsedSource &Source) {
  Sites Found = findSites(Source);
  if (Plan.empty())
    return groundSites(Source, Found, SiteIds.values());
  llvm::Expected<std::string> Marked = readFile(Plan);
  if (!Marked)
    return Marked.takeError();
  return groundMarks(Source, Found, *Marked);
}

/// The candidate stands in for the base: quoted includes are found there.
static llvm::Expected<CandidateFindings>
examineCandidate(const ParsedSource &Source, const std::vector<Anchor> &Anchors,
                 const ParseOptions &Options) {
  auto Candidate = parseSourceFile(CandidateFile, Options, Base);
  if (!Candidate)
    return Candidate.takeError();
  std::unique_ptr<ParsedSource> Origin;
  if (!SourceFile.empty()) {
    auto Parsed = parseSourceFile(SourceFile, Options, Base);
    if (!Parsed)
      return Parsed.takeError();
    Origin = std::move(*Parsed);
  }
  return CandidateFindings{
      findFootprint(Source.text(), Anchors, (*Candidate)->text()),
      checkContract(Origin ? *Origin : Source, **Candidate, Entry)};
}

static llvm::Error run(const std::vector<std::string> &Flags) {
  llvm::Expected<Grounding> G = parseGrounding(How);
  if (!G)
    return G.takeError();
  if (Plan.empty() == SiteIds.empty())
    return usageError("ground: give either --plan or --sites");
  ParseOptions Options;
  Options.Flags = Flags;
  if (llvm::Error E = completeFlags(Base, Options))
    return E;
  auto Source = parseSourceFile(Base, Options);
  if (!Source)
    return Source.takeError();
  llvm::Expected<std::vector<Anchor>> Anchors = findAnchors(**Source);
  if (!Anchors)
    return Anchors.takeError();
  if (!Json)
    printAnchors(*Anchors, llvm::outs());
  std::optional<CandidateFindings> Found;
  if (!CandidateFile.empty()) {
    llvm::Expected<CandidateFindings> Judged =
        examineCandidate(**Source, *Anchors, Options);
    if (!Judged)
      return Judged.takeError();
    Found = std::move(*Judged);
    if (!Json)
      Found->Changed.print(llvm::outs());
  }
  if (Json)
    llvm::outs() << groundingJson(*Anchors, Found ? &*Found : nullptr, *G)
                 << "\n";
  llvm::Error Problems = llvm::Error::success();
  if (Found)
    for (const std::string &Complaint : complaintsOf(*Found, *G))
      Problems = llvm::joinErrors(std::move(Problems), failed(Complaint));
  return Problems;
}

static const tool::Verb Registered(Command, run);
