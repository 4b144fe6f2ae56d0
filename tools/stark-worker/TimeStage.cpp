//===- TimeStage.cpp - Which of the two is faster ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   warm up -> pairs of samples, A B then B A -> checks that the clock was not
///   fooled
/// Both children live at once, so a drift of the device's clock hits both.
/// Inputs are new in every pair, and some timed calls, chosen after they ran,
/// are compared like any other.
///
//===----------------------------------------------------------------------===//

#include "Judge.h"
#include <algorithm>
#include <chrono>
#include <cmath>

using namespace stark;
using namespace stark::job;
using namespace stark::worker;

namespace {
/// With fewer pairs than this, a median means nothing, whatever the time limit.
constexpr uint64_t FewestPairs = 5;
/// Pairs whose outputs are compared.
constexpr unsigned VerifiedPairs = 3;
/// Pairs of the second, device-synchronised batch.
constexpr unsigned SyncedPairs = 11;
constexpr uint64_t SetupLimitMs = 120000;

struct Samples {
  std::vector<double> EventUs, WallUs;
  void add(const Answer &A) {
    EventUs.push_back(A.R.EventUs);
    WallUs.push_back(A.WallUs);
  }
  double median(const std::vector<double> &Values) const {
    std::vector<double> V = Values;
    std::sort(V.begin(), V.end());
    return V.empty() ? 0 : V[V.size() / 2];
  }
  double eventUs() const { return median(EventUs); }
  /// The part of a request that the events did not see. The least of all: what
  /// every call hides is in it, what the host was busy with is not.
  double outsideUs() const {
    double Least = HUGE_VAL;
    for (size_t I = 0; I < EventUs.size(); ++I)
      Least = std::min(Least, WallUs[I] - EventUs[I]);
    return Least;
  }
  /// Standard error of the mean over the mean.
  double relativeError() const {
    double N = double(EventUs.size()), Sum = 0, Squares = 0;
    for (double V : EventUs)
      Sum += V;
    double Mean = Sum / N;
    for (double V : EventUs)
      Squares += (V - Mean) * (V - Mean);
    return N > 1 ? std::sqrt(Squares / (N - 1) / N) / Mean : HUGE_VAL;
  }
};

std::string micro(double Us) {
  char Text[40];
  std::snprintf(Text, sizeof(Text), "%.2f us", Us);
  return Text;
}

class Race {
public:
  Race(Judge &G, unsigned Case) : G(G), Case(Case), Salt(secretNumber()) {
    S.Case = Case;
    S.What = "timed call";
  }
  bool run();

private:
  bool pair(Samples &Source, Samples &Candidate, uint32_t Flags);
  bool verifyLast();
  bool enough(double PassedMs) const;
  bool believable();

  Judge &G;
  unsigned Case;
  uint64_t Salt; ///< the inputs of timed calls cannot be foreseen from the job
  uint64_t Drawn = 0;
  Situation S;
  uint64_t LimitMs = 0;
  Samples OfSource, OfCandidate, SyncedSource, SyncedCandidate;
};
} // namespace

/// One sample of each with the same inputs, in alternating order.
bool Race::pair(Samples &Source, Samples &Candidate, uint32_t Flags) {
  Request R;
  R.What = Command::Sample;
  R.Case = Case;
  R.Flags = Flags;
  R.Round = uint32_t(Drawn);
  R.Seed = S.Seed = G.J.TimingSeed ^ (Salt + Drawn * 0x9E3779B97F4A7C15ull);
  bool SourceFirst = Drawn++ % 2 == 0;
  Answer A, B;
  if (SourceFirst && !G.askSource(R, G.J.TimeoutMs, A))
    return false;
  if (!G.askCandidate(R, LimitMs, S, B))
    return false;
  if (!SourceFirst && !G.askSource(R, G.J.TimeoutMs, A))
    return false;
  for (const Answer *Each : {&A, &B})
    if (!(Each->R.EventUs > 0) || Each->R.EventUs > Each->WallUs)
      return G.stop(Each == &B ? Outcome::Forbidden : Outcome::Infrastructure,
                    "a timed call claims " + micro(Each->R.EventUs) +
                        ", but the supervisor's clock saw " +
                        micro(Each->WallUs));
  Source.add(A);
  Candidate.add(B);
  return true;
}

/// Neither child knew, when it ran, that the outputs of this call would count.
bool Race::verifyLast() {
  Request Export;
  Export.What = Command::Export;
  Export.Case = Case;
  Answer A;
  return G.askSource(Export, SetupLimitMs, A) &&
         G.askCandidate(Export, SetupLimitMs, S, A) &&
         G.compareOutputs(S, uint32_t(Drawn - 1), Outcome::Wrong);
}

