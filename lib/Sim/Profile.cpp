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
  Blocks.push_back({X, Y, Z, {}, {}, {}});
  Seen.clear();
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
  // The last load of shared memory, as wide as it has grown.
  uint64_t Wide[32], WideBytes = 0;
  unsigned WideCount = 0;
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
      // Wide accesses are served in parts of 128 bytes; within a part lanes
      // that want different words of one bank wait.
      // nvcc makes one load of 16 aligned bytes of neighbours.
      bool Joins = S.Kind == SiteKind::Load && Bytes == 4 &&
                   Count == WideCount && WideBytes + 4 <= 16;
      for (unsigned I = 0; I < Count && Joins; ++I)
        Joins = Addresses[I] == Wide[I] + WideBytes && Wide[I] % 16 == 0;
      if (Joins) {
        WideBytes += 4;
        --P.Requests;
        continue;
      }
      WideCount = S.Kind == SiteKind::Load && Bytes == 4 ? Count : 0;
      WideBytes = 4;
      std::copy(Addresses, Addresses + Count, Wide);
      ++P.SharedRequests;
      unsigned PerPart =
          unsigned(std::max<uint64_t>(1, 128 / std::max<uint64_t>(Bytes, 4)));
      if (S.Kind == SiteKind::Atomic)
        PerPart = 32;
      for (unsigned First = 0; First < Count; First += PerPart) {
        uint64_t Words[32][8];
        unsigned Used[32] = {};
        unsigned Worst = 1;
        for (unsigned I = First; I < std::min(Count, First + PerPart); ++I)
          for (uint64_t B = 0; B < std::max<uint64_t>(Bytes, 4); B += 4) {
            uint64_t Word = (Addresses[I] + B) / 4;
            unsigned Bank = unsigned(Word % 32);
            bool There = false;
            if (S.Kind != SiteKind::Atomic)
              for (unsigned J = 0; J < std::min(Used[Bank], 8u); ++J)
                There |= Words[Bank][J] == Word;
            if (There)
              continue;
            if (Used[Bank] < 8)
              Words[Bank][Used[Bank]] = Word;
            Worst = std::max(Worst, ++Used[Bank]);
          }
        // Floating additions in shared memory are loops that compare and swap.
        P.SharedCycles += S.Float ? Worst * 12 : Worst;
      }
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
      for (unsigned I = 0; I < Count; ++I)
        ++Atomics[Addresses[I]];
      // Those of one sector go together unless they meet on one address.
      Out.GlobalAtomics += std::max(Found, Worst);
    }
    if (S.Kind == SiteKind::Store && Count * Bytes < Found * SectorBytes)
      P.PartialSectors += Found;
    // The bytes that were asked for, each counted once.
    std::sort(Addresses, Addresses + Count);
    uint64_t Distinct =
        uint64_t(std::unique(Addresses, Addresses + Count) - Addresses);
    P.LeastSectors += (Distinct * Bytes + SectorBytes - 1) / SectorBytes;
    Block.FirstAddress.try_emplace(Next, Addresses[0]);
    for (unsigned I = 0; I < Found; ++I) {
      bool Hit = S.Kind == SiteKind::Load && !S.Volatile && touchL1(Sectors[I]);
      P.L1Sectors += Hit;
      if (!Hit)
        ++Block.Traffic[Next];
      if (Seen[Next].insert(Sectors[I] / (GranuleBytes / SectorBytes)).second)
        ++Block.Unique[Next];
    }
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

void LaunchRecorder::endBlock() { ++Out.SampledBlocks; }

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
  };
  // What is read and what is written travel apart.
  std::vector<Reach> Of(2 * (Arrays.size() + 1));
  std::set<uint32_t> SiteSet;
  for (const Footprint &B : Blocks)
    for (const auto &[Site, Sectors] : B.Traffic)
      SiteSet.insert(Site);
  for (uint32_t Site : SiteSet) {
    double Traffic = 0, Unique = 0;
    uint64_t First = 0;
    const Footprint *Origin = nullptr, *Along[3] = {};
    for (const Footprint &B : Blocks) {
      auto T0 = B.Traffic.find(Site);
      if (T0 != B.Traffic.end())
        Traffic += double(T0->second);
      auto U0 = B.Unique.find(Site);
      if (U0 != B.Unique.end())
        Unique += double(U0->second);
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
    R.WaveBytes = std::max(R.WaveBytes, Covered(double(Wave)));
    R.GridBytes = std::max(R.GridBytes, Covered(Total));
    R.Passes += std::min(Covered(Total), Traffic * GranuleBytes * Total);
    Out.L2Sectors += Traffic;
  }
  double WaveBytes = 0;
  for (const Reach &R : Of)
    WaveBytes += R.WaveBytes;
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
  uint64_t Hottest = 0;
  for (const auto &[Address, Count] : Atomics)
    Hottest = std::max(Hottest, Count);
  if (Out.GlobalAtomics > 0)
    Out.HottestShare = double(Hottest) / Out.GlobalAtomics;
  Out.GlobalAtomics *= Total / Sampled;
  return std::move(Out);
}
