//===- Machine.h - The simulated device at work --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Instrumented code calls functions without a context, so there is one
/// machine a process. It runs one thread of a block at a time, each as a fiber,
/// and changes fibers only where CUDA brings threads together.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_MACHINE_H
#define STARK_LIB_SIM_MACHINE_H

#include "Cell.h"
#include "Kernel.h"
#include "Model/LaunchRecorder.h"
#include "Streams.h"
#include "Team.h"
#include "Together.h"
#include "Written.h"
#include "stark/Sim/Finding.h"
#include "stark/Sim/Gpu.h"
#include "stark/Sim/Profile.h"
#include "stark/Sim/Tables.h"
#include <boost/context/detail/fcontext.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

namespace stark::sim {

/// Of each thread, its own arrays included; a page that may not be touched lies
/// below, and as much above to begin stacks at different places of their pages.
constexpr size_t StackBytes = 136 * 1024, StackGuard = 4096, StackShifts = 4096;

/// What a lane waits for.
enum class Wait : uint8_t {
  None,
  Barrier,
  Warp,
  Cluster,
  Grid,
  Turn, ///< until the other lanes of its warp have come to a stop, too
  Poll,
  Done
};
enum class WarpOp : uint8_t {
  Sync,
  Shuffle,
  Vote,
  Match,
  Reduce,
  Matrix,
  Active
};

struct Lane {
  uint32_t Registers[24] = {}; ///< what __stark_sim_sreg() gives
  Wait State = Wait::None;
  bool Started = false;
  uint32_t Thread = 0; ///< in the cluster, see Machine::Threads
  uint32_t Probe = 0;  ///< of what it waits for
  // Of a warp operation.
  WarpOp Op = WarpOp::Sync;
  uint32_t Mask = 0;
  uint64_t Value = 0, Result = 0;
  int Mode = 0, Argument = 0, Width = 32, Predicate = 0;
  // Of a barrier.
  int BarrierOp = -1, BarrierId = 0, BarrierCount = 0;
  uint64_t ClusterArrivals = 0; ///< at the cluster's barrier
  boost::context::detail::fcontext_t Context = nullptr;
  unsigned Stack = ~0u;
  uint32_t *Counts = nullptr;
  sim::Trace Trace;
};

enum class Mode { Check, Profile };

class Machine {
public:
  Machine(const Tables &T, const GpuDescription &Gpu);
  ~Machine();
  Machine(const Machine &) = delete;
  Machine &operator=(const Machine &) = delete;

  /// The first problem ends the run.
  std::function<void(const Finding &)> OnFinding;
  std::function<void(const Unsupported &)> OnUnsupported;

  uint64_t Accesses = 0, AccessLimit = ~0ull;
  std::function<void(const std::string &)> OnLimit; ///< is told progress()

  void setMode(Mode M) { How = M; }
  /// RunHooks::ResourcesLater
  bool KnownLater = false;
  std::vector<Kernel> Kernels;
  std::unordered_map<const void *, unsigned> KernelOfStub;
  const std::map<std::string, unsigned> *KernelOfName = nullptr;
  std::unordered_map<const void *, unsigned> VariableOfShadow;
  std::vector<char *> VariableAddress;

  // Memory.
  char *allocate(uint64_t Bytes, const std::string &Name = "");
  /// Memory that the host touches, too: managed, or its own that is mapped.
  char *allocateManaged(uint64_t Bytes);
  int release(void *Pointer);
  /// The host's own memory, which threads may touch, too.
  void mapHost(void *Pointer, uint64_t Bytes);
  Allocation &adopt(char *Begin, uint64_t Bytes, const std::string &Name,
                    unsigned ElementBytes, bool Holds);
  Allocation *find(const void *Pointer);
  void markWritten(void *Pointer, uint64_t Bytes);
  /// Host code runs, which may not touch the device's memory, or no longer.
  void protect(bool HostRuns);
  bool ProtectsFromHost = false;
  /// Where host code has failed: a finding when that is the device's memory.
  void hostTouched(const char *Address);
  /// What the next allocation is called in the host's code.
  std::string NextName;

