//===- Figures.h - What a GPU can do, for estimates -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   the source's verdict, else the description of a GPU -> copy rate, launch
///   + workload -> what memory alone takes in a size
///   + what the compiler said -> blocks on an SM, waves
/// Each figure says whether it was measured on the GPU that judges.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AGENT_FIGURES_H
#define STARK_LIB_AGENT_FIGURES_H

#include "stark/Agent/Agent.h"
#include "stark/Sim/Gpu.h"
#include <algorithm>

namespace stark {

class Figures {
public:
  explicit Figures(const AgentInput &In);

  /// The list of what is known, for the task; empty when nothing is.
  std::string describeDevice() const;
  /// "has to move at least 1.07374 GB, computes 2.1 GFLOP; about 257.0 us".
  std::string describeSize(const Workload &W, const Size &S) const;
  /// What the times beside the sizes are; empty when there are none.
  std::string describeMemoryTimes() const;
  /// Of all timed sizes; unset where the workload does not give operations.
  std::optional<double> mostFlopsPerByte(const Workload &W) const;
  /// How many blocks of the kernels that \p Compiler tells registers of the GPU
  /// holds at a time, and the waves of a launch that the workload fixes.
  std::string describeOccupancy(const Workload &W,
                                llvm::StringRef Compiler) const;

private:
  std::string describeUnits() const;
  double launchUs() const { return std::max(EventPairUs, LaunchUs); }
  double firstReadUs() const; ///< 0: not known
  std::string describeLaunchRule(const Workload &W, unsigned Registers,
                                 uint64_t Shared) const;
  unsigned blocksPerSm(unsigned Threads, unsigned Registers,
                       uint64_t Shared) const;

  std::optional<sim::GpuDescription> Gpu; ///< that stands for the architecture
  bool IsThis = false; ///< and is the one that judges, or is simulated
  bool Modelled = false;
  double CopyGBs = 0;
  bool CopyMeasured = false;
  double EventPairUs = 0; ///< measured, else 0
  double LaunchUs = 0;    ///< of a kernel that does nothing, 0: not known
};

/// A size a line: timed ones with what memory alone takes, those that are only
/// compared, other values, and what all of them are multiples of.
std::string describeSizes(const Task &T, const Figures &Known);

/// Whether what is to know of products of matrices is worth its words: the
/// entry takes tensors, the workload has as many operations for each byte, or,
/// where it gives none, the source adds up products.
bool mayMultiply(const Task &T, const Figures &Known);

} // namespace stark

#endif
