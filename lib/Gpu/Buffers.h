//===- Buffers.h - The arguments of a case on the device -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   All buffers of a case lie in one piece of memory, with red zones between
///   them and round them.
/// Inputs are filled, outputs and scratch poisoned before each call, always
/// from the seed alone.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_BUFFERS_H
#define STARK_GPU_BUFFERS_H

#include "Arena.h"
#include "DeviceCompare.h"
#include "Protocol.h"
#include "ReadOnly.h"
#include <cuda_runtime.h>
#include <memory_resource>

namespace stark::gpu {

/// Where the buffers are put: layOut() gets Common, placeIn() Own.
struct Placing {
  uint64_t Own = 0, Common = 0;
};

class Buffers {
public:
  /// \p Hidden: memory that the entry cannot read, for what says where its
  /// buffers end. \p Keeps: keep() will be called. \p Bare: each buffer is an
  /// allocation of its own, of just its size; fill() leaves alone what is for
  /// the entry to write. Then allocate(), fill() and arguments() are all that
  /// there is.
  Buffers(const job::Job &J, std::string Folder,
          std::pmr::memory_resource &Hidden, bool Keeps, bool Bare = false)
      : J(J), Folder(std::move(Folder)), Keeps(Keeps), Bare(Bare),
        Blocks(J.Leaves.size(), &Hidden), Apart(&Hidden),
        Pristine(J.Leaves.size(), nullptr, &Hidden),
        Before(2 * J.Leaves.size(), &Hidden) {}
  ~Buffers();
  Buffers(const Buffers &) = delete;
  Buffers &operator=(const Buffers &) = delete;

  // Each returns what went wrong, empty when all is well.
  /// \p Bytes: of the piece that they lie in then, that of before where it
  /// fits. \p NoMemory: the device has too little.
  std::string allocate(unsigned CaseIndex, const Placing &Where,
                       uint64_t &Bytes, bool &NoMemory);
  /// From now on inputs lie in \p Where, as they do in the piece, where the
  /// entry can only read them, if that is as large; null: in the piece again.
  /// It is to be there as long as this is.
  std::string guard(const TwoAddresses *Where);
  bool isGuarded() const { return Guard != nullptr; }
  /// \p Shake: each input is moved in its last place, in one of several ways
  /// from 1 on; 0: none is.
  std::string fill(uint64_t Seed, uint64_t WeightSeed, uint32_t Round,
                   unsigned Shake, cudaStream_t Stream);
  /// Fingerprints what the entry may not change, before a call.
  std::string arm(cudaStream_t Stream);
  /// After a call: \p R says which leaf was changed or overrun, if any.
  std::string inspect(cudaStream_t Stream, Reply &R);
  /// Fingerprints the outputs, in the order of the stream (\p Late = false) or
  /// when the device is idle (\p Late = true).
  std::string fingerprintOutputs(cudaStream_t Stream, bool Late);
  /// The same of a few places of theirs, by \p Draw, before the stream is held
  /// and after.
  std::string fingerprintPlaces(cudaStream_t Stream, uint64_t Draw, bool Late);
  /// Did the fingerprints agree, by twos? False: an output was written while
  /// the stream stood still, or after all that was in it.
  std::string settled(bool &Agree);
  /// Pins memory that large outputs are to go to, which are copied several
  /// times as fast then; to pin half a gigabyte takes a quarter of a second.
  /// False: it is not worth it.
  bool pin(char *Shared, uint64_t SharedBytes) const;
  /// Puts the outputs where outputPlaces() says, from \p Shared on; those that
  /// were kept when \p Kept says so.
  std::string exportTo(char *Shared, bool Kept) const;

  /// Keeps what the last call put out, until the next time.
  std::string keep();
  /// How another process finds the outputs; an error where the driver has no
  /// way.
  std::string share(Handle &Memory, uint64_t &Bytes) const;
  /// Finds the outputs that another process, which has the same job set up for
  /// the same case with the same Placing::Common, shares: a piece of \p Bytes;
  /// 0: lets go of it.
  std::string attach(const Handle &Memory, uint64_t Bytes);
  /// Compares output \p R.Leaf as judge::compare() does; where is said by
  /// R.Flags, and by R.Seed, the other process's Placing::Own.
  std::string compare(const Request &R, Reply &Out);
  /// One pointer a leaf; \p Stream is what a stream leaf gets.
  void **arguments(cudaStream_t Stream);

private:
  void release();
  void releasePristine();
  void detach();
  cudaError_t allocatePiece();
  cudaError_t allocateApart();
  cudaError_t makeZones();
  cudaError_t makeRoomToKeep();
  std::string readPristine(uint32_t Leaf, cudaError_t &E);
  bool isGuarded(size_t Leaf) const;
  /// Where the harness finds a buffer.
  char *dataOf(size_t Leaf) const;
  char *keptOf(const OutputPlace &P) const { return Kept + P.Offset; }
  std::string fingerprintInputs(cudaStream_t Stream);
  cudaError_t fillRecords(uint32_t Leaf, uint64_t Seed, double Way,
                          cudaStream_t Stream);
  cudaError_t compareRecords(const CompareSpec &Spec, uint32_t Leaf,
                             double Slack, DeviceComparison &Out);

  const job::Job &J;
  std::string Folder;
  bool Keeps, Bare;
  /// All buffers'; what keep() kept of the outputs, as outputPlaces() says;
  /// another process's piece.
  char *Piece = nullptr, *Kept = nullptr, *Attached = nullptr;
  uint64_t PieceBytes = 0, KeptBytes = 0, AttachedBytes = 0;
  uint64_t ArenaBytes = 0, Place = 0; ///< of this case, in the piece
  const TwoAddresses *Guard = nullptr;
  bool GuardHasZones = false; ///< of this placement
  CompareScratch Scratch;
  CompareScratch Columns[2]; ///< of records: what is got, what is wanted
  unsigned Current = 0;
  std::pmr::vector<Placed> Blocks; ///< one a leaf
  std::pmr::vector<char *> Apart;  ///< where Bare: one a leaf
  /// Of leaves with Init::File, for this case.
  std::pmr::vector<void *> Pristine;
  std::vector<job::LeafValue> Scalars;
  std::vector<job::BufferArgument> Pointers;
  std::vector<void *> Arguments;
  /// One, apart from this object: the entry reads it.
  std::vector<cudaStream_t> StreamValue;
  /// On the device: two a leaf, then two fingerprints of the outputs, and two
  /// of some places.
  unsigned long long *Counters = nullptr;
  std::pmr::vector<unsigned long long> Before; ///< fingerprints of the inputs
};

/// "out of memory (cudaErrorMemoryAllocation)"
std::string describe(cudaError_t E);
/// What a programmer would look for first: ": a kernel read ..."; may be empty.
std::string hintFor(cudaError_t E);

} // namespace stark::gpu

#endif
