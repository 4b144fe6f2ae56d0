//===- parallel.h - Kernels over device memory ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// One thread an element, blocks that reduce and scan, a merge sort.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_THRUST_PARALLEL_H
#define STARK_SIM_THRUST_PARALLEL_H

#include "sequential.h"

namespace thrust {
namespace __parallel {

constexpr int Block = 256;

template <class F> __global__ void each_kernel(std::ptrdiff_t n, F op) {
  std::ptrdiff_t i = blockIdx.x * (std::ptrdiff_t)blockDim.x + threadIdx.x;
  if (i < n)
    op(i);
}
template <class F> __host__ void each(cudaStream_t s, std::ptrdiff_t n, F op) {
  if (n > 0)
    each_kernel<<<(unsigned)((n + Block - 1) / Block), Block, 0, s>>>(n, op);
}

/// Device memory for the length of a call.
template <class T> class Scratch {
public:
  Scratch(std::ptrdiff_t n, cudaStream_t s) : Stream(s) {
    cudaMallocAsync((void **)&At, (n > 0 ? n : 1) * sizeof(T), s);
  }
  ~Scratch() { cudaFreeAsync(At, Stream); }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  T *get() const { return At; }
  /// The element \p i, once all before is done.
  T read(std::ptrdiff_t i) const {
    alignas(T) unsigned char bytes[sizeof(T)];
    cudaMemcpyAsync(bytes, At + i, sizeof(T), cudaMemcpyDeviceToHost, Stream);
    cudaStreamSynchronize(Stream);
    return *(T *)bytes;
  }

private:
  T *At = nullptr;
  cudaStream_t Stream;
};

/// One thread does all of it; what it returns comes back.
template <class F, class R> __global__ void one_kernel(F op, R *result) {
  *result = op();
}

/// Sums of blocks, \p init before them where there is one.
template <class I, class U, class T, class F>
__global__ void reduce_kernel(I f, std::ptrdiff_t n, U unary, F op, T *out,
                              T init, bool begins) {
  __shared__ __align__(16) unsigned char bytes[Block * sizeof(T)];
  T *sums = (T *)bytes;
  std::ptrdiff_t stride = (std::ptrdiff_t)gridDim.x * Block;
  std::ptrdiff_t first = blockIdx.x * (std::ptrdiff_t)Block;
  std::ptrdiff_t i = first + threadIdx.x;
  if (i < n) {
    T sum = unary(f[i]);
    for (i += stride; i < n; i += stride)
      sum = op(sum, unary(f[i]));
    sums[threadIdx.x] = sum;
  }
  int there = n - first < Block ? (int)(n - first) : Block;
  for (int half = Block / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half && threadIdx.x + half < there)
      sums[threadIdx.x] = op(sums[threadIdx.x], sums[threadIdx.x + half]);
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = begins ? T(op(init, sums[0])) : sums[0];
}
/// Of \p n elements, at least one.
template <class I, class U, class T, class F>
__host__ T reduce_all(cudaStream_t s, I f, std::ptrdiff_t n, U unary, F op,
                      T init, bool begins) {
  std::ptrdiff_t blocks = (n + 4 * Block - 1) / (4 * Block);
  blocks = blocks > 1024 ? 1024 : blocks;
  Scratch<T> sums(blocks + 1, s);
  T *sum = sums.get();
  reduce_kernel<<<(unsigned)blocks, Block, 0, s>>>(f, n, unary, op, sum, init,
                                                   false);
  reduce_kernel<<<1, Block, 0, s>>>(sum, blocks, identity<>(), op, sum + blocks,
                                    init, begins);
  return sums.read(blocks);
}
template <class I, class U, class T, class F>
__host__ T transform_reduce(cudaStream_t s, I f, I l, U unary, T init, F op) {
  return f == l ? init : reduce_all(s, f, l - f, unary, op, init, true);
}

/// Each block's elements, then what each block begins with.
template <class I, class T, class U, class F>
__global__ void scan_kernel(I f, std::ptrdiff_t n, U unary, F op, T *out,
                            T *sums) {
  __shared__ __align__(16) unsigned char bytes[Block * sizeof(T)];
  T *parts = (T *)bytes;
  std::ptrdiff_t i = blockIdx.x * (std::ptrdiff_t)Block + threadIdx.x;
  if (i < n)
    parts[threadIdx.x] = unary(f[i]);
  for (int by = 1; by < Block; by *= 2) {
    __syncthreads();
    bool adds = i < n && threadIdx.x >= by;
    T sum = parts[adds ? threadIdx.x : 0];
    if (adds)
      sum = op(parts[threadIdx.x - by], sum);
    __syncthreads();
    if (adds)
      parts[threadIdx.x] = sum;
  }
  if (i < n)
    out[i] = parts[threadIdx.x];
  if (i < n && (threadIdx.x == Block - 1 || i == n - 1))
    sums[blockIdx.x] = parts[threadIdx.x];
}
/// The inclusive sums, in \p out.
template <class I, class T, class U, class F>
__host__ void scan(cudaStream_t s, I f, std::ptrdiff_t n, U unary, F op,
                   T *out) {
  if (n <= 0)
    return;
  std::ptrdiff_t blocks = (n + Block - 1) / Block;
  Scratch<T> sums(blocks, s), before(blocks, s);
  scan_kernel<<<(unsigned)blocks, Block, 0, s>>>(f, n, unary, op, out,
                                                 sums.get());
  if (blocks == 1)
    return;
  __parallel::scan(s, sums.get(), blocks, identity<>(), op, before.get());
  T *sum = before.get();
  each(s, n, [=] __device__(std::ptrdiff_t i) {
    if (i >= Block)
      out[i] = op(sum[i / Block - 1], out[i]);
  });
}

/// Runs of \p run elements are in order; pairs of them become one.
template <class K, class V, class L>
__host__ void merge_runs(cudaStream_t s, std::ptrdiff_t n, std::ptrdiff_t run,
                         const K *keys, const V *values, K *to, V *with,
                         L before) {
  each(s, n, [=] __device__(std::ptrdiff_t i) {
    std::ptrdiff_t mine = i / run, first = mine * run;
    std::ptrdiff_t other = (mine ^ 1) * run;
    other = other < n ? other : n;
    std::ptrdiff_t end = other + run < n ? other + run : n;
    K key = keys[i];
    const K *at =
        mine & 1
            ? __sequential::upper_bound(keys + other, keys + end, key, before)
            : __sequential::lower_bound(keys + other, keys + end, key, before);
    std::ptrdiff_t place =
        (mine & 1 ? other : first) + (i - first) + (at - (keys + other));
    to[place] = key;
    if (with)
      with[place] = values[i];
  });
}
template <class I, class V, class L>
__host__ void sort_pairs(cudaStream_t s, I f, std::ptrdiff_t n, V v, bool has,
                         L before) {
  using K = __value<I>;
  using W = __value<V>;
  Scratch<K> a(n, s), b(n, s);
  Scratch<W> c(has ? n : 0, s), d(has ? n : 0, s);
  K *from = a.get(), *to = b.get();
  W *values = has ? c.get() : nullptr, *with = has ? d.get() : nullptr;
  each(s, n, [=] __device__(std::ptrdiff_t i) {
    from[i] = f[i];
    if (values)
      values[i] = v[i];
  });
  for (std::ptrdiff_t run = 1; run < n; run *= 2) {
    merge_runs(s, n, run, from, values, to, with, before);
    swap(from, to);
    swap(values, with);
  }
  each(s, n, [=] __device__(std::ptrdiff_t i) {
    f[i] = from[i];
    if (values)
      v[i] = values[i];
  });
}

/// Those for which \p keep says so, in order; how many.
template <class I, class J, class O, class P>
__host__ std::ptrdiff_t select(cudaStream_t s, I f, std::ptrdiff_t n, J by, O o,
                               P keep) {
  if (n <= 0)
    return 0;
  Scratch<unsigned> kept(n, s), places(n, s);
  unsigned *is = kept.get(), *place = places.get();
  each(s, n, [=] __device__(std::ptrdiff_t i) { is[i] = keep(by[i]) ? 1 : 0; });
  __parallel::scan(s, is, n, identity<>(), plus<>(), place);
  each(s, n, [=] __device__(std::ptrdiff_t i) {
    if (is[i])
      o[place[i] - 1] = f[i];
  });
  return places.read(n - 1);
}

} // namespace __parallel
} // namespace thrust

#endif
