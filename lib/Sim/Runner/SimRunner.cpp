//===- SimRunner.cpp - Source and candidate on a simulated GPU ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   compile both -> steps of the plan, run ahead -> answers in its order
/// Children run ahead, answers are given in the order of the plan: the result
/// is the same however many run at once.
///
//===----------------------------------------------------------------------===//

#include "Runner.h"
#include <algorithm>
#include <sys/prctl.h>

using namespace stark;
using namespace stark::sim;
using namespace stark::job;
using namespace stark::judge;

namespace {
/// Larger buffers are not compared, but where there are none as small: a
/// simulated element costs a thousand times what a GPU's does.
constexpr uint64_t CheckBytes = 64 << 20, OnlyCheckBytes = 256 << 20;
/// Sizes of more than this are compared with one seed.
constexpr uint64_t ManySeedsBytes = uint64_t(1) << 20;

/// The same of sizes and values that the tool added, and how many of those that
/// may be drawn are.
constexpr uint64_t BriefBytes = uint64_t(256) << 10, MostDrawn = 12;

/// Accesses that a source may make in a size that is compared. Counted rather
/// than timed, so that a verdict is the same on every machine, as long as the
/// deadline of a call, which is far above, does not come first.
constexpr uint64_t SourceLimit = 60000000;
/// A candidate may make ten times the accesses of its source, or this many.
constexpr uint64_t CandidateFactor = 10, CandidateLimit = 10000000;

/// How long to wait before children are looked at again: doubled each time.
constexpr std::chrono::microseconds ShortestPause(200);

} // namespace

MaybeStop SimRunner::open(const Job &TheJob, Result &Out) {
  J = &TheJob;
  LeftOut.assign(J->Cases.size(), false);
  // Children of the same user could otherwise look into this process.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  Code.Asked = Time.now();
  return compilePair(Folder, *J, Options, Code, Out.Compiler);
}

CompareRule SimRunner::rule() const {
  CompareRule Rule;
  Rule.Rounds = 1;
  Rule.MaxBytes = CheckBytes, Rule.OnlyMaxBytes = OnlyCheckBytes;
  Rule.ManySeedsMaxBytes = ManySeedsBytes;
  Rule.GapsLeaveOut = false;
  Rule.BriefMaxBytes = BriefBytes;
  // The same verdict every time.
  Rule.DrawSeed = J->Seeds.front();
  Rule.MostDrawn = MostDrawn;
  Rule.Admits = Code.Host != nullptr;
  Rule.Compares = !Options.CountersOnly;
  Rule.Place = "the simulator";
  return Rule;
}

void SimRunner::plan(const std::vector<Trial> &Trials) {
  auto Add = [&](unsigned Case, uint64_t Seed, bool Timed) {
    Steps.emplace_back();
    Steps.back().Case = Case;
    Steps.back().Seed = Seed;
    Steps.back().Timed = Timed;
  };
  IsRun.assign(J->Cases.size(), false);
  for (const Trial &T : Trials) {
    Add(T.Case, T.Seed, false);
    IsRun[T.Case] = true;
  }
  for (unsigned I = 0; I < J->Cases.size(); ++I)
    if (J->Cases[I].Timed)
      Add(I, J->TimingSeed, true);
}

bool SimRunner::fill(Step &S, std::unique_ptr<Inputs> &In, bool Shaken) const {
  In = std::make_unique<Inputs>(*J, Folder, /*Elsewhere=*/Code.Host != nullptr);
  S.Trouble =
      In->fill(S.Case, S.Seed, S.WeightSeed.value_or(S.Seed), S.Timed, Shaken);
  if (!S.Timed)
    In->arm(0);
  return S.Trouble.empty();
}

std::unique_ptr<Call> SimRunner::start(const Step &S, const SimCode &Of,
                                       Inputs &In, bool Reference,
                                       uint64_t Limit, unsigned &Free,
                                       unsigned Undefined) const {
  --Free;
  bool IsFirst = &S == Steps.data() && !S.Timed && !Code.Host;
  return std::make_unique<Call>(
      CallSpec{
          &Of, Code.Host.get(), Reference, &In,
          S.Timed && !Options.Reach ? RunMode::Profile : RunMode::Check, Limit,
          J->TimeoutMs, Options.Reach, S.Timed && comparesProfiles(), Undefined,
          IsFirst ? repeatsOf(*J) : 1, !S.Timed && Code.Resources.has_value(),
          /*Spreads=*/!S.Timed && !Code.Host && Options.Jobs > 1,
          Options.SpreadAfter},
      Gpu, Time);
}

