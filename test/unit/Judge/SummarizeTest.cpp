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

TEST(Summarize, MedianAndQuartiles) {
  Timing T = summarize("n=1", {5, 1, 2, 4, 3}, {10, 10, 10, 10, 10});
  EXPECT_EQ(T.Label, "n=1");
  EXPECT_EQ(T.Samples, 5u);
  EXPECT_DOUBLE_EQ(T.MedianUs, 3);
  EXPECT_DOUBLE_EQ(T.IqrUs, 2);
  EXPECT_DOUBLE_EQ(T.MinUs, 1);
  EXPECT_DOUBLE_EQ(T.SourceMedianUs, 10);
  EXPECT_DOUBLE_EQ(T.SourceIqrUs, 0);
  EXPECT_DOUBLE_EQ(T.Speedup, 10.0 / 3);
}

TEST(Summarize, TheIntervalHoldsTheSpeedup) {
  std::vector<double> Candidate, Source;
  for (int I = 0; I < 50; ++I) {
    Candidate.push_back(100 + I % 7);
    Source.push_back(200 + I % 11);
  }
  Timing T = summarize("", Candidate, Source);
  EXPECT_LE(T.SpeedupLow, T.Speedup);
  EXPECT_GE(T.SpeedupHigh, T.Speedup);
  EXPECT_GT(T.SpeedupLow, 1.8);
  EXPECT_LT(T.SpeedupHigh, 2.1);
}

TEST(Summarize, EqualSamplesGiveNoSpeedup) {
  std::vector<double> Same;
  for (int I = 0; I < 40; ++I)
    Same.push_back(100 + (I * 37 % 13) * 0.1);
  Timing T = summarize("", Same, Same);
  EXPECT_DOUBLE_EQ(T.Speedup, 1);
  EXPECT_LE(T.SpeedupLow, 1);
  EXPECT_GE(T.SpeedupHigh, 1);
}

// However alike the samples of two processes are.
TEST(Summarize, TheIntervalIsNoNarrowerThanProcessesDiffer) {
  Timing T = summarize("", std::vector<double>(40, 100.0),
                       std::vector<double>(40, 100.05));
  EXPECT_LT(T.SpeedupLow, 1);
  EXPECT_GT(T.SpeedupHigh, 1.001);
  EXPECT_LT(T.SpeedupHigh, 1.002);
}

TEST(Summarize, TheSameSamplesGiveTheSameFigures) {
  std::vector<double> A = {3, 1, 4, 1, 5, 9, 2, 6},
                      B = {2, 7, 1, 8, 2, 8, 1, 8};
  auto Text = [&] {
    return dumpJson(writeFields<nlohmann::json>(summarize("x", A, B)));
  };
  EXPECT_EQ(Text(), Text());
}

TEST(Summarize, NoSamplesAreNoCrash) {
  EXPECT_EQ(summarize("x", {}, {}).Samples, 0u);
}

/// One pair of processes whose samples hardly differ.
static Timing round(double CandidateUs, double SourceUs) {
  return summarize("n=1", std::vector<double>(30, CandidateUs),
                   std::vector<double>(30, SourceUs));
}

TEST(Combine, OneRoundIsItself) {
  Timing T = combine({round(10, 20)});
  EXPECT_DOUBLE_EQ(T.Speedup, 2);
  EXPECT_EQ(T.Samples, 30u);
}

TEST(Combine, MediansAreMultipliedSoThatTheirRatioIsTheSpeedup) {
  Timing T = combine({round(10, 20), round(20, 80)});
  EXPECT_EQ(T.Label, "n=1");
  EXPECT_EQ(T.Samples, 60u);
  EXPECT_NEAR(T.MedianUs, std::sqrt(200.0), 1e-9);
  EXPECT_NEAR(T.SourceMedianUs, 40, 1e-9);
  EXPECT_DOUBLE_EQ(T.MinUs, 10);
  EXPECT_NEAR(T.Speedup, 40 / std::sqrt(200.0), 1e-9);
}

// Each pair is sure of itself, and they do not agree.
TEST(Combine, TheIntervalFollowsTheRounds) {
  Timing T = combine(
      {round(100, 101), round(100, 99), round(100, 102), round(100, 98)});
  EXPECT_LT(T.SpeedupLow, 0.98);
  EXPECT_GT(T.SpeedupHigh, 1.02);
  // Student's t of three degrees of freedom, 3.182, by half their deviation.
  EXPECT_NEAR(T.SpeedupHigh / T.Speedup, std::exp(3.182 * 0.0182597 / 2), 1e-4);
}

TEST(Combine, RoundsThatAgreeAreNoSurerThanEach) {
  Timing One = round(100, 110), T = combine({One, One, One, One});
  EXPECT_NEAR(T.Speedup, One.Speedup, 1e-12);
  EXPECT_NEAR(T.SpeedupLow, One.SpeedupLow, 1e-12);
  EXPECT_NEAR(T.SpeedupHigh, One.SpeedupHigh, 1e-12);
}
