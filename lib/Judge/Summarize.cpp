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
#include <cstdio>
#include <iterator>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

/// Two processes that run the same code differ, for as long as they live, by
/// where their memory lies: on an H200 by up to 0.12 % where samples of one
/// differ by less. More samples do not show it.
static constexpr double BetweenProcesses = 0.001;
/// A candidate whose calls differ by more, between the quartiles, is told so,
/// where there are so many; both are pairs with the same inputs, so what these
/// do shows in both by this correlation.
static constexpr double WideSpread = 0.05, SameCause = 0.5;
static constexpr size_t FewestForSpread = 12;
/// With fewer placements, pairs are what varies.
static constexpr size_t FewestBlocks = 3;

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

/// Student's t for 95 %, both sides, by degrees of freedom from 1.
static double studentT(size_t Freedom) {
  static constexpr double T[] = {
      12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
      2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093};
  return Freedom <= std::size(T) ? T[Freedom - 1] : 2.02;
}

namespace {
/// Of numbers that are multiplied: the mean of their logarithms, and half of
/// Student's 95 % interval of it.
struct LogMean {
  double Mean = 0, Margin = 0;

  explicit LogMean(const std::vector<double> &Values) {
    double N = double(Values.size()), Squares = 0;
    for (double V : Values)
      Mean += std::log(V) / N;
    for (double V : Values)
      Squares += (std::log(V) - Mean) * (std::log(V) - Mean);
    if (N > 1)
      Margin = studentT(Values.size() - 1) * std::sqrt(Squares / (N - 1) / N);
  }
  double value() const { return std::exp(Mean); }
};

/// What one side, or the ratio of both, came to.
struct Side {
  std::vector<double> Blocks; ///< their medians
  std::vector<double> All;    ///< every sample, then ascending

  void add(const std::vector<double> &Us) {
    Blocks.push_back(median(Us));
    All.insert(All.end(), Us.begin(), Us.end());
  }
};

/// One pair of processes.
struct Round {
  Side Source, Candidate;
  std::vector<double> Ratios, PairRatios; ///< of blocks, of pairs

  explicit Round(const Samples &S) {
    for (const Block &B : S.Blocks) {
      Source.add(B.SourceUs);
      Candidate.add(B.CandidateUs);
      Ratios.push_back(Source.Blocks.back() / Candidate.Blocks.back());
      for (size_t I = 0; I < B.SourceUs.size(); ++I)
        PairRatios.push_back(B.SourceUs[I] / B.CandidateUs[I]);
    }
    std::sort(Source.All.begin(), Source.All.end());
    std::sort(Candidate.All.begin(), Candidate.All.end());
  }
  const std::vector<double> &varying() const {
    return Ratios.size() < FewestBlocks ? PairRatios : Ratios;
  }
};

double iqr(const std::vector<double> &Sorted) {
  return quantile(Sorted, 0.75) - quantile(Sorted, 0.25);
}
} // namespace

Timing judge::summarize(const std::vector<Samples> &Rounds) {
  Timing T;
  T.Label = Rounds.front().Label;
  std::vector<double> Sources, Candidates, Ratios;
  std::vector<Round> Taken;
  for (const Samples &S : Rounds) {
    const Round &R = Taken.emplace_back(S);
    if (R.Candidate.All.empty())
      return T;
    Sources.push_back(LogMean(R.Source.Blocks).value());
    Candidates.push_back(LogMean(R.Candidate.Blocks).value());
    Ratios.push_back(LogMean(R.Ratios).value());
    T.Samples += R.Candidate.All.size();
    T.Discarded += S.Discarded;
    T.Throttled += S.Throttled;
    bool First = Taken.size() == 1;
    T.MinUs =
        First ? R.Candidate.All[0] : std::min(T.MinUs, R.Candidate.All[0]);
    T.SourceMinUs =
        First ? R.Source.All[0] : std::min(T.SourceMinUs, R.Source.All[0]);
    T.IqrUs = std::max(T.IqrUs, iqr(R.Candidate.All));
    T.SourceIqrUs = std::max(T.SourceIqrUs, iqr(R.Source.All));
  }
  T.MedianUs = LogMean(Candidates).value();
  T.SourceMedianUs = LogMean(Sources).value();
  T.Speedup = T.SourceMedianUs / T.MedianUs;
  // What varies is what was drawn outermost.
  double Margin = Taken.size() > 1 ? LogMean(Ratios).Margin
                                   : LogMean(Taken.front().varying()).Margin +
                                         BetweenProcesses;
  T.SpeedupLow = T.Speedup * std::exp(-Margin);
  T.SpeedupHigh = T.Speedup * std::exp(Margin);
  return T;
}

/// Of each sample how far it is, as a share, from the median of its placement.
static std::vector<double> residuals(const std::vector<Samples> &Rounds,
                                     std::vector<double> Block::*Us) {
  std::vector<double> All;
  for (const Samples &S : Rounds)
    for (const Block &B : S.Blocks) {
      double Middle = median(B.*Us);
      for (double V : B.*Us)
        All.push_back(V / Middle - 1);
    }
  return All;
}

/// From -1 to 1.
static double correlation(const std::vector<double> &A,
                          const std::vector<double> &B) {
  double N = double(A.size()), MeanA = 0, MeanB = 0, AA = 0, BB = 0, AB = 0;
  for (size_t I = 0; I < A.size(); ++I) {
    MeanA += A[I] / N;
    MeanB += B[I] / N;
  }
  for (size_t I = 0; I < A.size(); ++I) {
    AA += (A[I] - MeanA) * (A[I] - MeanA);
    BB += (B[I] - MeanB) * (B[I] - MeanB);
    AB += (A[I] - MeanA) * (B[I] - MeanB);
  }
  return AA > 0 && BB > 0 ? AB / std::sqrt(AA * BB) : 0;
}

std::string judge::describeSpread(const std::vector<Samples> &Rounds) {
  std::vector<double> Ours = residuals(Rounds, &Block::CandidateUs),
                      Theirs = residuals(Rounds, &Block::SourceUs),
                      Sorted = Ours;
  std::sort(Sorted.begin(), Sorted.end());
  double Spread = iqr(Sorted);
  if (Ours.size() < FewestForSpread || Spread < WideSpread)
    return "";
  char Share[32];
  std::snprintf(Share, sizeof(Share), "%.0f %%", Spread * 100);
  bool WithInputs = correlation(Ours, Theirs) > SameCause;
  return Rounds.front().Label + ": the candidate's own time varies by " +
         Share + " from call to call (distance of the quartiles), " +
         (WithInputs ? "with its inputs, as the source's does"
                     : "and the source's does not follow the same inputs: "
                       "look at atomics, and at what depends on values") +
         "\n";
}
