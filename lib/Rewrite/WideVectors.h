//===- WideVectors.h - CUDA text for 16 bytes at a time -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What rewrites declare in a source that take elements 16 bytes at a time.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_WIDEVECTORS_H
#define STARK_LIB_REWRITE_WIDEVECTORS_H

#include "llvm/ADT/StringRef.h"

namespace stark {

inline constexpr unsigned VectorBytes = 16;

inline constexpr llvm::StringLiteral WideVec(R"cuda(
/// Elements that are loaded and stored 16 bytes at a time.
template <typename Element, int Width> struct alignas(16) wide_vec {
  Element at[Width];
};
)cuda");

inline constexpr llvm::StringLiteral WideAligned(R"cuda(
static __device__ __forceinline__ bool is_wide_aligned(const void *p) {
  return reinterpret_cast<size_t>(p) % 16 == 0;
}
)cuda");

} // namespace stark

#endif
