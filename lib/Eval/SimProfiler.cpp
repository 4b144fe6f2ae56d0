//===- SimProfiler.cpp - What a simulated GPU tells of one text -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   candidate -> job folder -> stark-sim as a child -> counters; modelled time
///   source -> likewise -> which arguments it reads and writes whole
///
//===----------------------------------------------------------------------===//

#include "Reach.h"
#include "SimJobs.h"
#include "stark/AST/Torch.h"
#include "stark/Eval/Profiler.h"
#include "stark/Job/Names.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace stark;

namespace {
/// Bytes of counters that a plan agent is shown.
constexpr size_t CountersLimit = 4000;

class SimProfiler : public Profiler {
public:
  SimProfiler(const Task &Of, std::string Gpu, const EvaluatorOptions &Options)
      : Jobs(Of, std::move(Gpu), Options) {}
  llvm::Expected<Counters> profile(const Candidate &C) override;
  llvm::Expected<std::optional<double>> modelledUs(llvm::StringRef Text);

private:
  /// What there is of it; nothing, with \p NotBuilt or \p Crash or neither,
  /// when it did not come to an end.
  llvm::Expected<std::optional<job::Result>>
  runAlone(const Candidate &C, std::optional<Verdict> &NotBuilt,
           std::string &Crash);
  SimJobs Jobs;
};
} // namespace

llvm::Expected<std::optional<job::Result>>
SimProfiler::runAlone(const Candidate &C, std::optional<Verdict> &NotBuilt,
                      std::string &Crash) {
  llvm::Expected<job::Job> J = makeSimJob(Jobs.Of, C, Jobs.Options);
  if (!J)
    return J.takeError();
  // It stands for itself: nothing is compared, and no other text is run.
  J->SourceDigest = J->CandidateDigest;
  J->Torch.clear();
  return Jobs.run(*J, C, /*Alone=*/true, Jobs.Options.TimeoutMs, NotBuilt,
                  Crash);
}

llvm::Expected<std::optional<double>>
SimProfiler::modelledUs(llvm::StringRef Text) {
  Candidate C;
  C.Text = Text.str();
  std::optional<Verdict> NotBuilt;
  std::string Crash;
  llvm::Expected<std::optional<job::Result>> R = runAlone(C, NotBuilt, Crash);
  if (!R)
    return R.takeError();
  if (!*R || (*R)->End != job::Outcome::Correct || (*R)->Timings.empty())
    return std::nullopt;
  double Logs = 0;
  for (const job::Timing &T : (*R)->Timings)
    Logs += std::log(T.MedianUs);
  return std::exp(Logs / double((*R)->Timings.size()));
}