  // Launches.
  int launch(unsigned KernelIndex, const void *Closure,
             const LaunchShape &Shape);
  /// What is launched next, or copied, is asked of this stream.
  unsigned Stream = 0;
  Streams Order;
  /// A copy or a set touches device memory, if this is device memory.
  void beginOperation(std::string What);
  void operate(char *Address, uint64_t Bytes, ProbeKind Kind);
  unsigned blocksPerSm(const Kernel &K, uint64_t Threads,
                       uint64_t Dynamic) const;
  double instructions() const { return Profiled.ThreadInstructions; }
  /// What the program asked for and has not given back.
  uint64_t keptBytes() const;
  RunProfile takeProfile(); ///< once, when the program has ended
  void addTransfer(uint64_t Bytes);
  /// The host is given so many bytes of the device's, in one call.
  void addToHost(uint64_t Bytes) { Profiled.HostBytes += Bytes; }
  void beginCall() { Profiled.HostBytes = 0; }

  // Several processes for one launch (Team.h).
  /// Partners may be asked for here; null: each launch runs in this process.
  Team *Others = nullptr;
  /// Accesses that a launch has made, and will make, before they are; 0: before
  /// its first block, which then waits for them.
  uint64_t SpreadAfter = uint64_t(1) << 17;
  /// As partner \p I: what it is ordered to. Does not return.
  [[noreturn]] void runPart(Team &Of, unsigned I);
  /// What follows only the one that called may do.
  void notAPartners() {
    if (Mine)
      failPart();
  }

