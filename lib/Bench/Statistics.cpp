//===- Statistics.cpp - Means and their intervals -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Bench/Statistics.h"
#include "stark/Support/Random.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace stark;

static constexpr double None = std::numeric_limits<double>::quiet_NaN();

double stark::mean(llvm::ArrayRef<double> Values) {
  double Sum = 0;
  for (double V : Values)
    Sum += V;
  return Values.empty() ? None : Sum / double(Values.size());
}

double stark::median(std::vector<double> Values) {
  if (Values.empty())
    return None;
  std::sort(Values.begin(), Values.end());
  size_t Half = Values.size() / 2;
  return Values.size() % 2 ? Values[Half]
                           : (Values[Half - 1] + Values[Half]) / 2;
}

double stark::geometricMean(llvm::ArrayRef<double> Values) {
  double Sum = 0;
  for (double V : Values)
    Sum += std::log(V);
  return Values.empty() ? None : std::exp(Sum / double(Values.size()));
}

Interval
stark::bootstrapGeometricMean(const std::vector<std::vector<double>> &Groups) {
  constexpr unsigned Resamples = 1000;
  /// Sum of logarithms and count of each group.
  std::vector<std::pair<double, double>> Sums;
  for (const std::vector<double> &Group : Groups) {
    double Sum = 0;
    for (double V : Group)
      Sum += std::log(V);
    if (!Group.empty())
      Sums.emplace_back(Sum, double(Group.size()));
  }
  if (Sums.size() < 2)
    return {None, None};
  Random Draw(1);
  std::vector<double> Means;
  for (unsigned I = 0; I < Resamples; ++I) {
    double Sum = 0, Count = 0;
    for (size_t J = 0; J < Sums.size(); ++J) {
      const auto &[OfGroup, Size] = Sums[size_t(Draw.below(Sums.size()))];
      Sum += OfGroup;
      Count += Size;
    }
    Means.push_back(Sum / Count);
  }
  std::sort(Means.begin(), Means.end());
  return {std::exp(Means[Resamples / 40]),
          std::exp(Means[Resamples - 1 - Resamples / 40])};
}
