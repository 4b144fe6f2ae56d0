//===- SimEvaluator.cpp - A simulated GPU as the judge --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source + candidate -> job folder -> stark-sim as a child -> verdict
///
//===----------------------------------------------------------------------===//

#include "SimJobs.h"
#include "stark/Support/Error.h"

using namespace stark;

namespace {
class SimEvaluator : public Evaluator {
public:
  SimEvaluator(const Task &Of, std::string Gpu, const EvaluatorOptions &Options)
      : Jobs(Of, std::move(Gpu), Options) {}
  llvm::Expected<Verdict> evaluate(const Candidate &C) override;
  void prepare(const Candidate &C) override { Jobs.prepare(C); }
  std::string identity() const override { return "sim:" + Jobs.Gpu; }

private:
  SimJobs Jobs;
};
} // namespace

/// What \p C does to the simulator is its own fault, unless it is the source.
static llvm::Expected<Verdict> notEnded(const Candidate &C,
                                        const EvaluatorOptions &Options,
                                        const std::string &Crash) {
  std::string Why =
      Crash.empty()
          ? "stark-sim did not end within " +
                std::to_string(Options.SimLimitMs / 1000) + " s and " +
                std::to_string(Options.SimMemoryLimit >> 20) + " MiB"
          : "stark-sim crashed on it with " + Crash;
  if (C.Node == 0)
    return failed(Why);
  Verdict V;
  // Its children are what runs a candidate: what crashes compiles.
  V.Kind = Crash.empty() ? VerdictKind::TimedOut : VerdictKind::NotCompiled;
  (Crash.empty() ? V.Run : V.Compiler) = std::move(Why);
  return V;
}

llvm::Expected<Verdict> SimEvaluator::evaluate(const Candidate &C) {
  llvm::Expected<job::Job> J = makeSimJob(Jobs.Of, C, Jobs.Options);
  if (!J)
    return J.takeError();
  std::optional<Verdict> NotBuilt;
  std::string Crash;
  llvm::Expected<std::optional<job::Result>> R = Jobs.run(
      *J, C, /*Alone=*/false, Jobs.Options.SimLimitMs, NotBuilt, Crash);
  if (!R)
    return R.takeError();
  if (NotBuilt)
    return std::move(*NotBuilt);
  if (!*R)
    return notEnded(C, Jobs.Options, Crash);
  return verdictOf(Jobs.Of, *J, **R);
}

llvm::Expected<std::unique_ptr<Evaluator>>
stark::makeSimEvaluator(const Task &T, llvm::StringRef Gpu,
                        const EvaluatorOptions &Options) {
  llvm::Expected<EvaluatorOptions> Full = withSim(Options);
  if (!Full)
    return Full.takeError();
  return std::make_unique<SimEvaluator>(T, Gpu.str(), *Full);
}
