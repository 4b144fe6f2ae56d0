//===- DeviceBlocks.cuh - Columns and tiles on the device ---*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   squares of errors and of what is wanted -> sums by column and by tile ->
/// those that are wrong, by the rule of judge::compareBlocks()
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_GPU_DEVICEBLOCKS_CUH
#define STARK_LIB_GPU_DEVICEBLOCKS_CUH

#include "DeviceCompare.h"
#include "DeviceValues.cuh"

namespace stark::gpu {
/// Sums of more columns and tiles are not kept.
constexpr uint64_t MostBlockBytes = uint64_t(512) << 20;

/// Of a column, of a tile, or of the whole.
struct Squares {
  double Error, Wanted;
  unsigned long long Count;
};

/// An output as rows and columns; where the sums of its columns lie, and behind
/// them those of its tiles, row by row.
struct Grid {
  uint64_t Rows = 0, Columns = 0;
  Squares *Whole = nullptr, *Blocks = nullptr;

  __host__ __device__ uint64_t across() const {
    return (Columns + judge::TileEdge - 1) / judge::TileEdge;
  }
  __host__ __device__ uint64_t bands() const {
    return (Rows + judge::TileEdge - 1) / judge::TileEdge;
  }
  __host__ __device__ uint64_t blocks() const {
    return Columns + bands() * across();
  }
};

/// Has no rows where there is nothing to look at as a whole.
inline Grid gridOf(const CompareSpec &Spec) {
  Grid G;
  if (!Spec.Blocks || isWhole(Spec.Type) || isComplex(Spec.Type) ||
      Spec.Shape.empty())
    return G;
  judge::BlockShape Shape = judge::blockShape(Spec.Shape);
  G.Rows = Shape.Rows;
  G.Columns = Shape.Columns;
  bool Fits = G.blocks() * sizeof(Squares) <= MostBlockBytes;
  return G.Rows >= 2 && G.Columns >= 2 && Fits ? G : Grid();
}

inline __device__ void addTo(Squares &Sum, const Squares &S) {
  atomicAdd(&Sum.Error, S.Error);
  atomicAdd(&Sum.Wanted, S.Wanted);
  atomicAdd(&Sum.Count, S.Count);
}

/// A block takes as many columns of a band of rows as it has threads at a time;
/// each of its warps has the columns of a tile.
template <class T>
__global__ void sumBlocks(const T *Got, const T *Wanted, Grid G) {
  static_assert(judge::TileEdge == 32, "a warp has the columns of a tile");
  uint64_t Chunks = (G.Columns + Threads - 1) / Threads;
  Squares OfTiles = {0, 0, 0};
  for (uint64_t Task = blockIdx.x; Task < G.bands() * Chunks;
       Task += gridDim.x) {
    uint64_t Band = Task / Chunks, C = Task % Chunks * Threads + threadIdx.x;
    uint64_t End = (Band + 1) * judge::TileEdge;
    Squares Mine = {0, 0, 0};
    for (uint64_t R = Band * judge::TileEdge;
         C < G.Columns && R < (End < G.Rows ? End : G.Rows); ++R) {
      double W = valueOf(Wanted[R * G.Columns + C]),
             D = valueOf(Got[R * G.Columns + C]) - W;
      if (!isfinite(W) || !isfinite(D))
        continue;
      Mine.Error += D * D;
      Mine.Wanted += W * W;
      ++Mine.Count;
    }
    if (Mine.Count)
      addTo(G.Blocks[C], Mine);
    for (unsigned Offset = 16; Offset; Offset /= 2) {
      Mine.Error += __shfl_down_sync(~0u, Mine.Error, Offset);
      Mine.Wanted += __shfl_down_sync(~0u, Mine.Wanted, Offset);
      Mine.Count += __shfl_down_sync(~0u, Mine.Count, Offset);
    }
    if (threadIdx.x % 32 || C >= G.Columns)
      continue;
    G.Blocks[G.Columns + Band * G.across() + C / judge::TileEdge] = Mine;
    OfTiles.Error += Mine.Error;
    OfTiles.Wanted += Mine.Wanted;
    OfTiles.Count += Mine.Count;
  }
  addOfBlock(G.Whole->Error, OfTiles.Error);
  addOfBlock(G.Whole->Wanted, OfTiles.Wanted);
  addOfBlock(G.Whole->Count, OfTiles.Count);
}

inline __device__ double rmsOf(double Sum, unsigned long long Count) {
  return Count ? sqrt(Sum / double(Count)) : 0;
}

/// \p Tolerance: as compareBlocks() has it.
static __global__ void countBadBlocks(Grid G, const double *Tolerance,
                                      unsigned long long *BadBlocks) {
  double OfWhole =
      judge::BlockWholeShare * rmsOf(G.Whole->Wanted, G.Whole->Count);
  unsigned long long Bad = 0;
  for (uint64_t I = uint64_t(blockIdx.x) * Threads + threadIdx.x;
       I < G.blocks(); I += uint64_t(gridDim.x) * Threads) {
    const Squares &S = G.Blocks[I];
    double Own = judge::BlockOwnShare * rmsOf(S.Wanted, S.Count);
    Bad += S.Count >= judge::FewestInBlock &&
           rmsOf(S.Error, S.Count) > *Tolerance * (Own + OfWhole);
  }
  addOfBlock(*BadBlocks, Bad);
}

/// Adds to \p BadBlocks. \p Tolerance lies on the device.
template <class T>
void compareBlocks(const T *Got, const T *Wanted, const Grid &G,
                   const double *Tolerance, unsigned long long *BadBlocks) {
  uint64_t Chunks = (G.Columns + Threads - 1) / Threads;
  sumBlocks<<<blocksFor(G.bands() * Chunks), Threads>>>(Got, Wanted, G);
  countBadBlocks<<<blocksOver(G.blocks()), Threads>>>(G, Tolerance, BadBlocks);
}

} // namespace stark::gpu

#endif
