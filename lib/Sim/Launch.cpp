//===- Launch.cpp - A kernel on its grid ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Checks run every block; a profile runs the first, the last and some
///   between,
/// and the neighbours of the first along each axis of the grid.
///
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include <algorithm>
#include <cstring>
#include <ctime>

using namespace stark::sim;

extern "C" {
extern char *__stark_sim_shared;
extern uint32_t *__stark_sim_lane;
extern uint32_t *__stark_sim_counts;
}

namespace {
// cudaError_t
constexpr int InvalidConfiguration = 9, InvalidValue = 1;
constexpr uint64_t MiddleBlocks = 3;

/// Of this process: what others do on the machine does not count.
double processorSeconds() {
  timespec Now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &Now);
  return double(Now.tv_sec) + double(Now.tv_nsec) * 1e-9;
}
} // namespace

Machine::Machine(const Tables &T, const GpuDescription &Gpu) : T(T), Gpu(Gpu) {
  Cached.resize(T.Sites.size());
}

Machine::~Machine() = default;

unsigned Machine::blocksPerSm(const Kernel &K, uint64_t Threads,
                              uint64_t Dynamic) const {
  uint64_t Warps = (Threads + 31) / 32;
  uint64_t ByThreads = Gpu.MaxThreadsPerSm / std::max<uint64_t>(Warps * 32, 1);
  // Registers are given to a warp in steps of 256.
  uint64_t PerWarp = (uint64_t(K.Registers) * 32 + 255) / 256 * 256;
  uint64_t ByRegisters =
      Gpu.RegistersPerSm / std::max<uint64_t>(PerWarp * Warps, 1);
  uint64_t Shared = K.StaticShared + Dynamic + Gpu.SharedReserved;
  uint64_t ByShared = Gpu.SharedPerSm / std::max<uint64_t>(Shared, 1);
  return unsigned(std::min(
      {uint64_t(Gpu.MaxBlocksPerSm), ByThreads, ByRegisters, ByShared}));
}

/// By number; every one when there are few.
std::vector<uint64_t> Machine::sampledBlocks() const {
  uint64_t Count = Grid.count();
  std::vector<uint64_t> List;
  auto Add = [&](uint64_t I) {
    if (I < Count && std::find(List.begin(), List.end(), I) == List.end())
      List.push_back(I);
  };
  Add(0);
  if (Grid.X > 1)
    Add(1);
  if (Grid.Y > 1)
    Add(Grid.X);
  if (Grid.Z > 1)
    Add(uint64_t(Grid.X) * Grid.Y);
  for (uint64_t I = 1; I <= MiddleBlocks; ++I)
    Add(Count * I / (MiddleBlocks + 1) + (I & 1));
  Add(Count - 1);
  std::sort(List.begin(), List.end());
  return List;
}

int Machine::launch(unsigned KernelIndex, const void *Values, Dim3 NewGrid,
                    Dim3 NewBlock, uint64_t NewDynamic, bool Cooperative) {
  const Kernel &K = Kernels[KernelIndex];
  Launched = KernelIndex;
  Grid = NewGrid;
  Block = NewBlock;
  Dynamic = NewDynamic;
  Closure = Values;
  BlockLinear = 0;
  auto Refuse = [&](const std::string &Why) {
    finding(FindingKind::Launch,
            "kernel " + K.Name +
                (LaunchLine
                     ? ", launched at line " + std::to_string(LaunchLine) + ","
                     : "") +
                " cannot be launched: " + Why);
    return LastError = InvalidConfiguration;
  };
  uint64_t PerBlock = NewBlock.count();
  if (!PerBlock || !NewGrid.count())
    return Refuse("grid (" + std::to_string(Grid.X) + "," +
                  std::to_string(Grid.Y) + "," + std::to_string(Grid.Z) +
                  "), block (" + std::to_string(Block.X) + "," +
                  std::to_string(Block.Y) + "," + std::to_string(Block.Z) +
                  "): none may be 0");
  if (PerBlock > Gpu.MaxThreadsPerBlock || Block.X > 1024 || Block.Y > 1024 ||
      Block.Z > 64)
    return Refuse(
        "a block of " + std::to_string(Block.X) + " x " +
        std::to_string(Block.Y) + " x " + std::to_string(Block.Z) + " = " +
        std::to_string(PerBlock) + " threads, the GPU takes " +
        std::to_string(Gpu.MaxThreadsPerBlock) + " (1024 x 1024 x 64)");
  if (Grid.X > 2147483647u || Grid.Y > 65535 || Grid.Z > 65535)
    return Refuse("a grid of " + std::to_string(Grid.X) + " x " +
                  std::to_string(Grid.Y) + " x " + std::to_string(Grid.Z) +
                  " blocks, the GPU takes 2147483647 x 65535 x 65535");
  if (Dynamic > K.MaxDynamic)
    return Refuse(std::to_string(Dynamic) +
                  " bytes of dynamic shared memory, it may have " +
                  std::to_string(K.MaxDynamic) +
                  (K.MaxDynamic <= 48 * 1024
                       ? " unless cudaFuncSetAttribute allows more"
                       : ""));
  if (K.StaticShared > 48 * 1024)
    return Refuse(std::to_string(K.StaticShared) +
                  " bytes of static shared memory, the limit is 49152");
  if (K.StaticShared + Dynamic > Gpu.SharedPerBlock)
    return Refuse(std::to_string(K.StaticShared + Dynamic) +
                  " bytes of shared memory, the GPU has " +
                  std::to_string(Gpu.SharedPerBlock) + " for a block");
  unsigned PerSm = blocksPerSm(K, PerBlock, Dynamic);
  if (!PerSm)
    return Refuse("too many resources: " + std::to_string(K.Registers) +
                  " registers (estimated) for each of " +
                  std::to_string(PerBlock) + " threads, the GPU has " +
                  std::to_string(Gpu.RegistersPerSm));
  if (Cooperative && Grid.count() > uint64_t(PerSm) * Gpu.Sms)
    return Refuse("a cooperative grid of " + std::to_string(Grid.count()) +
                  " blocks, " + std::to_string(uint64_t(PerSm) * Gpu.Sms) +
                  " fit on the GPU at once");

  Threads = unsigned(PerBlock);
  Warps = (Threads + 31) / 32;
  Lanes.resize(Threads);
  WarpEpoch.assign(Warps, 0);
  makeShared();
  __stark_sim_shared = SharedBase;
  TogetherInGrid = Cooperative;
  CountPool.assign(std::max<size_t>(T.Blocks.size(), 1) *
                       (How == Mode::Profile ? Threads : 1),
                   0u);
  ++Epoch;
  LaunchEpoch = Epoch;

  double Begun = processorSeconds();
  if (How == Mode::Check && Cooperative && Grid.count() > 1)
    checkResident();
  else if (How == Mode::Check)
    checkBlocks();
  else
    profileBlocks(K, PerSm);
  Profiled.LaunchSeconds += processorSeconds() - Begun;
  if (overran())
    unsupported(UnsupportedKind::LocalMemory,
                "local arrays of more than 128 KiB in a cooperative launch");
  return 0;
}

