//===- Traced.cpp - A time beside what the device did ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Judge/Traced.h"
#include "Micro.h"
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

using namespace stark;
using namespace stark::judge;

/// In one call the two clocks agree to this; on an H200 the events take 2.2 us
/// more than what lies between them.
static constexpr double CallUs = 1, CallShare = 0.02;
/// Calls of another process, with buffers that lie elsewhere, may take this
/// much longer, the quickest of them beside the median of those that count.
static constexpr double OtherUs = 5, OtherShare = 0.5;

std::string judge::whyUntrue(double MedianUs,
                             const std::vector<TracedCall> &Calls) {
  std::vector<TracedCall> Seen;
  std::copy_if(Calls.begin(), Calls.end(), std::back_inserter(Seen),
               [](const TracedCall &C) { return C.Works > 0; });
  if (Seen.empty())
    return "";
  auto Outside = [](const TracedCall &C) { return C.WorkUs - C.EventUs; };
  auto Middle = Seen.begin() + std::ptrdiff_t(Seen.size() / 2);
  std::nth_element(Seen.begin(), Middle, Seen.end(),
                   [&](const TracedCall &A, const TracedCall &B) {
                     return Outside(A) < Outside(B);
                   });
  if (Outside(*Middle) > CallUs + CallShare * Middle->EventUs)
    return "the device works " + micro(Middle->WorkUs) +
           " for a call, of which " + micro(Middle->EventUs) +
           " are between its events. All work must be on the stream that the "
           "entry is given";
  double Least = HUGE_VAL;
  for (const TracedCall &C : Seen)
    Least = std::min(Least, C.WorkUs);
  if (Least > OtherUs + (1 + OtherShare) * MedianUs)
    return "the device works " + micro(Least) +
           " for a call at least while it is recorded what it does, and " +
           micro(MedianUs) + " where that is timed";
  return "";
}

uint64_t judge::keptByEach(const std::vector<TracedCall> &Calls) {
  int64_t Least = Calls.front().KeptBytes;
  for (const TracedCall &C : Calls)
    Least = std::min(Least, C.KeptBytes);
  return uint64_t(std::max<int64_t>(Least, 0));
}
