//===- Model.cpp - The modelled time of a launch --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The busier one part is, the longer the others wait for it, so that their
/// squares add up; L2 and DRAM move the same bytes, the slower of the two
/// counts. Blocks never begin faster than they are dispatched.
///
//===----------------------------------------------------------------------===//

#include "Model/Model.h"
#include "Model/Parts.h"
#include <algorithm>
#include <cmath>

using namespace stark::sim;

const PartModels &stark::sim::gpuParts() {
  static const PartModels Models = {issueUs,   loadStoreUs, l2Us,      dramUs,
                                    latencyUs, atomicsUs,   dispatchUs};
  return Models;
}

const char *stark::sim::boundName(Part P) {
  static const char *const Names[Parts] = {"instruction issue",
                                           "the load/store pipe of the SMs",
                                           "L2 bandwidth",
                                           "DRAM bandwidth",
                                           "latency",
                                           "atomics in L2",
                                           "the dispatch of blocks"};
  return Names[unsigned(P)];
}

/// Of the parts' times that of the launch.
static void combine(LaunchProfile &P, const GpuDescription &Gpu) {
  Part Moves = P.us(Part::L2) > P.us(Part::Dram) ? Part::L2 : Part::Dram;
  double Worst = 0, Squares = 0;
  for (Part Each :
       {Part::Issue, Part::LoadStore, Moves, Part::Latency, Part::Atomics}) {
    double Us = P.us(Each);
    if (Us > Worst) {
      Worst = Us;
      P.Bound = Each;
    }
    Squares += Us * Us;
  }
  Squares += P.InStepUs * P.InStepUs;
  double Together = std::sqrt(Squares);
  if (P.us(Part::Dispatch) > Together)
    P.Bound = Part::Dispatch;
  P.TimeUs = Gpu.LaunchUs + std::max(Together, P.us(Part::Dispatch));
}

void stark::sim::model(LaunchProfile &P, const Tables &T,
                       const GpuDescription &Gpu, const PartModels &Models) {
  LaunchLoad L = loadOf(P, T, Gpu);
  for (unsigned I = 0; I < Parts; ++I)
    P.PartUs[I] = Models[I](L, Gpu);
  P.InStepUs = inStepUs(L, Gpu);
  combine(P, Gpu);
}

void stark::sim::addHeavy(LaunchProfile &P, const LaunchProfile &Heavy,
                          const GpuDescription &Gpu) {
  // They were dispatched with the others.
  for (unsigned I = 0; I < Parts; ++I)
    if (Part(I) != Part::Dispatch)
      P.PartUs[I] += Heavy.PartUs[I];
  P.InStepUs += Heavy.InStepUs;
  combine(P, Gpu);
}
