//===- RaceTest.cpp - The rules of timing, with a clock that stands still -===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Judge/Race.h"
#include "stark/Job/Names.h"
#include "stark/Posix/Clock.h"
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

namespace {
using Microseconds = std::chrono::duration<double, std::micro>;

/// Two entries that take what the test says, by the test's clock.
class RaceTest : public testing::Test, protected TimedPair {
protected:
  struct Taken {
    Side Of;
    TimedCall Call;
    uint64_t LimitMs;
  };

  RaceTest() {
    Leaf Y, N;
    Y.Name = "y";
    Y.Use = Role::Output;
    N.Name = "n";
    N.Kind = LeafKind::Integer;
    J.Leaves = {Y, N};
    Case C;
    C.Label = "n=50000";
    C.Values.resize(2);
    C.Values[0].Shape = {50000};
    J.Cases = {C, C};
    J.TimingSeed = 4;
    J.TimeoutMs = 60000;
    J.Timing = {/*WarmupMs=*/50,   /*MinSamples=*/12,
                /*MaxSamples=*/16,
                /*MaxMs=*/500,     /*RelativeError=*/0.05,
                /*Rounds=*/1,      /*PairsAPlacement=*/4};
  }

  /// The outcome and its first words, or "" when there is a timing.
  std::string end() {
    Places.clear();
    Samples.clear();
    VerifiedAfter.clear();
    Warmed.clear();
    job::Samples Out;
    MaybeStop S = race(J, 1, /*Warm=*/Warm, *this, Device, Secret, Time, Out);
    if (S)
      return std::string(nameOf(S->End)) + ": " + S->Diagnostics;
    Found = Out;
    T = summarize({Out});
    return "";
  }

  MaybeStop place(unsigned Case, uint64_t) override {
    Prepared = Case;
    Places.push_back(Samples.size() / 2);
    return std::nullopt;
  }
  MaybeStop warm(Side Of, const TimedCall &Call, uint64_t Ms, uint64_t LimitMs,
                 Warmth &W) override {
    EXPECT_EQ(Prepared, 1u);
    EXPECT_EQ(Ms, Warm || Of == Side::Source ? 2u : 50u);
    Warmed.push_back({Of, Call, LimitMs});
    W = Of == Side::Source ? SourceWarmth : Warmth{40, 20000};
    return std::nullopt;
  }
  MaybeStop sample(Side Of, const TimedCall &Call, uint64_t LimitMs,
                   Sample &S) override {
    size_t Index = Samples.size() / 2;
    Samples.push_back({Of, Call, LimitMs});
    S.EventUs = Of == Side::Source ? SourceUs(Index) : CandidateUs(Index);
    if (Of == Side::Candidate && Call.WaitForDevice)
      S.EventUs += EscapedUs;
    S.WallUs =
        S.EventUs + (Of == Side::Source ? SourceOutsideUs + SourceBusyUs(Index)
                                        : OutsideUs + BusyUs(Index));
    Time.advance(
        std::chrono::duration_cast<Clock::Duration>(Microseconds(S.WallUs)));
    return std::nullopt;
  }
  MaybeStop verify(const TimedCall &Last) override {
    EXPECT_EQ(Last.Seed, Samples.back().Call.Seed);
    VerifiedAfter.push_back(Samples.size() / 2);
    if (Samples.size() / 2 > HonestPairs)
      return Stop{Outcome::Wrong, "output 'y' is wrong"};
    return std::nullopt;
  }

  bool heldBack() override { return HeldBack(Samples.size() / 2); }

