//===- Inputs.h - The arguments of a case in host memory ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_INPUTS_H
#define STARK_SIM_INPUTS_H

#include "Streams.h"
#include "stark/Job/Job.h"
#include "stark/Sim/Program.h"
#include "stark/SimHost/Protocol.h"

namespace stark::sim {

/// The buffers of one case. Inputs are shared by all children; what a child
/// writes lies in a mapping that the parent reads afterwards.
class Inputs {
public:
  /// \p Elsewhere: a process that is no child will call with them, too.
  Inputs(const job::Job &J, std::string Folder, bool Elsewhere)
      : J(J), Folder(std::move(Folder)), Elsewhere(Elsewhere) {}
  ~Inputs() { release(); }
  Inputs(const Inputs &) = delete;
  Inputs &operator=(const Inputs &) = delete;

  /// Empty, or what went wrong. \p Large: repeat a tile of random values rather
  /// than draw each one.
  /// \p WeightSeed: of leaves that are weights. \p Shaken: each value is moved
  /// in its last place.
  std::string fill(unsigned Case, uint64_t Seed, uint64_t WeightSeed,
                   bool Large, bool Shaken);
  /// Poisons outputs and puts initial values back.
  void arm(unsigned Round);
  /// One pointer a leaf, for stark_call().
  void **arguments();
  std::vector<DeviceBuffer> buffers() const;
  const char *data(size_t Leaf) const { return Blocks[Leaf].Data; }
  uint64_t bytes(size_t Leaf) const { return Blocks[Leaf].Bytes; }
  /// Of inputs that are for elsewhere: all of it, the arguments first.
  const simhost::SharedMemory &shared() const { return Shared; }
  int memoryFile() const { return File; }

private:
  struct Block {
    char *Data = nullptr;
    uint64_t Bytes = 0, Mapped = 0, Shift = 0; ///< of Data, from a page's begin
    std::vector<char> Pristine;                ///< of an in-out buffer
  };
  void release();
  std::string mapApart(uint64_t Draw, bool Large);
  std::string mapTogether();
  void putArguments();
  std::string fillBlock(size_t Leaf, uint64_t Seed, bool Large, bool Shaken);
  const job::Job &J;
  std::string Folder;
  bool Elsewhere;
  simhost::SharedMemory Shared;
  int File = -1;
  unsigned Case = 0;
  std::vector<Block> Blocks;
  std::vector<job::LeafValue> Scalars;
  std::vector<job::BufferArgument> Pointers;
  std::vector<void *> Arguments;
  void *Stream = Streams::callersHandle();
};

} // namespace stark::sim

#endif
