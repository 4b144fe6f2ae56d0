//===- RunFloors.cpp - What the times of a run are held against -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunFloors.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;

std::vector<std::optional<Floor>> stark::runFloors(const RecordedRun &Run,
                                                   const Verdict &V) {
  if (Run.WorkloadText.empty() || !Run.Nodes.size())
    return {};
  llvm::Expected<Workload> Load =
      parseWorkload(Run.WorkloadText, RunWorkloadFile);
  if (!Load) {
    llvm::consumeError(Load.takeError());
    return {};
  }
  const FloorRates Rates = floorRates(V);
  bool Plain = isPlainArithmetic(Run.Nodes.node(0).Text);
  std::vector<std::optional<Floor>> Floors;
  for (const job::Timing &T : V.Timings)
    Floors.push_back(floorOf(*Load, T, Rates, Plain));
  if (llvm::none_of(Floors, [](const auto &F) { return F.has_value(); }))
    Floors.clear();
  return Floors;
}
