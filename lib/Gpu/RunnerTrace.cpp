//===- RunnerTrace.cpp - What CUPTI records of a candidate ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   timed sizes -> calls in a child with CUPTI -> whether the times are true
///   a call of each size -> what its launches were, where there are no counters
///
//===----------------------------------------------------------------------===//

#include "CudaTool.h"
#include "Ncu.h"
#include "ProfileText.h"
#include "Runner.h"
#include "TracedChild.h"
#include <algorithm>
#include <cmath>

using namespace stark;
using namespace stark::gpu;
using namespace stark::job;
using namespace stark::judge;

/// Placements of the buffers of a size, and calls with each.
static constexpr unsigned Placements = 3, CallsAPlacement = 4;
static constexpr uint64_t FirstWarmMs = 30, WarmMs = 5;

/// Of the version that the children were built for. libtorch brings its own.
std::string GpuRunner::findCupti() const {
#ifdef STARK_CUPTI
  return findCudaLibrary(STARK_CUPTI, Torch ? Torch->searchPath() : "",
                         Options.Cupti);
#else
  return "";
#endif
}

/// Of one size. False where the child did not come to their end.
static bool callTraced(TracedChild &Child, unsigned Case, uint64_t Warm,
                       std::vector<TracedCall> &Calls) {
  for (unsigned Place = 0; Place < Placements; ++Place) {
    if (!Child.prepare(Case, Place ? WarmMs : Warm))
      return false;
    for (unsigned Call = 0; Call < CallsAPlacement; ++Call)
      if (!Child.call(Case, posix::secretNumber(), Calls.emplace_back()))
        return false;
  }
  return true;
}

/// What the source keeps as well, nobody has asked a candidate to mend.
bool GpuRunner::sourceKeeps(unsigned Case, uint64_t Bytes, ChildSpec Spec) {
  TracedChild Child(Time, J->TimeoutMs);
  std::vector<TracedCall> Calls;
  return Child.open(Spec, Source.bare()) &&
         callTraced(Child, Case, FirstWarmMs, Calls) &&
         keptByEach(Calls) >= Bytes;
}

MaybeStop GpuRunner::trace(const std::vector<unsigned> &Cases,
                           const std::vector<Timing> &Timings,
                           std::vector<std::string> &Proved,
                           std::string &Notes) {
  ChildSpec Spec = spec();
  Spec.Cupti = findCupti();
  if (Spec.Cupti.empty()) {
    Notes += "times were not held against CUPTI: there is none\n";
    return std::nullopt;
  }
  Stages::Scope Tracing(Log, "trace");
  // Of one process at a time: a size may take most of the device's memory.
  endBoth();
  TracedChild Child(Time, J->TimeoutMs);
  bool Good = Child.open(Spec, Candidate.bare());
  uint64_t Works = 0;
  for (size_t I = 0; I < Cases.size() && Good; ++I) {
    std::vector<TracedCall> Calls;
    Good = callTraced(Child, Cases[I], I ? WarmMs : FirstWarmMs, Calls);
    if (!Good)
      break;
    for (const TracedCall &Call : Calls)
      Works += Call.Works;
    if (std::string Why = whyUntrue(Timings[I].MedianUs, Calls); !Why.empty())
      return Stop{Outcome::Forbidden, "the time with size '" +
                                          Timings[I].Label +
                                          "' is not true, by CUPTI: " + Why};
    if (uint64_t Kept = keptByEach(Calls);
        Kept && !sourceKeeps(Cases[I], Kept, Spec))
      return Stop{Outcome::Forbidden,
                  "each call with size '" + Timings[I].Label +
                      "' takes memory of the device, or pinned, and gives " +
                      std::to_string(Kept) + " bytes of it not back, by CUPTI"};
  }
  if (!Good)
    Notes += "times were not held against CUPTI: " + Child.problem() + "\n";
  else if (Works == 0)
    Notes += "times were not held against CUPTI: it saw nothing of any call\n";
  else
    Proved.push_back("CUPTI: all that the device did for a call was between "
                     "its two events, with each timed size");
  return std::nullopt;
}

static std::string dimensions(const uint32_t (&Of)[3]) {
  return "(" + std::to_string(Of[0]) + ", " + std::to_string(Of[1]) + ", " +
         std::to_string(Of[2]) + ")";
}

/// What ncu would have said of it without counters.
static NcuLaunch launchOf(const DeviceWork &Work) {
  NcuLaunch L;
  L.Kernel = Work.Name;
  L.Metrics["gpu__time_duration.sum"] = double(Work.EndNs - Work.BeginNs);
  if (!Work.IsKernel)
    return L;
  L.Grid = dimensions(Work.Grid);
  L.Block = dimensions(Work.Block);
  L.Metrics["launch__registers_per_thread"] = Work.Registers;
  L.Metrics[LocalBytesMetric] = Work.LocalBytes;
  const BlockLimits &Most = Work.Most;
  uint32_t Blocks =
      std::min({Most.Registers, Most.Shared, Most.Warps, Most.Blocks});
  if (!Blocks || !Work.WarpsOfSm || !Work.Sms)
    return L;
  L.Metrics["launch__occupancy_limit_registers"] = Most.Registers;
  L.Metrics["launch__occupancy_limit_shared_mem"] = Most.Shared;
  L.Metrics["launch__occupancy_limit_warps"] = Most.Warps;
  L.Metrics["launch__occupancy_limit_blocks"] = Most.Blocks;
  double Threads = double(Work.Block[0]) * Work.Block[1] * Work.Block[2],
         Warps = std::ceil(Threads / 32) * Blocks;
  L.Metrics["sm__maximum_warps_per_active_cycle_pct"] =
      std::min(100.0, 100 * Warps / Work.WarpsOfSm);
  L.Metrics["launch__waves_per_multiprocessor"] = double(Work.Grid[0]) *
                                                  Work.Grid[1] * Work.Grid[2] /
                                                  (double(Blocks) * Work.Sms);
  return L;
}

void GpuRunner::profileByCupti(const std::vector<unsigned> &Cases,
                               Result &Out) {
  ChildSpec Spec = spec();
  Spec.Cupti = findCupti();
  if (Spec.Cupti.empty())
    return;
  Stages::Scope Profiling(Log, "profile", J->Cases[Cases.front()].Label);
  endBoth();
  TracedChild Child(Time, J->TimeoutMs);
  bool Good = Child.open(Spec, Candidate.bare());
  std::string Text;
  for (size_t I = 0; I < Cases.size() && Good; ++I) {
    TracedCall Call;
    std::vector<DeviceWork> Works;
    Good = Child.prepare(Cases[I], I ? WarmMs : FirstWarmMs) &&
           Child.call(Cases[I], J->TimingSeed, Call) &&
           Child.describe(MostProfiled, Works);
    if (!Good || Works.empty())
      break;
    std::vector<NcuLaunch> Launches;
    std::transform(Works.begin(), Works.end(), std::back_inserter(Launches),
                   launchOf);
    ProfiledCall Of = profiledCall(J->Cases[Cases[I]], Out);
    Of.MaybeMoreLaunches = Call.Works > Works.size();
    addProfile(Text, I ? describeOtherSize(Of, Launches)
                       : describeProfile(Of, Launches, {}));
  }
  if (Text.empty())
    return;
  Out.Counted->Text = Text;
  // Another candidate is worth a look as well.
  Out.Counted->Unavailable = false;
}
