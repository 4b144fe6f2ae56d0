//===- Figures.h - What a GPU can do, for estimates -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   the source's verdict, else the description of a GPU -> copy rate, launch
///   + workload -> the floor of a size
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
  /// "has to move at least 1.07374 GB, computes 2.1 GFLOP; floor 255.1 us".
  std::string describeSize(const Workload &W, const Size &S) const;
  /// What the floors are; empty when there are none.
  std::string describeFloors() const;
  /// How many blocks of the kernels that \p Compiler tells registers of the GPU
  /// holds at a time, and the waves of a launch that the workload fixes.
  std::string describeOccupancy(const Workload &W,
                                llvm::StringRef Compiler) const;

private:
  std::string describeUnits() const;
  double launchUs() const { return std::max(EventPairUs, LaunchUs); }
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

} // namespace stark

#endif