llvm::Expected<Counters> SimProfiler::profile(const Candidate &C) {
  const EvaluatorOptions &Options = Jobs.Options;
  std::optional<Verdict> NotBuilt;
  std::string Crash;
  llvm::Expected<std::optional<job::Result>> R = runAlone(C, NotBuilt, Crash);
  if (!R)
    return R.takeError();
  Counters Found;
  Found.Device = *R ? (*R)->Device : "simulated " + Jobs.Gpu;
  if (NotBuilt) {
    Found.Problem = trimForWindow(NotBuilt->Compiler + NotBuilt->Run, 600);
    return Found;
  }
  if (!Crash.empty()) {
    Found.Problem = "the simulator crashed on it with " + Crash;
    return Found;
  }
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

/// Values that are all the same, so that none of them picks what is read.
static job::Init withoutChoice(const job::Init &Fill, job::DType Type) {
  job::Init Same;
  Same.Kind = job::InitKind::Constant;
  bool Whole = Fill.Kind == job::InitKind::Uniform ||
               Fill.Kind == job::InitKind::Integers ||
               Fill.Kind == job::InitKind::Constant;
  Same.Low = Whole && job::isWhole(Type) ? Fill.Low : 0;
  return Same;
}

/// Of so many written elements nearly all have one value.
static bool areAlike(uint64_t Alike, uint64_t Written) {
  constexpr uint64_t FewBytes = 256;
  return Written >= FewBytes && Alike >= Written - Written / 100;
}

/// The lines of "x 4096 4096 0 0".
static std::optional<WholeArguments> parseReach(llvm::StringRef Text) {
  WholeArguments Seen;
  for (llvm::StringRef Line : llvm::split(Text.trim(), '\n')) {
    llvm::SmallVector<llvm::StringRef> Parts;
    Line.split(Parts, ' ');
    uint64_t Bytes = 0, Read = 0, Written = 0, Alike = 0;
    if (Parts.size() != 5 || Parts[1].getAsInteger(10, Bytes) ||
        Parts[2].getAsInteger(10, Read) || Parts[3].getAsInteger(10, Written) ||
        Parts[4].getAsInteger(10, Alike))
      return std::nullopt;
    if (Read == Bytes)
      Seen.Read.insert(Parts[0].str());
    if (Written == Bytes)
      Seen.Written.insert(Parts[0].str());
    if (areAlike(Alike, Written))
      Seen.Alike.insert(Parts[0].str());
    if (!Read && !Written)
      Seen.Untouched.insert(Parts[0].str());
  }
  return Seen;
}

llvm::Expected<std::optional<WholeArguments>>
stark::reachOfSource(const Task &T, bool SameValues,
                     const EvaluatorOptions &Options) {
  if (isTensorEntry(T.Entry))
    return std::nullopt;
  llvm::Expected<EvaluatorOptions> Full = withSim(Options);
  if (!Full)
    return Full.takeError();
  Candidate C;
  C.Seed = 1;
  C.Text = T.SourceText;
  llvm::Expected<job::Job> J = makeSimJob(T, C, *Full);
  if (!J)
    return J.takeError();
  J->SourceDigest = J->CandidateDigest;
  for (size_t I = 0; SameValues && I < J->Leaves.size(); ++I) {
    job::Leaf &L = J->Leaves[I];
    for (job::Case &Each : J->Cases) {
      if (Each.Values[I].Fill)
        Each.Values[I].Fill = withoutChoice(*Each.Values[I].Fill, L.Type);
      for (size_t F = 0; F < Each.Values[I].FieldFills.size(); ++F)
        Each.Values[I].FieldFills[F] =
            withoutChoice(Each.Values[I].FieldFills[F], L.Fields[F].Type);
    }
    L.Fill = withoutChoice(L.Fill, L.Type);
    for (job::Field &Of : L.Fields)
      Of.Fill = withoutChoice(Of.Fill, Of.Type);
  }
  SimJobs Jobs(T, std::string(sim::DefaultGpu) + sim::EstimatedRegisters,
               *Full);
  std::optional<Verdict> NotBuilt;
  std::string Crash;
  llvm::Expected<std::optional<job::Result>> R = Jobs.run(
      *J, C, /*Alone=*/true, Full->SimLimitMs, NotBuilt, Crash, Asked::Reach);
  if (!R)
    return R.takeError();
  if (!*R || (*R)->End != job::Outcome::Correct)
    return std::nullopt;
  return parseReach((*R)->Diagnostics);
}

llvm::Expected<std::unique_ptr<Profiler>>
stark::makeSimProfiler(const Task &T, llvm::StringRef Gpu,
                       const EvaluatorOptions &Options) {
  if (isTensorEntry(T.Entry))
    return usageError("'" + T.Entry.Name +
                      "' takes tensors, which are simulated without counters");
  llvm::Expected<EvaluatorOptions> Full = withSim(Options);
  if (!Full)
    return Full.takeError();
  return std::make_unique<SimProfiler>(T, Gpu.str(), *Full);
}

llvm::Expected<TimeModel>
stark::makeSimTimeModel(const Task &T, llvm::StringRef Gpu,
                        const EvaluatorOptions &Options) {
  if (isTensorEntry(T.Entry))
    return usageError("'" + T.Entry.Name +
                      "' takes tensors, which are simulated without a model");
  llvm::Expected<EvaluatorOptions> Full = withSim(Options);
  if (!Full)
    return Full.takeError();
  auto Model = std::make_shared<SimProfiler>(T, Gpu.str(), *Full);
  return [Model](llvm::StringRef Text) { return Model->modelledUs(Text); };
}