  Job J;
  DeviceLimits Device;
  FakeClock Time;
  bool Warm = false;
  Timing T;
  job::Samples Found;
  /// None of whose draws is taken, but that of a pair among the first.
  std::function<uint64_t()> Secret = [] { return 6; };
  unsigned Prepared = 0;
  /// What the host keeps each waiting.
  std::function<double(size_t)> BusyUs = [](size_t) { return 0; };
  std::function<double(size_t)> SourceBusyUs = [](size_t) { return 0; };
  Warmth SourceWarmth = {40, 20000};
  std::function<double(size_t)> SourceUs = [](size_t) { return 100; };
  std::function<double(size_t)> CandidateUs = [](size_t) { return 100; };
  std::function<bool(size_t)> HeldBack = [](size_t) { return false; };
  double EscapedUs = 0, OutsideUs = 30, SourceOutsideUs = 30;
  size_t HonestPairs = SIZE_MAX;
  std::vector<Taken> Warmed, Samples;
  std::vector<size_t> VerifiedAfter;
  std::vector<size_t> Places; ///< before which pair
};
} // namespace

TEST_F(RaceTest, TwoThatAreEquallyFast) {
  ASSERT_EQ(end(), "");
  EXPECT_EQ(T.Label, "n=50000");
  EXPECT_EQ(T.Speedup, 1);
  EXPECT_NEAR(T.MedianUs, 100, 1e-9);
  EXPECT_EQ(T.Samples, 12u);   // no spread: no more than the fewest
  EXPECT_EQ(T.Discarded, 44u); // and one each time the buffers were placed
}

TEST_F(RaceTest, AFasterCandidate) {
  SourceUs = [](size_t) { return 800; };
  ASSERT_EQ(end(), "");
  EXPECT_NEAR(T.Speedup, 8, 1e-9);
  EXPECT_NEAR(T.SourceMedianUs, 800, 1e-9);
}

// Both get the same inputs, new in every pair and none of the job's; who goes
// first alternates.
TEST_F(RaceTest, PairsAlternateWithFreshInputs) {
  ASSERT_EQ(end(), "");
  std::set<uint64_t> Seeds = {J.TimingSeed, Warmed[0].Call.Seed};
  EXPECT_EQ(Warmed[0].Call.Seed, Warmed[1].Call.Seed);
  for (size_t I = 0; I < Samples.size(); I += 2) {
    EXPECT_EQ(Samples[I].Of == Side::Source, I % 4 == 0);
    EXPECT_NE(Samples[I].Of, Samples[I + 1].Of);
    EXPECT_EQ(Samples[I].Call.Case, 1u);
    EXPECT_EQ(Samples[I].Call.Seed, Samples[I + 1].Call.Seed);
    EXPECT_TRUE(Seeds.insert(Samples[I].Call.Seed).second);
    // Eleven more pairs, after the timed ones, wait for the whole device.
    EXPECT_EQ(Samples[I].Call.WaitForDevice, I / 2 >= 16);
  }
  EXPECT_EQ(Samples.size(), 2 * (12u + 4u + 11u));
}

// How fast code is follows from where its buffers lie: they are placed anew
// every few pairs, the first of which meets cold pages and is not counted.
TEST_F(RaceTest, BuffersArePlacedAnew) {
  CandidateUs = [](size_t I) { return I % 4 ? 100 : 5000; };
  SourceUs = [](size_t I) { return 100 + double(I / 4); };
  ASSERT_EQ(end(), "");
  // Where the warm-up was, then four times.
  EXPECT_EQ(Places, (std::vector<size_t>{0, 0, 4, 8, 12}));
  ASSERT_EQ(Found.Blocks.size(), 4u);
  for (size_t B = 0; B < 4; ++B) {
    EXPECT_EQ(Found.Blocks[B].CandidateUs, std::vector<double>(3, 100));
    EXPECT_EQ(Found.Blocks[B].SourceUs,
              std::vector<double>(3, 100 + double(B)));
    EXPECT_EQ(Found.Blocks[B].SourceWallUs.size(), 3u);
  }
}

// What was taken while heat or power held the device back is not counted, and
// others are taken in its place.
TEST_F(RaceTest, AThrottledDevice) {
  HeldBack = [](size_t Pairs) { return Pairs >= 5 && Pairs < 9; };
  SourceUs = CandidateUs = [](size_t I) { return I >= 4 && I < 8 ? 300 : 100; };
  ASSERT_EQ(end(), "");
  EXPECT_EQ(T.Samples, 12u);
  EXPECT_EQ(T.Throttled, 3u); // the first of these was a cold one
  EXPECT_EQ(Found.Throttled, 3u);
  EXPECT_NEAR(T.MedianUs, 100, 1e-9);
}

