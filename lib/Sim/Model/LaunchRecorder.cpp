//===- LaunchRecorder.cpp - The counters of a launch ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model/LaunchRecorder.h"
#include <algorithm>
#include <set>
#include <utility>

using namespace stark::sim;

namespace {
/// Of an access whose width is known only when it runs.
constexpr unsigned UnknownBytes = 4;
/// Of two blocks that draw their work from a counter the one that runs first
/// has so many times as much.
constexpr uint64_t TakesAll = 4;
} // namespace

LaunchRecorder::LaunchRecorder(const Tables &T, const GpuDescription &Gpu,
                               unsigned BlocksPerSm, uint64_t SharedBytes,
                               ArrayBounds Constants)
    : T(T), Gpu(Gpu), Constants(std::move(Constants)),
      L1(l1ShareOf(Gpu, BlocksPerSm, SharedBytes)) {
  Out.BlocksPerSm = BlocksPerSm;
  Out.SharedBytes = SharedBytes;
  Out.Probes.resize(T.Probes.size());
  Out.ThreadCounts.resize(T.Blocks.size());
  Out.WarpCounts.resize(T.Blocks.size());
  Polling = std::any_of(T.Probes.begin(), T.Probes.end(),
                        [](const Probe &P) { return P.Polls; });
}

void LaunchRecorder::beginBlock(uint64_t X, uint64_t Y, uint64_t Z) {
  Sets.beginBlock(X, Y, Z);
  L1.clear();
  LongestWay = -1;
  Chains.beginBlock();
  Out.LongestWarps.emplace_back(T.Blocks.size());
}

void LaunchRecorder::warp(const std::vector<Trace *> &Lanes, char *SharedBase,
                          uint64_t SharedBytes) {
  SharedBegin = reinterpret_cast<uint64_t>(SharedBase) & AddressMask;
  SharedEnd = SharedBegin + SharedBytes;
  Warp = Lanes.front();
  size_t At[WarpLanes] = {};
  for (;;) {
    // Lanes that are behind go first: probes are numbered in program order.
    Request R;
    R.Probe = ~0u;
    for (size_t L = 0; L < Lanes.size(); ++L)
      if (At[L] < Lanes[L]->size())
        R.Probe = std::min(R.Probe, probeOf((*Lanes[L])[At[L]]));
    if (R.Probe == ~0u)
      return;
    for (size_t L = 0; L < Lanes.size(); ++L)
      if (At[L] < Lanes[L]->size() && probeOf((*Lanes[L])[At[L]]) == R.Probe)
        R.Addresses[R.Count++] = (*Lanes[L])[At[L]++] & AddressMask;
    record(R);
  }
}

/// Of a bulk copy: the lines are counted where their first sector comes by.
static uint64_t linesBegun(const Request &R) {
  return uint64_t(
      std::count_if(R.Addresses, R.Addresses + R.Count,
                    [](uint64_t Address) { return Address % LineBytes == 0; }));
}

/// To the memory in which its first address lies.
void LaunchRecorder::record(Request &R) {
  const Probe &P = T.Probes[R.Probe];
  ProbeCounters &C = Out.Probes[R.Probe];
  if (P.Kind == ProbeKind::Sync)
    return Chains.fence(Warp);
  R.Bytes = P.Bytes ? P.Bytes : UnknownBytes;
  // What a lane has copied comes here sector by sector.
  if (P.Bulk) {
    R.Bytes = SectorBytes;
    for (unsigned I = 0; I < R.Count; ++I)
      R.Addresses[I] -= R.Addresses[I] % SectorBytes;
  }
  ++C.Requests;
  C.Threads += R.Count;
  uint64_t First = R.Addresses[0];
  if (First >= SharedBegin && First < SharedEnd) {
    ++C.SharedRequests;
    C.SharedCycles += P.Bulk ? linesBegun(R) : sharedCycles(R, P);
  } else if (inConstants(First)) {
    C.ConstantCycles += constantCycles(R);
  } else if (First >= LocalBegin) {
    localAccess(R, C);
  } else {
    globalAccess(R, C);
  }
}

bool LaunchRecorder::inConstants(uint64_t Address) const {
  return std::any_of(Constants.begin(), Constants.end(),
                     [&](const auto &Range) {
                       return Address >= Range.first && Address < Range.second;
                     });
}

/// Served by L1, a line a cycle.
void LaunchRecorder::localAccess(const Request &R, ProbeCounters &C) {
  std::set<uint64_t> Lines;
  for (unsigned I = 0; I < R.Count; ++I)
    Lines.insert(R.Addresses[I] / LineBytes);
  C.Lines += Lines.size();
  // L1 writes through.
  if (T.Probes[R.Probe].Kind == ProbeKind::Store)
    C.L2Writes += Lines.size();
  C.Sectors += Lines.size() * LineSectors;
  C.L1Sectors += Lines.size() * LineSectors;
  C.LeastSectors += LineSectors;
}

