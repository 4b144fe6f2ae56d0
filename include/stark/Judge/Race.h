//===- Race.h - Which of the two is faster --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   warm up -> (buffers somewhere else -> pairs of samples, A B then B A)*
///   -> checks that the clock was not fooled -> samples -> timing
/// Source and candidate live at once, so a drift of the device's clock hits
/// both. How fast code is depends on where its buffers lie, so they are placed
/// anew every few pairs. Inputs are new in every pair, and some timed calls,
/// chosen after they ran, are compared like any other.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JUDGE_RACE_H
#define STARK_JUDGE_RACE_H

#include "stark/Judge/Runner.h"
#include <functional>

namespace stark {
class Clock;
}

namespace stark::judge {

/// The inputs of a timed call, and how it is taken.
struct TimedCall {
  unsigned Case = 0;
  uint64_t Seed = 0;
  unsigned Round = 0;
  bool WaitForDevice = false; ///< for all of it, before the stop event
};

/// One call: what lay between its two events, and what the asking took by the
/// judge's own clock. Both in microseconds.
struct Sample {
  double EventUs = 0, WallUs = 0;
};

/// What a warm-up came to.
struct Warmth {
  uint64_t Calls = 0;
  double WallUs = 0; ///< of all
};

/// Source and candidate, both loaded, called in turn. A call that is not back
/// after \p LimitMs ends the job.
class TimedPair {
public:
  virtual ~TimedPair() = default;
  /// Places the buffers of \p Case, of each side apart, somewhere that the
  /// secret \p Draw says.
  virtual MaybeStop place(unsigned Case, uint64_t Draw) = 0;
  /// Calls for \p Ms milliseconds.
  virtual MaybeStop warm(Side Of, const TimedCall &Call, uint64_t Ms,
                         uint64_t LimitMs, Warmth &W) = 0;
  virtual MaybeStop sample(Side Of, const TimedCall &Call, uint64_t LimitMs,
                           Sample &S) = 0;
  /// Compares the outputs of the last call of each.
  virtual MaybeStop verify(const TimedCall &Last) = 0;
  /// Is the device's clock lowered now, by heat or power?
  virtual bool heldBack() { return false; }
};

/// What the device can do at best.
struct DeviceLimits {
  uint64_t L2Bytes = 0;
  double CopyGBs = 0; ///< device-to-device, read + written; 0: not known
};

/// Samples one size. \p Warm: the device has worked on another of these two
/// processes just before. \p Secret draws numbers that no candidate can
/// foresee; \p Time ends the sampling.
MaybeStop race(const job::Job &J, unsigned Case, bool Warm, TimedPair &Pair,
               const DeviceLimits &Device,
               const std::function<uint64_t()> &Secret, Clock &Time,
               job::Samples &Out);

/// At most the job's limit; a candidate gets less when the source was quick:
/// one that is a hundred times slower is not worth the wait.
uint64_t candidateLimitMs(uint64_t JobLimitMs, double SourceUs);

/// Calls at least once, and again until \p Ms have passed or \p Call returns
/// false; how often.
uint64_t callFor(uint64_t Ms, Clock &Time, const std::function<bool()> &Call);

/// What the same race came to in several pairs of processes, at least one:
/// geometric means of their medians, the speed-up as pairs of calls with the
/// same inputs show it, and its 95 % interval.
job::Timing summarize(const std::vector<job::Samples> &Rounds);

/// A line where the candidate's own time varies from call to call although its
/// buffers stay where they are, with what it seems to vary with; else empty.
std::string describeSpread(const std::vector<job::Samples> &Rounds);

} // namespace stark::judge

#endif
