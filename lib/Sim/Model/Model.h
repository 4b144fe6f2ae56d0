//===- Model.h - The modelled time of a launch ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   counters -> load -> the time of each part -> the time of the launch
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_MODEL_MODEL_H
#define STARK_LIB_SIM_MODEL_MODEL_H

#include "Model/Load.h"

namespace stark::sim {

using PartModel = double (*)(const LaunchLoad &L, const GpuDescription &Gpu);
using PartModels = std::array<PartModel, Parts>;

/// Those of Parts.h, by part.
const PartModels &gpuParts();

/// "DRAM bandwidth".
const char *boundName(Part P);

/// Fills the times of \p P.
void model(LaunchProfile &P, const Tables &T, const GpuDescription &Gpu,
           const PartModels &Models = gpuParts());

/// Adds to \p P what those of its blocks take that are no sampled ones, \p
/// Heavy.
void addHeavy(LaunchProfile &P, const LaunchProfile &Heavy,
              const GpuDescription &Gpu);

/// In microseconds.
double modelOperator(const OperatorProfile &P, const GpuDescription &Gpu);

} // namespace stark::sim

#endif
