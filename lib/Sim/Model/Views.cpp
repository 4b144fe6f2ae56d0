//===- Views.cpp - What a profile tells programmers -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   One view = one kind of line below a launch: accesses that move more than
/// they ask for, bank conflicts, atomics that collide, divergence. The worst
/// lines of all views are told.
///
//===----------------------------------------------------------------------===//

#include "Model/Model.h"
#include "Model/Units.h"
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <tuple>

using namespace stark::sim;

namespace {
/// Of a launch.
constexpr size_t LinesTold = 6;
/// A line is told as divergent when fewer lanes are active, in blocks that
/// warps enter more often than this.
constexpr double FewLanes = 16, ManyEntries = 4;

/// Little more than what would do is not told.
bool wellAbove(uint64_t Got, uint64_t Least) { return Got > Least + Least / 4; }

struct Row {
  double Weight; ///< what it costs, to compare rows with
  std::string Text;
};
using Rows = std::vector<Row>;

__attribute__((format(printf, 1, 2))) std::string format(const char *Form,
                                                         ...) {
  char Line[400];
  va_list Values;
  va_start(Values, Form);
  std::vsnprintf(Line, sizeof(Line), Form, Values);
  va_end(Values);
  return Line;
}

/// Copies of one access that unrolling made, as one.
struct Access {
  unsigned Line = 0;
  ProbeKind Kind = ProbeKind::Load;
  ProbeCounters Sum;
  const char *verb() const {
    return Kind == ProbeKind::Load    ? "load"
           : Kind == ProbeKind::Store ? "store"
                                      : "atomic";
  }
};

std::vector<Access> accessesOf(const LaunchProfile &L, const Tables &T) {
  std::map<std::tuple<unsigned, ProbeKind, uint64_t, uint64_t>, Access> Merged;
  for (size_t I = 0; I < L.Probes.size(); ++I) {
    const ProbeCounters &C = L.Probes[I];
    const Probe &P = T.Probes[I];
    uint64_t Requests = std::max<uint64_t>(1, C.Requests);
    Access &A = Merged[{P.Line, P.Kind, C.Sectors * 8 / Requests,
                        C.LeastSectors * 8 / Requests}];
    A.Line = P.Line;
    A.Kind = P.Kind;
    A.Sum.Requests += C.Requests;
    A.Sum.Sectors += C.Sectors;
    A.Sum.LeastSectors += C.LeastSectors;
    A.Sum.SharedRequests += C.SharedRequests;
    // Wide accesses take several cycles without a conflict.
    A.Sum.SharedCycles += P.Bytes <= 4 ? C.SharedCycles : C.SharedRequests;
    A.Sum.AtomicConflicts += C.AtomicConflicts;
  }
  std::vector<Access> List;
  for (auto &[Key, A] : Merged)
    List.push_back(A);
  return List;
}

void tellSectors(const Access &A, Rows &Out) {
  uint64_t Global = A.Sum.Requests - A.Sum.SharedRequests;
  if (!Global || !wellAbove(A.Sum.Sectors, A.Sum.LeastSectors))
    return;
  Out.push_back(
      {double(A.Sum.Sectors - A.Sum.LeastSectors),
       format("  line %u: %s of global memory: %.1f sectors a "
              "request, %.1f would do\n",
              A.Line, A.verb(), double(A.Sum.Sectors) / double(Global),
              double(A.Sum.LeastSectors) / double(Global))});
}

void tellBankConflicts(const Access &A, Rows &Out) {
  uint64_t Requests = A.Sum.SharedRequests;
  if (!wellAbove(A.Sum.SharedCycles, Requests))
    return;
  Out.push_back(
      {double(A.Sum.SharedCycles - Requests),
       format("  line %u: %s of shared memory: %.1f-way bank conflicts\n",
              A.Line, A.verb(),
              double(A.Sum.SharedCycles) / double(Requests))});
}

void tellAtomics(const Access &A, Rows &Out) {
  if (A.Sum.AtomicConflicts <= A.Sum.Requests)
    return;
  Out.push_back(
      {double(A.Sum.AtomicConflicts),
       format("  line %u: atomics: %.1f threads of a warp on one address\n",
              A.Line,
              1 + double(A.Sum.AtomicConflicts) / double(A.Sum.Requests))});
}

void tellDivergence(const LaunchProfile &L, const Tables &T, Rows &Out) {
  for (size_t B = 0; B < T.Blocks.size(); ++B) {
    double Active = L.WarpCounts[B]
                        ? double(L.ThreadCounts[B]) / double(L.WarpCounts[B])
                        : WarpLanes;
    double Slots = 0;
    for (float S : T.Blocks[B].Slots)
      Slots += S;
    if (Active < FewLanes && Slots > 0 && T.Blocks[B].Line &&
        double(L.WarpCounts[B]) > ManyEntries * double(L.WarpsSampled))
      Out.push_back(
          {Slots * double(L.WarpCounts[B]) / 8,
           format("  line %u: %.1f of 32 threads of a warp are active\n",
                  T.Blocks[B].Line, Active)});
  }
}

/// Blocks that do far more than those that were sampled.
std::string uneven(const LaunchProfile &L) {
  if (!L.HeavyBlocks)
    return "";
  return format("  about %llu of %llu blocks: a way %.0f times as long as the "
                "others', which the launch waits for\n",
                (unsigned long long)L.HeavyBlocks, (unsigned long long)L.Blocks,
                L.HeavyRatio);
}

/// "20 registers (estimated)", "168 registers (ptxas; spills 40 bytes in
/// stores, 44 in loads)".
std::string registers(const LaunchProfile &L) {
  std::string Text = format("%u registers ", L.Registers);
  if (!L.Exact)
    return Text + "(estimated)";
  const KernelResources &R = *L.Exact;
  Text += "(ptxas";
  if (R.SpillStoreBytes + R.SpillLoadBytes)
    Text += format("; spills %llu bytes in stores, %llu in loads",
                   (unsigned long long)R.SpillStoreBytes,
                   (unsigned long long)R.SpillLoadBytes);
  else if (R.StackBytes)
    Text += format("; %llu bytes of stack", (unsigned long long)R.StackBytes);
  return Text + ")";
}

std::string summary(const LaunchProfile &L) {
  return uneven(L).insert(
      0,
      format(
          "%s: %llu blocks of %llu threads, %s, %llu bytes "
          "of shared memory, %u blocks an SM; modelled %.1f us, bound by %s "
          "(each alone: issue %.1f, load/store pipe %.1f, L2 %.1f, DRAM %.1f, "
          "latency %.1f us; their squares add up, beside the launch)\n",
          L.Kernel.c_str(), (unsigned long long)L.Blocks,
          (unsigned long long)L.ThreadsPerBlock, registers(L).c_str(),
          (unsigned long long)L.SharedBytes, L.BlocksPerSm, L.TimeUs,
          boundName(L.Bound), L.us(Part::Issue), L.us(Part::LoadStore),
          L.us(Part::L2), L.us(Part::Dram), L.us(Part::Latency)));
}

/// All calls of one operator together, the dearest first.
std::string operators(const RunProfile &R) {
  struct Calls {
    unsigned Count = 0;
    OperatorProfile Sum;
  };
  std::map<std::string, Calls> ByName;
  for (const OperatorProfile &P : R.Operators) {
    Calls &C = ByName[P.Name];
    ++C.Count;
    C.Sum.Bytes += P.Bytes;
    C.Sum.Flops += P.Flops;
    C.Sum.TimeUs += P.TimeUs;
  }
  Rows Found;
  for (const auto &[Name, C] : ByName)
    Found.push_back(
        {C.Sum.TimeUs,
         format("at::%s: %u call%s, %.3f MB, %.3f GFLOP; modelled %.1f us, as "
                "one launch each\n",
                Name.c_str(), C.Count, C.Count == 1 ? "" : "s",
                C.Sum.Bytes * 1e-6, C.Sum.Flops * 1e-9, C.Sum.TimeUs)});
  std::stable_sort(Found.begin(), Found.end(), [](const Row &A, const Row &B) {
    return A.Weight > B.Weight;
  });
  std::string Text;
  for (const Row &Each : Found)
    Text += Each.Text;
  return Text;
}
} // namespace

