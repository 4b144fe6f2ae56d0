//===- Profile.cpp - The counters of a launch -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The lanes of a warp are brought together again: accesses of one site that
/// stand next in their traces are one request.
///
//===----------------------------------------------------------------------===//

#include "stark/Sim/Profile.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace stark::sim;

namespace {
constexpr unsigned Ways = 4;
constexpr uint64_t LineBytes = 128, SectorBytes = 32;
/// DRAM is read and written in pieces of two sectors.
constexpr uint64_t GranuleBytes = 64;
} // namespace

LaunchRecorder::LaunchRecorder(
    const Tables &T, const GpuDescription &Gpu, unsigned BlocksPerSm,
    uint64_t SharedBytes, std::vector<std::pair<uint64_t, uint64_t>> Constants)
    : T(T), Gpu(Gpu), Constants(std::move(Constants)) {
  Out.Sites.resize(T.Sites.size());
  Out.ThreadCounts.resize(T.Blocks.size());
  Out.WarpCounts.resize(T.Blocks.size());
  // What shared memory leaves of L1, divided among the blocks that share it.
  double Left = Gpu.L1Bytes -
                double(BlocksPerSm) * double(SharedBytes + Gpu.SharedReserved);
  double Share = std::max(Left, 16.0 * 1024) / std::max(1u, BlocksPerSm);
  L1Sets = std::max<uint64_t>(1, uint64_t(Share) / (LineBytes * Ways));
}

void LaunchRecorder::beginBlock(uint64_t X, uint64_t Y, uint64_t Z) {
  Blocks.push_back({X, Y, Z, {}, {}, {}, {}});
  Seen.clear();
  SeenByAny[0].clear();
  SeenByAny[1].clear();
  Parts.clear();
  L1Tags.assign(L1Sets * Ways, ~0ull);
  L1Valid.assign(L1Sets * Ways, 0);
}

/// Whether the sector is in L1; it is afterwards.
bool LaunchRecorder::touchL1(uint64_t Sector) {
  uint64_t Line = Sector / (LineBytes / SectorBytes);
  uint8_t Bit = uint8_t(1u << (Sector % (LineBytes / SectorBytes)));
  uint64_t Set = (Line ^ (Line >> 12)) % L1Sets;
  uint64_t *Tags = &L1Tags[Set * Ways];
  uint8_t *Valid = &L1Valid[Set * Ways];
  unsigned Way = 0;
  while (Way < Ways && Tags[Way] != Line)
    ++Way;
  bool Known = Way < Ways;
  if (!Known)
    Way = Ways - 1;
  uint8_t Holds = Known ? Valid[Way] : 0;
  for (; Way > 0; --Way) {
    Tags[Way] = Tags[Way - 1];
    Valid[Way] = Valid[Way - 1];
  }
  Tags[0] = Line;
  Valid[0] = Holds | Bit;
  return Holds & Bit;
}