  // What instrumented code calls.
  /// What a thread has written comes before what it writes from here on.
  void fence();
  void access(uint32_t Probe, char *Address, uint32_t Bytes, ProbeKind Kind,
              uint64_t Stored, bool KnownValue);
  /// \p Stored: what a store writes, if it is known.
  void touch(uint32_t Probe, char *Address, uint32_t Bytes, ProbeKind Kind,
             const void *Stored);
  /// An atomic whose result nobody uses.
  void update(uint32_t Probe, char *Address, uint32_t Bytes, uint64_t Operand);
  /// \p Source: of a store, where it comes from, if it is known; byte I is
  /// at Source[I & \p Mask].
  void range(uint32_t Probe, char *Address, uint64_t Bytes, const char *Source,
             uint64_t Mask);
  void local(uint32_t Probe, const char *Base, uint64_t Size,
             const char *Address, uint32_t Bytes);
  int barrier(int Op, int Predicate, int Id, int Count);
  uint64_t warp(WarpOp Op, uint32_t Mask, uint64_t Value, int Mode,
                int Argument, int Width, int *Predicate);
  void gridSync();
  // Blocks of one cluster (Cluster.cpp).
  void clusterArrive();
  void clusterWait();
  /// The same place of shared memory in block \p Rank of the cluster.
  char *mapShared(char *Address, uint32_t Rank);
  uint32_t rankOf(const char *Address);
  // Copies that go on while threads do, and the barriers in memory that know
  // of their end (AsyncCopy.cpp).
  void copyBegun(char *To, uint64_t Bytes);
  void copiesCommitted();
  void copiesAwaited(unsigned GroupsLeft);
  void copiesArrive(char *Barrier, bool Counts);
  void bulkBegun(char *To, uint64_t Bytes, char *Barrier);
  void barrierInit(char *Barrier, uint32_t Count);
  uint64_t barrierArrive(char *Barrier, uint32_t Count, uint64_t Bytes,
                         bool Drops);
  /// Of the phase of that parity; \p Blocks: until it is complete.
  bool barrierTest(char *Barrier, uint32_t Parity, bool Blocks);
  void namedArrive(int Id, int Count);
  void unsupported(UnsupportedKind Kind, const std::string &What);
  void finding(FindingKind Kind, std::string Text);
  /// "kernel k, line 14, block (3,0,0), thread (7,0,0)"
  std::string here(uint32_t Probe) const;
  std::string threadName(uint32_t Thread) const;
  /// The lanes that have come here, once no other one can.
  uint32_t activeMask();
  const GpuDescription &gpu() const { return Gpu; }
  /// What a shuffle gives that reads a lane which is not there: 0 the lane's
  /// own value, 1 a large one, 2 a small one.
  unsigned Undefined = 0;
  bool Reach = false; ///< RunHooks::Reach
  WrittenInProfile Wrote;
  std::string Suspicion; ///< the first such shuffle
  int LastError = 0;
  unsigned LaunchLine = 0; ///< of the user's file, 0: unknown
  unsigned LaunchCount = 0;
  uint64_t BlocksDone = 0; ///< of the last, where they run one by one
  /// What is asked next is an interface of the default stream that has no
  /// other.
  bool InOrder = false;

private:
  friend struct FiberEntry;
  struct Watched;
  struct BlockState;
  /// Of the cluster of that number.
  void prepareBlocks(uint64_t Linear);
  void runBlocks();
  void runWarp(unsigned W);
  bool resolveWarp(unsigned W);
  void shuffle(Lane *Warp, uint32_t There, uint64_t *Results);
  void resultsOf(Lane *Warp, const Lane &L, uint32_t There, uint64_t *Results);
  bool gatherActive(Lane *Warp, unsigned Size);
  void resume(Lane &L);
  void suspend();
  boost::context::detail::fcontext_t following();
  void enter(Lane &L);
  void left(boost::context::detail::transfer_t From);
  Lane *nextOfWarp();
  void releaseBarrier(unsigned Rank);
  bool releaseBlocks();
  bool releaseCluster();
  void endOfBlocks();
  void endOfBlock(unsigned Rank);
  bool isThere(const char *Address);
  void orderWarps(const std::vector<Lane *> &There, Clocks All);
  void meet(const std::vector<Lane *> &Waiting);
  bool releaseNamed();
  void pollAgain();
  void stuck();
  void endOfWarp(unsigned W);
  std::vector<uint64_t> sampledClusters(bool InOrder) const;
  void checkBlocks();
  void checkCluster(uint64_t I);
  // Spread.cpp
  uint64_t spread(uint64_t Next, uint64_t Made);
  bool isWorthPartners(uint64_t Next, uint64_t Made) const;
  bool partnersCome(uint64_t Most);
  void dismissPartners();
  bool tellPartners();
  uint64_t runTogether(uint64_t Next);
  bool takeOver(unsigned I, double OwnSeconds);
  // Part.cpp
  struct Part;
  void takeOrders(Team &Of);
  void tellWhatWasDone();
  void mark(const Watched &A, Allocation &In, uint64_t Offset);
  [[noreturn]] void failPart();
  std::string progress() const;
  struct ResidentCluster;
  void exchange(ResidentCluster &B);
  void checkResident();
  void makeShared();
  void setLaunch();
  unsigned newStack();
  bool overran() const;
  void profileBlocks(const Kernel &K);
  void beginRecording(const Kernel &K);
  void recordClusters(const std::vector<uint64_t> &List);
  LaunchProfile endRecording(const Kernel &K, GridExtent Of);
  std::vector<std::pair<uint64_t, Way>>
  countOthers(const std::vector<uint64_t> &Sampled, Way Known, bool Uneven);
  Way countCluster(uint64_t I);
  std::vector<std::vector<uint32_t *>> warpCounts(unsigned Begin,
                                                  unsigned End) const;
  void beginRecorded(unsigned Rank);
  void endRecorded(unsigned Rank);
  std::string whyNotLaunched(const Kernel &K, bool Cooperative) const;
  std::string whyNoCluster(const Kernel &K) const;
  Dim3 blockAt(unsigned Rank) const;
  std::string blockName(unsigned Rank) const;
  uint64_t blockNumber(uint64_t Thread) const;
  unsigned rankOf(const Lane &L) const {
    return Ranks == 1 ? 0 : L.Thread / PerBlock;
  }
  std::span<Lane> lanesOf(unsigned Rank) {
    return {Lanes.data() + size_t(Rank) * PerBlock, PerBlock};
  }
  std::string placeOf(uint32_t Probe, unsigned Rank) const;
  void addInstructions(const uint32_t *Counts);
  void trace(uint32_t Probe, uint64_t Address);
  void outOfBounds(uint32_t Probe, const char *Address, uint64_t Bytes,
                   ProbeKind Kind);
  void sharedAccess(uint32_t Probe, char *Address, uint32_t Bytes,
                    ProbeKind Kind, const void *Stored);
  /// An access to words whose history is kept.
  struct Watched {
    uint32_t Probe;
    ProbeKind Kind;
    char *Address;
    uint32_t Bytes;
    const void *Stored; ///< what is written, null: not known
    bool Shared;
    const std::string &Array;
    const Allocation *In = nullptr; ///< of global memory
    uint64_t Within = 0;            ///< bytes from the array's begin
    // Of the thread that makes it.
    bool Ordered = false; ///< against others, by its writer
    uint32_t Thread = 0;
    unsigned Warp = 0;
    uint16_t WarpEpoch = 0;
    /// Of the array; counted in what is accessed where its type is not known.
    uint64_t element() const {
      unsigned Size = In && In->ElementBytes ? In->ElementBytes : Bytes;
      return Within / std::max(1u, Size);
    }
  };
  void watch(Watched &A, Cell *Cells, uint64_t Offset);
  bool races(const Watched &A, uint32_t Other, uint32_t OtherEpoch,
             uint16_t OtherWarpEpoch) const;
  bool warpsOrdered(unsigned Mine, unsigned Other, uint16_t OtherEpoch) const;
  Clocks releaseOf(unsigned Warp);
  void acquire(unsigned Warp, const Clocks &Of);
  void settle(const AsyncCopy &C);
  void copyLanded(const AsyncCopy &C, uint16_t Time);
  void completePhase(MemoryBarrier &B);
  MemoryBarrier &barrierAt(char *Address);
  void forgetTogether();
  void suspect(const Lane &L, unsigned From);
  uint64_t undefinedValue(uint64_t Own) const;
  void multiply(Lane *Warp);
  void tellPart(const Lane &L, uint32_t There);
  static bool changes(const Watched &A);
  void noteRead(const Watched &A, Cell &C, uint8_t Mask) const;
  void noteWrite(const Watched &A, Cell &C, uint8_t Mask, uint8_t Holds) const;
  void tellRace(const Watched &A, const char *Theirs, uint32_t Other,
                uint32_t OtherEpoch, uint32_t OtherProbe);
  void tellInFlight(const Watched &A, const Cell &C);
  std::string nameOf(const Watched &A) const;
  std::string nameOf(const Allocation &A) const;
  void tellUninitialised(const Watched &A, uint64_t Offset);
  std::string element(const Allocation &A, const char *Address) const;

