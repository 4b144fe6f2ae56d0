//===- Check.cpp - stark-tool check --------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/Driver/WinnerCheck.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Utf8.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using tool::Flag;
using tool::FlagList;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "check",
    "Compare and time the winners that a project is built with, on this GPU\n\n"
    "  stark-tool check kernels.json ... [--evaluator E] [-o FILE.json]\n\n"
    "kernels.json is what stark_optimize_kernels() writes for a target, in\n"
    "CMakeFiles/stark/TARGET of the build folder; TARGET_stark_check runs "
    "this.\n"
    "Each winner that the build takes and that this GPU can run is compared\n"
    "with its source at the workload's sizes and timed against it. It fails\n"
    "when it is not correct, when the 95 % interval of its speed-up lies "
    "below\n"
    "1, or, on the GPU that it was recorded on, further below the recorded "
    "one\n"
    "than --slack says; one that is slow is judged a second time first.\n\n"
    "Evaluators: cuda        this machine's GPU\n"
    "            sim[:GPU]   a GPU simulated on this CPU, times modelled\n"
    "            spool:DIR   jobs for `stark-worker --spool DIR` elsewhere\n"
    "            slurm[:P]   the same, by workers that Slurm starts in its\n"
    "                        partition P (docs/judging.md#slurm)\n\n"
    "Exit codes: 0 no winner fails, and if there are any one was checked; 1 "
    "one\n"
    "fails, or none could be checked; 2 usage; 75 suspended, for a result: "
    "run\n"
    "the same command again; 130 interrupted.");

static cl::list<std::string> Files(cl::Positional, cl::desc("kernels.json ..."),
                                   cl::OneOrMore, cl::sub(Command));
static Flag<std::string> Judge(Command, "evaluator", cl::value_desc("spec"),
                               cl::desc("Who judges (default: the target's "
                                        "EVALUATOR, else cuda)"));
static Flag<unsigned> Slack(Command, "slack", cl::init(25),
                            cl::value_desc("percent"),
                            cl::desc("How far below the recorded speed-up one "
                                     "may be (default 25)"));
static Flag<uint64_t> Seed(Command, "seed", cl::init(1), cl::value_desc("n"),
                           cl::desc("Of the inputs (default 1)"));
static Flag<unsigned> Wait(Command, "wait", cl::init(0),
                           cl::value_desc("seconds"),
                           cl::desc("How long to wait for each result of a "
                                    "spool (default 0)"));
static Flag<std::string> CudaPath(Command, "cuda-path", cl::value_desc("dir"),
                                  cl::desc("The CUDA toolkit (default: find "
                                           "it)"));
static Flag<std::string> Output(Command, "o", cl::value_desc("file"),
                                cl::desc("Where the result goes as JSON "
                                         "(version 1)"));

namespace {
class Lines : public CheckObserver {
  void onWinner(const CheckedWinner &W) override {
    llvm::outs() << visibleLine(describeCheck(W)) << "\n";
    llvm::outs().flush();
  }
  void onNote(llvm::StringRef Note) override {
    llvm::errs() << "note: " << visibleLine(Note) << "\n";
  }
};
} // namespace

static llvm::Expected<WinnerCheckRequest> makeRequest() {
  if (llvm::Error E = tool::checkRange(Slack, 0, 100))
    return E;
  WinnerCheckRequest Request;
  if (Judge.given()) {
    llvm::Expected<EvaluatorSpec> Spec = parseEvaluatorSpec(Judge);
    if (!Spec)
      return Spec.takeError();
    Request.Evaluator = std::move(*Spec);
  }
  for (const std::string &File : Files) {
    llvm::Expected<TargetFile> T = readTargetFile(File);
    if (!T)
      return T.takeError();
    Request.Targets.push_back(std::move(*T));
  }
  Request.Toolkit = CudaPath;
  Request.Slack = double(Slack) / 100;
  Request.Seed = Seed;
  Request.WaitMs = uint64_t(Wait) * 1000;
  Request.Cancelled = &interruptFlag();
  return Request;
}

static llvm::Error run(const std::vector<std::string> &) {
  llvm::Expected<WinnerCheckRequest> Request = makeRequest();
  if (!Request)
    return Request.takeError();
  watchInterrupts();
  Lines Observer;
  llvm::Expected<WinnerCheck> C = checkWinners(*Request, Observer);
  if (!C)
    return C.takeError();
  if (!Output.empty())
    if (llvm::Error E = writeFileAtomically(Output, checkJson(*C) + "\n"))
      return E;
  if (!C->Waiting.empty())
    return suspended(C->Waiting);
  size_t All = C->Winners.size();
  unsigned Passed = C->count(CheckResult::Passed),
           Unchecked = C->count(CheckResult::NotChecked);
  if (size_t Bad = All - Passed - Unchecked)
    return failed(
        llvm::Twine(Bad) + " of " + llvm::Twine(All) +
        " winners fail: " + llvm::Twine(C->count(CheckResult::Wrong)) +
        " wrong, " + llvm::Twine(C->count(CheckResult::Slower)) + " slower");
  if (All && !Passed)
    return failed("none of " + llvm::Twine(All) +
                  " winners was checked: the first is for " +
                  C->Winners.front().Arch + ", the GPU here is " +
                  C->Winners.front().GpuArch);
  llvm::outs() << Passed << " of " << All << " winners passed";
  if (Unchecked)
    llvm::outs() << ", " << Unchecked << " not checked";
  llvm::outs() << "\n";
  return llvm::Error::success();
}

static const tool::Verb Registered(Command, run);