// One that never gets out of it is timed as it is.
TEST_F(RaceTest, ADeviceThatIsAlwaysThrottled) {
  HeldBack = [](size_t) { return true; };
  ASSERT_EQ(end(), "");
  EXPECT_EQ(T.Throttled, J.Timing.MaxSamples);
  EXPECT_EQ(T.Samples, 12u);
  J.Timing.MaxMs = 0;
  ASSERT_EQ(end(), "");
  EXPECT_EQ(T.Throttled, 0u);
  EXPECT_EQ(T.Samples, 5u);
}

// The time may be over when a placement's first pair, which does not count, is
// taken.
TEST_F(RaceTest, NoPlacementIsWithoutSamples) {
  CandidateUs = [](size_t) { return 20e3; };
  for (uint64_t Ms : {120, 140, 160, 180, 200}) {
    J.Timing.MaxMs = Ms;
    ASSERT_EQ(end(), "");
    for (const Block &B : Found.Blocks)
      EXPECT_FALSE(B.CandidateUs.empty()) << Ms;
    EXPECT_GT(T.SpeedupHigh, T.SpeedupLow);
  }
}

// Between two sizes the device stays warm, and the source does not cool it.
TEST_F(RaceTest, AShorterWarmUpAfterAnotherSize) {
  Warm = true;
  ASSERT_EQ(end(), "");
  EXPECT_EQ(Warmed.size(), 2u);
}

// Sampling ends with the spread, at the most samples, or with the time; never
// before five pairs.
TEST_F(RaceTest, WhenSamplingStops) {
  J.Timing.RelativeError = 0.005;
  CandidateUs = [](size_t I) { return I / 2 % 2 ? 100 : 112; };
  ASSERT_EQ(end(), "");
  EXPECT_EQ(T.Samples, 18u); // whole blocks of three

  CandidateUs = [](size_t I) { return I / 2 % 2 ? 20e3 : 22e3; };
  J.Timing.MaxMs = 300; // fifteen pairs of about 21 ms, four of them cold
  OutsideUs = SourceOutsideUs = 30;
  ASSERT_EQ(end(), "");
  EXPECT_EQ(T.Samples, 11u);

  J.Timing.MaxMs = 0;
  ASSERT_EQ(end(), "");
  EXPECT_EQ(T.Samples, 5u);

  // A spread that is small enough ends it between the two limits.
  J.Timing = {50, 5, 1000, 1000000, 0.02, 1, 4};
  CandidateUs = [](size_t I) { return I / 2 % 2 ? 100 : 112; };
  ASSERT_EQ(end(), "");
  EXPECT_GE(T.Samples, 6u);
  EXPECT_LE(T.Samples, 12u);
}

// A candidate that was right in the comparison and idles once it is timed:
// which calls are compared is drawn after each of them.
TEST_F(RaceTest, ALazyCandidate) {
  std::mt19937_64 Engine(1);
  Secret = [&] { return Engine(); };
  for (size_t Honest : {0, 1, 2, 5, 11}) {
    HonestPairs = Honest;
    EXPECT_EQ(end(), "wrong: output 'y' is wrong") << Honest;
  }
}

// How many calls there are, which of them are looked at and which are waited
// for differs from race to race, so that nothing follows from a call's number.
TEST_F(RaceTest, NothingFollowsFromTheNumberOfACall) {
  std::mt19937_64 Engine(1);
  Secret = [&] { return Engine(); };
  J.Timing.MinSamples = J.Timing.MaxSamples = 40;
  std::set<size_t> Ends, Looked, Waited, Plain;
  for (unsigned I = 0; I < 120; ++I) {
    ASSERT_EQ(end(), "");
    Ends.insert(Samples.size());
    EXPECT_LE(VerifiedAfter[0], 16u); // one of the first, whatever is drawn
    EXPECT_EQ(VerifiedAfter.back(), Samples.size() / 2);
    Looked.insert(VerifiedAfter.begin(), VerifiedAfter.end());
    size_t Synced = 0;
    for (size_t C = 0; C < Samples.size(); C += 2) {
      (Samples[C].Call.WaitForDevice ? Waited : Plain).insert(C / 2);
      Synced += Samples[C].Call.WaitForDevice;
    }
    EXPECT_EQ(Synced, 11u);
  }
  EXPECT_GE(Ends.size(), 4u);
  for (size_t Pair = 6; Pair < 40; ++Pair)
    EXPECT_TRUE(Looked.count(Pair) && Waited.count(Pair) && Plain.count(Pair))
        << Pair;
}

