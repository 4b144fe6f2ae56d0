//===- Counters.cpp - Whose counters plans are shown ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Counters.h"
#include "stark/Agent/RulesTeam.h"
#include "stark/Sim/Gpu.h"
#include "stark/Support/Error.h"

using namespace stark;
using From = CountersChoice::Source;

/// A base that takes longer to simulate is not waited for.
static constexpr uint64_t CountersTimeoutMs = 60000;

llvm::Expected<CountersRequest>
stark::parseCountersRequest(llvm::StringRef Text) {
  using Kind = CountersRequest::Kind;
  if (Text.empty())
    return CountersRequest();
  if (Text == "off")
    return CountersRequest{Kind::Off, ""};
  if (Text == "cuda")
    return CountersRequest{Kind::Measured, ""};
  if (Text == "sim")
    return CountersRequest{Kind::Nearest, ""};
  llvm::StringRef Gpu = Text;
  if (Gpu.consume_front("sim:") && !Gpu.empty())
    return CountersRequest{Kind::Named, Gpu.str()};
  return usageError("--counters: got '" + Text +
                    "', wanted cuda, sim, sim:GPU or off");
}

TimeModel stark::makeTimeModel(const SearchRequest &R, const Task &T,
                               EvaluatorOptions Options,
                               SearchObserver &Observer) {
  if (!R.Search.Tune.any() || !R.Evaluator.measures())
    return nullptr;
  Options.TimeoutMs = CountersTimeoutMs;
  llvm::Expected<TimeModel> Made =
      makeSimTimeModel(T, sim::gpuForArch(T.Parse.Arch), Options);
  if (Made)
    return std::move(*Made);
  Observer.onNote("other numbers are tried without a model: " +
                  llvm::toString(Made.takeError()));
  return nullptr;
}

static EvaluatorSpec simulated(std::string Gpu) {
  return {EvaluatorSpec::Kind::Sim, std::move(Gpu)};
}

/// What run.json says of a run.
static llvm::Expected<CountersChoice> recorded(const SearchOptions &Then) {
  CountersChoice Choice;
  Choice.From = From::Recorded;
  Choice.Profile = Then.Profile;
  if (Then.CountersOf.empty())
    return Choice;
  llvm::Expected<EvaluatorSpec> Gpu = parseEvaluatorSpec(Then.CountersOf);
  if (!Gpu)
    return withContext(Gpu.takeError(), "the run's counters");
  Choice.Gpu = std::move(*Gpu);
  return Choice;
}

llvm::Expected<CountersChoice> stark::chooseCounters(const SearchRequest &R,
                                                     const RunIdentity *Before,
                                                     const ChatClient &Chat,
                                                     llvm::StringRef Arch) {
  CountersChoice Measured{simulated(sim::gpuForArch(Arch)), From::Default,
                          /*Profile=*/true};
  switch (R.Counters.Of) {
  case CountersRequest::Kind::Off:
    return CountersChoice();
  case CountersRequest::Kind::Measured:
    if (!R.Evaluator.measures())
      return usageError("--counters: got 'cuda', wanted sim, sim:GPU or off "
                        "where no GPU judges");
    return Measured;
  case CountersRequest::Kind::Nearest:
    return CountersChoice{simulated(sim::gpuForArch(Arch)), From::Asked};
  case CountersRequest::Kind::Named:
    return CountersChoice{simulated(R.Counters.Gpu), From::Asked};
  case CountersRequest::Kind::Default:
    break;
  }
  if (Before)
    return recorded(Before->Options);
  if (!R.Provider.replayedRun().empty())
    return recorded(R.Search);
  if (!R.Evaluator.measures() || isRulesProvider(Chat.identity()))
    return CountersChoice();
  return Measured;
}

llvm::Expected<std::unique_ptr<Profiler>>
stark::makeProfiler(const SearchRequest &R, const RunIdentity *Judged,
                    const Task &T, EvaluatorOptions Options,
                    CountersChoice &Choice, SearchObserver &Observer) {
  if (!Choice.Gpu)
    return nullptr;
  if (Judged && Judged->Options.CountersOf == printEvaluatorSpec(*Choice.Gpu))
    return makeReplayProfiler(R.Evaluator.Where);
  Options.TimeoutMs = CountersTimeoutMs;
  llvm::Expected<std::unique_ptr<Profiler>> P =
      makeSimProfiler(T, Choice.Gpu->Where, Options);
  if (P || Choice.From == From::Asked)
    return P;
  if (Choice.From == From::Recorded) {
    llvm::consumeError(P.takeError());
    return nullptr;
  }
  Observer.onNote("plans are shown no counters of a simulated GPU: " +
                  llvm::toString(P.takeError()));
  Choice.Gpu.reset();
  return nullptr;
}
