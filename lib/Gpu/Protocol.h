//===- Protocol.h - What supervisor and child say to one another ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Fixed-size records over a SOCK_SEQPACKET pair. The child shares its
///   address
/// space with generated code, so the supervisor takes a reply as a claim: it
/// checks the nonce, bounds the text, and reads outputs itself.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_PROTOCOL_H
#define STARK_GPU_PROTOCOL_H

#include "DeviceWork.h"
#include "stark/Gpu/Device.h"
#include "stark/Judge/Compare.h"
#include <array>
#include <cstdint>

namespace stark::gpu {

enum class Command : uint32_t {
  Hello,   ///< claim the device, measure it when Flags has Calibrate, and load
           ///< what any job of its kind needs
  Take,    ///< followed by an ErrandRecord: read the job, then, the first time,
           ///< lock the process down
  Load,    ///< dlopen the library
  Prepare, ///< place the buffers of Case: Seed says where their arena lies, as
           ///< its own; WeightSeed where they lie within, as the other child's
  Run,     ///< one verified call with Seed and poison Round
  Warm,    ///< timed calls, not counted, for Ms milliseconds
  Sample,  ///< one timed call
  Finish,  ///< follows each of these three: what to do once the library's code
           ///< has returned. It lies in the socket until then, where that code
           ///< cannot read it
  Export,  ///< copy the outputs of the last call to the shared memory
  Share,   ///< say how another process finds the outputs on the device
  Attach,  ///< find another process's outputs by Handle; without, let go
  Compare, ///< one output with what is wanted of it, on the device
  Fault,   ///< run a kernel with the fault of number Case, of Kernels.h
  Describe, ///< say what number Case of what the device did for the last timed
            ///< call was, in a child with CUPTI
  Rest,     ///< give back what the job took, and keep the library: another job
            ///< with the same is to come
};

/// Flags of Hello.
constexpr uint32_t Calibrate = 1;
/// Flags of Hello: this is under a profiler, which is shown one known kernel;
/// of Take: and has a folder to write to.
constexpr uint32_t Profiles = 2;
/// Flags of Finish after Sample: wait for the whole device before the stop
/// event.
constexpr uint32_t SyncDevice = 1;
/// Flags of Run: call the source's entry, not its reference.
constexpr uint32_t OwnCall = 1;
/// Flags of Run: what the reference gives is not kept, but what it gave before.
constexpr uint32_t NotKept = 2;
/// Flags of Run under a profiler: this is the call that it is to look at.
constexpr uint32_t Profiled = 8;
/// Flags of Export and Compare: what is wanted is what the reference gave,
/// which is kept while the entry itself is called.
constexpr uint32_t OfReference = 1;
/// Flags of Compare: not the outputs that were attached to, but its own.
constexpr uint32_t OfItself = 2;

/// What the driver knows another process's memory by.
using Handle = std::array<unsigned char, 64>;

struct Request {
  Command What = Command::Hello;
  uint32_t Case = 0;
  uint32_t Round = 0;
  uint32_t Flags = 0;
  uint64_t Seed = 0;       ///< of Compare: that of Prepare of who shares
  uint64_t WeightSeed = 0; ///< of the leaves that are weights
  uint64_t Ms = 0;
  uint64_t Nonce = 0; ///< the reply repeats the last one
  uint32_t Leaf = 0;  ///< of Compare
  uint32_t Shake = 0; ///< of Run: as Buffers::fill(); what comes of it is kept
  double Slack = 1; ///< of Compare: how many times its tolerance it may be off
  double Scale = 0; ///< of Compare: judge::RowScale::Fixed
  uint64_t Bytes = 0; ///< of Attach: of the memory; 0: let go
  Handle Memory = {}; ///< of Attach
};

/// Follows Take: an Errand (ChildProcess.h) as the child gets it.
struct ErrandRecord {
  uint64_t SharedBytes = 0;
  uint64_t JobBytes = 0; ///< the shared memory begins with so much of the job
  uint32_t Reference = 0;
  char Folder[4096] = {};
  char Library[256] = {};
};

enum class Status : uint32_t {
  Ok,
  Failed,         ///< the library's doing: a launch, kernel or load error
  InputChanged,   ///< Leaf was const to the entry, and changed
  OutOfBounds,    ///< bytes before or after Leaf changed
  BadResult,      ///< what was returned has another shape, dtype or device
  Escaped,        ///< an output changed after the stop event
  Forbidden,      ///< what no entry may do; Text says what
  NoMemory,       ///< on the device, for the buffers of a case
  Infrastructure, ///< the harness's own: no memory, no device
};

struct Reply {
  uint64_t Nonce = 0;
  Status What = Status::Ok;
  uint32_t Leaf = 0;
  /// Changed bytes; of Prepare of the piece; calls of Warm; of Compare the
  /// elements, columns and tiles that are wrong; of Sample see WorkUs.
  uint64_t Count = 0;
  uint64_t Unwritten = 0;    ///< of Compare: elements of what is wanted
  uint64_t Leaked = 0;       ///< of Warm: bytes of the device's memory
  uint64_t LeakedOfHost = 0; ///< of Warm: bytes of the process
  double EventUs = 0;        ///< of Sample
  /// Of Sample, in a child with CUPTI: from the beginning of the first to the
  /// end of the last of Count that the device did for the call.
  double WorkUs = 0;
  int64_t KeptBytes = 0;  ///< likewise; as CallRecord
  double WorstError = 0;  ///< of Compare, in units of what is allowed
  judge::Extremes Wanted; ///< of Compare
  Handle Memory = {};     ///< of Share
  DeviceWork Work;        ///< of Describe
  char Text[1024] = {};   ///< what went wrong; of Take: printFacts()
};

/// Is the library's code called for \p What?
constexpr bool isCall(Command What) {
  return What == Command::Run || What == Command::Warm ||
         What == Command::Sample;
}

/// Where the outputs of a case lie in the memory that a child shares with the
/// supervisor: each compared leaf at a page of its own.
struct OutputPlace {
  unsigned Leaf = 0;
  uint64_t Offset = 0, Bytes = 0;
};
std::vector<OutputPlace> outputPlaces(const job::Job &J, const job::Case &C);
uint64_t outputBytes(const std::vector<OutputPlace> &Places);

} // namespace stark::gpu

#endif
