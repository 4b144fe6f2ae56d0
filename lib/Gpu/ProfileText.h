//===- ProfileText.h - Counters as a paragraph ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   launches and lines of one call, what was measured of it -> what bounds it
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_PROFILETEXT_H
#define STARK_GPU_PROFILETEXT_H

#include "NcuReport.h"
#include "stark/Job/Job.h"

namespace stark::gpu {

/// The call that was looked at, as the judge knows it.
struct ProfiledCall {
  std::string Label = ""; ///< of its size
  std::string File = "";  ///< of the text, whose lines need no name
  double MedianUs = 0;    ///< measured without the profiler
  double MovedBytes = 0;  ///< that it has to move at least; 0: not known
  double CopyGBs = 0;     ///< of the device; 0: not known
  bool MaybeMoreLaunches = false; ///< only the first of them were looked at
};

/// What is known of \p C beside what a profiler says.
ProfiledCall profiledCall(const job::Case &C, const job::Result &Out);

/// The launches of one kernel are added up; it is about the one that takes
/// longest.
struct MainKernel {
  const NcuLaunch *Longest = nullptr; ///< of its launches
  double Us = 0, AllUs = 0;           ///< its own, and of all launches
};
MainKernel mainKernelOf(const std::vector<NcuLaunch> &Launches);

/// At most job::MaxProfileLines lines, for somebody who plans a change.
/// \p Launches is not empty; \p Lines are of the main kernel. What was not
/// counted is left out.
std::string describeProfile(const ProfiledCall &Call,
                            const std::vector<NcuLaunch> &Launches,
                            const std::vector<NcuLine> &Lines);

/// The same call with another size, in at most job::MaxOtherLines lines: what
/// bounds it there, occupancy, stalls. \p Launches is not empty.
std::string describeOtherSize(const ProfiledCall &Call,
                              const std::vector<NcuLaunch> &Launches);

/// Adds \p More, of another size, unless all would be longer than
/// job::MaxProfileBytes.
void addProfile(std::string &Text, const std::string &More);

} // namespace stark::gpu

#endif
