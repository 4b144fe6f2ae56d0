//===- Protocol.h - Between the simulator and its host process ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   StartCall --control--> host process, which forks for it
///   a child of stark-sim <--HostMessage, Answer--> that fork
/// LLVM and libtorch are never in one process: what calls ATen runs here, what
/// runs kernels there. Both see the same memory at the same address. A message
/// is a claim of code that was generated; its reader trusts no field.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIMHOST_PROTOCOL_H
#define STARK_SIMHOST_PROTOCOL_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace stark::simhost {

/// Memory that both map, at one address: the arguments, as a table of \c Leaves
/// pointers at its begin, buffers, and from \c Arena on what tensors allocate.
struct SharedMemory {
  uint64_t Address = 0, Bytes = 0;
  uint64_t Arena = 0; ///< an offset, of what tensors may allocate from
};

/// Three descriptors go with it: the call's socket, the memory, and the
/// socket on which the host process says how the fork ended.
struct StartCall {
  char Library[1024] = {}; ///< a path
  bool Reference = false;  ///< stark_reference() in place of stark_call()
  SharedMemory Memory;
};
constexpr int StartDescriptors = 3;

constexpr unsigned MostParameters = 64;

enum class HostEvent : uint32_t {
  Operator,   ///< one of ATen's has run: Name, Bytes, Flops, ElementBytes
  Allocation, ///< of a tensor: Address, Bytes
  Release,    ///< likewise: Address
  Written,    ///< by an operator: Address, Bytes
  // Each of these is answered.
  Launch,      ///< Name, Grid, Block, Bytes of dynamic shared memory; the
               ///< arguments, each at a multiple of 16 of Data
  AllowShared, ///< Name may have Value bytes of dynamic shared memory
  Attribute,   ///< Value, a cudaDeviceAttr
  Copy,        ///< to Address, From, Bytes: before it is done
  Set,         ///< at Address, Bytes: likewise
  // The last one of a call.
  Done,      ///< Name: how the reference was computed
  Threw,     ///< the entry, Name says what
  BadResult, ///< what it returned cannot be used
  NotLoaded, ///< Name: the symbol that is missing, or why else
  Infrastructure
};

struct HostMessage {
  HostEvent What = HostEvent::Done;
  uint32_t DataBytes = 0; ///< of Data
  uint32_t Count = 0;     ///< of arguments
  uint32_t Sizes[MostParameters] = {};
  uint32_t Grid[3] = {}, Block[3] = {};
  int32_t Value = 0;
  uint32_t ElementBytes = 0; ///< of the numbers that an operator computes
  uint64_t Address = 0, From = 0, Bytes = 0;
  double Flops = 0;
  char Name[2048] = {};
  char Data[4096] = {};
};

struct Answer {
  int32_t Error = 0; ///< a cudaError_t
  int32_t Value = 0; ///< of Attribute
};

/// Sends one record; false when nobody listens. \p Files go with it.
bool sendRecord(int Socket, const void *Data, size_t Bytes,
                const int *Files = nullptr, int FileCount = 0);
/// Waits for one record of exactly \p Bytes; false when there is none. The
/// descriptors that came with it go to \p Files, which are -1 where none came.
bool receiveRecord(int Socket, void *Data, size_t Bytes, int *Files = nullptr,
                   int FileCount = 0);

void setText(char *To, size_t Size, const std::string &From);
template <size_t Size> void setText(char (&To)[Size], const std::string &From) {
  setText(To, Size, From);
}

} // namespace stark::simhost

#endif
