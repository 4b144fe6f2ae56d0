//===- Model.cpp - The modelled time of a launch --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Five things take their time: the issue slots of the SMs, their load/store
///   pipe, bytes
/// through L2 or DRAM, atomics, and the life of a block when nothing but
/// latency keeps it, times the rounds of blocks that an SM has to do. The
/// busier one of them is, the longer the others wait for it, so that their
/// squares add up; blocks never begin faster than they are dispatched.
///
//===----------------------------------------------------------------------===//

#include "stark/Sim/Profile.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <tuple>

using namespace stark::sim;

double RunProfile::timeUs() const {
  double Sum = TransferUs;
  for (const LaunchProfile &L : Launches)
    Sum += L.TimeUs;
  // One launch's overhead hides behind the kernel before it.
  return Sum;
}

void stark::sim::model(LaunchProfile &P, const Tables &T,
                       const GpuDescription &Gpu) {
  double Sampled = double(std::max<uint64_t>(1, P.SampledBlocks));
  double PerUs = Gpu.ClockGHz * 1e3; // cycles in a microsecond
  // Warp cycles of a mean block on each unit of an SM.
  double Rate[Units] = {Gpu.IntegerRate,
                        Gpu.FloatRate,
                        Gpu.DoubleRate,
                        Gpu.HalfRate,
                        Gpu.SpecialRate,
                        Gpu.MemoryRate,
                        128,
                        Gpu.IntegerRate};
  double Busy[Units] = {};
  double Slots = 0, Path = 0;
  double ConstantCycles = 0, L2Writes = 0;
  double GlobalLines = 0, GlobalSectors = 0, L1Hits = 0, SharedCycles = 0,
         AtomicCycles = 0;
  for (const SiteProfile &S : P.Sites) {
    GlobalLines += double(S.Lines);
    GlobalSectors += double(S.Sectors);
    L1Hits += double(S.L1Sectors);
    SharedCycles += double(S.SharedCycles);
    ConstantCycles += double(S.ConstantCycles);
    L2Writes += double(S.L2Writes);
  }
  for (size_t I = 0; I < P.Sites.size(); ++I)
    if (T.Sites[I].Kind == SiteKind::Atomic)
      AtomicCycles += double(P.Sites[I].Sectors + P.Sites[I].AtomicConflicts);
  double L2Share = GlobalSectors > 0 ? 1 - L1Hits / GlobalSectors : 0;
  double DramShare =
      P.L2Sectors > 0
          ? std::min(1.0, P.DramBytes / (P.L2Sectors * 32 * double(P.Blocks)))
          : 0;
  double GlobalLatency =
      (1 - L2Share) * Gpu.L1Latency +
      L2Share * ((1 - DramShare) * Gpu.L2Latency + DramShare * Gpu.DramLatency);
  for (size_t B = 0; B < T.Blocks.size(); ++B) {
    if (!P.WarpCounts[B])
      continue;
    const CodeBlock &C = T.Blocks[B];
    double Count = double(P.WarpCounts[B]) / Sampled;
    for (unsigned U = 0; U < Units; ++U) {
      Busy[U] += Count * C.Slots[U] * 32 / Rate[U];
      Slots += Count * C.Slots[U];
    }
    // A load of this block waits as long as those of its sites do. What a warp
    // asks of the load/store pipe leaves it one after the other.
    double Latency = 0, Own = 0;
    for (unsigned S : C.Sites) {
      const SiteProfile &Found = P.Sites[S];
      Own += double(Found.Lines + Found.SharedCycles + Found.ConstantCycles);
      if (T.Sites[S].Kind == SiteKind::Store || !Found.Requests ||
          Found.SharedRequests)
        continue;
      double Mine =
          Found.ConstantCycles ? Gpu.SharedLatency
          : Found.Sectors
              ? Gpu.L1Latency +
                    (1 - double(Found.L1Sectors) / double(Found.Sectors)) *
                        ((1 - DramShare) * Gpu.L2Latency +
                         DramShare * Gpu.DramLatency - Gpu.L1Latency)
              : GlobalLatency;
      Latency = std::max(Latency, Mine);
    }
    double Alone = 0;
    for (float Each : C.Slots)
      Alone += Each;
    Alone = std::max({Alone, double(C.Path), Own / double(P.WarpCounts[B])});
    Path += double(P.WarpCounts[B]) /
            double(std::max<uint64_t>(1, P.WarpsSampled)) *
            (Alone + C.LoadDepth * Latency + C.SharedDepth * Gpu.SharedLatency);
  }
  double Barriers =
      double(P.Barriers) / double(std::max<uint64_t>(1, P.WarpsSampled));
  Path += Barriers * Gpu.BarrierLatency;
  // From when a block's place is free to the first instruction of the next.
  Path += Gpu.BlockLatency +
          Gpu.WarpStartCycles * std::ceil(double(P.ThreadsPerBlock) / 32);
  // An SM issues four warp instructions a cycle. Products of integers go to the
  // unit of the floating-point ones.
  Busy[unsigned(Unit::Float)] += Busy[unsigned(Unit::Multiply)];
  double Issue = Slots / 4;
  for (unsigned U = 0; U < Units; ++U)
    if (Unit(U) != Unit::Memory)
      Issue = std::max(Issue, Busy[U]);
  // The load/store pipe: L1 looks one line of 128 bytes up a cycle, shared
  // memory serves one word of each bank.
  double Pipe = (GlobalLines + SharedCycles + AtomicCycles * Gpu.AtomicCycles +
                 ConstantCycles) /
                Sampled;
  double Blocks = double(P.Blocks);
  double PerSm = Blocks / Gpu.Sms;
  double Resident = std::max(1.0, double(P.BlocksPerSm));
  // SMs that have one block more than others end last.
  auto Whole = [](double Count) {
    return Count > 8 ? Count : std::max(1.0, std::ceil(Count));
  };
  P.IssueUs = Issue * Whole(PerSm) / PerUs;
  P.PipeUs = Pipe * Whole(PerSm) / PerUs;
  // L2 takes so many bytes, and so many writes, each within one line.
  P.L2Us = std::max(P.L2Sectors * 32 / Gpu.L2GBs,
                    L2Writes / Sampled / Gpu.L2WritesPerNs) *
           Blocks * 1e-3;
  P.DispatchUs = Blocks / Gpu.BlocksPerUs;
  // Those of one line are made one after the other.
  P.AtomicUs = 0;
  double LineRate[2] = {Gpu.AtomicsPerNsOneLine, Gpu.FloatAtomicsPerNsOneLine};
  for (unsigned Float = 0; Float < 2; ++Float)
    P.AtomicUs += P.GlobalAtomics[Float] *
                  std::max(1 / Gpu.AtomicsPerNs,
                           P.HottestShare[Float] / LineRate[Float]) *
                  1e-3;
  P.DramUs = P.DramBytes / Gpu.DramGBs * 1e-3;
  P.LatencyUs = Path * Whole(PerSm / Resident) / PerUs;
  std::pair<double, const char *> Bounds[] = {
      {P.IssueUs, "instruction issue"},
      {P.PipeUs, "the load/store pipe of the SMs"},
      {std::max(P.L2Us, P.DramUs),
       P.L2Us > P.DramUs ? "L2 bandwidth" : "DRAM bandwidth"},
      {P.LatencyUs, "latency"},
      {P.AtomicUs, "atomics in L2"}};
  double Worst = 0, Squares = 0;
  for (auto &[Us, Name] : Bounds) {
    if (Us > Worst) {
      Worst = Us;
      P.Bound = Name;
    }
    Squares += Us * Us;
  }
  double Together = std::sqrt(Squares);
  if (P.DispatchUs > Together)
    P.Bound = "the dispatch of blocks";
  P.TimeUs = Gpu.LaunchUs + std::max(Together, P.DispatchUs);
}

