//===- public.h - Where an algorithm runs ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Each algorithm for host and device code, with a policy and without.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_THRUST_PUBLIC_H
#define STARK_SIM_THRUST_PUBLIC_H

#include "device.h"

namespace thrust {

/// By the policy, or by where the iterators point to; code for the device never
/// launches anything.
#define STARK_SIM_ALGORITHM(NAME)                                              \
  template <class P, class... A, std::enable_if_t<__is_policy<P>, int> = 0>    \
  __host__ auto NAME(P &&policy, A... a) {                                     \
    if constexpr (__is_parallel<P>)                                            \
      return __parallel::NAME(policy.stream, a...);                            \
    else                                                                       \
      return __sequential::NAME(a...);                                         \
  }                                                                            \
  template <class F, class... A, std::enable_if_t<!__is_policy<F>, int> = 0>   \
  __host__ auto NAME(F f, A... a) {                                            \
    if constexpr (__device_memory<F>::value ||                                 \
                  (__device_memory<A>::value || ...))                          \
      return __parallel::NAME((cudaStream_t)0, f, a...);                       \
    else                                                                       \
      return __sequential::NAME(f, a...);                                      \
  }                                                                            \
  template <class P, class... A, std::enable_if_t<__is_policy<P>, int> = 0>    \
  __device__ auto NAME(P &&, A... a) {                                         \
    return __sequential::NAME(a...);                                           \
  }                                                                            \
  template <class F, class... A, std::enable_if_t<!__is_policy<F>, int> = 0>   \
  __device__ auto NAME(F f, A... a) {                                          \
    return __sequential::NAME(f, a...);                                        \
  }
STARK_SIM_ALGORITHM(for_each)
STARK_SIM_ALGORITHM(for_each_n)
STARK_SIM_ALGORITHM(transform)
STARK_SIM_ALGORITHM(fill)
STARK_SIM_ALGORITHM(fill_n)
STARK_SIM_ALGORITHM(copy_n)
STARK_SIM_ALGORITHM(copy_if)
STARK_SIM_ALGORITHM(sequence)
STARK_SIM_ALGORITHM(generate)
STARK_SIM_ALGORITHM(tabulate)
STARK_SIM_ALGORITHM(replace_if)
STARK_SIM_ALGORITHM(replace)
STARK_SIM_ALGORITHM(gather)
STARK_SIM_ALGORITHM(scatter)
STARK_SIM_ALGORITHM(swap_ranges)
STARK_SIM_ALGORITHM(transform_reduce)
STARK_SIM_ALGORITHM(reduce)
STARK_SIM_ALGORITHM(inner_product)
STARK_SIM_ALGORITHM(count_if)
STARK_SIM_ALGORITHM(count)
STARK_SIM_ALGORITHM(min_element)
STARK_SIM_ALGORITHM(max_element)
STARK_SIM_ALGORITHM(minmax_element)
STARK_SIM_ALGORITHM(transform_inclusive_scan)
STARK_SIM_ALGORITHM(transform_exclusive_scan)
STARK_SIM_ALGORITHM(inclusive_scan)
STARK_SIM_ALGORITHM(exclusive_scan)
STARK_SIM_ALGORITHM(adjacent_difference)
STARK_SIM_ALGORITHM(remove_if)
STARK_SIM_ALGORITHM(remove)
STARK_SIM_ALGORITHM(reverse)
STARK_SIM_ALGORITHM(sort)
STARK_SIM_ALGORITHM(stable_sort)
STARK_SIM_ALGORITHM(sort_by_key)
STARK_SIM_ALGORITHM(stable_sort_by_key)
STARK_SIM_ALGORITHM(find_if)
STARK_SIM_ALGORITHM(find)
STARK_SIM_ALGORITHM(any_of)
STARK_SIM_ALGORITHM(none_of)
STARK_SIM_ALGORITHM(all_of)
STARK_SIM_ALGORITHM(equal)
STARK_SIM_ALGORITHM(inclusive_scan_by_key)
STARK_SIM_ALGORITHM(reduce_by_key)
STARK_SIM_ALGORITHM(unique)
STARK_SIM_ALGORITHM(unique_copy)
STARK_SIM_ALGORITHM(lower_bound)
STARK_SIM_ALGORITHM(upper_bound)
STARK_SIM_ALGORITHM(binary_search)
STARK_SIM_ALGORITHM(is_sorted)
#undef STARK_SIM_ALGORITHM

template <class T, class U>
__host__ U *__transfer(const T *f, const T *l, U *o, cudaMemcpyKind kind) {
  static_assert(std::is_same_v<std::remove_const_t<T>, U>,
                "values of one type are copied");
  cudaMemcpy((void *)o, (const void *)f, (l - f) * sizeof(T), kind);
  return o + (l - f);
}
template <class I, class O> __host__ O copy(I f, I l, O o) {
  if (f == l)
    return o;
  if constexpr (__device_memory<I>::value && __device_memory<O>::value) {
    return __parallel::copy((cudaStream_t)0, f, l, o);
  } else if constexpr (__device_memory<I>::value) {
    __transfer(f.get(), f.get() + (l - f), &*o, cudaMemcpyDeviceToHost);
    return o + (l - f);
  } else if constexpr (__device_memory<O>::value) {
    __transfer(&*f, &*f + (l - f), o.get(), cudaMemcpyHostToDevice);
    return o + (l - f);
  } else {
    return __sequential::copy(f, l, o);
  }
}
template <class P, class I, class O, std::enable_if_t<__is_policy<P>, int> = 0>
__host__ O copy(P &&policy, I f, I l, O o) {
  if constexpr (__is_parallel<P>)
    return __parallel::copy(policy.stream, f, l, o);
  else
    return __sequential::copy(f, l, o);
}
template <class I, class O> __device__ O copy(I f, I l, O o) {
  return __sequential::copy(f, l, o);
}
template <class P, class I, class O, std::enable_if_t<__is_policy<P>, int> = 0>
__device__ O copy(P &&, I f, I l, O o) {
  return __sequential::copy(f, l, o);
}

} // namespace thrust

#endif
