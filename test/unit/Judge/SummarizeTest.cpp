//===- SummarizeTest.cpp - Samples to figures ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Job/Formats.h"
#include "stark/Judge/Race.h"
#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

/// Samples of one pair of processes; a placement is (candidate, source).
using Placed = std::pair<std::vector<double>, std::vector<double>>;
static Samples samples(const std::vector<Placed> &Blocks) {
  Samples S;
  S.Label = "n=1";
  S.Discarded = 3;
  for (const Placed &P : Blocks)
    S.Blocks.push_back({P.second, P.first, P.second, P.first});
  return S;
}

TEST(Summarize, MedianAndQuartiles) {
  Timing T = summarize({samples({{{5, 1, 2, 4, 3}, {50, 10, 20, 40, 30}}})});
  EXPECT_EQ(T.Label, "n=1");
  EXPECT_EQ(T.Samples, 5u);
  EXPECT_EQ(T.Discarded, 3u);
  EXPECT_DOUBLE_EQ(T.MedianUs, 3);
  EXPECT_DOUBLE_EQ(T.IqrUs, 2);
  EXPECT_DOUBLE_EQ(T.MinUs, 1);
  EXPECT_DOUBLE_EQ(T.SourceMedianUs, 30);
  EXPECT_DOUBLE_EQ(T.SourceIqrUs, 20);
  EXPECT_NEAR(T.Speedup, 10, 1e-9); // of each pair, whatever its inputs
}

// A call that the host or another process got into the way of moves nothing.
TEST(Summarize, ACallThatWasDisturbed) {
  std::vector<double> Source(8, 200), Candidate(8, 100);
  Source[2] = 4000;
  Candidate[5] = 9000;
  EXPECT_NEAR(summarize({samples({{Candidate, Source}})}).Speedup, 2, 1e-9);
}

TEST(Summarize, TheSameSamplesGiveTheSameFigures) {
  std::vector<double> A = {3, 1, 4, 1, 5, 9, 2, 6},
                      B = {2, 7, 1, 8, 2, 8, 1, 8};
  auto Text = [&] {
    return dumpJson(
        writeFields<nlohmann::json>(summarize({samples({{A, B}})})));
  };
  EXPECT_EQ(Text(), Text());
}

TEST(Summarize, NoSamplesAreNoCrash) {
  EXPECT_EQ(summarize({samples({})}).Samples, 0u);
}

// Within a placement all samples agree, and no two placements do: what was
// drawn outermost says how sure a figure is, not the number of samples.
TEST(Summarize, TheIntervalFollowsThePlacements) {
  std::vector<double> Same(50, 100);
  Timing T = summarize({samples({{Same, std::vector<double>(50, 101)},
                                 {Same, std::vector<double>(50, 99)},
                                 {Same, std::vector<double>(50, 102)},
                                 {Same, std::vector<double>(50, 98)}})});
  EXPECT_LT(T.SpeedupLow, 0.98);
  EXPECT_GT(T.SpeedupHigh, 1.02);
}

// Fewer than three placements say nothing of what placements do.
TEST(Summarize, OfFewPlacementsThePairsCount) {
  std::vector<double> Source = {100, 104, 96, 100, 102, 98};
  Timing T = summarize({samples({{std::vector<double>(6, 100), Source}})});
  EXPECT_LT(T.SpeedupLow, 0.98);
  EXPECT_GT(T.SpeedupHigh, 1.02);
  EXPECT_GT(T.SpeedupLow, 0.95);
}

/// One pair of processes whose samples do not differ.
static Samples round(double CandidateUs, double SourceUs) {
  Placed P = {std::vector<double>(5, CandidateUs),
              std::vector<double>(5, SourceUs)};
  return samples({P, P, P, P});
}

// However alike the samples of two processes are: 0.1 %, and 80 ns of a call.
TEST(Summarize, TheIntervalIsNoNarrowerThanProcessesDiffer) {
  Timing T = summarize({round(1000, 1000)});
  EXPECT_NEAR(T.SpeedupHigh, std::exp(1.96 * 0.001), 1e-5);
  EXPECT_NEAR(T.SpeedupLow, std::exp(-1.96 * 0.001), 1e-5);
  EXPECT_NEAR(summarize({round(4, 4)}).SpeedupHigh, std::exp(1.96 * 0.02),
              1e-3);
}

TEST(Summarize, MediansAreMultipliedSoThatTheirRatioIsTheSpeedup) {
  Timing T = summarize({round(10, 20), round(20, 80)});
  EXPECT_EQ(T.Label, "n=1");
  EXPECT_EQ(T.Samples, 40u);
  EXPECT_EQ(T.Discarded, 6u);
  EXPECT_NEAR(T.MedianUs, std::sqrt(200.0), 1e-9);
  EXPECT_NEAR(T.SourceMedianUs, 40, 1e-9);
  EXPECT_DOUBLE_EQ(T.MinUs, 10);
  EXPECT_NEAR(T.Speedup, 40 / std::sqrt(200.0), 1e-9);
}

// Each pair of processes is sure of itself, and they do not agree.
TEST(Summarize, TheIntervalFollowsTheProcesses) {
  Timing T = summarize(
      {round(100, 101), round(100, 99), round(100, 102), round(100, 98)});
  EXPECT_LT(T.SpeedupLow, 0.98);
  EXPECT_GT(T.SpeedupHigh, 1.02);
  // Student's t of three degrees of freedom, 3.182, by half their deviation.
  EXPECT_NEAR(T.SpeedupHigh / T.Speedup, std::exp(3.182 * 0.0182597 / 2), 1e-4);
}

// A kernel whose own time varies is told as such, and with what: both sides of
// a pair had the same inputs.
TEST(DescribeSpread, WithInputsOrByItself) {
  std::vector<double> Steady(12, 100), Odd, Even;
  for (int I = 0; I < 12; ++I) {
    Odd.push_back(I % 2 ? 130 : 100);
    Even.push_back(I / 2 % 2 ? 260 : 200);
  }
  auto Described = [](const std::vector<double> &Candidate,
                      const std::vector<double> &Source) {
    return describeSpread({samples({{Candidate, Source}})});
  };
  EXPECT_EQ(Described(Steady, Odd), "");
  EXPECT_EQ(Described(Odd, Odd),
            "n=1: the candidate's own time varies by 26 % from call to call "
            "(distance of the quartiles), with its inputs, as the source's "
            "does\n");
  for (const std::vector<double> &Source : {Steady, Even})
    EXPECT_EQ(Described(Odd, Source),
              "n=1: the candidate's own time varies by 26 % from call to call "
              "(distance of the quartiles), and the source's does not follow "
              "the same inputs: look at atomics, and at what depends on "
              "values\n");
}

// What placements do is no spread of the kernel's own.
TEST(DescribeSpread, NotWithPlacements) {
  EXPECT_EQ(describeSpread({round(100, 100), round(140, 100)}), "");
  std::vector<double> A(12, 100), B(12, 130);
  EXPECT_EQ(describeSpread({samples({{A, A}, {B, A}})}), "");
}
