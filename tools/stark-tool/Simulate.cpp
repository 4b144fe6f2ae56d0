//===- Simulate.cpp - stark-tool simulate --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchRun.h"
#include "Verbs.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "simulate",
    "Check a CUDA source on a simulated GPU and model its time\n\n"
    "  stark-tool simulate FILE.cu [--workload W] [--candidate C.cu]\n"
    "             [--gpu G] [-- compiler flags]\n\n"
    "Runs the workload's entry on the CPU with CUDA's semantics: no GPU and "
    "no\n"
    "CUDA toolkit is needed. Sizes of up to 16 MiB are run in full and "
    "checked:\n"
    "out-of-bounds and misaligned accesses, reads of uninitialised memory, "
    "data\n"
    "races, barriers that a part of a block reaches, wrong masks, resources\n"
    "beyond the GPU's. Of larger ones a sample of blocks is run, for counters\n"
    "and a modelled time (never a measurement). With --candidate its outputs "
    "are\n"
    "compared with those of FILE.cu.\n\n"
    "Example:\n"
    "  stark-tool simulate softmax.cu --gpu a100\n\n"
    "Exit codes: 0 correct; 1 not correct, or failed; 2 usage.");

static cl::opt<std::string> File(cl::Positional, cl::desc("FILE.cu"),
                                 cl::Required, cl::sub(Command));
static cl::opt<std::string>
    WorkloadFile("workload", cl::value_desc("file"), cl::sub(Command),
                 cl::cat(tool::category()),
                 cl::desc("What the entry is called with (default: "
                          "NAME.workload.json beside FILE.cu)"));
static cl::opt<std::string>
    CandidateFile("candidate", cl::value_desc("file"), cl::sub(Command),
                  cl::cat(tool::category()),
                  cl::desc("Another form of FILE.cu to judge"));
static cl::opt<std::string>
    Gpu("gpu", cl::value_desc("name"), cl::init("h200"), cl::sub(Command),
        cl::cat(tool::category()),
        cl::desc("h200 (default), h100, a100, rtx4090, or a .json file that "
                 "describes one (docs/sim.md)"));
static cl::opt<std::string> Arch("arch", cl::value_desc("sm_NN"),
                                 cl::sub(Command), cl::cat(tool::category()),
                                 cl::desc("GPU architecture for __CUDA_ARCH__ "
                                          "(default: sm_90)"));
static cl::opt<uint64_t> Seed("seed", cl::init(1), cl::value_desc("n"),
                              cl::sub(Command), cl::cat(tool::category()),
                              cl::desc("Of the inputs (default 1)"));
static cl::opt<bool> Json("json", cl::sub(Command), cl::cat(tool::category()),
                          cl::desc("Print the verdict as JSON"));

static llvm::Error run(const std::vector<std::string> &Flags) {
  ParseOptions Parse;
  Parse.Flags = Flags;
  if (!Arch.empty())
    Parse.Arch = Arch;
  llvm::Expected<Task> T = loadTask(
      File, WorkloadFile.empty() ? tool::defaultWorkload(File) : WorkloadFile,
      Parse);
  if (!T)
    return T.takeError();
  Candidate C;
  C.Seed = Seed;
  C.Text = T->SourceText;
  if (!CandidateFile.empty()) {
    llvm::Expected<std::string> Text = readFile(CandidateFile);
    if (!Text)
      return Text.takeError();
    C.Text = std::move(*Text);
    C.Node = 1;
  }
  EvaluatorOptions Options;
  Options.Build.Arch = T->Parse.Arch;
  llvm::Expected<std::unique_ptr<Evaluator>> Judge =
      makeSimEvaluator(*T, Gpu, Options);
  if (!Judge)
    return Judge.takeError();
  llvm::Expected<Verdict> V = (*Judge)->evaluate(C);
  if (!V)
    return V.takeError();
  if (Json) {
    llvm::outs() << printVerdict(*V) << "\n";
  } else {
    llvm::outs() << verdictName(V->Kind) << " (" << V->Device << ")\n";
    for (llvm::StringRef Text :
         {llvm::StringRef(V->Compiler), llvm::StringRef(V->Run)})
      if (!Text.trim().empty())
        llvm::outs() << Text.trim() << "\n";
  }
  llvm::outs().flush();
  if (V->correct())
    return llvm::Error::success();
  return failed((CandidateFile.empty() ? File : CandidateFile) + " is " +
                verdictName(V->Kind));
}

tool::Verb tool::simulateVerb() { return {Command, run}; }
