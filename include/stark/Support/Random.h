//===- Random.h - Draws that are the same on every machine ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Uniform draws over std::mt19937_64, whose sequence the standard fixes. The
/// standard's distributions differ between libraries, so they are not used.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SUPPORT_RANDOM_H
#define STARK_SUPPORT_RANDOM_H

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace stark {

class Random {
public:
  explicit Random(uint64_t Seed) : Engine(Seed) {}
  uint64_t next() { return Engine(); }
  /// In [0, 1), from the upper 53 bits.
  double uniform();
  /// In [0, Bound), without modulo bias. \p Bound must not be 0.
  uint64_t below(uint64_t Bound);
  /// \p Count of the numbers 0..Size-1, each subset equally likely, ascending.
  std::vector<size_t> sample(size_t Size, size_t Count);

private:
  std::mt19937_64 Engine;
};

} // namespace stark

#endif