void LaunchRecorder::globalAccess(Request &R, ProbeCounters &C) {
  const Probe &P = T.Probes[R.Probe];
  bool Loads = P.Kind == ProbeKind::Load;
  if (Polling)
    Chains.access(R, P, Warp);
  Pieces Sectors = sectorsOf(R);
  C.Sectors += Sectors.Count;
  if (P.Kind == ProbeKind::Atomic) {
    MakesAtomics = true;
    C.AtomicConflicts += P.Joined ? 0 : atomicConflicts(R);
    Atomics.add(R, P);
  }
  if (P.Kind == ProbeKind::Store)
    Sets.store(R);
  // The bytes that were asked for, each counted once.
  C.LeastSectors +=
      (distinctAddresses(R) * R.Bytes + SectorBytes - 1) / SectorBytes;
  Sets.begin(R, R.Addresses[0]);
  Pieces Lines = linesOf(Sectors);
  C.Lines += P.Bulk ? 0 : Lines.Count;
  // Stores and atomics pass L1, and so does what is ordered.
  for (unsigned I = 0; I < Sectors.Count; ++I) {
    bool Hit = Loads && !P.Volatile && !P.Bulk && L1.touch(Sectors.List[I]);
    C.L1Sectors += Hit;
    Sets.touch(R, Loads, Sectors.List[I], Hit);
  }
  if (!Loads)
    C.L2Writes += P.Bulk ? linesBegun(R) : uint64_t(Lines.Count);
}

std::vector<uint32_t>
stark::sim::entriesOf(const std::vector<uint32_t *> &Lanes, size_t Blocks) {
  std::vector<uint32_t> Entries(Blocks);
  for (const uint32_t *Counts : Lanes)
    for (size_t B = 0; B < Blocks; ++B)
      Entries[B] = std::max(Entries[B], Counts[B]);
  return Entries;
}

Way stark::sim::wayOf(const std::vector<uint32_t> &Entries, const Tables &T,
                      const GpuDescription &Gpu) {
  Way Its;
  for (size_t B = 0; B < Entries.size(); ++B) {
    if (!Entries[B])
      continue;
    const CodeBlock &C = T.Blocks[B];
    double Issue = 0;
    for (float Each : C.Slots)
      Issue += Each;
    Its.Entered += Entries[B];
    Its.Issued += Entries[B] * Issue;
    Its.Cycles += Entries[B] * (std::max(Issue, double(C.Path)) +
                                C.LoadDepth * Gpu.L2Latency +
                                C.SharedDepth * Gpu.SharedLatency);
  }
  return Its;
}

void LaunchRecorder::counts(const std::vector<uint32_t *> &Lanes) {
  std::vector<uint32_t> Entries = entriesOf(Lanes, T.Blocks.size());
  for (size_t B = 0; B < Entries.size(); ++B) {
    for (const uint32_t *Counts : Lanes)
      Out.ThreadCounts[B] += Counts[B];
    Out.WarpCounts[B] += Entries[B];
  }
  Way Its = wayOf(Entries, T, Gpu);
  Sampled.add(Its);
  Entered += Its.Entered;
  if (Its.Cycles > LongestWay) {
    LongestWay = Its.Cycles;
    Out.LongestWarps.back() = std::move(Entries);
  }
  ++Out.WarpsSampled;
}

void LaunchRecorder::endBlock() {
  ++Out.SampledBlocks;
  Works.push_back(std::exchange(Entered, 0));
  Sets.endBlock([&](uint32_t Number) { ++Out.Probes[Number].FilledGranules; });
  Atomics.endBlock();
}

std::vector<uint64_t> LaunchRecorder::worksOfClusters() const {
  std::vector<uint64_t> Parts(Works.size() / Together);
  for (size_t I = 0; I < Parts.size(); ++I)
    for (size_t J = 0; J < Together; ++J)
      Parts[I] += Works[I * Together + J];
  return Parts;
}

bool LaunchRecorder::mayDraw(double Blocks) const {
  if (!MakesAtomics || Blocks > double(Out.BlocksPerSm) * Gpu.Sms)
    return false;
  std::vector<uint64_t> Parts = worksOfClusters();
  return Parts.size() > 1 &&
         Parts.front() >
             TakesAll * *std::max_element(Parts.begin() + 1, Parts.end());
}

/// Blocks that are all there at once and take the next piece of work from a
/// counter: run one after the other, the first takes all that there is.
bool LaunchRecorder::drawsItsWork(double Blocks) const {
  return mayDraw(Blocks) && worksOfClusters().front() > TakesAll * Again;
}

LaunchProfile LaunchRecorder::finish(GridExtent Grid, ArrayBounds Arrays) {
  double Sampled = double(std::max<uint64_t>(1, Out.SampledBlocks)),
         Blocks = Grid.blocks();
  // What the first did is all the work, then, of which each has its share.
  bool All = drawsItsWork(Blocks);
  std::vector<WorkingSet> First;
  if (All) {
    First.assign(Sets.blocks().begin(), Sets.blocks().begin() + long(Together));
    Grid = {Together, 1, 1};
  }
  DramTraffic Moved =
      estimateDram({T, Gpu, All ? First : Sets.blocks(), Out.Probes, Grid,
                    Out.BlocksPerSm, std::move(Arrays)});
  Out.L2Sectors = Moved.L2Sectors;
  Out.DramBytes = Moved.Bytes;
  Out.FillBytes = Moved.FillBytes;
  Chains.finish(Out);
  Atomics.finish(Out, Moved.Atomics, All ? 1 : Blocks / Sampled);
  if (All) {
    Out.L2Sectors *= double(Together) / Blocks;
    Out.LongestWarps.resize(Together);
    Out.WarpShare = double(Together) / Blocks;
    Out.WarpsSampled = uint64_t(double(Out.WarpsSampled) * Blocks / Sampled);
    Out.SampledBlocks = uint64_t(Blocks);
  }
  return std::move(Out);
}
