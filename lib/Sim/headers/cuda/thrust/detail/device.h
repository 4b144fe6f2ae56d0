//===- device.h - Algorithms on device memory -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Each has the stream first.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_THRUST_DEVICE_H
#define STARK_SIM_THRUST_DEVICE_H

#include "parallel.h"

namespace thrust {
namespace __parallel {

template <class I, class F>
__host__ I for_each(cudaStream_t s, I f, I l, F op) {
  each(s, l - f, [=] __device__(std::ptrdiff_t i) { op(f[i]); });
  return l;
}
template <class I, class N, class F>
__host__ I for_each_n(cudaStream_t s, I f, N n, F op) {
  return __parallel::for_each(s, f, f + n, op);
}
template <class I, class O, class F>
__host__ O transform(cudaStream_t s, I f, I l, O o, F op) {
  each(s, l - f, [=] __device__(std::ptrdiff_t i) { o[i] = op(f[i]); });
  return o + (l - f);
}
template <class I, class J, class O, class F>
__host__ O transform(cudaStream_t s, I f, I l, J g, O o, F op) {
  each(s, l - f, [=] __device__(std::ptrdiff_t i) { o[i] = op(f[i], g[i]); });
  return o + (l - f);
}
template <class I, class T>
__host__ void fill(cudaStream_t s, I f, I l, T value) {
  each(s, l - f, [=] __device__(std::ptrdiff_t i) { f[i] = value; });
}
template <class I, class N, class T>
__host__ I fill_n(cudaStream_t s, I f, N n, T value) {
  __parallel::fill(s, f, f + n, value);
  return f + n;
}
template <class I, class O> __host__ O copy(cudaStream_t s, I f, I l, O o) {
  return __parallel::transform(s, f, l, o, identity<>());
}
template <class I, class N, class O>
__host__ O copy_n(cudaStream_t s, I f, N n, O o) {
  return __parallel::copy(s, f, f + n, o);
}
template <class I, class T = __value<I>, class S = T>
__host__ void sequence(cudaStream_t s, I f, I l, T init = T(), S step = S(1)) {
  each(s, l - f, [=] __device__(std::ptrdiff_t i) {
    f[i] = __value<I>(init + __value<I>(i) * step);
  });
}
template <class I, class F>
__host__ void generate(cudaStream_t s, I f, I l, F make) {
  each(s, l - f, [=] __device__(std::ptrdiff_t i) {
    F own = make;
    f[i] = own();
  });
}
template <class I, class F>
__host__ void tabulate(cudaStream_t s, I f, I l, F op) {
  each(s, l - f, [=] __device__(std::ptrdiff_t i) { f[i] = op(i); });
}
template <class I, class P, class T>
__host__ void replace_if(cudaStream_t s, I f, I l, P is, T value) {
  each(s, l - f, [=] __device__(std::ptrdiff_t i) {
    if (is(f[i]))
      f[i] = value;
  });
}
template <class I, class T>
__host__ void replace(cudaStream_t s, I f, I l, T old, T value) {
  each(s, l - f, [=] __device__(std::ptrdiff_t i) {
    if (f[i] == old)
      f[i] = value;
  });
}
template <class M, class I, class O>
__host__ O gather(cudaStream_t s, M f, M l, I in, O o) {
  each(s, l - f, [=] __device__(std::ptrdiff_t i) { o[i] = in[f[i]]; });
  return o + (l - f);
}
template <class I, class M, class O>
__host__ void scatter(cudaStream_t s, I f, I l, M map, O o) {
  each(s, l - f, [=] __device__(std::ptrdiff_t i) { o[map[i]] = f[i]; });
}
template <class I, class J>
__host__ J swap_ranges(cudaStream_t s, I f, I l, J g) {
  each(s, l - f, [=] __device__(std::ptrdiff_t i) {
    __value<I> v = f[i];
    f[i] = g[i];
    g[i] = v;
  });
  return g + (l - f);
}
template <class I> __host__ void reverse(cudaStream_t s, I f, I l) {
  std::ptrdiff_t n = l - f;
  each(s, n / 2, [=] __device__(std::ptrdiff_t i) {
    __value<I> v = f[i];
    f[i] = f[n - 1 - i];
    f[n - 1 - i] = v;
  });
}
template <class I, class O, class F = minus<>>
__host__ O adjacent_difference(cudaStream_t s, I f, I l, O o, F op = F()) {
  Scratch<__value<I>> copied(l - f, s);
  __value<I> *from = copied.get();
  each(s, l - f, [=] __device__(std::ptrdiff_t i) { from[i] = f[i]; });
  each(s, l - f, [=] __device__(std::ptrdiff_t i) {
    o[i] = i ? __value<O>(op(from[i], from[i - 1])) : __value<O>(from[i]);
  });
  return o + (l - f);
}

template <class I, class T = __value<I>, class F = plus<>>
__host__ T reduce(cudaStream_t s, I f, I l, T init = T(), F op = F()) {
  return __parallel::transform_reduce(
      s, f, l, [] __device__(const __value<I> &v) { return T(v); }, init, op);
}
template <class I, class J, class T, class F = plus<>, class G = multiplies<>>
__host__ T inner_product(cudaStream_t s, I f, I l, J g, T init, F sum = F(),
                         G product = G()) {
  return __parallel::transform_reduce(
      s, counting_iterator<std::ptrdiff_t>(0),
      counting_iterator<std::ptrdiff_t>(l - f),
      [=] __device__(std::ptrdiff_t i) { return T(product(f[i], g[i])); }, init,
      sum);
}
template <class I, class P>
__host__ std::ptrdiff_t count_if(cudaStream_t s, I f, I l, P is) {
  return __parallel::transform_reduce(
      s, counting_iterator<std::ptrdiff_t>(0),
      counting_iterator<std::ptrdiff_t>(l - f),
      [=] __device__(std::ptrdiff_t i) {
        return std::ptrdiff_t(is(f[i]) ? 1 : 0);
      },
      std::ptrdiff_t(0), plus<>());
}
template <class I, class T>
__host__ std::ptrdiff_t count(cudaStream_t s, I f, I l, T value) {
  return __parallel::count_if(
      s, f, l, [=] __device__(const __value<I> &v) { return v == value; });
}
/// The first of those that none other comes before.
template <class I, class L = less<>>
__host__ I min_element(cudaStream_t s, I f, I l, L before = L()) {
  if (f == l)
    return l;
  return f + reduce_all(
                 s, counting_iterator<std::ptrdiff_t>(0), l - f, identity<>(),
                 [=] __device__(std::ptrdiff_t a, std::ptrdiff_t b) {
                   return before(f[b], f[a]) || (b < a && !before(f[a], f[b]))
                              ? b
                              : a;
                 },
                 std::ptrdiff_t(0), false);
}
template <class I, class L = less<>>
__host__ I max_element(cudaStream_t s, I f, I l, L before = L()) {
  return __parallel::min_element(
      s, f, l, [=] __device__(const __value<I> &a, const __value<I> &b) {
        return before(b, a);
      });
}
template <class I, class L = less<>>
__host__ pair<I, I> minmax_element(cudaStream_t s, I f, I l, L before = L()) {
  return pair<I, I>{__parallel::min_element(s, f, l, before),
                    __parallel::max_element(s, f, l, before)};
}

template <class I, class O, class U, class F>
__host__ O transform_inclusive_scan(cudaStream_t s, I f, I l, O o, U unary,
                                    F op) {
  std::ptrdiff_t n = l - f;
  Scratch<__value<O>> sums(n, s);
  __value<O> *sum = sums.get();
  __parallel::scan(s, f, n, unary, op, sum);
  each(s, n, [=] __device__(std::ptrdiff_t i) { o[i] = sum[i]; });
  return o + n;
}
template <class I, class O, class U, class T, class F>
__host__ O transform_exclusive_scan(cudaStream_t s, I f, I l, O o, U unary,
                                    T init, F op) {
  std::ptrdiff_t n = l - f;
  Scratch<T> sums(n, s);
  T *sum = sums.get();
  __parallel::scan(s, f, n, unary, op, sum);
  each(s, n, [=] __device__(std::ptrdiff_t i) {
    o[i] = i ? T(op(init, sum[i - 1])) : init;
  });
  return o + n;
}
template <class I, class O, class F = plus<>>
__host__ O inclusive_scan(cudaStream_t s, I f, I l, O o, F op = F()) {
  return __parallel::transform_inclusive_scan(s, f, l, o, identity<>(), op);
}
template <class I, class O, class T = __value<I>, class F = plus<>>
__host__ O exclusive_scan(cudaStream_t s, I f, I l, O o, T init = T(),
                          F op = F()) {
  return __parallel::transform_exclusive_scan(s, f, l, o, identity<>(), init,
                                              op);
}

template <class I, class J, class O, class P>
__host__ O copy_if(cudaStream_t s, I f, I l, J stencil, O o, P keep) {
  return o + __parallel::select(s, f, l - f, stencil, o, keep);
}
template <class I, class O, class P>
__host__ O copy_if(cudaStream_t s, I f, I l, O o, P keep) {
  return __parallel::copy_if(s, f, l, f, o, keep);
}
template <class I, class P>
__host__ I remove_if(cudaStream_t s, I f, I l, P is) {
  Scratch<__value<I>> kept(l - f, s);
  __value<I> *to = kept.get();
  std::ptrdiff_t n = __parallel::select(
      s, f, l - f, f, to,
      [=] __device__(const __value<I> &v) { return !is(v); });
  each(s, n, [=] __device__(std::ptrdiff_t i) { f[i] = to[i]; });
  return f + n;
}
template <class I, class T>
__host__ I remove(cudaStream_t s, I f, I l, T value) {
  return __parallel::remove_if(
      s, f, l, [=] __device__(const __value<I> &v) { return v == value; });
}

template <class K, class V, class L = less<>>
__host__ void stable_sort_by_key(cudaStream_t s, K f, K l, V v,
                                 L before = L()) {
  __parallel::sort_pairs(s, f, l - f, v, true, before);
}
template <class K, class V, class L = less<>>
__host__ void sort_by_key(cudaStream_t s, K f, K l, V v, L before = L()) {
  __parallel::sort_pairs(s, f, l - f, v, true, before);
}
template <class I, class L = less<>>
__host__ void stable_sort(cudaStream_t s, I f, I l, L before = L()) {
  __parallel::sort_pairs(s, f, l - f, f, false, before);
}
template <class I, class L = less<>>
__host__ void sort(cudaStream_t s, I f, I l, L before = L()) {
  __parallel::sort_pairs(s, f, l - f, f, false, before);
}

/// What one thread does.
#define STARK_SIM_ONE_THREAD(NAME)                                             \
  template <class... A> __host__ auto NAME(cudaStream_t s, A... a) {           \
    using R = decltype(__sequential::NAME(a...));                              \
    Scratch<R> result(1, s);                                                   \
    one_kernel<<<1, 1, 0, s>>>(                                                \
        [=] __device__() { return __sequential::NAME(a...); }, result.get());  \
    return result.read(0);                                                     \
  }
STARK_SIM_ONE_THREAD(find_if)
STARK_SIM_ONE_THREAD(find)
STARK_SIM_ONE_THREAD(any_of)
STARK_SIM_ONE_THREAD(none_of)
STARK_SIM_ONE_THREAD(all_of)
STARK_SIM_ONE_THREAD(equal)
STARK_SIM_ONE_THREAD(inclusive_scan_by_key)
STARK_SIM_ONE_THREAD(reduce_by_key)
STARK_SIM_ONE_THREAD(unique)
STARK_SIM_ONE_THREAD(unique_copy)
STARK_SIM_ONE_THREAD(lower_bound)
STARK_SIM_ONE_THREAD(upper_bound)
STARK_SIM_ONE_THREAD(binary_search)
STARK_SIM_ONE_THREAD(is_sorted)
#undef STARK_SIM_ONE_THREAD

} // namespace __parallel
} // namespace thrust

#endif
