//===- SimEvaluator.cpp - A simulated GPU as the judge -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source + candidate -> job folder -> stark-sim as a child -> verdict
///            candidate -> job folder -> stark-sim as a child -> counters
///
//===----------------------------------------------------------------------===//

#include "JobFolder.h"
#include "JobProgram.h"
#include "stark/Eval/Profiler.h"
#include "stark/Job/Names.h"
#include "stark/Support/Error.h"
#include "stark/Support/Process.h"
#include "llvm/Support/FileSystem.h"

using namespace stark;

namespace {
constexpr uint64_t JobLimitMs = 3600 * 1000ull;
/// Bytes of counters that a plan agent is shown.
constexpr size_t CountersLimit = 4000;

class SimEvaluator : public Evaluator {
public:
  SimEvaluator(const Task &Of, std::string Gpu, EvaluatorOptions Options)
      : Of(Of), Gpu(std::move(Gpu)), Options(std::move(Options)) {}
  llvm::Expected<Verdict> evaluate(const Candidate &C) override;
  std::string identity() const override { return "sim:" + Gpu; }

private:
  const Task &Of;
  std::string Gpu;
  EvaluatorOptions Options;
};

class SimProfiler : public Profiler {
public:
  SimProfiler(const Task &Of, std::string Gpu, EvaluatorOptions Options)
      : Of(Of), Gpu(std::move(Gpu)), Options(std::move(Options)) {}
  llvm::Expected<Counters> profile(const Candidate &C) override;

private:
  const Task &Of;
  std::string Gpu;
  EvaluatorOptions Options;
};
} // namespace

/// Runs stark-sim on \p J; unset when that takes longer than \p LimitMs.
static llvm::Expected<std::optional<job::Result>>
runSim(const Task &T, const job::Job &J, llvm::StringRef Source,
       llvm::StringRef Candidate, const EvaluatorOptions &Options,
       std::vector<std::string> Arguments, uint64_t LimitMs) {
  llvm::Expected<TemporaryFolder> Folder = TemporaryFolder::create("stark-sim");
  if (!Folder)
    return Folder.takeError();
  if (llvm::Error E = writeSimFolder(T, J, Source, Candidate, Folder->path()))
    return E;
  return runJob({Options.Sim, std::move(Arguments), LimitMs}, Folder->path());
}

static std::string trampoline(const Task &T) {
  return "\n#line 1 \"stark-trampoline\"\n" + makeTrampoline(T);
}

llvm::Expected<Verdict> SimEvaluator::evaluate(const Candidate &C) {
  llvm::Expected<job::Job> J = makeSimJob(Of, C, Options);
  if (!J)
    return J.takeError();
  llvm::Expected<std::optional<job::Result>> R = runSim(
      Of, *J, Of.SourceText + trampoline(Of) + makeReferenceTrampoline(Of),
      C.Text + trampoline(Of), Options, {"--gpu=" + Gpu}, JobLimitMs);
  if (!R)
    return R.takeError();
  if (!*R)
    return failed("stark-sim did not end within " +
                  llvm::Twine(JobLimitMs / 1000) + " s");
  return verdictOf(Of, *J, **R);
}

llvm::Expected<Counters> SimProfiler::profile(const Candidate &C) {
  llvm::Expected<job::Job> J = makeSimJob(Of, C, Options);
  if (!J)
    return J.takeError();
  // It stands for itself: nothing is compared, and no other text is run.
  J->SourceDigest = J->CandidateDigest;
  std::string Text = C.Text + trampoline(Of);
  llvm::Expected<std::optional<job::Result>> R =
      runSim(Of, *J, Text, Text, Options, {"--gpu=" + Gpu, "--counters"},
             Options.TimeoutMs);
  if (!R)
    return R.takeError();
  Counters Found;
  Found.Device = *R ? (*R)->Device : "simulated " + Gpu;
  if (*R && (*R)->End == job::Outcome::Correct) {
    Found.Text = trimForWindow((*R)->Diagnostics, CountersLimit);
    return Found;
  }
  Found.TooSlow = !*R || (*R)->End == job::Outcome::TimedOut;
  if (Found.TooSlow) {
    Found.Problem = "the simulator did not end within " +
                    std::to_string(Options.TimeoutMs / 1000) + " s";
  } else {
    Found.Problem = trimForWindow(
        (*R)->Diagnostics.empty() ? (*R)->Compiler : (*R)->Diagnostics, 600);
    if (Found.Problem.empty())
      Found.Problem =
          "the simulator found it " + std::string(nameOf((*R)->End));
  }
  return Found;
}

static llvm::Expected<EvaluatorOptions>
withSim(const EvaluatorOptions &Options) {
  EvaluatorOptions Full = Options;
  if (Full.Sim.empty())
    Full.Sim = programFolder() + "/stark-sim";
  if (!llvm::sys::fs::can_execute(Full.Sim))
    return failed("no stark-sim at " + Full.Sim);
  return Full;
}

template <class Made>
static llvm::Expected<std::unique_ptr<Made>>
makeWithSim(const Task &T, llvm::StringRef Gpu,
            const EvaluatorOptions &Options) {
  if (isTensorEntry(T.Entry))
    return usageError("'" + T.Entry.Name +
                      "' takes tensors, and the simulated GPU has no libtorch");
  llvm::Expected<EvaluatorOptions> Full = withSim(Options);
  if (!Full)
    return Full.takeError();
  return std::make_unique<Made>(T, Gpu.str(), *Full);
}

llvm::Expected<std::unique_ptr<Evaluator>>
stark::makeSimEvaluator(const Task &T, llvm::StringRef Gpu,
                        const EvaluatorOptions &Options) {
  return makeWithSim<SimEvaluator>(T, Gpu, Options);
}

llvm::Expected<std::unique_ptr<Profiler>>
stark::makeSimProfiler(const Task &T, llvm::StringRef Gpu,
                       const EvaluatorOptions &Options) {
  return makeWithSim<SimProfiler>(T, Gpu, Options);
}