std::string stark::sim::describeProfile(const RunProfile &R, const Tables &T) {
  std::string Text;
  for (const LaunchProfile &L : R.Launches) {
    Rows Found;
    for (const Access &A : accessesOf(L, T))
      for (auto *View : {tellSectors, tellBankConflicts, tellAtomics})
        View(A, Found);
    tellDivergence(L, T, Found);
    std::stable_sort(
        Found.begin(), Found.end(),
        [](const Row &A, const Row &B) { return A.Weight > B.Weight; });
    Text += summary(L);
    for (size_t I = 0; I < Found.size() && I < LinesTold; ++I)
      Text += Found[I].Text;
  }
  return Text + operators(R);
}

double RunProfile::timeUs() const {
  double Sum = TransferUs;
  for (const LaunchProfile &L : Launches)
    Sum += L.TimeUs;
  for (const OperatorProfile &P : Operators)
    Sum += P.TimeUs;
  return Sum;
}

std::string stark::sim::printReach(const RunProfile &R) {
  std::string Text;
  for (const BufferReach &B : R.Reached)
    Text += B.Name + " " + std::to_string(B.Bytes) + " " +
            std::to_string(B.Read) + " " + std::to_string(B.Written) + " " +
            std::to_string(B.Alike) + "\n";
  return Text;
}