void SimRunner::beginChecked(Step &S, unsigned &Free) {
  bool HasReference = Code.Host || Code.Source.Kernels->has("stark_reference");
  if (!S.Begun && fill(S, S.Theirs))
    S.Source =
        start(S, Code.Source, *S.Theirs, HasReference, SourceLimit, Free);
  S.Begun = true;
  if ((Code.Host || shakes(S)) && Free && !S.Itself &&
      fill(S, S.Own, shakes(S)))
    S.Itself = start(S, Code.Source, *S.Own, shakes(S) && HasReference,
                     SourceLimit, Free);
  // How long the candidate may take follows from the source.
  if (Free && !S.Candidate && S.Source && S.Source->ended() &&
      S.Source->report().What == Report::Done)
    S.Candidate = start(S, Code.candidate(), *S.Mine, false,
                        std::max(S.Source->report().Accesses * CandidateFactor,
                                 // A source of operators makes none.
                                 Code.Host ? SourceLimit : CandidateLimit),
                        Free);
}

void SimRunner::advance(Step &S, unsigned &Free) {
  if (!Free || passedOver(S) || !S.Trouble.empty() ||
      (S.Timed && !knowsResources(Code, Time)))
    return;
  if (!S.Begun && !fill(S, S.Mine))
    return;
  if (!S.Timed && !alone())
    return beginChecked(S, Free);
  if (!S.Begun)
    S.Candidate = start(S, Code.candidate(), *S.Mine, false,
                        S.Timed ? ~0ull : SourceLimit, Free);
  S.Begun = true;
  // What a child of a timed size writes is its own, so both share the inputs;
  // not where two processes write.
  if (!alone() && Free && !S.Source && (!Code.Host || fill(S, S.Theirs)))
    S.Source = start(S, Code.Source, Code.Host ? *S.Theirs : *S.Mine, false,
                     ~0ull, Free);
}

void SimRunner::retire(Step &S) {
  for (Call *C : S.calls())
    if (C && C->ended() && !passedOver(S)) {
      Speed &Of = S.Timed ? Took.Profile : Took.Check;
      Of.ThreadInstructions += C->report().ThreadInstructions;
      Of.Seconds += C->report().LaunchSeconds;
      Took.PartsTaken += C->parts().Taken;
      Took.PartsRunAgain += C->parts().RunAgain;
    }
  S = Step();
}

void SimRunner::runUntil(size_t Next, const std::function<bool()> &Done) {
  for (; Retired < Next; ++Retired)
    retire(Steps[Retired]);
  std::chrono::microseconds Pause = ShortestPause;
  for (;;) {
    size_t Last = std::min<size_t>(Steps.size(), Next + Options.Jobs + 1);
    unsigned Running = 0;
    for (size_t I = Next; I < Last; ++I)
      Running += Steps[I].running();
    unsigned Free = Options.Jobs > Running ? Options.Jobs - Running : 0,
             Before = Free;
    // The inputs of sizes that are timed are large: two at once are enough.
    for (size_t I = Next; I < Last; ++I)
      if (!Steps[I].Timed || I <= Next + 1)
        advance(Steps[I], Free);
    for (size_t I = Next; I < Last; ++I)
      Steps[I].lend(Free);
    if (!Steps[Next].Trouble.empty() || Done())
      return;
    if (Free != Before)
      continue;
    Time.sleep(Pause);
    Pause = std::min(Pause * 2, LongestPause);
  }
}

/// Outside the plan: the source alone, of which only outputs are asked.
SourceEnd SimRunner::sourceWithWeights(const Trial &T) {
  Step &S = Again = Step();
  S.Case = T.Case;
  S.Seed = T.Seed;
  S.WeightSeed = T.WeightSeed;
  unsigned Free = 1;
  if (!fill(S, S.Theirs))
    return {SourceEnd::Failed, S.Trouble};
  S.Source = start(S, Code.Source, *S.Theirs, true, SourceLimit, Free);
  S.Source->wait(0);
  return whySource(S.Source->report(), S);
}

