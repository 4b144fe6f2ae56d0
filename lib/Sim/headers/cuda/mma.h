//===- mma.h - Tensor-core fragments, which are not simulated ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   wmma compiles and ends with the verdict `unsupported`.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_MMA_H
#define STARK_SIM_MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
namespace precision {
struct tf32 {};
struct u4 {};
struct s4 {};
struct b1 {};
} // namespace precision
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  typedef T element_type;
  static constexpr int num_elements = 8;
  static constexpr int num_storage_elements = num_elements;
  T x[num_elements];
};
template <class Use, int M, int N, int K, class Layout>
struct fragment<Use, M, N, K, precision::tf32, Layout> {
  typedef float element_type;
  static constexpr int num_elements = 4;
  static constexpr int num_storage_elements = num_elements;
  float x[num_elements];
};

template <class Fragment, class T>
STARK_SIM_DEVICE void fill_fragment(Fragment &, const T &) {
  __stark_sim_unsupported("wmma::fill_fragment");
}
template <class Fragment, class T>
STARK_SIM_DEVICE void load_matrix_sync(Fragment &, const T *, unsigned) {
  __stark_sim_unsupported("wmma::load_matrix_sync");
}
template <class Fragment, class T>
STARK_SIM_DEVICE void load_matrix_sync(Fragment &, const T *, unsigned,
                                       layout_t) {
  __stark_sim_unsupported("wmma::load_matrix_sync");
}
template <class T, class Fragment>
STARK_SIM_DEVICE void store_matrix_sync(T *, const Fragment &, unsigned,
                                        layout_t) {
  __stark_sim_unsupported("wmma::store_matrix_sync");
}
template <class D, class A, class B, class C>
STARK_SIM_DEVICE void mma_sync(D &, const A &, const B &, const C &) {
  __stark_sim_unsupported("wmma::mma_sync");
}
} // namespace wmma
} // namespace nvcuda

/// 10 bits of mantissa, rounded half away from zero.
STARK_SIM_DEVICE float __float_to_tf32(float x) {
  unsigned bits = __float_as_uint(x);
  return x != x ? x : __uint_as_float((bits + 0x1000u) & 0xffffe000u);
}

#endif
