//===- Profile.h - What a simulated run did ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Counters of each launch, by source line, and the time that the model makes
/// of them.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_PROFILE_H
#define STARK_SIM_PROFILE_H

#include "stark/Sim/Gpu.h"
#include "stark/Sim/Tables.h"
#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace stark::sim {

/// Addresses in a trace have 48 bits; a thread's own arrays lie above this.
constexpr uint64_t AddressMask = 0xffffffffffffull,
                   LocalBegin = 0xf00000000000ull;

/// Of one site, over the sampled blocks.
struct SiteProfile {
  uint64_t Requests = 0; ///< of warps
  uint64_t Threads = 0;
  uint64_t Sectors = 0;      ///< of 32 bytes
  uint64_t LeastSectors = 0; ///< that the same bytes would need
  uint64_t L1Sectors = 0;    ///< of them found in L1
  uint64_t SharedRequests = 0, SharedCycles = 0;
  uint64_t AtomicConflicts = 0; ///< threads of a request on one address
  uint64_t ConstantCycles = 0;  ///< distinct addresses of __constant__ requests
  /// Granules of 64 bytes that a block writes in part and had not read.
  uint64_t FilledGranules = 0;
  uint64_t Lines = 0;    ///< of 128 bytes, that requests touch: L1's look-ups
  uint64_t L2Writes = 0; ///< lines of stores and atomics, which pass L1
};

struct LaunchProfile {
  std::string Kernel;
  unsigned Line = 0;
  uint64_t Blocks = 0, ThreadsPerBlock = 0, SharedBytes = 0;
  unsigned Registers = 0, BlocksPerSm = 0;
  uint64_t SampledBlocks = 0;
  std::vector<SiteProfile> Sites;     ///< by site
  std::vector<uint64_t> ThreadCounts; ///< by basic block: threads, and warps
  std::vector<uint64_t> WarpCounts;
  uint64_t WarpsSampled = 0;
  uint64_t Barriers = 0; ///< of warps
  /// Thread atomics on global memory, and the share of the 128-byte line that
  /// most of them meet; of integers and of floating-point numbers.
  double GlobalAtomics[2] = {0, 0}, HottestShare[2] = {0, 0};
  double L2Sectors = 0; ///< of a mean block
  double DramBytes = 0; ///< of the launch
  double FillBytes = 0; ///< of them, to complete what is written in part
  // Made by the model, in microseconds; the greatest bounds the launch.
  double TimeUs = 0, IssueUs = 0, PipeUs = 0, L2Us = 0, DramUs = 0,
         LatencyUs = 0, DispatchUs = 0, AtomicUs = 0;
  std::string Bound; ///< "DRAM bandwidth"
};

struct RunProfile {
  std::vector<LaunchProfile> Launches;
  double TransferUs = 0;
  uint64_t Accesses = 0; ///< that threads made, of every kind
  /// That the simulated threads executed, as the GPU would count them, and the
  /// processor time that the launches took here.
  double ThreadInstructions = 0, LaunchSeconds = 0;
  double timeUs() const;
};

/// Collects one launch.
class LaunchRecorder {
public:
  /// \p Constants: where __constant__ variables lie.
  LaunchRecorder(const Tables &T, const GpuDescription &Gpu,
                 unsigned BlocksPerSm, uint64_t SharedBytes,
                 std::vector<std::pair<uint64_t, uint64_t>> Constants);
  /// \p Lanes: the traces of one warp, site << 48 | address, each from lane 0.
  void warp(const std::vector<std::vector<uint64_t> *> &Lanes, char *SharedBase,
            uint64_t SharedBytes);
  void counts(const std::vector<uint32_t *> &Lanes);
  void barrier() { ++Out.Barriers; }
  void beginBlock(uint64_t X, uint64_t Y, uint64_t Z);
  void endBlock();
  /// \p Wave: the grid's blocks in the order of their numbers.
  LaunchProfile
  finish(uint64_t GridX, uint64_t GridY, uint64_t GridZ,
         const std::vector<std::pair<uint64_t, uint64_t>> &Arrays);
  LaunchProfile Out;

private:
  struct Footprint {
    uint64_t X, Y, Z;
    std::unordered_map<uint32_t, uint64_t> FirstAddress; ///< by site
    std::unordered_map<uint32_t, uint64_t> Unique;       ///< granules, by site
    std::unordered_map<uint32_t, uint64_t> First; ///< of them new to the block
    std::unordered_map<uint32_t, uint64_t> Traffic; ///< to L2, by site
  };
  bool touchL1(uint64_t Sector);
  const Tables &T;
  const GpuDescription &Gpu;
  std::vector<uint64_t> L1Tags; ///< lines, most recent first in each set
  std::vector<uint8_t> L1Valid;
  uint64_t L1Sets = 0;
  std::vector<Footprint> Blocks;
  std::unordered_map<uint32_t, std::unordered_set<uint64_t>>
      Seen;                                  ///< granules of one block, by site
  std::unordered_set<uint64_t> SeenByAny[2]; ///< granules read, and written
  struct Part {
    uint32_t Bytes = 0; ///< which of the sector were written
    uint32_t Site = 0;
  };
  std::unordered_map<uint64_t, Part> Parts; ///< sectors that a block writes
  /// By line, all blocks; of integers and of floating-point numbers.
  std::unordered_map<uint64_t, uint64_t> Atomics[2], BlockAtomics[2];
  /// Of the line that most atomics of a block meet, summed over the blocks.
  uint64_t HottestOfBlocks[2] = {0, 0};
  std::vector<std::pair<uint64_t, uint64_t>> Constants;
};

/// Fills the times of \p P.
void model(LaunchProfile &P, const Tables &T, const GpuDescription &Gpu);

/// "line 14: 32 sectors a request, 4 would do", worst first; for programmers
/// and for the plan agent.
std::string describeProfile(const RunProfile &R, const Tables &T);

} // namespace stark::sim

#endif
