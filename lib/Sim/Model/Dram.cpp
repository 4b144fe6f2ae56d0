//===- Dram.cpp - What a launch moves through L2 and DRAM -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model/Dram.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace stark::sim;

namespace {
/// Of L2, what is still there when it is used again (fit).
constexpr double LastingShare = 0.8;
/// Bytes by which a block may begin elsewhere than the steps say: a few pages'
/// worth of data-dependent offset is no other pattern (fit).
constexpr double StepSlack = 4096;

/// Of one probe, over the sampled blocks.
struct AddressPattern {
  double Traffic = 0;   ///< sectors to L2, of a mean block
  double Unique = 0;    ///< bytes, of a mean block
  double New = 0;       ///< of them new to the block
  uint64_t Address = 0; ///< somewhere in its array
  double Step[3] = {};  ///< bytes from a block to its neighbour
  double Own[3] = {};   ///< share of what a block touches and its neighbour not
  bool Affine = false;  ///< the steps say where every block is
  /// Of a grid of one dimension, blocks after which the second step is made
  /// and the first begins anew; 0: the grid's own dimensions count.
  double Row = 0;
};

/// What the probes that read an array, or that write it, do together.
struct ArrayUse {
  double Traffic = 0; ///< sectors to L2, of a mean block
  double WaveBytes = 0, GridBytes = 0;
  double Passes = 0; ///< bytes, when each line of the source fetches its own
  double Size = 0;
  double Block = 0; ///< bytes that a mean block touches
  double WaveFactor = 1, GridFactor = 1;
  double Scattered = 0; ///< of Block, by probes whose addresses depend on data
};

class Estimate {
public:
  explicit Estimate(const SampledLaunch &L)
      : L(L), Sampled(double(std::max<size_t>(1, L.Blocks.size()))),
        Total(L.Grid.blocks()),
        Wave(std::min<uint64_t>(uint64_t(Total),
                                uint64_t(std::max(1u, L.BlocksPerSm)) *
                                    L.Gpu.Sms)),
        Waves(std::ceil(Total / double(std::max<uint64_t>(Wave, 1)))),
        Uses(2 * (L.Arrays.size() + 1)) {}
  DramTraffic run();

private:
  AddressPattern patternOf(uint32_t Probe) const;
  void findSteps(uint32_t Probe, AddressPattern &P) const;
  void findRows(uint32_t Probe, double Zero, AddressPattern &P) const;
  size_t arrayOf(uint64_t Address) const;
  double covered(const AddressPattern &P, double Size, double Count) const;
  void add(uint32_t Probe);
  void spread();
  double bytesOf(const ArrayUse &U) const;

  const SampledLaunch &L;
  double Sampled, Total;
  uint64_t Wave; ///< blocks that run at once
  double Waves;
  /// What is read and what is written travel apart: reads come first.
  std::vector<ArrayUse> Uses;
  /// By use and line of the source: copies of one access that unrolling made
  /// are one pass.
  std::map<std::pair<size_t, unsigned>, double> Passes;
  double WaveBytes = 0;
  DramTraffic Out;
};
} // namespace

static double countOf(const std::unordered_map<uint32_t, uint64_t> &Counts,
                      uint32_t Probe) {
  auto Found = Counts.find(Probe);
  return Found == Counts.end() ? 0 : double(Found->second);
}

AddressPattern Estimate::patternOf(uint32_t Probe) const {
  AddressPattern P;
  for (const WorkingSet &B : L.Blocks) {
    P.Traffic += countOf(B.Traffic, Probe);
    P.Unique += countOf(B.Unique, Probe);
    P.New += countOf(B.First, Probe);
    if (auto Begin = B.FirstAddress.find(Probe); Begin != B.FirstAddress.end())
      P.Address = Begin->second;
  }
  P.Traffic /= Sampled;
  P.Unique = P.Unique / Sampled * GranuleBytes;
  P.New = P.New / Sampled * GranuleBytes;
  findSteps(Probe, P);
  return P;
}

