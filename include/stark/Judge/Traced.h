//===- Traced.h - A time beside what the device did -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   calls that two clocks saw -> whether the time of a size can be true
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JUDGE_TRACED_H
#define STARK_JUDGE_TRACED_H

#include <cstdint>
#include <string>
#include <vector>

namespace stark::judge {

/// One timed call. In microseconds.
struct TracedCall {
  double EventUs = 0; ///< between its two events
  /// From when the device began with the first that it did for the call, on
  /// whatever stream, to the end of the last, by the device's records.
  double WorkUs = 0;
  uint64_t Works = 0; ///< kernels, copies and fills
  /// Of memory of the device, or pinned, that it took and did not give back.
  int64_t KeptBytes = 0;
};

/// Why the time of a size, \p MedianUs, cannot be true, as \p Calls show it;
/// empty where nothing speaks against it, or the device did nothing.
std::string whyUntrue(double MedianUs, const std::vector<TracedCall> &Calls);

/// Bytes that each of \p Calls, at least one, took at least and did not give
/// back; 0 where one did not. What is taken once is not kept by each.
uint64_t keptByEach(const std::vector<TracedCall> &Calls);

} // namespace stark::judge

#endif