void LaunchRecorder::warp(const std::vector<std::vector<uint64_t> *> &Lanes,
                          char *SharedBase, uint64_t SharedBytes) {
  size_t At[32] = {};
  uint64_t Shared = reinterpret_cast<uint64_t>(SharedBase) & AddressMask;
  Footprint &Block = Blocks.back();
  for (;;) {
    // Lanes that are behind go first: sites are numbered in program order.
    uint32_t Next = ~0u;
    for (size_t L = 0; L < Lanes.size(); ++L)
      if (At[L] < Lanes[L]->size())
        Next = std::min(Next, uint32_t((*Lanes[L])[At[L]] >> 48));
    if (Next == ~0u)
      return;
    uint64_t Addresses[32];
    unsigned Count = 0;
    for (size_t L = 0; L < Lanes.size(); ++L)
      if (At[L] < Lanes[L]->size() &&
          uint32_t((*Lanes[L])[At[L]] >> 48) == Next)
        Addresses[Count++] = (*Lanes[L])[At[L]++] & AddressMask;
    const Site &S = T.Sites[Next];
    SiteProfile &P = Out.Sites[Next];
    ++P.Requests;
    P.Threads += Count;
    uint64_t Bytes = std::max(1u, S.Bytes ? S.Bytes : 4u);
    if (Addresses[0] >= Shared && Addresses[0] < Shared + SharedBytes) {
      ++P.SharedRequests;
      // Wide accesses move 128 bytes a cycle, too; lanes that want the same
      // word get it together, those that want different words of one bank wait.
      std::vector<uint64_t> Words;
      for (unsigned I = 0; I < Count; ++I)
        for (uint64_t B = 0; B < std::max<uint64_t>(Bytes, 4); B += 4)
          Words.push_back((Addresses[I] + B) / 4);
      if (S.Kind != SiteKind::Atomic || S.Counts) {
        std::sort(Words.begin(), Words.end());
        Words.erase(std::unique(Words.begin(), Words.end()), Words.end());
      }
      unsigned Used[32] = {}, Worst = 1;
      for (uint64_t Word : Words)
        Worst = std::max(Worst, ++Used[Word % 32]);
      // Floating additions in shared memory are loops that compare and swap.
      P.SharedCycles += S.Float ? Worst * 12 : Worst;
      continue;
    }
    bool Banked = false;
    for (const auto &[Begin, End] : Constants)
      Banked |= Addresses[0] >= Begin && Addresses[0] < End;
    if (Banked) {
      std::sort(Addresses, Addresses + Count);
      P.ConstantCycles +=
          2 * uint64_t(std::unique(Addresses, Addresses + Count) - Addresses);
      continue;
    }
    if (Addresses[0] >= LocalBegin) {
      // Served by L1, a line a cycle.
      std::set<uint64_t> Lines;
      for (unsigned I = 0; I < Count; ++I)
        Lines.insert(Addresses[I] / LineBytes);
      P.Lines += Lines.size();
      // L1 writes through.
      if (S.Kind == SiteKind::Store)
        P.L2Writes += Lines.size();
      P.Sectors += Lines.size() * 4;
      P.L1Sectors += Lines.size() * 4;
      P.LeastSectors += 4;
      continue;
    }
    uint64_t Sectors[64];
    unsigned Found = 0;
    for (unsigned I = 0; I < Count; ++I)
      for (uint64_t Sector = Addresses[I] / SectorBytes;
           Sector <= (Addresses[I] + Bytes - 1) / SectorBytes; ++Sector) {
        bool There = false;
        // Neighbours mostly share.
        for (unsigned J = Found; J-- > 0 && !There;)
          There = Sectors[J] == Sector;
        if (!There && Found < 64)
          Sectors[Found++] = Sector;
      }
    P.Sectors += Found;
    if (S.Kind == SiteKind::Atomic) {
      unsigned Worst = 1;
      for (unsigned I = 0; I < Count; ++I) {
        unsigned Same = 0;
        for (unsigned J = 0; J < Count; ++J)
          Same += Addresses[J] == Addresses[I];
        Worst = std::max(Worst, Same);
      }
      P.AtomicConflicts += Worst - 1;
      for (unsigned I = 0; I < Count; ++I) {
        ++Atomics[S.Float][Addresses[I] / LineBytes];
        ++BlockAtomics[S.Float][Addresses[I] / LineBytes];
      }
      Out.GlobalAtomics[S.Float] += Count;
    }
    if (S.Kind == SiteKind::Store && Bytes < SectorBytes)
      for (unsigned I = 0; I < Count; ++I) {
        // One that was read lies in L2 already.
        if (SeenByAny[0].count(Addresses[I] / GranuleBytes))
          continue;
        Part &Written = Parts[Addresses[I] / SectorBytes];
        Written.Bytes |= uint32_t(((uint64_t(1) << Bytes) - 1)
                                  << (Addresses[I] % SectorBytes));
        Written.Site = Next;
      }
    // The bytes that were asked for, each counted once.
    std::sort(Addresses, Addresses + Count);
    uint64_t Distinct =
        uint64_t(std::unique(Addresses, Addresses + Count) - Addresses);
    P.LeastSectors += (Distinct * Bytes + SectorBytes - 1) / SectorBytes;
    Block.FirstAddress.try_emplace(Next, Addresses[0]);
    uint64_t Lines[64];
    unsigned Touched = 0, Asked = 0;
    auto Add = [&](unsigned &Used, uint64_t Line) {
      for (unsigned J = 0; J < Used; ++J)
        if (Lines[J] == Line)
          return;
      Lines[Used++] = Line;
    };
    for (unsigned I = 0; I < Found; ++I)
      Add(Touched, Sectors[I] / (LineBytes / SectorBytes));
    P.Lines += Touched;
    for (unsigned I = 0; I < Found; ++I) {
      bool Hit = S.Kind == SiteKind::Load && !S.Volatile && touchL1(Sectors[I]);
      if (S.Kind != SiteKind::Load)
        Add(Asked, Sectors[I] / (LineBytes / SectorBytes));
      P.L1Sectors += Hit;
      if (!Hit)
        ++Block.Traffic[Next];
      uint64_t Granule = Sectors[I] / (GranuleBytes / SectorBytes);
      if (Seen[Next].insert(Granule).second)
        ++Block.Unique[Next];
      if (SeenByAny[S.Kind != SiteKind::Load].insert(Granule).second)
        ++Block.First[Next];
    }
    P.L2Writes += Asked;
  }
}