void Estimate::findSteps(uint32_t Probe, AddressPattern &P) const {
  const WorkingSet *Origin = nullptr, *Along[3] = {};
  for (const WorkingSet &B : L.Blocks) {
    if (!B.FirstAddress.count(Probe))
      continue;
    if (!B.X && !B.Y && !B.Z)
      Origin = &B;
    if (B.X == 1 && !B.Y && !B.Z)
      Along[0] = &B;
    if (!B.X && B.Y == 1 && !B.Z)
      Along[1] = &B;
    if (!B.X && !B.Y && B.Z == 1)
      Along[2] = &B;
  }
  P.Affine = Origin != nullptr;
  if (!Origin)
    return;
  double Zero = double(Origin->FirstAddress.at(Probe));
  for (unsigned D = 0; D < 3; ++D)
    if (Along[D]) {
      P.Step[D] = double(Along[D]->FirstAddress.at(Probe)) - Zero;
      double All = std::max(1.0, countOf(Along[D]->Unique, Probe)),
             Step = std::fabs(P.Step[D]);
      // Neighbours within a granule share it, though not all blocks do.
      P.Own[D] = Step > 0 && Step < GranuleBytes
                     ? std::min(1.0, Step / (All * GranuleBytes))
                     : 1 - countOf(Along[D]->OfFirst, Probe) / All;
    }
  for (const WorkingSet &B : L.Blocks) {
    auto Begin = B.FirstAddress.find(Probe);
    if (Begin == B.FirstAddress.end())
      continue;
    double Expected = Zero + P.Step[0] * double(B.X) + P.Step[1] * double(B.Y) +
                      P.Step[2] * double(B.Z),
           Off = std::fabs(Expected - double(Begin->second));
    // Where a loop goes by the grid's width, a copy of an access that unrolling
    // made begins a turn later in blocks that make one turn more.
    double Turn = std::fabs(P.Step[0]) * double(L.Grid.X);
    if (Turn > StepSlack)
      Off = std::fabs(Off - std::round(Off / Turn) * Turn);
    P.Affine &= Off < StepSlack;
  }
  if (!P.Affine && Along[0] && P.Step[0] > 0 && L.Grid.Y * L.Grid.Z == 1)
    findRows(Probe, Zero, P);
}

/// Blocks that have one number alone and take rows and columns out of it may
/// go down the columns of a matrix: at its end they begin anew, a little
/// further to the right, and find in L2 what lies beside their words.
void Estimate::findRows(uint32_t Probe, double Zero, AddressPattern &P) const {
  size_t Array = arrayOf(P.Address);
  if (Array == L.Arrays.size())
    return;
  double Row =
             std::round(double(L.Arrays[Array].second - L.Arrays[Array].first) /
                        P.Step[0]),
         Right = 0;
  for (const WorkingSet &B : L.Blocks) {
    auto Begin = B.FirstAddress.find(Probe);
    double Down = std::floor(double(B.X) / Row);
    if (Begin == B.FirstAddress.end() || Row < 2 || Down < 1)
      continue;
    double Here = (double(Begin->second) - Zero -
                   P.Step[0] * (double(B.X) - Down * Row)) /
                  Down;
    if (Right == 0)
      Right = Here;
    if (Here != Right || Right <= 0 || Right >= GranuleBytes)
      return;
  }
  if (Right == 0)
    return;
  P.Affine = true;
  P.Row = Row;
  P.Step[1] = Right;
  P.Own[1] = Right / GranuleBytes;
}

/// Its number, or how many there are when it lies in none.
size_t Estimate::arrayOf(uint64_t Address) const {
  size_t Found = L.Arrays.size();
  for (size_t A = 0; A < L.Arrays.size(); ++A)
    if (Address >= (L.Arrays[A].first & AddressMask) &&
        Address < (L.Arrays[A].second & AddressMask))
      Found = A;
  return Found;
}

/// Of \p Size bytes, what some pieces of \p Share of it each touch, when each
/// lies anywhere.
static double coveredAtRandom(double Size, double Share, double Pieces) {
  return Size * (1 - std::pow(1 - Share, Pieces));
}

