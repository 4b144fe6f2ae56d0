//===- mma.h - Tensor-core fragments -------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Which lane has which element of a fragment CUDA leaves open. Here it is as
/// with mma.sync (PTX ISA), so that a warp asks memory for what it asks for on
/// a GPU: of each 8 x 8 elements lane I has two neighbours of row I / 4. Of
/// smaller matrices elements lie row by row over the lanes. Where a GPU has
/// elements twice, so has this. The products are the runtime's: in double
/// precision, rounded once.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_MMA_H
#define STARK_SIM_MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

/// A B + C of M x K, K x N and M x N elements, which lie over the lanes as
/// stark::sim::FragmentPlace has it.
STARK_SIM_TOGETHER void __stark_sim_fragments(int shape, const double *a,
                                              const double *b, const double *c,
                                              double *d);

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
/// 10 bits of mantissa, rounded half away from zero.
STARK_SIM_DEVICE float __float_to_tf32(float x) {
  unsigned bits = __float_as_uint(x);
  return x != x ? x : __uint_as_float((bits + 0x1000u) & 0xffffe000u);
}

enum layout_t { mem_row_major, mem_col_major };

template <class T> struct __element {
  typedef T type;
  static constexpr int copies = sizeof(T) == 2 ? 2 : 1;
  static __inline__ __device__ double wide(T x) { return (double)x; }
  static __inline__ __device__ T narrow(double x) { return (T)x; }
};
template <> struct __element<__half> {
  typedef __half type;
  static constexpr int copies = 2;
  static __inline__ __device__ double wide(__half x) {
    return (double)__half2float(x);
  }
  static __inline__ __device__ __half narrow(double x) {
    return __double2half(x);
  }
};
template <> struct __element<__nv_bfloat16> {
  typedef __nv_bfloat16 type;
  static constexpr int copies = 2;
  static __inline__ __device__ double wide(__nv_bfloat16 x) {
    return (double)__bfloat162float(x);
  }
  static __inline__ __device__ __nv_bfloat16 narrow(double x) {
    return __double2bfloat16(x);
  }
};
template <> struct __element<precision::tf32> {
  typedef float type;
  static constexpr int copies = 1;
  static __inline__ __device__ double wide(float x) {
    return (double)__uint_as_float(__float_as_uint(x) & 0xffffe000u);
  }
};

template <class Use, int M, int N, int K> struct __extent;
template <int M, int N, int K> struct __extent<matrix_a, M, N, K> {
  static constexpr int rows = M, columns = K;
};
template <int M, int N, int K> struct __extent<matrix_b, M, N, K> {
  static constexpr int rows = K, columns = N;
};
template <int M, int N, int K> struct __extent<accumulator, M, N, K> {
  static constexpr int rows = M, columns = N;
};

template <class Use> constexpr bool __is_accumulator = false;
template <> constexpr bool __is_accumulator<accumulator> = true;
template <class Layout> constexpr bool __is_columns = false;
template <> constexpr bool __is_columns<col_major> = true;

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  typedef typename __element<T>::type element_type, storage_element_type;
  typedef __extent<Use, M, N, K> __place;
  /// A matrix by columns lies as its transpose does by rows, so that its
  /// neighbours are neighbours in memory, too.
  static constexpr bool __turned = __is_columns<Layout>;
  static constexpr int __own = __place::rows * __place::columns / 32;
  static constexpr int num_elements =
      __own * (__is_accumulator<Use> ? 1 : __element<T>::copies);
  static constexpr int num_storage_elements = num_elements;
  element_type x[num_elements];
};

template <class Use, int M, int N, int K, class T, class Layout>
STARK_SIM_DEVICE void fill_fragment(fragment<Use, M, N, K, T, Layout> &to,
                                    const typename __element<T>::type &value) {
  for (int i = 0; i < to.num_elements; ++i)
    to.x[i] = value;
}

/// Calls \p each with an element's number in the fragment and its place in
/// memory.
template <class Fragment, class Function>
STARK_SIM_DEVICE void __each(unsigned pitch, bool columns, Function each) {
  typedef typename Fragment::__place Place;
  constexpr bool tiled = Place::rows % 8 == 0 && Place::columns % 8 == 0;
  constexpr int rows = Fragment::__turned ? Place::columns : Place::rows,
                across = Fragment::__turned ? Place::rows : Place::columns;
  constexpr int down = tiled ? rows / 8 : 1;
  int lane = (int)__stark_sim_sreg(12);
#pragma unroll
  for (int i = 0; i < Fragment::__own; ++i) {
    int at = lane * Fragment::__own + i;
    int row = tiled ? i / 2 % down * 8 + lane / 4 : at / across,
        column = tiled ? i / 2 / down * 8 + lane % 4 * 2 + i % 2 : at % across;
    each(i,
         columns ? (size_t)column * pitch + row : (size_t)row * pitch + column);
  }
}

