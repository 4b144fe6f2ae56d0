//===- Profile.cpp - stark-tool profile -----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/Driver/Evaluation.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Support/Error.h"
#include "stark/Support/Utf8.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using tool::Flag;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "profile",
    "Say what bounds a CUDA source, by the GPU's own counters\n\n"
    "  stark-tool profile FILE.cu --evaluator E [--candidate C.cu]\n"
    "             [--workload W] [-- compiler flags]\n\n"
    "FILE.cu, or C.cu as another form of it, is judged as an attempt of a "
    "search\n"
    "is; when it is correct, one call with each timed size, at most four, is\n"
    "made under ncu (Nsight Compute) where the GPU is. What is printed is what "
    "a\n"
    "search shows its agents, of the size that takes longest: what bounds it, "
    "its\n"
    "share of the floor, occupancy and what limits it, stalls with source "
    "lines,\n"
    "sectors a request, bank conflicts, spills, in 15 lines at most; of each "
    "other\n"
    "one in three. Where ncu may not read the counters, what CUPTI records "
    "without\nthem.\n\n"
    "Evaluators: cuda, spool:DIR, slurm[:PARTITION], as `evaluate` has "
    "them.\n\n"
    "Example:\n"
    "  stark-tool profile softmax.cu --evaluator cuda\n\n"
    "Exit codes: 0 done; 1 it is not correct, or its counters cannot be read;\n"
    "2 usage; 75 suspended, for a result: run the same command again;\n"
    "130 interrupted.");

static tool::SourceFlags Source(Command);
static Flag<std::string>
    CandidateFile(Command, "candidate", cl::value_desc("file"),
                  cl::desc("Another form of FILE.cu to look at"));
static tool::EvaluatorFlags Shared(Command, cl::Required);
static Flag<uint64_t> Seed(Command, "seed", cl::init(1), cl::value_desc("n"),
                           cl::desc("Of the inputs (default 1)"));

namespace {
class Progress : public EvaluationObserver {
  void onNote(llvm::StringRef Note) override {
    llvm::errs() << "note: " << Note << "\n";
  }
};
} // namespace

static llvm::Expected<EvaluationRequest>
makeRequest(const std::vector<std::string> &Flags) {
  llvm::Expected<EvaluatorSpec> Spec = parseEvaluatorSpec(Shared.Evaluator);
  if (!Spec)
    return Spec.takeError();
  if (!Spec->measures())
    return usageError("--evaluator: got '" + Shared.Evaluator +
                      "', wanted cuda, spool:DIR or slurm[:PARTITION], which "
                      "have a GPU with counters");
  EvaluationRequest Request;
  Request.Source = Source.File;
  Request.Workload = Source.Workload;
  Request.Candidates = {CandidateFile.empty() ? std::string(Source.File)
                                              : std::string(CandidateFile)};
  Request.Profiled = true;
  Request.Others = false;
  Request.Evaluator = std::move(*Spec);
  Request.Flags = Flags;
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
  if (!E->Waiting.empty())
    return suspended(E->Waiting);
  const JudgedCandidate &C = E->Candidates.front();
  const Verdict &V = *C.Found;
  if (!V.correct())
    return failed(C.File + " is " + verdictName(V.Kind) + ": " +
                  (V.Compiler + V.Run));
  if (!V.Counted)
    return failed(C.File + ": its worker looked at no counters; one of this "
                           "version does, in an empty spool");
  if (V.Counted->Text.empty())
    return failed(C.File + ": " + V.Counted->Problem);
  if (!V.Counted->Problem.empty())
    llvm::errs() << "note: the GPU's counters cannot be read: "
                 << visibleText(V.Counted->Problem)
                 << "; what CUPTI records without them follows\n";
  llvm::outs() << visibleText(C.File + " (" + V.Device + ")\n" +
                              V.Counted->Text);
  llvm::outs().flush();
  return llvm::Error::success();
}

static const tool::Verb Registered(Command, run);
