//===- Simulate.cpp - stark-tool simulate --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/AST/SourceFile.h"
#include "stark/Report/Review.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Utf8.h"
#include "stark/Task/Outputs.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using tool::Flag;
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

static tool::SourceFlags Source(Command);
static Flag<std::string>
    CandidateFile(Command, "candidate", cl::value_desc("file"),
                  cl::desc("Another form of FILE.cu to judge"));
static Flag<std::string>
    Gpu(Command, "gpu", cl::value_desc("name"), cl::init("h200"),
        cl::desc("h200 (default), another of those that docs/sim.md names, or "
                 "a .json file that describes one"));
static Flag<std::string> Arch(Command, "arch", cl::value_desc("sm_NN"),
                              cl::desc("GPU architecture for __CUDA_ARCH__ "
                                       "(default: sm_90)"));
static Flag<uint64_t> Seed(Command, "seed", cl::init(1), cl::value_desc("n"),
                           cl::desc("Of the inputs (default 1)"));
static Flag<std::string> Format(Command, "format", cl::value_desc("name"),
                                cl::init("text"),
                                cl::desc("Of the verdict: text (default), "
                                         "json, or sarif, with what was found "
                                         "at its line (docs/review.md)"));

namespace {
enum class VerdictFormat { Text, Json, Sarif };
constexpr Named<VerdictFormat> VerdictFormatNames[] = {
    {VerdictFormat::Text, "text"},
    {VerdictFormat::Json, "json"},
    {VerdictFormat::Sarif, "sarif"}};
constexpr std::span<const Named<VerdictFormat>> namesOf(VerdictFormat) {
  return VerdictFormatNames;
}
} // namespace

static void printVerdictAs(VerdictFormat F, const Verdict &V,
                           llvm::StringRef File) {
  switch (F) {
  case VerdictFormat::Json:
    llvm::outs() << printVerdict(V) << "\n";
    break;
  case VerdictFormat::Sarif:
    printSarif(V, File, llvm::outs());
    break;
  case VerdictFormat::Text:
    llvm::outs() << verdictName(V.Kind) << " (" << V.Device << ")\n";
    for (llvm::StringRef Text :
         {llvm::StringRef(V.Compiler), llvm::StringRef(V.Run)})
      if (!Text.trim().empty())
        llvm::outs() << visibleText(Text.trim()) << "\n";
  }
  llvm::outs().flush();
}

static llvm::Error run(const std::vector<std::string> &Flags) {
  std::optional<VerdictFormat> As =
      valueNamed<VerdictFormat>(Format.getValue());
  if (!As)
    return usageError("--format: got '" + Format + "', wanted " +
                      allNames<VerdictFormat>());
  ParseOptions Parse;
  Parse.Flags = Flags;
  if (!Arch.empty())
    Parse.Arch = Arch;
  llvm::Expected<Task> T = loadTask(Source.File, Source.workload(), Parse);
  if (!T)
    return T.takeError();
  if (!CandidateFile.empty() && !hasOutputs(T->Load))
    return usageError("--candidate: '" + Source.workload() +
                      "' has no outputs to compare");
  Candidate C;
  C.Seed = Seed;
  C.Text = T->SourceText;
  if (!CandidateFile.empty()) {
    llvm::Expected<std::string> Text = readSource(CandidateFile);
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
  std::string File = CandidateFile.empty() ? Source.File : CandidateFile;
  printVerdictAs(*As, *V, File);
  if (V->correct())
    return llvm::Error::success();
  return failed(File + " is " + verdictName(V->Kind));
}

static const tool::Verb Registered(Command, run);
