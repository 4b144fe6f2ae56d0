//===- Tables.h - What is known of a device program ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Instrumented code names its places by number; these tables say what the
/// numbers mean. A probe is one instruction that touches memory or meets other
/// threads; a block is one basic block, with what a GPU issues for it.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_TABLES_H
#define STARK_SIM_TABLES_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace stark::sim {

enum class ProbeKind { Load, Store, Atomic, Sync };

/// What an atomic operation does whose result nobody uses.
enum class Update : uint8_t {
  None, ///< its result is used, or it is another
  Add,
  Sub,
  And,
  Or,
  Xor,
  Max,
  Min,
  UMax,
  UMin,
  FAdd,
  FSub
};

struct Probe {
  ProbeKind Kind = ProbeKind::Load;
  unsigned Bytes = 0;  ///< of one thread, 0: not known before it runs
  unsigned Align = 1;  ///< what the code promises of the address
  unsigned Line = 0;   ///< of the user's file or of File, 0: unknown
  std::string File;    ///< the name of another file of the user's, or empty
  bool Float = false;  ///< of Atomic: adds floating-point numbers
  bool Counts = false; ///< of Atomic: adds a constant, the sum is not used
  bool Joined = false; ///< of Atomic: one thread does it for its warp
  Update Updates = Update::None; ///< of Atomic
  bool Polls = false;            ///< waits for what another thread writes
  bool Volatile = false; ///< ordered against other threads by its writer
  bool Bulk = false;     ///< of a copy that no thread's load or store makes
  std::string What;      ///< of Sync: "__syncthreads"

  /// "line 12", "line 12 of scan.cuh"
  std::string place() const;
  bool isWhere(const Probe &Other) const {
    return Line == Other.Line && File == Other.File;
  }
};

/// Issue slots of a warp, by the unit that they keep busy.
/// Multiply: integer products, on one half of the lanes of the floating unit.
enum class Unit {
  Integer,
  Float,
  Double,
  Half,
  Special,
  Memory,
  Control,
  Multiply
};
constexpr unsigned Units = 8;

struct CodeBlock {
  std::array<float, Units> Slots{};
  unsigned Line = 0;
  bool Branches = false; ///< ends with a conditional branch
  /// Cycles of its longest chain of dependent instructions, memory left out,
  /// and how many loads from memory follow one another on a chain: from global
  /// memory, and from shared memory or other lanes.
  float Path = 0, LoadDepth = 0, SharedDepth = 0;
  std::vector<unsigned> Probes; ///< of its accesses
  unsigned Function = 0;
};

struct SharedVariable {
  std::string Name; ///< as the source has it
  uint64_t Offset = 0, Bytes = 0;
  std::string Symbol;
};

struct DeviceVariable {
  std::string Name, Symbol;
  uint64_t Bytes = 0;
  bool Constant = false; ///< no thread may write to it
  bool Banked = false;   ///< __constant__: the constant cache serves it
};

struct DeviceFunction {
  std::string Name, Symbol;
  std::vector<unsigned> Calls;  ///< other functions of the program
  std::vector<unsigned> Shared; ///< variables that it names itself
  bool DynamicShared = false;   ///< names an extern __shared__ array
  unsigned LiveRegisters = 0;   ///< 32-bit values live at once, estimated
  /// What __launch_bounds__ says: threads of a block at most, blocks on an SM
  /// at least; 0: nothing.
  unsigned BoundThreads = 0, BoundBlocks = 0;
  /// What __maxnreg__ or the command line says of a thread's registers; 0:
  /// nothing.
  unsigned BoundRegisters = 0;
  bool Kernel = false;
  uint64_t LocalBytes = 0; ///< of its own arrays in local memory
  /// What __cluster_dims__ say; zeros: nothing.
  std::array<unsigned, 3> Cluster = {0, 0, 0};
  unsigned FirstBlock = 0, Blocks = 0;
  unsigned Line = 0;
};

struct Tables {
  std::vector<Probe> Probes;
  std::vector<CodeBlock> Blocks;
  std::vector<SharedVariable> Shared; ///< by offset
  std::vector<DeviceVariable> Variables;
  std::vector<DeviceFunction> Functions;
  uint64_t SharedEnd = 0; ///< where dynamic shared memory begins
  /// Functions that are reached from \p Function, itself included.
  std::vector<unsigned> reached(unsigned Function) const;
  /// Whether a function that is reached from \p Function has a probe that
  /// polls.
  bool polls(unsigned Function) const;
};

} // namespace stark::sim

#endif