void LaunchRecorder::counts(const std::vector<uint32_t *> &Lanes) {
  for (size_t B = 0; B < T.Blocks.size(); ++B) {
    uint64_t Sum = 0;
    uint32_t Most = 0;
    for (const uint32_t *Counts : Lanes) {
      Sum += Counts[B];
      Most = std::max(Most, Counts[B]);
    }
    Out.ThreadCounts[B] += Sum;
    Out.WarpCounts[B] += Most;
  }
  ++Out.WarpsSampled;
}

void LaunchRecorder::endBlock() {
  ++Out.SampledBlocks;
  // What is written in part has to be fetched: memory with error correction
  // takes whole granules.
  std::unordered_set<uint64_t> Fetched;
  for (const auto &[Sector, Written] : Parts)
    if (Written.Bytes != ~0u &&
        Fetched.insert(Sector / (GranuleBytes / SectorBytes)).second)
      ++Out.Sites[Written.Site].FilledGranules;
  for (unsigned Float = 0; Float < 2; ++Float) {
    uint64_t Hottest = 0;
    for (const auto &[Line, Count] : BlockAtomics[Float])
      Hottest = std::max(Hottest, Count);
    HottestOfBlocks[Float] += Hottest;
    BlockAtomics[Float].clear();
  }
}

