//===- Parts.h - How long a launch keeps each part of a GPU busy ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   load of a launch -> microseconds on one part
/// Each part stands alone: another model of one is another function in its
/// place. All take the whole launch and give microseconds.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_MODEL_PARTS_H
#define STARK_LIB_SIM_MODEL_PARTS_H

#include "Model/Load.h"

namespace stark::sim {

/// The issue slots of the SMs and their arithmetic units.
double issueUs(const LaunchLoad &L, const GpuDescription &Gpu);
/// Their load/store pipe: L1 looks one line up a cycle, shared memory serves
/// one word of each bank.
double loadStoreUs(const LaunchLoad &L, const GpuDescription &Gpu);
/// L2 takes so many bytes, and so many writes, each within one line.
double l2Us(const LaunchLoad &L, const GpuDescription &Gpu);
double dramUs(const LaunchLoad &L, const GpuDescription &Gpu);
/// The life of a block that nothing but latency keeps, times the rounds of
/// blocks that an SM has to do at its occupancy.
double latencyUs(const LaunchLoad &L, const GpuDescription &Gpu);
/// Atomics in L2; those of one line are made one after the other.
double atomicsUs(const LaunchLoad &L, const GpuDescription &Gpu);
/// What blocks in step add to the squares of issue, load/store pipe and
/// latency. Those that begin together go on together, with barriers or without:
/// the few that an SM has wait at the same time and then compute at the same
/// time.
double inStepUs(const LaunchLoad &L, const GpuDescription &Gpu);
double dispatchUs(const LaunchLoad &L, const GpuDescription &Gpu);

} // namespace stark::sim

#endif
