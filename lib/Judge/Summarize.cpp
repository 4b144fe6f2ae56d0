//===- Summarize.cpp - Samples to figures --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   samples -> ratios of pairs -> of placements -> of processes -> interval
/// The interval is Student's of what was drawn outermost: pairs of processes,
/// or of one pair of processes the placements of its buffers, with what is
/// known of how processes differ. docs/judging.md has what that is worth.
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

/// Two processes that run the same code differ, for as long as they live, by so
/// many microseconds and by this share: what one pair of them cannot see. The
/// standard deviation of their ratio on an H100; docs/judging.md.
static constexpr double BetweenProcessesUs = 0.08, BetweenProcesses = 0.001;
/// Of a normal distribution, 95 % lie within so many standard deviations.
static constexpr double Normal95 = 1.96;
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
/// The mean, and half of Student's 95 % interval of it.
struct Estimate {
  double Mean = 0, Margin = 0;

  explicit Estimate(const std::vector<double> &Values) {
    double N = double(Values.size()), Squares = 0;
    for (double V : Values)
      Mean += V / N;
    for (double V : Values)
      Squares += (V - Mean) * (V - Mean);
    if (N > 1)
      Margin = studentT(Values.size() - 1) * std::sqrt(Squares / (N - 1) / N);
  }
};

/// The mean of the half that lies in the middle: of few values nearly as good
/// as the mean, and deaf to calls that something else got into the way of.
double midmean(std::vector<double> Values) {
  std::sort(Values.begin(), Values.end());
  size_t Cut = Values.size() / 4;
  double Sum = 0;
  for (size_t I = Cut; I < Values.size() - Cut; ++I)
    Sum += Values[I];
  return Sum / double(Values.size() - 2 * Cut);
}

double iqr(const std::vector<double> &Sorted) {
  return quantile(Sorted, 0.75) - quantile(Sorted, 0.25);
}

/// What one pair of processes came to.
struct Round {
  std::vector<double> SourceUs, CandidateUs; ///< ascending
  std::vector<double> Ratios;                ///< logarithms, of pairs
  std::vector<double> OfPlacements;          ///< their midmeans

  explicit Round(const Samples &S) {
    for (const Block &B : S.Blocks) {
      if (B.SourceUs.empty())
        continue;
      std::vector<double> Here;
      for (size_t I = 0; I < B.SourceUs.size(); ++I)
        Here.push_back(std::log(B.SourceUs[I] / B.CandidateUs[I]));
      OfPlacements.push_back(midmean(Here));
      Ratios.insert(Ratios.end(), Here.begin(), Here.end());
      SourceUs.insert(SourceUs.end(), B.SourceUs.begin(), B.SourceUs.end());
      CandidateUs.insert(CandidateUs.end(), B.CandidateUs.begin(),
                         B.CandidateUs.end());
    }
    std::sort(SourceUs.begin(), SourceUs.end());
    std::sort(CandidateUs.begin(), CandidateUs.end());
  }
  /// Of the logarithm of the ratio, by this pair of processes alone.
  double margin() const {
    double Seen =
        Estimate(OfPlacements.size() < FewestBlocks ? Ratios : OfPlacements)
            .Margin;
    double Us = std::min(SourceUs[0], CandidateUs[0]);
    return std::hypot(Seen, Normal95 * BetweenProcessesUs / Us,
                      Normal95 * BetweenProcesses);
  }
};
} // namespace

/// Adds what \p R took to \p T, whose times are logarithms.
static void add(const Round &R, Timing &T) {
  bool First = T.Samples == 0;
  T.Samples += R.CandidateUs.size();
  T.MedianUs += std::log(quantile(R.CandidateUs, 0.5));
  T.SourceMedianUs += std::log(quantile(R.SourceUs, 0.5));
  T.IqrUs = std::max(T.IqrUs, iqr(R.CandidateUs));
  T.SourceIqrUs = std::max(T.SourceIqrUs, iqr(R.SourceUs));
  T.MinUs = First ? R.CandidateUs[0] : std::min(T.MinUs, R.CandidateUs[0]);
  T.SourceMinUs =
      First ? R.SourceUs[0] : std::min(T.SourceMinUs, R.SourceUs[0]);
}

Timing judge::summarize(const std::vector<Samples> &Rounds) {
  Timing T;
  T.Label = Rounds.front().Label;
  std::vector<double> Ratios;
  double Alone = 0;
  for (const Samples &S : Rounds) {
    Round R(S);
    T.Discarded += S.Discarded;
    T.Throttled += S.Throttled;
    if (R.Ratios.empty())
      continue;
    add(R, T);
    Ratios.push_back(midmean(R.Ratios));
    Alone = R.margin();
  }
  if (Ratios.empty())
    return T;
  T.MedianUs = std::exp(T.MedianUs / double(Ratios.size()));
  T.SourceMedianUs = std::exp(T.SourceMedianUs / double(Ratios.size()));
  // What varies is what was drawn outermost.
  Estimate Found(Ratios);
  double Margin = Ratios.size() > 1 ? Found.Margin : Alone;
  T.Speedup = std::exp(Found.Mean);
  T.SpeedupLow = std::exp(Found.Mean - Margin);
  T.SpeedupHigh = std::exp(Found.Mean + Margin);
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
