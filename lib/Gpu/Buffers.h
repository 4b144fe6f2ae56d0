//===- Buffers.h - The arguments of a case on the device -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Every buffer lies between two red zones of its own. Inputs are filled,
///   outputs
/// and scratch poisoned before each call, always from the seed alone.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_BUFFERS_H
#define STARK_GPU_BUFFERS_H

#include "Protocol.h"
#include <cuda_runtime.h>

namespace stark::gpu {

class Buffers {
public:
  Buffers(const job::Job &J, std::string Folder)
      : J(J), Folder(std::move(Folder)) {}
  ~Buffers();
  Buffers(const Buffers &) = delete;
  Buffers &operator=(const Buffers &) = delete;

  // Each returns what went wrong, empty when all is well.
  std::string allocate(unsigned CaseIndex);
  std::string fill(uint64_t Seed, uint64_t WeightSeed, uint32_t Round,
                   cudaStream_t Stream);
  /// Fingerprints what the entry may not change, before a call.
  std::string arm(cudaStream_t Stream);
  /// After a call: \p R says which leaf was changed or overrun, if any.
  std::string inspect(cudaStream_t Stream, Reply &R);
  /// Fingerprints the outputs, in the order of the stream (\p Late = false) or
  /// when the device is idle (\p Late = true).
  std::string fingerprintOutputs(cudaStream_t Stream, bool Late);
  /// Did the two fingerprints agree? False: an output was written after all
  /// that was in the stream.
  std::string settled(bool &Agree);
  /// Puts the outputs where outputPlaces() says, from \p Shared on.
  std::string exportTo(char *Shared) const;
  /// One pointer a leaf; \p Stream is what a stream leaf gets.
  void **arguments(cudaStream_t Stream);

private:
  struct Block {
    char *Base = nullptr, *Data = nullptr;
    uint64_t Bytes = 0;
    void *Pristine = nullptr; ///< of Init::File
  };
  void release();
  std::string fingerprintInputs(cudaStream_t Stream);

  const job::Job &J;
  std::string Folder;
  unsigned Current = 0;
  std::vector<Block> Blocks; ///< one a leaf, empty for scalars
  std::vector<job::LeafValue> Scalars;
  std::vector<job::BufferArgument> Pointers;
  std::vector<void *> Arguments;
  cudaStream_t StreamValue = nullptr;
  /// On the device: two a leaf, then the two fingerprints of the outputs.
  unsigned long long *Counters = nullptr;
  std::vector<unsigned long long> Before;
};

/// "out of memory (cudaErrorMemoryAllocation)"
std::string describe(cudaError_t E);

} // namespace stark::gpu

#endif
