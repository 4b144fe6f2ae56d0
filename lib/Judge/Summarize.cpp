//===- Summarize.cpp - Samples to figures --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Medians, quartile distances and a bootstrap interval of the speed-up. The
/// bootstrap draws from a fixed seed: the same samples give the same figures.
///
//===----------------------------------------------------------------------===//

#include "stark/Judge/Race.h"
#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

/// Two processes that run the same code differ, for as long as they live, by
/// where their memory lies: on an H200 by up to 0.12 % where samples of one
/// differ by less. More samples do not show it.
static constexpr double BetweenProcesses = 0.001;

/// Quantile \p Q of ascending \p Sorted, linear between the two nearest.
static double quantile(const std::vector<double> &Sorted, double Q) {
  if (Sorted.empty())
    return 0;
  double At = Q * double(Sorted.size() - 1);
  size_t Low = size_t(At);
  size_t High = std::min(Low + 1, Sorted.size() - 1);
  return Sorted[Low] + (At - double(Low)) * (Sorted[High] - Sorted[Low]);
}

static double median(std::vector<double> Values) {
  std::sort(Values.begin(), Values.end());
  return quantile(Values, 0.5);
}

Timing judge::summarize(const std::string &Label,
                        const std::vector<double> &CandidateUs,
                        const std::vector<double> &SourceUs) {
  Timing T;
  T.Label = Label;
  T.Samples = CandidateUs.size();
  if (CandidateUs.empty() || SourceUs.empty())
    return T;
  std::vector<double> C = CandidateUs, S = SourceUs;
  std::sort(C.begin(), C.end());
  std::sort(S.begin(), S.end());
  T.MedianUs = quantile(C, 0.5);
  T.IqrUs = quantile(C, 0.75) - quantile(C, 0.25);
  T.MinUs = C.front();
  T.SourceMedianUs = quantile(S, 0.5);
  T.SourceIqrUs = quantile(S, 0.75) - quantile(S, 0.25);
  T.SourceMinUs = S.front();
  T.Speedup = T.SourceMedianUs / T.MedianUs;

  // Percentile bootstrap of the ratio of medians. Source and candidate were
  // sampled in pairs, so pairs are drawn: a drift of the clock that hit both
  // cancels.
  constexpr unsigned Rounds = 1000;
  size_t Pairs = std::min(CandidateUs.size(), SourceUs.size());
  std::mt19937_64 Engine(0x5374617262ull);
  std::vector<double> Ratios, DrawnC(Pairs), DrawnS(Pairs);
  for (unsigned R = 0; R < Rounds; ++R) {
    for (size_t I = 0; I < Pairs; ++I) {
      size_t At = size_t(Engine() % Pairs);
      DrawnC[I] = CandidateUs[At];
      DrawnS[I] = SourceUs[At];
    }
    Ratios.push_back(median(DrawnS) / median(DrawnC));
  }
  std::sort(Ratios.begin(), Ratios.end());
  T.SpeedupLow = quantile(Ratios, 0.025) * (1 - BetweenProcesses);
  T.SpeedupHigh = quantile(Ratios, 0.975) * (1 + BetweenProcesses);
  return T;
}

/// Student's t for 95 %, both sides, by degrees of freedom from 1.
static double studentT(size_t Freedom) {
  static constexpr double T[] = {12.706, 4.303, 3.182, 2.776, 2.571,
                                 2.447,  2.365, 2.306, 2.262};
  return T[std::min(Freedom, std::size(T)) - 1];
}

namespace {
/// Of numbers that are multiplied.
struct LogMoments {
  double Mean = 0, StandardError = 0;

  explicit LogMoments(const std::vector<double> &Values) {
    double N = double(Values.size()), Squares = 0;
    for (double V : Values)
      Mean += std::log(V) / N;
    for (double V : Values)
      Squares += (std::log(V) - Mean) * (std::log(V) - Mean);
    if (N > 1)
      StandardError = std::sqrt(Squares / (N - 1) / N);
  }
};
} // namespace

Timing judge::combine(const std::vector<Timing> &Rounds) {
  Timing T = Rounds.front();
  if (Rounds.size() == 1)
    return T;
  auto MeanOf = [&](double Timing::*Field) {
    std::vector<double> Values;
    for (const Timing &R : Rounds)
      Values.push_back(R.*Field);
    return std::exp(LogMoments(Values).Mean);
  };
  auto WidestOf = [&](double Timing::*Field) {
    double Most = 0;
    for (const Timing &R : Rounds)
      Most = std::max(Most, R.*Field);
    return Most;
  };
  std::vector<double> Ratios;
  T.Samples = T.Discarded = 0;
  for (const Timing &R : Rounds) {
    T.Samples += R.Samples;
    T.Discarded += R.Discarded;
    T.MinUs = std::min(T.MinUs, R.MinUs);
    T.SourceMinUs = std::min(T.SourceMinUs, R.SourceMinUs);
    Ratios.push_back(R.Speedup);
  }
  T.MedianUs = MeanOf(&Timing::MedianUs);
  T.SourceMedianUs = MeanOf(&Timing::SourceMedianUs);
  T.IqrUs = WidestOf(&Timing::IqrUs);
  T.SourceIqrUs = WidestOf(&Timing::SourceIqrUs);
  T.Speedup = T.SourceMedianUs / T.MedianUs;
  LogMoments Found(Ratios);
  double Margin = studentT(Rounds.size() - 1) * Found.StandardError;
  T.SpeedupLow =
      std::min(std::exp(Found.Mean - Margin), MeanOf(&Timing::SpeedupLow));
  T.SpeedupHigh =
      std::max(std::exp(Found.Mean + Margin), MeanOf(&Timing::SpeedupHigh));
  return T;
}