std::string stark::sim::describeProfile(const RunProfile &R, const Tables &T) {
  std::string Text;
  char Line[400];
  for (const LaunchProfile &L : R.Launches) {
    std::snprintf(Line, sizeof(Line),
                  "%s: %llu blocks of %llu threads, %u registers (estimated), "
                  "%llu bytes of shared "
                  "memory, %u blocks an SM; modelled %.1f us, bound by %s "
                  "(issue %.1f, load/store pipe %.1f, L2 %.1f, "
                  "DRAM %.1f, latency %.1f us)\n",
                  L.Kernel.c_str(), (unsigned long long)L.Blocks,
                  (unsigned long long)L.ThreadsPerBlock, L.Registers,
                  (unsigned long long)L.SharedBytes, L.BlocksPerSm, L.TimeUs,
                  L.Bound.c_str(), L.IssueUs, L.PipeUs, L.L2Us, L.DramUs,
                  L.LatencyUs);
    Text += Line;
    struct Row {
      double Weight;
      std::string Text;
    };
    std::vector<Row> Rows;
    // Copies of one access that unrolling made are told as one.
    std::map<std::tuple<unsigned, SiteKind, uint64_t, uint64_t>,
             std::pair<size_t, SiteProfile>>
        Merged;
    for (size_t I = 0; I < L.Sites.size(); ++I) {
      const SiteProfile &P = L.Sites[I];
      uint64_t Requests = std::max<uint64_t>(1, P.Requests);
      auto &[First, Sum] = Merged
                               .try_emplace({T.Sites[I].Line, T.Sites[I].Kind,
                                             P.Sectors * 8 / Requests,
                                             P.LeastSectors * 8 / Requests},
                                            I, SiteProfile())
                               .first->second;
      Sum.Requests += P.Requests;
      Sum.Sectors += P.Sectors;
      Sum.LeastSectors += P.LeastSectors;
      Sum.SharedRequests += P.SharedRequests;
      Sum.SharedCycles +=
          T.Sites[I].Bytes <= 4 ? P.SharedCycles : P.SharedRequests;
      Sum.AtomicConflicts += P.AtomicConflicts;
    }
    for (const auto &[Where, Found] : Merged) {
      const auto &[I, P] = Found;
      const char *What = T.Sites[I].Kind == SiteKind::Load    ? "load"
                         : T.Sites[I].Kind == SiteKind::Store ? "store"
                                                              : "atomic";
      uint64_t Global = P.Requests - P.SharedRequests;
      if (Global && P.Sectors > P.LeastSectors + P.LeastSectors / 4) {
        std::snprintf(Line, sizeof(Line),
                      "  line %u: %s of global memory: %.1f sectors a request, "
                      "%.1f would do\n",
                      T.Sites[I].Line, What, double(P.Sectors) / double(Global),
                      double(P.LeastSectors) / double(Global));
        Rows.push_back({double(P.Sectors - P.LeastSectors), Line});
      }
      if (P.SharedCycles > P.SharedRequests + P.SharedRequests / 4) {
        std::snprintf(
            Line, sizeof(Line),
            "  line %u: %s of shared memory: %.1f-way bank conflicts\n",
            T.Sites[I].Line, What,
            double(P.SharedCycles) / double(P.SharedRequests));
        Rows.push_back({double(P.SharedCycles - P.SharedRequests), Line});
      }
      if (P.AtomicConflicts > P.Requests) {
        std::snprintf(
            Line, sizeof(Line),
            "  line %u: atomics: %.1f threads of a warp on one address\n",
            T.Sites[I].Line,
            1 + double(P.AtomicConflicts) / double(P.Requests));
        Rows.push_back({double(P.AtomicConflicts), Line});
      }
    }
    for (size_t B = 0; B < T.Blocks.size(); ++B) {
      double Active = L.WarpCounts[B]
                          ? double(L.ThreadCounts[B]) / double(L.WarpCounts[B])
                          : 32;
      double Slots = 0;
      for (float S : T.Blocks[B].Slots)
        Slots += S;
      if (Active < 16 &&
          Slots * double(L.WarpCounts[B]) >
              0.05 * double(L.WarpsSampled) * Slots &&
          T.Blocks[B].Line && L.WarpCounts[B] > 4 * L.WarpsSampled) {
        std::snprintf(Line, sizeof(Line),
                      "  line %u: %.1f of 32 threads of a warp are active\n",
                      T.Blocks[B].Line, Active);
        Rows.push_back({Slots * double(L.WarpCounts[B]) / 8, Line});
      }
    }
    std::stable_sort(Rows.begin(), Rows.end(), [](const Row &A, const Row &B) {
      return A.Weight > B.Weight;
    });
    for (size_t I = 0; I < Rows.size() && I < 6; ++I)
      Text += Rows[I].Text;
  }
  return Text;
}