bool Race::enough(double PassedMs) const {
  const TimingRule &Rule = G.J.Timing;
  uint64_t N = OfCandidate.EventUs.size();
  if (N < FewestPairs)
    return false;
  if (N >= Rule.MaxSamples || PassedMs >= double(Rule.MaxMs))
    return true;
  return N >= Rule.MinSamples &&
         OfSource.relativeError() < Rule.RelativeError &&
         OfCandidate.relativeError() < Rule.RelativeError;
}

/// Was all of the work between the two events, and is the time possible?
bool Race::believable() {
  double Ours = OfCandidate.eventUs(), Theirs = OfSource.eventUs();
  // Waiting for the device costs both about the same; work on another stream
  // shows only in the one that has it. A source that happened to be quicker
  // this time says nothing about the candidate.
  double Escaped = (SyncedCandidate.eventUs() - Ours) -
                   std::max(0.0, SyncedSource.eventUs() - Theirs);
  if (Escaped > 0.10 * Ours + 15)
    return G.stop(Outcome::Forbidden,
                  "work escapes the timed stream (" +
                      describeSituation(G.J, S) + "): " + micro(Ours) +
                      " between the events, " +
                      micro(SyncedCandidate.eventUs()) +
                      " when the whole device is waited for. All work must be "
                      "on the stream that the entry is given");
  double Outside = OfCandidate.outsideUs() - OfSource.outsideUs();
  if (Outside > std::max({200.0, 0.5 * Theirs, 0.5 * OfSource.outsideUs()}))
    return G.stop(Outcome::Forbidden,
                  "work escapes the timed call (" + describeSituation(G.J, S) +
                      "): a call takes " + micro(Outside) +
                      " more outside the events than the source's");
  // Nothing can be written faster than memory takes it, but for what L2 keeps.
  double Bytes = 0;
  for (const OutputPlace &P : outputPlaces(G.J, G.J.Cases[Case]))
    Bytes += double(P.Bytes);
  double FloorUs =
      (Bytes - double(G.Facts.L2Bytes)) / (G.Facts.CopyGBs * 1.15) * 1e-3;
  if (G.Facts.CopyGBs > 0 && Ours < FloorUs)
    return G.stop(Outcome::Forbidden,
                  "faster than memory allows (" + describeSituation(G.J, S) +
                      "): " + micro(Ours) + " for outputs that take " +
                      micro(FloorUs) + " to write");
  return true;
}

bool Race::run() {
  Request Prepare;
  Prepare.What = Command::Prepare;
  Prepare.Case = Case;
  Answer A;
  if (!G.askSource(Prepare, SetupLimitMs, A) ||
      !G.askCandidate(Prepare, SetupLimitMs, S, A))
    return false;

  Request Warm;
  Warm.What = Command::Warm;
  Warm.Case = Case;
  Warm.Ms = G.J.Timing.WarmupMs;
  Warm.Seed = S.Seed = secretNumber();
  uint64_t WarmLimit = G.J.Timing.WarmupMs + G.J.TimeoutMs;
  S.What = "warm-up call";
  if (!G.askSource(Warm, WarmLimit, A))
    return false;
  double SourceUs = A.R.Count ? A.WallUs / double(A.R.Count) : A.WallUs;
  LimitMs = G.candidateLimitMs(SourceUs);
  if (!G.askCandidate(Warm, G.J.Timing.WarmupMs + LimitMs, S, A))
    return false;
  uint64_t Discarded = A.R.Count;
  S.What = "timed call";

  // Which calls are verified is settled now, and told to nobody.
  std::vector<uint64_t> Verified;
  for (unsigned I = 0; I < VerifiedPairs; ++I)
    Verified.push_back(
        secretNumber() %
        (I == 0 ? FewestPairs : std::max<uint64_t>(G.J.Timing.MinSamples, 1)));
  auto Start = std::chrono::steady_clock::now();
  double PassedMs = 0;
  while (!enough(PassedMs)) {
    uint64_t Index = OfCandidate.EventUs.size();
    if (!pair(OfSource, OfCandidate, 0))
      return false;
    if (std::find(Verified.begin(), Verified.end(), Index) != Verified.end() &&
        !verifyLast())
      return false;
    PassedMs = std::chrono::duration<double, std::milli>(
                   std::chrono::steady_clock::now() - Start)
                   .count();
  }
  for (unsigned I = 0; I < SyncedPairs; ++I)
    if (!pair(SyncedSource, SyncedCandidate, SyncDevice))
      return false;
  if (!verifyLast() || !believable())
    return false;
  Timing T =
      summarize(G.J.Cases[Case].Label, OfCandidate.EventUs, OfSource.EventUs);
  T.Discarded = Discarded;
  G.Out.Timings.push_back(T);
  return true;
}

bool worker::timeStage(Judge &G) {
  for (unsigned I = 0; I < G.J.Cases.size(); ++I)
    if (G.J.Cases[I].Timed && !Race(G, I).run())
      return false;
  return true;
}
