//===- Bench.cpp - stark-tool bench ---------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verbs.h"
#include "stark/Bench/Laboratory.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "bench",
    "Compare policies and presets\n\n"
    "  stark-tool bench --landscape [--policies LIST] [--seeds N] [--attempts "
    "N]\n\n"
    "Policies on simulated landscapes, with no model and no GPU: best speed-up "
    "so\nfar after each attempt, over N tasks, as Markdown (or JSON with "
    "--json); with\n--out DIR as DIR/landscape.md and DIR/landscape.json. The "
    "same flags print the\nsame. A policy of LIST is "
    "NAME[:EPSILON[:ROOT-THROTTLE[:DEAD-BRANCH]]]; the\nfirst is what the "
    "others are compared with. docs/bench.md says what is simulated.\n\n"
    "Example:\n"
    "  stark-tool bench --landscape --policies epsilon-greedy,mcts --seeds "
    "2000\n\n"
    "Exit codes: 0 done; 1 failed; 2 usage.");

namespace {
template <class T> struct Flag : cl::opt<T> {
  template <class... Mods>
  Flag(llvm::StringRef Name, const Mods &...M)
      : cl::opt<T>(Name, cl::sub(Command), cl::cat(tool::category()), M...) {}
};
} // namespace

static Flag<bool> Landscape("landscape",
                            cl::desc("Compare policies on simulated "
                                     "landscapes"));
static cl::list<std::string>
    Policies("policies", cl::value_desc("list"), cl::CommaSeparated,
             cl::desc("Policies to compare (default: all, and epsilon-greedy "
                      "with other parameters)"),
             cl::cat(tool::category()), cl::sub(Command));
static Flag<unsigned> Seeds("seeds", cl::init(1000), cl::value_desc("n"),
                            cl::desc("Tasks of a landscape (default 1000)"));
static Flag<unsigned> Attempts("attempts", cl::init(30), cl::value_desc("n"),
                               cl::desc("Attempts of a search (default 30)"));
static Flag<std::string> Out("out", cl::value_desc("dir"),
                             cl::desc("Where the results are written"));
static Flag<bool> Json("json", cl::desc("Print JSON"));

static llvm::Error checkRange(const Flag<unsigned> &F, unsigned Most) {
  if (F.getValue() >= 1 && F.getValue() <= Most)
    return llvm::Error::success();
  return usageError("--" + F.ArgStr + ": got " + llvm::Twine(F.getValue()) +
                    ", wanted 1 to " + llvm::Twine(Most));
}

static llvm::Error runLandscapes() {
  if (llvm::Error E = checkRange(Seeds, 1000000))
    return E;
  if (llvm::Error E = checkRange(Attempts, 1000))
    return E;
  std::vector<std::string> Specs(Policies.begin(), Policies.end());
  if (Specs.empty())
    Specs = standardPolicySpecs();
  llvm::Expected<std::vector<LandscapeFigures>> All =
      runLaboratory(standardLandscapes(), Specs, Seeds, Attempts);
  if (!All)
    return usageError("--policies: " + llvm::toString(All.takeError()));
  std::string Markdown, AsJson = laboratoryJson(*All, Seeds);
  llvm::raw_string_ostream OS(Markdown);
  printLaboratory(*All, Seeds, OS);
  if (Out.empty()) {
    llvm::outs() << (Json ? AsJson : Markdown);
    return llvm::Error::success();
  }
  if (llvm::Error E = writeFileAtomically(Out + "/landscape.md", Markdown))
    return E;
  return writeFileAtomically(Out + "/landscape.json", AsJson);
}

static llvm::Error run(const std::vector<std::string> &) {
  if (Landscape)
    return runLandscapes();
  return usageError("bench: wanted --landscape");
}

tool::Verb tool::benchVerb() { return {Command, run}; }