/// Shared memory of one block, at a multiple of 1024 bytes.
void Machine::makeShared() {
  SharedBytes = T.SharedEnd + Dynamic;
  // What it holds at first must not look like zeros.
  SharedMemory.assign(SharedBytes + 1024 + 64,
                      char(How == Mode::Check ? 0xA5 : 0));
  SharedBase =
      SharedMemory.data() +
      (1024 - reinterpret_cast<uintptr_t>(SharedMemory.data()) % 1024) % 1024;
  if (How == Mode::Check)
    SharedCells.assign((SharedBytes + 4095) / 4, Cell());
}

/// \p Counts: how often each basic block was entered.
void Machine::addInstructions(const uint32_t *Counts) {
  for (size_t B = 0; B < T.Blocks.size(); ++B)
    if (Counts[B])
      for (float Slots : T.Blocks[B].Slots)
        Profiled.ThreadInstructions += double(Counts[B]) * double(Slots);
}

void Machine::checkBlocks() {
  for (uint64_t I = 0; I < Grid.count(); ++I) {
    prepareBlock(I);
    // What shared memory holds at first must not look like zeros.
    std::memset(SharedBase, 0xA5, SharedBytes);
    runBlock();
  }
  addInstructions(CountPool.data());
}

void Machine::profileBlocks(const Kernel &K, unsigned PerSm) {
  std::vector<std::pair<uint64_t, uint64_t>> Constants;
  for (const auto &A : Allocations)
    if (A->Banked)
      Constants.push_back({reinterpret_cast<uint64_t>(A->Begin) & AddressMask,
                           reinterpret_cast<uint64_t>(A->End) & AddressMask});
  Recorder = std::make_unique<LaunchRecorder>(
      T, Gpu, PerSm, K.StaticShared + Dynamic, std::move(Constants));
  std::vector<uint64_t> Sample = sampledBlocks();
  for (uint64_t I : Sample) {
    prepareBlock(I);
    std::memset(SharedBase, 0, SharedBytes);
    Recorder->beginBlock(I % Grid.X, I / Grid.X % Grid.Y, I / Grid.X / Grid.Y);
    runBlock();
    std::vector<uint32_t *> Counts;
    for (unsigned W = 0; W < Warps; ++W) {
      Counts.clear();
      for (unsigned L = W * 32; L < std::min(Threads, W * 32 + 32); ++L)
        Counts.push_back(Lanes[L].Counts);
      Recorder->counts(Counts);
    }
    for (const Lane &L : Lanes)
      addInstructions(L.Counts);
    Recorder->endBlock();
  }
  std::vector<std::pair<uint64_t, uint64_t>> Arrays;
  for (const auto &A : Allocations)
    if (!A->Freed)
      Arrays.push_back({reinterpret_cast<uint64_t>(A->Begin),
                        reinterpret_cast<uint64_t>(A->End)});
  LaunchProfile &P = Recorder->Out;
  P.Kernel = K.Name;
  P.Line = T.Functions[K.Function].Line;
  P.Blocks = Grid.count();
  P.ThreadsPerBlock = Threads;
  P.SharedBytes = K.StaticShared + Dynamic;
  P.Registers = K.Registers;
  P.BlocksPerSm = PerSm;
  Profiled.Launches.push_back(Recorder->finish(Grid.X, Grid.Y, Grid.Z, Arrays));
  model(Profiled.Launches.back(), T, Gpu);
  Recorder.reset();
}

void Machine::addTransfer(uint64_t Bytes) {
  Profiled.TransferUs += double(Bytes) * 2 / Gpu.DramGBs * 1e-3 + Gpu.LaunchUs;
}