/// How far apart the footprints of two neighbouring blocks begin is taken for
/// the step along that axis; when a block further on does not lie where the
/// steps say, the site's addresses depend on data.
LaunchProfile LaunchRecorder::finish(
    uint64_t GridX, uint64_t GridY, uint64_t GridZ,
    const std::vector<std::pair<uint64_t, uint64_t>> &Arrays) {
  double Sampled = double(std::max<uint64_t>(1, Out.SampledBlocks));
  double Total = double(GridX) * double(GridY) * double(GridZ);
  uint64_t Wave = std::min<uint64_t>(
      uint64_t(Total), uint64_t(std::max(1u, Out.BlocksPerSm)) * Gpu.Sms);
  double Waves = std::ceil(Total / double(std::max<uint64_t>(Wave, 1)));

  struct Reach {
    double Traffic = 0; ///< sectors to L2, of a mean block
    double WaveBytes = 0, GridBytes = 0;
    double Passes = 0; ///< bytes, when each site has to fetch its own
    double Size = 0;
    double Block = 0; ///< bytes that a mean block touches
    double WaveFactor = 1, GridFactor = 1;
    double Scattered = 0; ///< of them by sites whose addresses depend on data
  };
  // What is read and what is written travel apart.
  std::vector<Reach> Of(2 * (Arrays.size() + 1));
  std::map<std::pair<ptrdiff_t, unsigned>, double> Passes;
  // How many times as many lines as a block's the atomics of the grid meet.
  double Spread[2] = {1, 1};
  bool Anywhere[2] = {false, false};
  std::set<uint32_t> SiteSet;
  for (const Footprint &B : Blocks)
    for (const auto &[Site, Sectors] : B.Traffic)
      SiteSet.insert(Site);
  for (uint32_t Site : SiteSet) {
    double Traffic = 0, Unique = 0, New = 0;
    uint64_t First = 0;
    const Footprint *Origin = nullptr, *Along[3] = {};
    for (const Footprint &B : Blocks) {
      auto T0 = B.Traffic.find(Site);
      if (T0 != B.Traffic.end())
        Traffic += double(T0->second);
      auto U0 = B.Unique.find(Site);
      if (U0 != B.Unique.end())
        Unique += double(U0->second);
      auto N0 = B.First.find(Site);
      if (N0 != B.First.end())
        New += double(N0->second);
      auto F0 = B.FirstAddress.find(Site);
      if (F0 == B.FirstAddress.end())
        continue;
      First = F0->second;
      if (!B.X && !B.Y && !B.Z)
        Origin = &B;
      if (B.X == 1 && !B.Y && !B.Z)
        Along[0] = &B;
      if (!B.X && B.Y == 1 && !B.Z)
        Along[1] = &B;
      if (!B.X && !B.Y && B.Z == 1)
        Along[2] = &B;
    }
    Traffic /= Sampled;
    Unique = Unique / Sampled * GranuleBytes;
    double Step[3] = {0, 0, 0};
    bool Affine = Origin != nullptr;
    if (Origin) {
      double Zero = double(Origin->FirstAddress.at(Site));
      for (unsigned D = 0; D < 3; ++D)
        if (Along[D])
          Step[D] = double(Along[D]->FirstAddress.at(Site)) - Zero;
      for (const Footprint &B : Blocks) {
        auto F0 = B.FirstAddress.find(Site);
        if (F0 == B.FirstAddress.end())
          continue;
        double Expected = Zero + Step[0] * double(B.X) + Step[1] * double(B.Y) +
                          Step[2] * double(B.Z);
        Affine &= std::fabs(Expected - double(F0->second)) < 4096;
      }
    }
    size_t Array = Arrays.size();
    for (size_t A = 0; A < Arrays.size(); ++A)
      if (First >= (Arrays[A].first & AddressMask) &&
          First < (Arrays[A].second & AddressMask))
        Array = A;
    double Size = Array < Arrays.size()
                      ? double(Arrays[Array].second - Arrays[Array].first)
                      : Unique;
    auto Covered = [&](double Count) {
      if (!Affine)
        return Size *
               (1 - std::pow(1 - std::min(1.0, Unique / std::max(Size, 1.0)),
                             Count));
      // Distinct beginnings among the first Count blocks.
      double Distinct = 1, Left = Count;
      double Extent[3] = {double(GridX), double(GridY), double(GridZ)};
      for (unsigned D = 0; D < 3; ++D) {
        double Here = std::min(Extent[D], std::max(1.0, std::ceil(Left)));
        if (Step[D] != 0) {
          // Footprints that overlap add only what is new.
          double New =
              std::min(1.0, std::fabs(Step[D]) / std::max(Unique, 1.0));
          bool Interleaved = std::fabs(Step[D]) < Unique && Unique > 0 &&
                             std::fabs(Step[D]) <= 4096;
          Distinct *=
              Interleaved && Size > Unique * 2 ? Here : 1 + (Here - 1) * New;
        }
        Left /= Extent[D];
      }
      return std::min(Size, Distinct * Unique);
    };
    bool Writes = T.Sites[Site].Kind != SiteKind::Load;
    Reach &R = Of[Array + (Writes ? Arrays.size() + 1 : 0)];
    R.Size = Size;
    R.Traffic += Traffic;
    R.Block += New / Sampled * GranuleBytes;
    R.Scattered += Affine ? 0 : New / Sampled * GranuleBytes;
    if (Unique > 0) {
      R.WaveFactor = std::max(R.WaveFactor, Covered(double(Wave)) / Unique);
      R.GridFactor = std::max(R.GridFactor, Covered(Total) / Unique);
    }
    // What has to be fetched because it is written in part, each time.
    if (Traffic > 0)
      Out.FillBytes += double(Out.Sites[Site].FilledGranules) / Sampled *
                       Total * GranuleBytes;
    // Copies of one access that unrolling made are one pass.
    double &Pass = Passes[{&R - Of.data(), T.Sites[Site].Line}];
    Pass = std::max(Pass,
                    std::min(Covered(Total), Traffic * GranuleBytes * Total));
    if (T.Sites[Site].Kind == SiteKind::Atomic) {
      bool Float = T.Sites[Site].Float;
      Spread[Float] = std::max(
          Spread[Float], Covered(Total) / std::max(Unique, double(LineBytes)));
      Anywhere[Float] |= !Affine;
    }
    Out.L2Sectors += Traffic;
  }
  for (const auto &[Where, Bytes] : Passes)
    Of[size_t(Where.first)].Passes += Bytes;
  double WaveBytes = 0;
  for (Reach &R : Of) {
    auto Random = [&](double Count) {
      double Share = std::min(1.0, R.Block / std::max(R.Size, 1.0));
      return R.Size * (1 - std::pow(1 - Share, Count));
    };
    R.WaveBytes = 2 * R.Scattered > R.Block
                      ? Random(double(Wave))
                      : std::min(R.Size, R.Block * R.WaveFactor);
    R.GridBytes = 2 * R.Scattered > R.Block
                      ? Random(Total)
                      : std::min(R.Size, R.Block * R.GridFactor);
    WaveBytes += R.WaveBytes;
  }
  for (const Reach &R : Of) {
    double ToL2 = R.Traffic * SectorBytes * Total;
    // Passes of one block over an array find nothing of it in L2 when the
    // blocks of a wave together touch more than that holds.
    double Once = WaveBytes < 0.8 * Gpu.L2Bytes
                      ? R.GridBytes
                      : std::max(R.GridBytes, R.Passes);
    double Again =
        std::min(ToL2 * (GranuleBytes / SectorBytes), R.WaveBytes * Waves);
    // What lies between two uses of a byte by blocks of different waves.
    double Distance =
        R.WaveBytes > 0 ? R.GridBytes / R.WaveBytes * WaveBytes : 0;
    Out.DramBytes +=
        Distance < 0.8 * Gpu.L2Bytes ? Once : std::max(Once, Again);
  }
  Out.DramBytes += Out.FillBytes;
  for (unsigned Float = 0; Float < 2; ++Float) {
    uint64_t Hottest = 0;
    for (const auto &[Line, Count] : Atomics[Float])
      Hottest = std::max(Hottest, Count);
    if (Out.GlobalAtomics[Float] > 0)
      Out.HottestShare[Float] =
          (Anywhere[Float] ? double(Hottest)
                           : double(HottestOfBlocks[Float]) / Spread[Float]) /
          Out.GlobalAtomics[Float];
    Out.GlobalAtomics[Float] *= Total / Sampled;
  }
  return std::move(Out);
}
