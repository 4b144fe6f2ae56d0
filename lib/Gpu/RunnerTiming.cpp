//===- RunnerTiming.cpp - Source and candidate on a GPU, timed ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   sizes -> (pair of processes -> race of each size)* -> timings
/// The part of GpuRunner that judge::race() asks for.
///
//===----------------------------------------------------------------------===//

#include "Ending.h"
#include "Runner.h"
#include "stark/Posix/File.h"

using namespace stark;
using namespace stark::gpu;
using namespace stark::job;
using namespace stark::judge;

/// Two timed calls may be off their reference to both sides.
static constexpr double BothErrors = 1.5;

/// Both at once.
MaybeStop GpuRunner::place(unsigned Case, uint64_t Draw) {
  Stages::Scope Preparing(Log, "set up", J->Cases[Case].Label);
  for (Side Of : {Side::Source, Side::Candidate}) {
    if (MaybeStop S = detachWhereMoved(Of, Case))
      return S;
    party(Of).Prepared.reset();
  }
  Request OfSource = beginToPrepare(Side::Source, Case, Draw),
          OfCandidate = beginToPrepare(Side::Candidate, Case, Draw);
  Answer Sources = Source.Child->receive(SetupLimitMs),
         Candidates = Candidate.Child->receive(SetupLimitMs);
  if (!hasNoMemory(Sources) && !hasNoMemory(Candidates)) {
    if (MaybeStop S = endPreparing(Side::Source, OfSource, Sources))
      return S;
    return endPreparing(Side::Candidate, OfCandidate, Candidates);
  }
  // What the source's lack may end, it ends before: the candidate's child,
  // whose buffers are gone with it.
  for (Side Of : {Side::Candidate, Side::Source, Side::Candidate})
    if (party(Of).Prepared != Case || Of == Side::Source)
      if (MaybeStop S = prepareFor(Of, Case))
        return S;
  return std::nullopt;
}

MaybeStop GpuRunner::raceIn(uint64_t Round, unsigned Case, bool Warm,
                            Samples &Out) {
  Stages::Scope Timed(Log, "time", J->Cases[Case].Label);
  Out.Round = Round;
  if (MaybeStop S = race(*J, Case, Warm, *this, {Facts.L2Bytes, Facts.CopyGBs},
                         posix::secretNumber, Time, Out))
    return S;
  std::string Error;
  if (!Options.Samples.empty() &&
      !posix::appendToFile(Options.Samples, printSamples(Out), Error))
    return hostFailed(Error);
  return std::nullopt;
}

/// Every pair of processes times all sizes: starting one takes longer than
/// sampling a size.
MaybeStop GpuRunner::timeAll(const Job &, const std::vector<unsigned> &Cases,
                             std::vector<Timing> &Timings, std::string &Notes) {
  std::vector<std::vector<Samples>> Taken(Cases.size());
  Clocks = watchClocks(Facts.Id);
  {
    Stages::Scope Settling(Log, "settle");
    settle();
  }
  for (uint64_t Round = 0; Round < J->Timing.Rounds; ++Round) {
    if (Round)
      if (MaybeStop S = beginAgain(Round))
        return S;
    for (size_t I = 0; I < Cases.size(); ++I)
      if (MaybeStop S = raceIn(Round, Cases[I], I > 0, Taken[I].emplace_back()))
        return S;
  }
  for (const std::vector<Samples> &Rounds : Taken) {
    Timings.push_back(summarize(Rounds));
    Notes += describeSpread(Rounds);
  }
  // Other pairs of processes have taken those that were there.
  if (Options.Follows)
    Options.Waiting->begin(spec());
  return std::nullopt;
}

MaybeStop GpuRunner::warm(Side Of, const TimedCall &Call, uint64_t Ms,
                          uint64_t LimitMs, Warmth &W) {
  Stages::Scope Warming(Log, "warm up", J->Cases[Call.Case].Label);
  Request R = requestFor(Command::Warm, Call.Case);
  R.Ms = Ms;
  R.Seed = R.WeightSeed = Call.Seed;
  Answer A;
  if (MaybeStop S = ask(Of, R, LimitMs, "warm-up call", A))
    return S;
  W = {A.R.Count, A.WallUs};
  if (Of == Side::Source || !(A.R.Leaked || A.R.LeakedOfHost))
    return std::nullopt;
  // Does the source leak as well, in as long?
  Answer OfSource;
  if (MaybeStop S = ask(Side::Source, R, Ms + J->TimeoutMs, "", OfSource))
    return S;
  auto Leaks = [&](uint64_t Bytes, const char *OfWhat) {
    return Stop{Outcome::Forbidden,
                std::string("the entry leaks memory of the ") + OfWhat + ": " +
                    std::to_string(Bytes >> 10) + " KiB in " +
                    std::to_string(A.R.Count) + " calls"};
  };
  if (A.R.Leaked > 2 * OfSource.R.Leaked)
    return Leaks(A.R.Leaked, "device");
  if (A.R.LeakedOfHost > 2 * OfSource.R.LeakedOfHost)
    return Leaks(A.R.LeakedOfHost, "host");
  return std::nullopt;
}

MaybeStop GpuRunner::sample(Side Of, const TimedCall &Call, uint64_t LimitMs,
                            Sample &S) {
  Request R = requestFor(Command::Sample, Call.Case);
  R.Seed = R.WeightSeed = Call.Seed;
  R.Round = Call.Round;
  Answer A;
  if (MaybeStop Ended = ask(Of, R, LimitMs, "timed call", A,
                            Call.WaitForDevice ? SyncDevice : 0))
    return Ended;
  S = {A.R.EventUs, A.WallUs};
  return std::nullopt;
}

MaybeStop GpuRunner::verify(const TimedCall &Last) {
  Stages::Scope Verifying(Log, "verify", J->Cases[Last.Case].Label);
  // What is wanted is now what the source's own timed call left.
  Referred.reset();
  Source.Brought = Candidate.Brought = false;
  Trial T = {0, Last.Case, Last.Seed, Last.Round, {}};
  auto Compare = [&](const SlackOf &Slack) -> MaybeStop {
    std::vector<bool> Agreed;
    if (MaybeStop S = compare(T, Slack, Agreed))
      return S;
    return compareOutputs(
        *J, T, "timed call", Agreed,
        [&](unsigned L) { return ofCandidate(T, L); },
        [&](unsigned L) { return ofSource(T, L); }, Slack, Outcome::Wrong);
  };
  if (MaybeStop S = Compare(
          [&](unsigned L) { return (Torch ? BothErrors : 1) * slack(T, L); }))
    return S;
  if (!Torch || !J->AgreeWithSource)
    return std::nullopt;
  T.Scale = 1; // as torch.allclose() compares
  return Compare([](unsigned) { return 1; });
}
