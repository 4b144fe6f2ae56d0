//===- NcuReport.h - What ncu says of kernels -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   CSV of `ncu --page raw` -> launches; of `--page source` -> source lines
/// Names of kernels and lines of text are a candidate's own: what cannot be
/// printed is '?', all of it is bounded, and a row that does not fit its header
/// is left out.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_NCUREPORT_H
#define STARK_GPU_NCUREPORT_H

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stark::gpu {

/// What a warp waits for, as ncu's metrics call it: those of every GPU since
/// Volta.
inline constexpr const char *NcuStalls[] = {"long_scoreboard",
                                            "short_scoreboard",
                                            "barrier",
                                            "membar",
                                            "wait",
                                            "math_pipe_throttle",
                                            "mio_throttle",
                                            "lg_throttle",
                                            "tex_throttle",
                                            "no_instruction",
                                            "not_selected",
                                            "drain",
                                            "dispatch_stall",
                                            "branch_resolving",
                                            "imc_miss",
                                            "sleeping"};
/// Cycles in which a warp waits for it, an instruction issued.
std::string stallMetric(const std::string &Stall);

/// Bytes of local memory that a thread has, where they were not counted but
/// recorded.
inline constexpr const char *LocalBytesMetric = "local bytes a thread";

/// One launch of a kernel.
struct NcuLaunch {
  std::string Kernel;                    ///< "softmax_kernel(const float *)"
  std::string Grid, Block;               ///< "(4096, 1, 1)"
  std::map<std::string, double> Metrics; ///< by name, in ncu's base units
  /// Unset where it was not counted.
  std::optional<double> metric(const std::string &Name) const;
};

/// What was sampled while instructions of one line of a kernel were next.
struct NcuLine {
  std::string File; ///< without its folder
  unsigned Line = 0;
  std::string Text;
  double Samples = 0;
  std::string Reason; ///< the stall that most of them are of: "long_sb"
};

/// In the order in which they ran; the first 64.
std::vector<NcuLaunch> launchesIn(std::string_view RawPage);

/// Of \p Kernel, with what it has of other files, those with samples, most
/// first. Lines that stand in several launches are added up.
std::vector<NcuLine> linesIn(std::string_view SourcePage,
                             const std::string &Kernel);

/// The first line of its log with an error, without "==ERROR== "; empty when
/// there is none.
std::string errorIn(std::string_view Log);

/// Whether \p Error says that this user may not read the counters.
bool isOfPermission(std::string_view Error);

} // namespace stark::gpu

#endif
