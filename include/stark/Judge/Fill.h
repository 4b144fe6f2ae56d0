//===- Fill.h - The initial values of a buffer, on the host ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   (key, index) -> 64 random bits -> a value of the distribution
/// What lib/Gpu/Kernels.cu does on a device, for memory of this process.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JUDGE_FILL_H
#define STARK_JUDGE_FILL_H

#include "stark/Job/Job.h"

namespace stark::judge {

/// Spreads what few bits say over all 64 (the finalizer of splitmix64).
constexpr uint64_t mix(uint64_t Z) {
  Z = (Z ^ (Z >> 30)) * 0xBF58476D1CE4E5B9ull;
  Z = (Z ^ (Z >> 27)) * 0x94D049BB133111EBull;
  return Z ^ (Z >> 31);
}

/// Fills a buffer of \p Shape as \p Fill says, from \p Key alone. Of random
/// values no more than \p Drawn are drawn; then they repeat. InitKind::File is
/// not for here. Of each value this share, \p Shake, is added or taken away.
void fillOnHost(job::DType Type, void *Data, const std::vector<int64_t> &Shape,
                const job::Init &Fill, uint64_t Key,
                uint64_t Drawn = ~uint64_t(0), double Shake = 0);

/// The buffer of leaf \p I in case \p C at \p Data, records field by field;
/// likewise but for files. \p Shaken: by its last place, if so.
void fillLeafOnHost(const job::Leaf &L, const job::Case &C, size_t I,
                    void *Data, uint64_t Key, uint64_t Drawn, bool Shaken);

/// About the share of a value that its last place in \p Type is; 0 where values
/// are whole.
double lastPlace(job::DType Type);

} // namespace stark::judge

#endif
