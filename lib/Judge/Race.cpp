//===- Race.cpp - Which of the two is faster ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The rule that ends the sampling, and what makes a time believable.
///
//===----------------------------------------------------------------------===//

#include "stark/Judge/Race.h"
#include "Micro.h"
#include "stark/Judge/Judge.h"
#include "stark/Posix/Clock.h"
#include <algorithm>
#include <cmath>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

namespace {
/// With fewer pairs than this, a median means nothing, whatever the time limit.
constexpr uint64_t FewestPairs = 5;
/// One in so many pairs is compared, and one in so many is followed by one
/// that waits for the device: drawn at each, by nobody known before.
constexpr uint64_t VerifiedOneIn = 10, SyncedOneIn = 4;
/// With enough samples, one more placement one time in so many.
constexpr uint64_t OneMoreIn = 3;
/// Pairs that wait for the device, at least.
constexpr unsigned SyncedPairs = 11;
/// Waiting for the whole device may cost the candidate this share of its time
/// and this much more than it costs the source.
constexpr double EscapedShare = 0.10, MostEscapedUs = 15;
/// A call may take this much more outside the events than the source's, or half
/// of the source's time; or, where it is slower, which nothing that is hidden
/// there makes up for, this share of the difference.
constexpr double OutsideUs = 200, OutsideShare = 0.5, OutsideOfSlower = 0.1;
/// What is hidden is in every call, what the host was busy with is in either
/// side's: so many more pairs than half, in roots of a quarter of their number,
/// come about by chance once in a thousand.
constexpr double TellingDeviations = 3.1;
/// Of ten pairs it takes all. More are made until it is told, within so many
/// times what timing may take.
constexpr uint64_t FewestTelling = 10, MostTelling = 40, TellingTimes = 4;
/// What is written to memory is never faster than the measured copy times this.
constexpr double CopySlack = 1.15;

/// The supervisor's clock can stumble (on a virtual machine, say, by tens of
/// microseconds): so many pairs of a size are taken anew for it.
constexpr unsigned MostStumbles = 3;

/// After buffers were placed: the first pair meets cold pages.
constexpr unsigned ColdPairs = 1;
/// Between two sizes the device has hardly cooled down, and a candidate's calls
/// warm it up for both.
constexpr uint64_t WarmShare = 25;

double medianOf(std::vector<double> Values) {
  std::sort(Values.begin(), Values.end());
  return Values.empty() ? 0 : Values[Values.size() / 2];
}

struct Taken {
  std::vector<double> EventUs, WallUs;