SourceEnd SimRunner::source(const Trial &T) {
  if (T.WeightSeed && Code.Host)
    return sourceWithWeights(T);
  Step &S = Steps[T.Index];
  std::unique_ptr<Call> &Wanted = alone() ? S.Candidate : S.Source;
  bool Two = (Code.Host || shakes(S)) && !alone();
  runUntil(T.Index, [&] {
    return Wanted && Wanted->ended() &&
           (!Two || (S.Itself && S.Itself->ended()));
  });
  if (!S.Trouble.empty())
    return {}; // candidate() says so
  const Report &R = Wanted->report();
  if (Two && R.What == Report::Done) {
    const Report &Own = S.Itself->report();
    if (Own.What == Report::Done) {
      if (Code.Host)
        Found.add(S.Case, R.Text);
      Found.compare(
          *J, T, [&](unsigned L) { return S.Own->data(L); },
          [&](unsigned L) { return S.Theirs->data(L); });
    } else if (Own.What != Report::NotRun)
      return whySource(Own, S);
    else
      S.Trouble = Own.Text;
    return {};
  }
  if (R.What == Report::NotRun) {
    S.Trouble = R.Text;
    return {};
  }
  return whySource(R, S);
}

SourceEnd SimRunner::whySource(const Report &R, const Step &S) const {
  if (R.What == Report::TooMany || R.What == Report::TooLong)
    return {SourceEnd::TooLarge, whyTooLarge(R, SourceLimit)};
  // What is judged for itself may be left out, and else is the candidate.
  if (R.What == Report::Done || (alone() && !J->Cases[S.Case].Added))
    return {};
  return {SourceEnd::Failed, std::string(R.What == Report::Unsupported
                                             ? "the simulator cannot run "
                                             : "the source itself fails: ") +
                                 R.Text + "\n" + where(S)};
}

MaybeStop SimRunner::candidate(const Trial &T) {
  Step &S = Steps[T.Index];
  runUntil(T.Index, [&] { return S.Candidate && S.Candidate->ended(); });
  if (!S.Trouble.empty())
    return Stop{Outcome::Infrastructure, S.Trouble};
  const Report &R = S.Candidate->report();
  MaybeStop Why = whyCandidate(R, S);
  if (!Why && S.Source && !Code.Host)
    Why = unlikeSource(R, S.Source->report(), *J, where(S));
  if (!Why && R.Suspicion[0]) {
    std::string Text = dependsOnUndefined(S, Code.candidate(), *S.Mine);
    if (!Text.empty())
      Why = Stop{Outcome::Wrong, Text + "\n" + where(S)};
  }
  if (Why && (R.What == Report::Found || R.What == Report::Done))
    Why->Diagnostics += modelledAllTheSame();
  return Why;
}

/// Of a run in which a shuffle read a lane that is not there: the finding, if
/// other values there give other outputs.
std::string SimRunner::dependsOnUndefined(const Step &S, const SimCode &Of,
                                          const Inputs &Got) const {
  for (unsigned Undefined : {1u, 2u}) {
    Step Once;
    Once.Case = S.Case;
    Once.Seed = S.Seed;
    Once.WeightSeed = S.WeightSeed;
    unsigned Free = 1;
    if (!fill(Once, Once.Mine))
      return "";
    std::unique_ptr<Call> C =
        start(Once, Of, *Once.Mine, false, ~0ull, Free, Undefined);
    C->wait(Options.Jobs - 1);
    bool Same = C->report().What == Report::Done;
    for (size_t L = 0; Same && L < J->Leaves.size(); ++L)
      Same = J->Leaves[L].Kind != LeafKind::Buffer ||
             std::equal(Got.data(L), Got.data(L) + Got.bytes(L),
                        Once.Mine->data(L));
    if (!Same)
      return S.Candidate->report().Suspicion;
  }
  return "";
}

std::unique_ptr<Runner> sim::makeSimRunner(const std::string &Folder,
                                           const GpuDescription &Gpu,
                                           const SimRunnerOptions &Options,
                                           Clock &Time, Speeds &Took) {
  return std::make_unique<SimRunner>(Folder, Gpu, Options, Time, Took);
}