/// Bytes of the array that the first \p Count blocks touch.
double Estimate::covered(const AddressPattern &P, double Size,
                         double Count) const {
  if (!P.Affine)
    return coveredAtRandom(Size, std::min(1.0, P.Unique / std::max(Size, 1.0)),
                           Count);
  // Working sets that overlap add only what is new.
  double Distinct = 1, Left = Count;
  double Extent[3] = {double(L.Grid.X), double(L.Grid.Y), double(L.Grid.Z)};
  if (P.Row > 0) {
    Extent[1] = std::ceil(Extent[0] / P.Row);
    Extent[0] = P.Row;
  }
  for (unsigned D = 0; D < 3; ++D) {
    double Here = std::min(Extent[D], std::max(1.0, std::ceil(Left)));
    Distinct *= 1 + (Here - 1) * P.Own[D];
    Left /= Extent[D];
  }
  return std::min(Size, Distinct * P.Unique);
}

void Estimate::add(uint32_t Number) {
  const Probe &Of = L.T.Probes[Number];
  AddressPattern P = patternOf(Number);
  size_t Array = arrayOf(P.Address);
  double Size = Array < L.Arrays.size()
                    ? double(L.Arrays[Array].second - L.Arrays[Array].first)
                    : P.Unique;
  bool Writes = Of.Kind != ProbeKind::Load;
  size_t Index = Array + (Writes ? L.Arrays.size() + 1 : 0);
  ArrayUse &U = Uses[Index];
  U.Size = Size;
  U.Traffic += P.Traffic;
  U.Block += P.New;
  U.Scattered += P.Affine ? 0 : P.New;
  double OfGrid = covered(P, Size, Total);
  if (P.Unique > 0) {
    U.WaveFactor =
        std::max(U.WaveFactor, covered(P, Size, double(Wave)) / P.Unique);
    U.GridFactor = std::max(U.GridFactor, OfGrid / P.Unique);
  }
  // What has to be fetched because it is written in part, each time.
  if (P.Traffic > 0)
    Out.FillBytes += double(L.Probes[Number].FilledGranules) / Sampled * Total *
                     GranuleBytes;
  double &Pass = Passes[{Index, Of.Line}];
  Pass = std::max(Pass, std::min(OfGrid, P.Traffic * GranuleBytes * Total));
  if (Of.Kind == ProbeKind::Atomic) {
    Out.Atomics[Number] = {P.Unique, covered(P, Size, double(Wave)), !P.Affine,
                           Array};
  }
  Out.L2Sectors += P.Traffic;
}

/// From a mean block to the blocks of a wave and of the grid.
void Estimate::spread() {
  for (const auto &[Where, Bytes] : Passes)
    Uses[Where.first].Passes += Bytes;
  for (ArrayUse &U : Uses) {
    double Share = std::min(1.0, U.Block / std::max(U.Size, 1.0));
    bool AtRandom = 2 * U.Scattered > U.Block;
    U.WaveBytes = AtRandom ? coveredAtRandom(U.Size, Share, double(Wave))
                           : std::min(U.Size, U.Block * U.WaveFactor);
    U.GridBytes = AtRandom ? coveredAtRandom(U.Size, Share, Total)
                           : std::min(U.Size, U.Block * U.GridFactor);
    WaveBytes += U.WaveBytes;
  }
}

double Estimate::bytesOf(const ArrayUse &U) const {
  double Lasting = LastingShare * L.Gpu.L2Bytes;
  double ToL2 = U.Traffic * SectorBytes * Total;
  // Passes of one block over an array find nothing of it in L2 when the blocks
  // of a wave together touch more than that holds.
  double Once =
      WaveBytes < Lasting ? U.GridBytes : std::max(U.GridBytes, U.Passes);
  double Again = std::min(ToL2 * GranuleSectors, U.WaveBytes * Waves);
  // What lies between two uses of a byte by blocks of different waves.
  double Distance = U.WaveBytes > 0 ? U.GridBytes / U.WaveBytes * WaveBytes : 0;
  return Distance < Lasting ? Once : std::max(Once, Again);
}

DramTraffic Estimate::run() {
  std::set<uint32_t> Numbers;
  for (const WorkingSet &B : L.Blocks)
    for (const auto &[Number, Sectors] : B.Traffic)
      Numbers.insert(Number);
  for (uint32_t Number : Numbers)
    add(Number);
  spread();
  for (const ArrayUse &U : Uses)
    Out.Bytes += bytesOf(U);
  Out.Bytes += Out.FillBytes;
  return Out;
}

DramTraffic stark::sim::estimateDram(const SampledLaunch &L) {
  return Estimate(L).run();
}
