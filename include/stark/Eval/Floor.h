//===- Floor.h - What no implementation can be faster than ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   workload + what a verdict says of its device -> the floor of a size
/// The largest of a launch, bytes over the copy rate, operations over a peak.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_EVAL_FLOOR_H
#define STARK_EVAL_FLOOR_H

#include "stark/Eval/Verdict.h"
#include "stark/Task/Workload.h"
#include <optional>

namespace stark {

enum class FloorKind { Launch, Bytes, Operations };
inline constexpr Named<FloorKind> FloorKindNames[] = {
    {FloorKind::Launch, "launch"},
    {FloorKind::Bytes, "bytes"},
    {FloorKind::Operations, "operations"}};
constexpr std::span<const Named<FloorKind>> namesOf(FloorKind) {
  return FloorKindNames;
}

struct Floor {
  FloorKind Of = FloorKind::Launch;
  double Us = 0; ///< positive
};

/// Of a device; 0: not known, and no floor follows from it.
struct FloorRates {
  double LaunchUs = 0; ///< an event pair with one launch, or with none
  double CopyGBs = 0;  ///< read and written together
  double L2Bytes = 0;
  double PeakGflops = 0; ///< fp32 without tensor cores, at the highest clock
};

/// Where \p V was measured, what was measured with it comes first; the
/// description of the device (lib/Sim/gpus) has the rest, if there is one of
/// that very name. Where times are modelled there is no launch.
FloorRates floorRates(const Verdict &V);

/// Whether nothing in \p SourceText may compute on tensor cores or in fewer
/// bits: it has none of the words for these, calls no library, and includes no
/// file of the user's.
bool isPlainArithmetic(llvm::StringRef SourceText);

/// What the workload says a call has to move at least, of the size that took
/// \p T; unset where it does not say, or says nothing positive.
std::optional<double> bytesToMove(const Workload &Load, const job::Timing &T);

/// Of the size that took \p T. Operations count where the workload gives them,
/// wants the source's precision, has no buffer of fewer than 32 bits but those
/// of whole numbers, \p Plain says that the source has plain arithmetic, and
/// the source does not outrun them. Unset where none of the three is known.
std::optional<Floor> floorOf(const Workload &Load, const job::Timing &T,
                             const FloorRates &Rates, bool Plain);

/// What of \p Us the floor is: "88 % (bytes)"; "-" without one.
std::string floorText(const std::optional<Floor> &Of, double Us);

} // namespace stark

#endif
