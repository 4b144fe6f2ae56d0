//===- Profile.h - What a simulated run did ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Counters of each launch, by probe and basic block, and the time that the
/// model (lib/Sim/Model) makes of them.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_PROFILE_H
#define STARK_SIM_PROFILE_H

#include "stark/Sim/Gpu.h"
#include "stark/Sim/Resources.h"
#include "stark/Sim/Tables.h"

namespace stark::sim {

/// Of one probe, over the sampled blocks.
struct ProbeCounters {
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

/// What a launch keeps busy.
enum class Part {
  Issue, ///< slots and arithmetic units of the SMs
  LoadStore,
  L2,
  Dram,
  Latency, ///< nothing; warps wait for themselves
  Atomics,
  Dispatch
};
constexpr unsigned Parts = 7;

/// How the blocks of a launch wait for what others of it write.
struct BlocksWait {
  enum Kind {
    Nothing,
    Chain,    ///< each for the one before
    LookBack, ///< as many back as it takes to find one that has all
    Tree      ///< for some of those before, by the bits of their number
  } For = Nothing;
  /// Between the word that is polled and what is written, one after the other.
  double Loads = 0, Fences = 0;
  double AtOnce = 1; ///< words that a warp looks at together
};

struct LaunchProfile {
  std::string Kernel;
  unsigned Line = 0;
  uint64_t Blocks = 0, ThreadsPerBlock = 0, SharedBytes = 0;
  unsigned Registers = 0, BlocksPerSm = 0;
  std::optional<KernelResources> Exact; ///< unset: Registers are estimated
  uint64_t SampledBlocks = 0;
  std::vector<ProbeCounters> Probes;  ///< by probe
  std::vector<uint64_t> ThreadCounts; ///< by basic block: threads, and warps
  std::vector<uint64_t> WarpCounts;
  uint64_t WarpsSampled = 0;
  uint64_t Barriers = 0; ///< of warps
  /// Of each sampled block, of its warp with the longest way: how often it
  /// entered each basic block.
  std::vector<std::vector<uint32_t>> LongestWarps;
  double WarpShare = 1; ///< of these ways, that a warp goes in truth
  /// Blocks that do much more than all that were sampled, as far as others were
  /// counted: what they take is in PartUs, too.
  uint64_t HeavyBlocks = 0;
  double HeavyRatio = 0; ///< way of the longest, over that of the sampled ones
  /// Turns of atomics on global memory, those of the group of lines that most
  /// of them meet, and of floating-point ones of the sector.
  double GlobalAtomics = 0, AtomicsOfGroup = 0, FloatAtomicsOfSector = 0;
  BlocksWait Waiting;
  double L2Sectors = 0; ///< of a mean block
  double DramBytes = 0; ///< of the launch
  double FillBytes = 0; ///< of them, to complete what is written in part
  // Made by the model, in microseconds.
  double TimeUs = 0;
  std::array<double, Parts> PartUs{};
  Part Bound = Part::Latency; ///< takes longest
  /// What blocks in step add to these.
  double InStepUs = 0;
  double us(Part P) const { return PartUs[unsigned(P)]; }
};

/// Of a library's operator, which is not simulated: "linear" of ATen.
struct OperatorProfile {
  std::string Name;
  double Bytes = 0; ///< of the tensors that go in and come out
  double Flops = 0; ///< of products of matrices and convolutions
  unsigned ElementBytes = 4;
  double TimeUs = 0; ///< made by the model
};

/// Of an argument of the entry, distinct bytes.
struct BufferReach {
  std::string Name;
  uint64_t Bytes = 0;
  uint64_t Read = 0;    ///< before the entry had written there
  uint64_t Written = 0; ///< by threads, or by the host's copies and fills
  uint64_t Alike = 0;   ///< of written elements with the most common value
};

/// What a profiled block left in 4 bytes of an argument, which is what a run of
/// all blocks would leave there.
struct WrittenWord {
  uint32_t Buffer = 0; ///< by number, of those that the run was given
  uint32_t Bytes = 0;  ///< a bit for each that was written
  uint64_t Offset = 0; ///< in bytes, a multiple of four
  uint32_t Value = 0;
};
constexpr size_t MostWrittenWords = size_t(1) << 17;

struct RunProfile {
  std::vector<LaunchProfile> Launches;
  std::vector<OperatorProfile> Operators;
  double TransferUs = 0;
  uint64_t Accesses = 0; ///< that threads made, of every kind
  /// That the simulated threads executed, as the GPU would count them, and the
  /// processor time that the launches took here.
  double ThreadInstructions = 0, LaunchSeconds = 0;
  std::string Suspicion; ///< see RunHooks::Undefined; mostly empty
  /// Of memory that the program asked for and did not give back.
  uint64_t KeptBytes = 0;
  /// That the host was given of the device's: what was copied to it, and memory
  /// that both may touch. What it computes takes no time here.
  uint64_t HostBytes = 0;
  /// The first operation that was asked of another stream than the one that the
  /// entry is given: "kernel k, launched at line 3 in the default stream".
  std::string Elsewhere;
  /// In Check mode, where RunHooks::Reach asks for it, of arguments that are
  /// not too large to be watched.
  std::vector<BufferReach> Reached;
  /// In Profile mode, where RunHooks::Written asks for it: what is known of the
  /// last launch, MostWrittenWords at most, by buffer and offset.
  std::vector<WrittenWord> Written;
  double timeUs() const;
};

/// "line 14: 32 sectors a request, 4 would do", worst first; for programmers
/// and for the plan agent.
std::string describeProfile(const RunProfile &R, const Tables &T);

/// "x 4096 4096 0": bytes, read and written ones, a line an argument.
std::string printReach(const RunProfile &R);

} // namespace stark::sim

#endif
