//===- Evaluate.cpp - stark-tool evaluate ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/Driver/Evaluation.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using tool::Flag;
using tool::FlagList;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "evaluate",
    "Judge faster forms of a CUDA source that somebody wrote\n\n"
    "  stark-tool evaluate FILE.cu --candidate C.cu [--candidate D.cu ...]\n"
    "             --evaluator E [--plan P.cu] [--workload W] [--json]\n"
    "             [-- compiler flags]\n\n"
    "Each candidate is a whole rewritten FILE.cu. It is held to the contract\n"
    "(signature of the entry, exported symbols, nothing forbidden), with "
    "--plan\n"
    "to the ranges that P.cu marks, then built, compared with FILE.cu on the\n"
    "workload's sizes and timed against it. Without --candidate FILE.cu is\n"
    "judged against itself, as a winner is confirmed.\n\n"
    "Evaluators: cuda        this machine's GPU\n"
    "            sim[:GPU]   a GPU simulated on this CPU, times modelled\n"
    "            spool:DIR   jobs for `stark-worker --spool DIR` elsewhere\n"
    "            slurm[:P]   the same, by workers that Slurm starts in its\n"
    "                        partition P (docs/judging.md#slurm)\n\n"
    "Example:\n"
    "  stark-tool evaluate softmax.cu --candidate mine.cu --evaluator cuda\n\n"
    "Exit codes: 0 every candidate is correct; 1 one is not, or it failed;\n"
    "2 usage; 75 suspended, for a result: run the same command again;\n"
    "130 interrupted.");

static tool::SourceFlags Source(Command);
static FlagList CandidateFiles(Command, "candidate", cl::value_desc("file"),
                               cl::desc("Another form of FILE.cu to judge; "
                                        "may be given several times"));
static tool::EvaluatorFlags Shared(Command, cl::Required);
static Flag<std::string>
    Plan(Command, "plan", cl::value_desc("file"),
         cl::desc("FILE.cu with marks around what may change"));
static Flag<std::string> GroundingName(
    Command, "grounding", cl::init("support"), cl::value_desc("mode"),
    cl::desc("With --plan: strict (inside the marks), support (and new "
             "declarations, launches of marked kernels; default), off"));
static Flag<bool> Confirm(
    Command, "confirm",
    cl::desc("Compile as the final build does and time in several pairs of "
             "processes, as a search confirms its winner"));
static Flag<uint64_t> Seed(Command, "seed", cl::init(1), cl::value_desc("n"),
                           cl::desc("Of the inputs (default 1)"));
static Flag<bool> NoExtract(
    Command, "no-extract",
    cl::desc("Take candidates for forms of the file alone (default: of what "
             "`extract` makes of it, unless one includes its headers)"));
static Flag<bool> Json(Command, "json", cl::desc("Print JSON (version 1)"));
static Flag<bool> Quiet(Command, "quiet", cl::desc("Print the result alone"));

namespace {
class Progress : public EvaluationObserver {
  void onVerdict(const JudgedCandidate &C) override {
    if (!Quiet)
      llvm::errs() << C.File << ": " << verdictName(C.Found->Kind) << "\n";
  }
  void onNote(llvm::StringRef Note) override {
    if (!Quiet)
      llvm::errs() << "note: " << Note << "\n";
  }
};
} // namespace

static llvm::Expected<EvaluationRequest>
makeRequest(const std::vector<std::string> &Flags) {
  llvm::Expected<Grounding> Strictness = parseGrounding(GroundingName);
  if (!Strictness)
    return usageError("--grounding: " + llvm::toString(Strictness.takeError()));
  llvm::Expected<EvaluatorSpec> Spec = parseEvaluatorSpec(Shared.Evaluator);
  if (!Spec)
    return Spec.takeError();
  EvaluationRequest Request;
  Request.Source = Source.File;
  Request.Workload = Source.Workload;
  Request.Candidates = CandidateFiles.values();
  Request.Plan = Plan;
  Request.Strictness = *Strictness;
  Request.Why = Confirm ? Purpose::Confirm : Purpose::Attempt;
  Request.Evaluator = std::move(*Spec);
  Request.Flags = Flags;
  Request.Extract = !NoExtract;
  Request.Arch = Shared.Arch;
  Request.Toolkit = Shared.CudaPath;
  Request.Seed = Seed;
  Request.WaitMs = uint64_t(Shared.Wait) * 1000;
  Request.Cancelled = &interruptFlag();
  return Request;
}

static llvm::Error run(const std::vector<std::string> &Flags) {
  llvm::Expected<EvaluationRequest> Request = makeRequest(Flags);
  if (!Request)
    return Request.takeError();
  watchInterrupts();
  Progress Observer;
  llvm::Expected<Evaluation> E = evaluateCandidates(*Request, Observer);
  if (!E)
    return E.takeError();
  if (Json)
    llvm::outs() << evaluationJson(*E) << "\n";
  else
    printEvaluation(*E, llvm::outs());
  llvm::outs().flush();
  if (!E->Waiting.empty())
    return suspended(E->Waiting);
  if (E->allCorrect())
    return llvm::Error::success();
  return failed(llvm::Twine(E->Candidates.size() - E->correct()) + " of " +
                llvm::Twine(E->Candidates.size()) +
                " candidates are not correct");
}

static const tool::Verb Registered(Command, run);
