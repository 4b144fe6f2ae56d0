//===- DeviceCompare.h - Outputs compared where they lie -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   two buffers on the device -> how many elements differ, and by how much
/// The rule is that of judge::compare(); what differs is described by the host,
/// which copies and compares what does not agree here.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_DEVICECOMPARE_H
#define STARK_GPU_DEVICECOMPARE_H

#include "stark/Judge/Compare.h"
#include <cuda_runtime.h>

namespace stark::gpu {

struct CompareSpec {
  job::DType Type = job::DType::F32;
  const void *Got = nullptr, *Wanted = nullptr;
  const std::vector<int64_t> &Shape;
  double Tolerance = 0;
  /// The scale of a row is at least this share of the whole output's root mean
  /// square.
  double ShareOfWhole = 0;
  double Scale = 0; ///< of all rows, where above 0
  uint32_t Poison = 0;
  /// Where all of Wanted are whole numbers that the type holds exactly
  /// (judge::isExact), they have to be equal.
  bool Exact = false;
  /// Columns and tiles are looked at, too, as judge::compareBlocks() does.
  bool Blocks = false;
};

struct DeviceComparison {
  uint64_t Mismatches = 0;
  uint64_t BadBlocks = 0; ///< columns and tiles
  double WorstError = 0;  ///< in units of what is allowed
  judge::Extremes Wanted;
  uint64_t Unwritten = 0; ///< elements of Wanted that hold the poison
};

/// Device memory that comparisons need beside the buffers; grows.
class CompareScratch {
public:
  CompareScratch() = default;
  ~CompareScratch();
  CompareScratch(const CompareScratch &) = delete;
  CompareScratch &operator=(const CompareScratch &) = delete;
  /// At least \p Bytes, all 0.
  cudaError_t zeroed(uint64_t Bytes, void *&Data);

private:
  void *Data = nullptr;
  uint64_t Size = 0;
};

/// Waits for all that was queued before on the default stream, and for its
/// answer.
cudaError_t compareOnDevice(const CompareSpec &Spec, CompareScratch &Scratch,
                            DeviceComparison &Out);

} // namespace stark::gpu

#endif