  const Tables &T;
  const GpuDescription &Gpu;
  Mode How = Mode::Check;
  std::vector<std::unique_ptr<Allocation>> Allocations; ///< by address
  char *Arena = nullptr, *ArenaNext = nullptr, *ArenaEnd = nullptr;
  bool Protected = false; ///< host code runs
  struct ProbeCache {
    char *Begin = nullptr, *End = nullptr;
    Allocation *Of = nullptr;
    Cell *Cells = nullptr; ///< null: no history is kept
  };
  std::vector<ProbeCache> Cached;

  // The launch in progress. Blocks of one cluster are there together: their
  // threads are numbered through, each block's from a multiple of a warp.
  unsigned Launched = 0;
  const void *Closure = nullptr;
  Dim3 Grid, Block, Cluster, Clusters; ///< blocks, and clusters of the grid
  uint64_t Dynamic = 0, ClusterLinear = 0;
  unsigned Ranks = 1;              ///< blocks of a cluster
  unsigned PerBlock = 0;           ///< lanes of a block
  unsigned Threads = 0, Warps = 0; ///< of a cluster
  std::vector<Lane> Lanes;
  std::vector<uint16_t> WarpEpoch;
  std::vector<bool> Left; ///< by rank: the block is over
  Together Met;
  uint64_t Progress = 0; ///< of lanes that do not poll
  Lane *Running = nullptr;
  boost::context::detail::fcontext_t Scheduler = nullptr;
  std::vector<char *> Stacks;
  size_t FirstUnguarded = ~size_t(0); ///< of them
  /// Where the next stacks lie, and how many are left there.
  char *StackSlab = nullptr;
  unsigned StacksInSlab = 0;
  std::vector<unsigned> FreeStacks;
  std::vector<double> SlotsOfBlock;  ///< of code, of all units together
  std::vector<Trace *> TracesOfWarp; ///< room that endOfWarp() uses again
  std::vector<char> SharedMemory;
  char *SharedBase = nullptr;
  uint64_t SharedBytes = 0;  ///< of a block
  uint64_t SharedStride = 0; ///< from one block's to the next one's
  std::vector<Cell> SharedCells;
  uint32_t Epoch = 1, LaunchEpoch = 1, BlockEpoch = 1;
  bool BlockSynced = false, TogetherInGrid = false;
  std::vector<uint32_t> CountPool;
  std::unique_ptr<LaunchRecorder> Recorder;
  /// By rank: what warps of blocks that are there together did, in order.
  std::vector<std::vector<std::vector<Trace>>> Recorded;
  RunProfile Profiled;
  std::vector<Allocation *> Told; ///< what partners know of
  uint32_t ToldEpoch = 0;         ///< when they were told
  double PartnerSeconds = 0;      ///< of what was taken over in this launch
  std::unique_ptr<Part> Mine;     ///< of a partner
};

/// The one that instrumented code talks to.
Machine *theMachine();
void setMachine(Machine *M);

} // namespace stark::sim

#endif
