//===- Statistics.h - Means and their intervals ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What a table says of many runs. An interval is the percentile bootstrap's
/// with draws of our own, so that the same values give the same interval.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_BENCH_STATISTICS_H
#define STARK_BENCH_STATISTICS_H

#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace stark {

/// NaN for no values. Those of the geometric mean must be positive.
double mean(llvm::ArrayRef<double> Values);
double median(std::vector<double> Values);
double geometricMean(llvm::ArrayRef<double> Values);

struct Interval {
  double Low, High;
};

/// 95 % interval of the geometric mean of \p Groups' values when whole groups
/// are drawn anew, with replacement: runs of one task are not independent. NaN
/// for fewer than two groups with values.
Interval bootstrapGeometricMean(const std::vector<std::vector<double>> &Groups);

} // namespace stark

#endif
