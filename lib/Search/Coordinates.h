//===- Coordinates.h - Which numbers are tried next -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   tunables + scores of the points before -> the next point
/// Coordinate descent: one number is changed at a time, to twice and half its
/// best value first, then to what lies beyond and between; a gain is gone on
/// from. It ends when no change of a single number gains. The same seed and the
/// same scores give the same points.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SEARCH_COORDINATES_H
#define STARK_LIB_SEARCH_COORDINATES_H

#include "stark/AST/Tunables.h"
#include <optional>
#include <set>

namespace stark {

class Coordinates {
public:
  using Point = std::vector<uint32_t>; ///< a value for each tunable

  /// The present values have \p Score; lower is better.
  Coordinates(std::vector<Tunable> All, double Score, uint64_t Seed);

  /// One that was not there before; unset: no more.
  std::optional<Point> next();
  /// The latest one has \p Score, infinite when it is not correct.
  void found(double Score);

  const std::vector<Tunable> &tunables() const { return All; }
  const Point &best() const { return Best; }

private:
  std::vector<Tunable> All;
  std::vector<size_t> Order; ///< of the coordinates
  Point Best, Latest;
  double BestScore;
  size_t At = 0;   ///< in Order
  size_t Idle = 0; ///< coordinates in a row without a gain
  std::set<Point> Tried;
};

/// What is tried in place of \p Now, the most promising first.
std::vector<uint32_t> valuesAround(const Tunable &T, uint32_t Now);

/// "kBlock = 256, kRows = 4": what \p To has other than \p From.
std::string describePoint(const std::vector<Tunable> &All,
                          const Coordinates::Point &From,
                          const Coordinates::Point &To);

} // namespace stark

#endif
