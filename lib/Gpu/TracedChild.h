//===- TracedChild.h - Calls of a library that CUPTI records --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   library -> a child with CUPTI -> timed calls, and what the device did for
/// them
/// What a child says is a claim, as it shares its address space with the
/// library: names are made plain text.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_TRACEDCHILD_H
#define STARK_GPU_TRACEDCHILD_H

#include "ChildProcess.h"
#include "stark/Judge/Traced.h"

namespace stark::gpu {

class TracedChild {
public:
  /// \p LimitMs: of each call.
  TracedChild(Clock &Time, uint64_t LimitMs) : Time(Time), LimitMs(LimitMs) {}

  // Each is false, with problem(), where it did not come to its end; nothing
  // more is asked for then.

  /// \p Spec has a Cupti.
  bool open(const ChildSpec &Spec, const Errand &Work);
  /// Buffers for \p Case, somewhere, and calls for \p WarmMs.
  bool prepare(unsigned Case, uint64_t WarmMs);
  bool call(unsigned Case, uint64_t Seed, judge::TracedCall &Out);
  /// What the device did for the last call, the first \p Most of it.
  bool describe(size_t Most, std::vector<DeviceWork> &Out);

  const std::string &problem() const { return Problem; }

private:
  bool ask(const Request &R, uint64_t Limit, Answer &A);

  Clock &Time;
  const uint64_t LimitMs;
  std::unique_ptr<ChildProcess> Child;
  uint64_t Works = 0; ///< of the last call
  std::string Problem;
};

} // namespace stark::gpu

#endif
