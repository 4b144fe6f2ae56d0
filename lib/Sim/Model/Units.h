//===- Units.h - How a GPU divides memory ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The pieces in which a GPU moves memory, and how a trace names addresses.
/// Constants of the model say where they come from: a vendor's manual, a
/// measurement, or "fit", which is chosen with the measured times of the
/// kernels in test/calibration in view. What differs from GPU to GPU is in
/// lib/Sim/gpus, with its sources.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_MODEL_UNITS_H
#define STARK_LIB_SIM_MODEL_UNITS_H

#include <cstdint>
#include <vector>

namespace stark::sim {

/// Bytes. L1 looks lines up, L1 and L2 are filled by the sector (CUDA C++ Best
/// Practices Guide, coalesced access to global memory).
constexpr uint64_t LineBytes = 128, SectorBytes = 32,
                   LineSectors = LineBytes / SectorBytes;
/// DRAM is read and written in pieces of two sectors (fit).
constexpr uint64_t GranuleBytes = 64,
                   GranuleSectors = GranuleBytes / SectorBytes;

/// Lanes that issue together.
constexpr unsigned WarpLanes = 32;

/// An entry of a lane's trace: probe << 48 | address. A thread's own arrays lie
/// above LocalBegin.
constexpr uint64_t AddressMask = 0xffffffffffffull,
                   LocalBegin = 0xf00000000000ull;
using Trace = std::vector<uint64_t>;
inline uint64_t traceEntry(uint32_t Probe, uint64_t Address) {
  return uint64_t(Probe) << 48 | Address;
}
inline uint32_t probeOf(uint64_t Entry) { return uint32_t(Entry >> 48); }

/// What the lanes of a warp ask for at once.
struct Request {
  uint32_t Probe = 0;
  unsigned Count = 0; ///< of addresses
  uint64_t Bytes = 0; ///< of each
  uint64_t Addresses[WarpLanes];
};

} // namespace stark::sim

#endif