template <class Use, int M, int N, int K, class T, class Layout, class From>
STARK_SIM_DEVICE __attribute__((convergent, always_inline)) void
load_matrix_sync(fragment<Use, M, N, K, T, Layout> &to, const From *from,
                 unsigned pitch) {
  typedef fragment<Use, M, N, K, T, Layout> Fragment;
  typedef typename Fragment::__place Place;
  // Neighbours along a row are one access where they are neighbours in memory.
  constexpr bool pairs = sizeof(From) == 2 && Place::rows % 8 == 0 &&
                         Place::columns % 8 == 0;
  __stark_sim_gather(0xffffffffu);
  __each<Fragment>(pitch, false, [&](int i, size_t at) {
    if (pairs && i % 2)
      return;
    if (pairs) {
      unsigned both = *reinterpret_cast<const unsigned *>(from + at);
      for (int copy = i; copy < to.num_elements; copy += Fragment::__own)
        __builtin_memcpy(&to.x[copy], &both, sizeof(both));
      return;
    }
    for (int copy = i; copy < to.num_elements; copy += Fragment::__own)
      to.x[copy] = from[at];
  });
}
template <int M, int N, int K, class T, class From>
STARK_SIM_DEVICE __attribute__((convergent, always_inline)) void
load_matrix_sync(fragment<accumulator, M, N, K, T> &to, const From *from,
                 unsigned pitch, layout_t layout) {
  __syncwarp();
  __each<fragment<accumulator, M, N, K, T>>(
      pitch, layout == mem_col_major,
      [&](int i, size_t at) { to.x[i] = from[at]; });
}
template <int M, int N, int K, class T, class To>
STARK_SIM_DEVICE __attribute__((convergent, always_inline)) void
store_matrix_sync(To *to, const fragment<accumulator, M, N, K, T> &from,
                  unsigned pitch, layout_t layout) {
  __syncwarp();
  __each<fragment<accumulator, M, N, K, T>>(
      pitch, layout == mem_col_major,
      [&](int i, size_t at) { to[at] = from.x[i]; });
  __syncwarp();
}

/// As many numbers of a lane.
template <int N> struct __wide {
  typedef double type __attribute__((vector_size(N * sizeof(double))));
};

template <int M, int N, int K, class TA, class LA, class TB, class LB, class TC,
          class TD>
STARK_SIM_DEVICE __attribute__((convergent, always_inline)) void
mma_sync(fragment<accumulator, M, N, K, TD> &d,
         const fragment<matrix_a, M, N, K, TA, LA> &a,
         const fragment<matrix_b, M, N, K, TB, LB> &b,
         const fragment<accumulator, M, N, K, TC> &c, bool saturate = false) {
  typedef typename __wide<M * K / 32>::type OfA;
  typedef typename __wide<K * N / 32>::type OfB;
  typedef typename __wide<M * N / 32>::type OfC;
  OfA from_a;
  OfB from_b;
  OfC from_c;
  for (int i = 0; i < M * K / 32; ++i)
    from_a[i] = __element<TA>::wide(a.x[i]);
  for (int i = 0; i < K * N / 32; ++i)
    from_b[i] = __element<TB>::wide(b.x[i]);
  for (int i = 0; i < M * N / 32; ++i)
    from_c[i] = __element<TC>::wide(c.x[i]);
  // Few accesses, so that the compiler still knows what was loaded before.
  const OfA wide_a = from_a;
  const OfB wide_b = from_b;
  const OfC wide_c = from_c;
  OfC wide_d;
  __stark_sim_fragments(M | N << 8 | K << 16 | __is_columns<LA> << 24 |
                            __is_columns<LB> << 25,
                        (const double *)&wide_a, (const double *)&wide_b,
                        (const double *)&wide_c, (double *)&wide_d);
  const OfC sums = wide_d;
  for (int i = 0; i < M * N / 32; ++i) {
    double sum = sums[i];
    if (saturate)
      sum = sum < -2147483648.0 ? -2147483648.0
                                : (sum > 2147483647.0 ? 2147483647.0 : sum);
    d.x[i] = __element<TD>::narrow(sum);
  }
}
} // namespace wmma
} // namespace nvcuda

#endif
