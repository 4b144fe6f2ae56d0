//===- RunFloors.h - What the times of a run are held against -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_LIB_REPORT_RUNFLOORS_H
#define STARK_LIB_REPORT_RUNFLOORS_H

#include "stark/Eval/Floor.h"
#include "stark/Search/Record.h"

namespace stark {

/// One a size of \p V, by the run's workload; none where the run has kept no
/// workload, or no size has a floor.
std::vector<std::optional<Floor>> runFloors(const RecordedRun &Run,
                                            const Verdict &V);

} // namespace stark

#endif