// Time that a call costs outside the events is seen by the judge's own clock.
TEST_F(RaceTest, WorkOutsideTheEvents) {
  OutsideUs = SourceOutsideUs + 199;
  EXPECT_EQ(end(), "");
  OutsideUs = SourceOutsideUs + 3000;
  EXPECT_EQ(end().substr(0, 77),
            "forbidden: work escapes the timed call (timed call with size "
            "'n=50000', seed ");
  // Half of what the source takes is nothing to speak of.
  SourceUs = CandidateUs = [](size_t) { return 7000; };
  EXPECT_EQ(end(), "");
  // Nor is a tenth of what the candidate takes longer.
  SourceUs = [](size_t) { return 100; };
  CandidateUs = [](size_t) { return 40000; };
  EXPECT_EQ(end(), "");
  CandidateUs = [](size_t) { return 20000; };
  EXPECT_EQ(end().substr(0, 40), "forbidden: work escapes the timed call (");
}

// A host that is busy keeps most calls of either side waiting.
TEST_F(RaceTest, BusyHost) {
  OutsideUs = SourceOutsideUs;
  BusyUs = [](size_t Index) { return Index < 6 ? 2000 : 0; };
  EXPECT_EQ(end(), "");
  EXPECT_LT(Samples.size() / 2, 60u);
  // One call of the source was lucky; after forty pairs it is so.
  BusyUs = [](size_t Index) { return Index ? 4000 + 1000 * (Index % 3) : 900; };
  SourceBusyUs = [](size_t Index) {
    return Index == 3 ? 0 : 4000 + 1000 * (Index / 3 % 3);
  };
  EXPECT_EQ(end(), "");
  // What each call hides is told where few calls take all of the time.
  SourceBusyUs = [](size_t) { return 0; };
  BusyUs = [](size_t) { return 500000; };
  EXPECT_EQ(end().substr(0, 40), "forbidden: work escapes the timed call (");
  EXPECT_LT(Samples.size() / 2, 30u);
}

TEST_F(RaceTest, WorkOnAnotherStream) {
  EscapedUs = 24; // 10 % and 15 us
  EXPECT_EQ(end(), "");
  EscapedUs = 26;
  std::string End = end();
  EXPECT_EQ(End.substr(0, 42), "forbidden: work escapes the timed stream (");
  EXPECT_NE(End.find("100.00 us between the events, 26.00 us more when the "
                     "whole device is waited for"),
            std::string::npos)
      << End;
}

// All pairs that wait for the device are of the last placement here.
TEST_F(RaceTest, WhereBuffersLieIsNoOtherStream) {
  J.Timing.MaxSamples = 12;
  CandidateUs = [&](size_t) { return Places.size() < 5 ? 60 : 100; };
  EXPECT_EQ(end(), "");
  EXPECT_EQ(Places.size(), 5u);
  EscapedUs = 26;
  Places.clear();
  EXPECT_EQ(end().substr(0, 42), "forbidden: work escapes the timed stream (");
}

// Inputs have to be read as well; the workload says how much.
TEST_F(RaceTest, FasterThanTheWorkloadsBytesAllow) {
  Device.CopyGBs = 10;
  J.Cases[1].MovedBytes = 1200000; // 104.35 us at 1.15 times that
  SourceUs = [](size_t) { return 120; };
  std::string End = end();
  EXPECT_NE(End.find("100.00 us for the bytes of the workload, which take "
                     "104.35 us to move"),
            std::string::npos)
      << End;
  Device.L2Bytes = 60000; // what L2 may keep need not be moved
  EXPECT_EQ(end(), "");
  // The source is as fast: the workload says too much.
  Device.L2Bytes = 0;
  SourceUs = [](size_t) { return 102; };
  EXPECT_EQ(end(), "");
}

