//===- Kernels.h - What the harness runs on the device -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Fills, poison, red zones, hashes and the L2 flush. Every function launches
///   on
/// the given stream and returns the launch's error; nothing synchronises.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_KERNELS_H
#define STARK_GPU_KERNELS_H

#include "stark/Job/Job.h"
#include <cuda_runtime.h>

namespace stark::gpu {

/// Whether buffers lie in a GPU's memory: not where tests have the host for a
/// device.
bool onGpu();

/// Where the elements of a field of records lie: \p Run of them together, each
/// run \p StrideBytes after the one before.
struct Spacing {
  uint64_t Run = 0; ///< 0: all lie together
  uint64_t StrideBytes = 0;
};

/// Fills a buffer of \p Shape from (Seed, Leaf, index) alone: two processes on
/// the same kind of device get the same bits, and no element depends on how the
/// work was divided. The counter is mixed as splitmix64 does (Steele, Lea,
/// Flood 2014); normal values come from it by Box-Muller. InitKind::File is not
/// for here. \p Shake: the share of each value that is added or taken away.
cudaError_t fill(void *Data, job::DType Type, const std::vector<int64_t> &Shape,
                 const job::Init &Fill, uint64_t Seed, uint32_t Leaf,
                 double Shake, cudaStream_t Stream, Spacing Lie = {});

/// Writes the 32-bit \p Pattern over \p Bytes bytes; its phase follows the
/// address, so that any part of a buffer can be written or checked alone.
cudaError_t poison(void *Data, uint64_t Bytes, uint32_t Pattern,
                   cudaStream_t Stream);

/// Adds to *Changed the number of bytes that no longer hold \p Pattern.
cudaError_t countChanged(const void *Data, uint64_t Bytes, uint32_t Pattern,
                         unsigned long long *Changed, cudaStream_t Stream);

/// Adds a 64-bit fingerprint of the bytes and their places to *Sum.
cudaError_t fingerprint(const void *Data, uint64_t Bytes,
                        unsigned long long *Sum, cudaStream_t Stream);

/// So many places of buffers at most are fingerprinted at once.
constexpr unsigned MostPlaces = 8;
struct Places {
  struct {
    const void *Data;
    uint64_t Bytes;
  } Each[MostPlaces] = {};
  unsigned Count = 0;
};
/// The same of several, in one kernel of as many small blocks.
cudaError_t fingerprint(const Places &Of, unsigned long long *Sum,
                        cudaStream_t Stream);

/// Writes, then reads \p Bytes bytes, so that L2 holds nothing of the buffers
/// and few lines that would have to be written back inside a timed call.
cudaError_t flush(void *Data, uint64_t Bytes, unsigned long long *Sink,
                  cudaStream_t Stream);

/// Holds the stream until the host has written \p Ticket to \p Gate, which it
/// shares with the device, but no longer than \p LimitNs.
cudaError_t hold(const volatile uint32_t *Gate, uint32_t Ticket,
                 uint64_t LimitNs, cudaStream_t Stream);

/// What a kernel may do wrong, that a sanitizer is shown.
enum class Fault : uint32_t {
  OutOfBounds,   ///< reads one element past an allocation
  Race,          ///< two warps, one shared word, no barrier
  Uninitialized, ///< reads what nobody wrote
  Barrier,       ///< half of a warp at a barrier for all
};

/// Runs a kernel that does it and nothing else wrong, and waits for it.
cudaError_t runFault(Fault What);

} // namespace stark::gpu

#endif