  void add(const Sample &S) {
    EventUs.push_back(S.EventUs);
    WallUs.push_back(S.WallUs);
  }
  void drop() {
    EventUs.pop_back();
    WallUs.pop_back();
  }
  /// Of those from number \p From on.
  double medianUs(size_t From = 0) const {
    return medianOf({EventUs.begin() + ptrdiff_t(From), EventUs.end()});
  }
  /// The part of request number \p I that the events did not see.
  double outsideUs(size_t I) const { return WallUs[I] - EventUs[I]; }
  /// The least of all: what every call hides is in it, what the host was busy
  /// with is not.
  double outsideUs() const {
    double Least = HUGE_VAL;
    for (size_t I = 0; I < EventUs.size(); ++I)
      Least = std::min(Least, outsideUs(I));
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

class Race {
public:
  Race(const Job &J, unsigned Case, bool Warm, TimedPair &Pair,
       const DeviceLimits &Device, const std::function<uint64_t()> &Secret,
       Clock &Time, Samples &Out)
      : J(J), Pair(Pair), Device(Device), Secret(Secret), Time(Time),
        WarmupMs(J.Timing.WarmupMs / (Warm ? WarmShare : 1)), Out(Out),
        Salt(Secret()) {
    Last.Case = Case;
  }
  MaybeStop run();

private:
  MaybeStop warmUp();
  MaybeStop sampleBoth(bool WaitForDevice, Sample (&Both)[2]);
  MaybeStop samplePair(Taken &Source, Taken &Candidate, bool WaitForDevice);
  MaybeStop sampleSynced();
  void weighSynced(size_t Begin);
  MaybeStop sampleBlock(uint64_t Sure, Clock::Time Start);
  MaybeStop sampleAll();
  bool outOfTime(Clock::Time Start) const;
  bool mayDrop(Clock::Time Start) const;
  bool enough() const;
  double mostOutsideUs() const;
  double outsideUs() const;
  bool seemsOutside() const;
  bool isOutside() const;
  bool mustTell(Clock::Time Start) const;
  MaybeStop believable() const;
  std::string where() const {
    return "timed call with " + describeInputs(J, Last.Case, Last.Seed);
  }

  const Job &J;
  TimedPair &Pair;
  DeviceLimits Device;
  const std::function<uint64_t()> &Secret;
  Clock &Time;
  uint64_t WarmupMs;
  Samples &Out;
  uint64_t Salt; ///< the inputs of timed calls cannot be foreseen from the job
  uint64_t Drawn = 0;
  unsigned Stumbles = 0;
  TimedCall Last;
  uint64_t LimitMs = 0; ///< of the candidate
  Taken OfSource, OfCandidate, SyncedSource, SyncedCandidate;
  /// What waiting for the device cost the candidate more than the source, of
  /// each pair that did.
  std::vector<double> EscapedUs;
};
} // namespace

uint64_t judge::candidateLimitMs(uint64_t JobLimitMs, double SourceUs) {
  return std::min<uint64_t>(JobLimitMs, 10000 + uint64_t(SourceUs / 10));
}

uint64_t judge::callFor(uint64_t Ms, Clock &Time,
                        const std::function<bool()> &Call) {
  Clock::Time End = Time.now() + std::chrono::milliseconds(Ms);
  uint64_t Calls = 0;
  bool Good = true;
  do {
    Good = Call();
    ++Calls;
  } while (Good && Time.now() < End);
  return Calls;
}

/// One sample of each with the same inputs, in alternating order.
MaybeStop Race::sampleBoth(bool WaitForDevice, Sample (&Both)[2]) {
  Last.WaitForDevice = WaitForDevice;
  Last.Round = unsigned(Drawn);
  Last.Seed = J.TimingSeed ^ (Salt + Drawn * 0x9E3779B97F4A7C15ull);
  Side First = Drawn++ % 2 == 0 ? Side::Source : Side::Candidate;
  for (Side Of :
       {First, First == Side::Source ? Side::Candidate : Side::Source})
    if (MaybeStop S =
            Pair.sample(Of, Last, Of == Side::Source ? J.TimeoutMs : LimitMs,
                        Both[Of == Side::Candidate]))
      return S;
  return std::nullopt;
}

MaybeStop Race::samplePair(Taken &Source, Taken &Candidate,
                           bool WaitForDevice) {
  Sample Both[2];
  auto Untrue = [](const Sample &S) {
    return !(S.EventUs > 0) || S.EventUs > S.WallUs;
  };
  do {
    if (MaybeStop S = sampleBoth(WaitForDevice, Both))
      return S;
  } while (std::any_of(Both, Both + 2, Untrue) && Stumbles++ < MostStumbles);
  for (const Sample &Each : Both)
    if (Untrue(Each))
      return Stop{&Each == &Both[1] ? Outcome::Forbidden
                                    : Outcome::Infrastructure,
                  "a timed call claims " + micro(Each.EventUs) +
                      ", but the supervisor's clock saw " + micro(Each.WallUs)};
  Source.add(Both[0]);
  Candidate.add(Both[1]);
  return std::nullopt;
}

bool Race::outOfTime(Clock::Time Start) const {
  return OfCandidate.EventUs.size() >= FewestPairs &&
         Time.microsecondsSince(Start) >= double(J.Timing.MaxMs) * 1e3;
}

/// A device that is held back all of the time is timed as it is.
bool Race::mayDrop(Clock::Time Start) const {
  return Out.Throttled < J.Timing.MaxSamples &&
         Time.microsecondsSince(Start) < double(J.Timing.MaxMs) * 1e3;
}

bool Race::enough() const {
  const TimingRule &Rule = J.Timing;
  uint64_t N = OfCandidate.EventUs.size();
  if (N >= Rule.MaxSamples)
    return true;
  return N >= Rule.MinSamples &&
         OfSource.relativeError() < Rule.RelativeError &&
         OfCandidate.relativeError() < Rule.RelativeError;
}

/// What a call of the candidate may take outside the events more than one of
/// the source.
double Race::mostOutsideUs() const {
  double Ours = OfCandidate.medianUs(), Theirs = OfSource.medianUs();
  return std::max({OutsideUs, OutsideShare * Theirs,
                   OutsideShare * OfSource.outsideUs(),
                   OutsideOfSlower * (Ours - Theirs)});
}

/// What it takes more.
double Race::outsideUs() const {
  return OfCandidate.outsideUs() - OfSource.outsideUs();
}

bool Race::seemsOutside() const { return outsideUs() > mostOutsideUs(); }

/// Whether so many pairs show it that the host cannot be why.
bool Race::isOutside() const {
  double Most = mostOutsideUs(), Pairs = double(OfSource.EventUs.size());
  double Showing = 0;
  for (size_t I = 0; I < OfSource.EventUs.size(); ++I)
    Showing += OfCandidate.outsideUs(I) - OfSource.outsideUs(I) > Most;
  return Showing - Pairs / 2 > TellingDeviations * std::sqrt(Pairs / 4);
}

/// Is there something outside the events that more pairs may show to be the
/// host's?
bool Race::mustTell(Clock::Time Start) const {
  uint64_t Pairs = OfCandidate.EventUs.size();
  if (!seemsOutside() || isOutside())
    return false;
  double SoFarMs = Time.microsecondsSince(Start) * 1e-3;
  return Pairs < FewestTelling ||
         (Pairs < MostTelling &&
          SoFarMs < double(J.Timing.MaxMs * TellingTimes));
}

/// Was all of the work between the two events, and is the time possible?
MaybeStop Race::believable() const {
  double Ours = OfCandidate.medianUs(), Theirs = OfSource.medianUs();
  double Escaped = medianOf(EscapedUs);
  if (Escaped > EscapedShare * Ours + MostEscapedUs)
    return Stop{Outcome::Forbidden,
                "work escapes the timed stream (" + where() + "): " +
                    micro(Ours) + " between the events, " + micro(Escaped) +
                    " more when the whole device is waited for. All work must "
                    "be on the stream that the entry is given"};
  if (seemsOutside() && isOutside())
    return Stop{Outcome::Forbidden,
                "work escapes the timed call (" + where() + "): a call takes " +
                    micro(outsideUs()) +
                    " more outside the events than the source's"};
  // Nothing can be written faster than memory takes it, but for what L2 keeps.
  double Bytes = 0;
  for (size_t I = 0; I < J.Leaves.size(); ++I)
    if (isOutput(J.Leaves[I]))
      Bytes += double(J.Cases[Last.Case].Values[I].elements() *
                      dtypeBytes(J.Leaves[I].Type));
  auto Floor = [&](double Moved) {
    return (Moved - double(Device.L2Bytes)) / (Device.CopyGBs * CopySlack) *
           1e-3;
  };
  auto TooFast = [&](double FloorUs, const char *What, const char *Does) {
    return Stop{Outcome::Forbidden, "faster than memory allows (" + where() +
                                        "): " + micro(Ours) + " for " + What +
                                        " " + micro(FloorUs) + " to " + Does};
  };
  if (Device.CopyGBs <= 0)
    return std::nullopt;
  // A source that is as fast writes a part of them, or returns a view of an
  // input; a workload that says too much says it of its source as well.
  if (Ours < Floor(Bytes) && Theirs >= Floor(Bytes))
    return TooFast(Floor(Bytes), "outputs that take", "write");
  double Moved = J.Cases[Last.Case].MovedBytes;
  if (Ours < Floor(Moved) && Theirs >= Floor(Moved))
    return TooFast(Floor(Moved), "the bytes of the workload, which take",
                   "move");
  return std::nullopt;
}

MaybeStop Race::warmUp() {
  uint64_t Ms = WarmupMs, Brief = J.Timing.WarmupMs / WarmShare;
  Warmth W;
  Last.Seed = Secret();
  if (MaybeStop S =
          Pair.warm(Side::Source, Last, Brief, Brief + J.TimeoutMs, W))
    return S;
  LimitMs = candidateLimitMs(J.TimeoutMs,
                             W.Calls ? W.WallUs / double(W.Calls) : W.WallUs);
  if (MaybeStop S = Pair.warm(Side::Candidate, Last, Ms, Ms + LimitMs, W))
    return S;
  Out.Discarded += W.Calls;
  return std::nullopt;
}

/// A pair that waits for the device, every now and then.
MaybeStop Race::sampleSynced() {
  if (SyncedCandidate.EventUs.size() >= SyncedPairs)
    return std::nullopt;
  return samplePair(SyncedSource, SyncedCandidate, true);
}

/// Of the pairs that waited since this was asked last, held against those from
/// number \p Begin on, which had their buffers in the same place: what a
/// kernel takes may depend on that. Waiting costs both about the same; work on
/// another stream shows only in the one that has it. A source that happened to
/// be quicker this time says nothing about the candidate.
void Race::weighSynced(size_t Begin) {
  double Ours = OfCandidate.medianUs(Begin), Theirs = OfSource.medianUs(Begin);
  for (size_t I = EscapedUs.size(); I < SyncedCandidate.EventUs.size(); ++I)
    EscapedUs.push_back((SyncedCandidate.EventUs[I] - Ours) -
                        std::max(0.0, SyncedSource.EventUs[I] - Theirs));
}

/// Some pairs with buffers that lie where none lay before. The one with number
/// \p Sure is compared in any case.
MaybeStop Race::sampleBlock(uint64_t Sure, Clock::Time Start) {
  if (MaybeStop S = Pair.place(Last.Case, Secret()))
    return S;
  Taken Cold;
  for (unsigned I = 0; I < ColdPairs; ++I)
    if (MaybeStop S = samplePair(Cold, Cold, false))
      return S;
  Out.Discarded += ColdPairs;
  size_t Begin = OfCandidate.EventUs.size();
  // One fewer or one more: no call knows that it is the last.
  uint64_t Pairs = J.Timing.PairsAPlacement + Secret() % 3;
  for (uint64_t Left = std::max<uint64_t>(Pairs, 2) - 1;
       Left && (!outOfTime(Start) || mustTell(Start));) {
    uint64_t Index = OfCandidate.EventUs.size();
    if (MaybeStop S = samplePair(OfSource, OfCandidate, false))
      return S;
    if (mayDrop(Start) && Pair.heldBack()) {
      OfSource.drop();
      OfCandidate.drop();
      ++Out.Throttled;
    } else {
      --Left;
    }
    if (Index == Sure || Secret() % VerifiedOneIn == 0)
      if (MaybeStop S = Pair.verify(Last))
        return S;
    if (Secret() % SyncedOneIn == 0)
      if (MaybeStop S = sampleSynced())
        return S;
  }
  // The time may be over with the cold pair.
  if (OfCandidate.EventUs.size() == Begin)
    return std::nullopt;
  weighSynced(Begin);
  auto Since = [&](const std::vector<double> &Of) {
    return std::vector<double>(Of.begin() + ptrdiff_t(Begin), Of.end());
  };
  Out.Blocks.push_back({Since(OfSource.EventUs), Since(OfCandidate.EventUs),
                        Since(OfSource.WallUs), Since(OfCandidate.WallUs)});
  return std::nullopt;
}

/// Neither child knows, when it runs, whether its outputs will be looked at,
/// whether it will be waited for, or whether it was the last time.
MaybeStop Race::sampleAll() {
  Clock::Time Start = Time.now();
  // One of the first, however the draws fall.
  uint64_t Sure = Secret() % FewestPairs;
  do {
    if (MaybeStop S = sampleBlock(Sure, Start))
      return S;
  } while (mustTell(Start) ||
           (!outOfTime(Start) && (!enough() || Secret() % OneMoreIn == 1)));
  while (SyncedCandidate.EventUs.size() < SyncedPairs)
    if (MaybeStop S = sampleSynced())
      return S;
  weighSynced(OfCandidate.EventUs.size() -
              Out.Blocks.back().CandidateUs.size());
  return Pair.verify(Last);
}

MaybeStop Race::run() {
  Out.Label = J.Cases[Last.Case].Label;
  if (MaybeStop S = Pair.place(Last.Case, Secret()))
    return S;
  if (MaybeStop S = warmUp())
    return S;
  if (MaybeStop S = sampleAll())
    return S;
  return believable();
}

MaybeStop judge::race(const Job &J, unsigned Case, bool Warm, TimedPair &Pair,
                      const DeviceLimits &Device,
                      const std::function<uint64_t()> &Secret, Clock &Time,
                      Samples &Out) {
  return Race(J, Case, Warm, Pair, Device, Secret, Time, Out).run();
}