TEST_F(RaceTest, FasterThanMemoryAllows) {
  // 200000 bytes at 1.15 GB/s take 173.9 us.
  Device.CopyGBs = 1;
  SourceUs = [](size_t) { return 180; };
  std::string End = end();
  EXPECT_EQ(End.substr(0, 40), "forbidden: faster than memory allows (ti");
  EXPECT_NE(End.find("100.00 us for outputs that take 173.91 us to write"),
            std::string::npos)
      << End;
  Device.L2Bytes = 100000; // L2 may keep half of them
  EXPECT_EQ(end(), "");
  // The source writes a part of them alone.
  Device.L2Bytes = 0;
  SourceUs = [](size_t) { return 110; };
  EXPECT_EQ(end(), "");
}

// A time above what the judge's own clock saw is nobody's.
TEST_F(RaceTest, AClockThatWasTamperedWith) {
  OutsideUs = -1;
  EXPECT_EQ(end(), "forbidden: a timed call claims 100.00 us, but the "
                   "supervisor's clock saw 99.00 us");
  OutsideUs = 30;
  SourceOutsideUs = -1;
  EXPECT_EQ(end(), "infrastructure: a timed call claims 100.00 us, but the "
                   "supervisor's clock saw 99.00 us");
  SourceOutsideUs = 30;
  CandidateUs = [](size_t) { return 0; };
  EXPECT_EQ(end(), "forbidden: a timed call claims 0.00 us, but the "
                   "supervisor's clock saw 30.00 us");
}

// A supervisor's clock that stumbles now and then costs a pair each time.
TEST_F(RaceTest, AClockThatStumbles) {
  auto StumblesAt = [](std::set<size_t> Pairs) {
    return [=](size_t I) { return Pairs.count(I) ? -60.0 : 0.0; };
  };
  ASSERT_EQ(end(), "");
  size_t Usual = Samples.size();
  BusyUs = StumblesAt({3, 9});
  SourceBusyUs = StumblesAt({5});
  EXPECT_EQ(end(), "");
  EXPECT_EQ(Samples.size(), Usual + 6);
  EXPECT_DOUBLE_EQ(T.MedianUs, 100);
  BusyUs = StumblesAt({3, 5, 9, 11});
  SourceBusyUs = StumblesAt({});
  EXPECT_EQ(end(), "forbidden: a timed call claims 100.00 us, but the "
                   "supervisor's clock saw 70.00 us");
}

// The source may take the job's limit, the candidate what follows from the
// source: 10 s and a hundred times as long.
TEST_F(RaceTest, Limits) {
  SourceWarmth = {4, 4 * 50000}; // 50 ms a call
  ASSERT_EQ(end(), "");
  EXPECT_EQ(Warmed[0].LimitMs, 60002u);
  EXPECT_EQ(Warmed[1].LimitMs, 15050u);
  for (const Taken &T : Samples)
    EXPECT_EQ(T.LimitMs, T.Of == Side::Source ? 60000u : 15000u);
  EXPECT_EQ(candidateLimitMs(60000, 0), 10000u);
  EXPECT_EQ(candidateLimitMs(60000, 1e9), 60000u);
  EXPECT_EQ(candidateLimitMs(700, 1), 700u);
}

TEST(CallFor, AtLeastOnceThenUntilTheTimeHasPassed) {
  FakeClock Time;
  auto Call = [&] {
    Time.advance(std::chrono::milliseconds(3));
    return true;
  };
  EXPECT_EQ(callFor(0, Time, Call), 1u);
  EXPECT_EQ(callFor(20, Time, Call), 7u);
  EXPECT_EQ(callFor(20, Time, [] { return false; }), 1u);
}
