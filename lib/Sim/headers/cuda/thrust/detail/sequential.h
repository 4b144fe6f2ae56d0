//===- sequential.h - One element after the other -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What device code and host memory get, and device memory where it is rarely
/// asked for.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_THRUST_SEQUENTIAL_H
#define STARK_SIM_THRUST_SEQUENTIAL_H

#include "iterators.h"

#define STARK_SIM_SEQUENTIAL(...) template <__VA_ARGS__> STARK_SIM_EITHER inline

namespace thrust {
namespace __sequential {

STARK_SIM_SEQUENTIAL(class I, class F) I for_each(I f, I l, F op) {
  for (; f != l; ++f)
    op(*f);
  return f;
}
STARK_SIM_SEQUENTIAL(class I, class N, class F) I for_each_n(I f, N n, F op) {
  return __sequential::for_each(f, f + n, op);
}
STARK_SIM_SEQUENTIAL(class I, class O, class F)
O transform(I f, I l, O o, F op) {
  for (; f != l; ++f, ++o)
    *o = op(*f);
  return o;
}
STARK_SIM_SEQUENTIAL(class I, class J, class O, class F)
O transform(I f, I l, J g, O o, F op) {
  for (; f != l; ++f, ++g, ++o)
    *o = op(*f, *g);
  return o;
}
STARK_SIM_SEQUENTIAL(class I, class T) void fill(I f, I l, T value) {
  for (; f != l; ++f)
    *f = value;
}
STARK_SIM_SEQUENTIAL(class I, class N, class T) I fill_n(I f, N n, T value) {
  __sequential::fill(f, f + n, value);
  return f + n;
}
STARK_SIM_SEQUENTIAL(class I, class O) O copy(I f, I l, O o) {
  for (; f != l; ++f, ++o)
    *o = *f;
  return o;
}
STARK_SIM_SEQUENTIAL(class I, class N, class O) O copy_n(I f, N n, O o) {
  return __sequential::copy(f, f + n, o);
}
STARK_SIM_SEQUENTIAL(class I, class J, class O, class P)
O copy_if(I f, I l, J stencil, O o, P keep) {
  for (; f != l; ++f, ++stencil)
    if (keep(*stencil)) {
      *o = *f;
      ++o;
    }
  return o;
}
STARK_SIM_SEQUENTIAL(class I, class O, class P)
O copy_if(I f, I l, O o, P keep) {
  return __sequential::copy_if(f, l, f, o, keep);
}
STARK_SIM_SEQUENTIAL(class I, class T = __value<I>, class S = T)
void sequence(I f, I l, T init = T(), S step = S(1)) {
  for (__value<I> v = init; f != l; ++f, v = v + step)
    *f = v;
}
STARK_SIM_SEQUENTIAL(class I, class F) void generate(I f, I l, F make) {
  for (; f != l; ++f)
    *f = make();
}
STARK_SIM_SEQUENTIAL(class I, class F) void tabulate(I f, I l, F op) {
  for (std::ptrdiff_t i = 0; f != l; ++f, ++i)
    *f = op(i);
}
STARK_SIM_SEQUENTIAL(class I, class P, class T)
void replace_if(I f, I l, P is, T value) {
  for (; f != l; ++f)
    if (is(*f))
      *f = value;
}
STARK_SIM_SEQUENTIAL(class I, class T)
void replace(I f, I l, T old, T value) {
  for (; f != l; ++f)
    if (*f == old)
      *f = value;
}
STARK_SIM_SEQUENTIAL(class M, class I, class O)
O gather(M f, M l, I in, O o) {
  for (; f != l; ++f, ++o)
    *o = in[*f];
  return o;
}
STARK_SIM_SEQUENTIAL(class I, class M, class O)
void scatter(I f, I l, M map, O o) {
  for (; f != l; ++f, ++map)
    o[*map] = *f;
}
STARK_SIM_SEQUENTIAL(class I, class J) J swap_ranges(I f, I l, J g) {
  for (; f != l; ++f, ++g) {
    __value<I> v = *f;
    *f = *g;
    *g = v;
  }
  return g;
}

STARK_SIM_SEQUENTIAL(class I, class U, class T, class F)
T transform_reduce(I f, I l, U unary, T init, F op) {
  for (; f != l; ++f)
    init = op(init, unary(*f));
  return init;
}
STARK_SIM_SEQUENTIAL(class I, class T = __value<I>, class F = plus<>)
T reduce(I f, I l, T init = T(), F op = F()) {
  return __sequential::transform_reduce(f, l, identity<>(), init, op);
}
STARK_SIM_SEQUENTIAL(class I, class J, class T, class F = plus<>,
                     class G = multiplies<>)
T inner_product(I f, I l, J g, T init, F sum = F(), G product = G()) {
  for (; f != l; ++f, ++g)
    init = sum(init, product(*f, *g));
  return init;
}
STARK_SIM_SEQUENTIAL(class I, class P)
std::ptrdiff_t count_if(I f, I l, P is) {
  std::ptrdiff_t n = 0;
  for (; f != l; ++f)
    n += is(*f) ? 1 : 0;
  return n;
}
STARK_SIM_SEQUENTIAL(class I, class T)
std::ptrdiff_t count(I f, I l, T value) {
  std::ptrdiff_t n = 0;
  for (; f != l; ++f)
    n += *f == value ? 1 : 0;
  return n;
}
STARK_SIM_SEQUENTIAL(class I, class P) I find_if(I f, I l, P is) {
  while (f != l && !is(*f))
    ++f;
  return f;
}
STARK_SIM_SEQUENTIAL(class I, class T) I find(I f, I l, T value) {
  while (f != l && !(*f == value))
    ++f;
  return f;
}
STARK_SIM_SEQUENTIAL(class I, class P) bool any_of(I f, I l, P is) {
  return __sequential::find_if(f, l, is) != l;
}
STARK_SIM_SEQUENTIAL(class I, class P) bool none_of(I f, I l, P is) {
  return __sequential::find_if(f, l, is) == l;
}
STARK_SIM_SEQUENTIAL(class I, class P) bool all_of(I f, I l, P is) {
  while (f != l && is(*f))
    ++f;
  return f == l;
}
STARK_SIM_SEQUENTIAL(class I, class J, class E = equal_to<>)
bool equal(I f, I l, J g, E same = E()) {
  for (; f != l; ++f, ++g)
    if (!same(*f, *g))
      return false;
  return true;
}
STARK_SIM_SEQUENTIAL(class I, class L = less<>)
I min_element(I f, I l, L before = L()) {
  I best = f;
  for (; f != l; ++f)
    if (before(*f, *best))
      best = f;
  return best;
}
STARK_SIM_SEQUENTIAL(class I, class L = less<>)
I max_element(I f, I l, L before = L()) {
  I best = f;
  for (; f != l; ++f)
    if (before(*best, *f))
      best = f;
  return best;
}
STARK_SIM_SEQUENTIAL(class I, class L = less<>)
pair<I, I> minmax_element(I f, I l, L before = L()) {
  return pair<I, I>{__sequential::min_element(f, l, before),
                    __sequential::max_element(f, l, before)};
}

STARK_SIM_SEQUENTIAL(class I, class O, class U, class F)
O transform_inclusive_scan(I f, I l, O o, U unary, F op) {
  if (f == l)
    return o;
  auto sum = unary(*f);
  *o = sum;
  for (++f, ++o; f != l; ++f, ++o) {
    sum = op(sum, unary(*f));
    *o = sum;
  }
  return o;
}
STARK_SIM_SEQUENTIAL(class I, class O, class U, class T, class F)
O transform_exclusive_scan(I f, I l, O o, U unary, T init, F op) {
  for (; f != l; ++f, ++o) {
    T next = op(init, unary(*f));
    *o = init;
    init = next;
  }
  return o;
}
STARK_SIM_SEQUENTIAL(class I, class O, class F = plus<>)
O inclusive_scan(I f, I l, O o, F op = F()) {
  return __sequential::transform_inclusive_scan(f, l, o, identity<>(), op);
}
STARK_SIM_SEQUENTIAL(class I, class O, class T = __value<I>, class F = plus<>)
O exclusive_scan(I f, I l, O o, T init = T(), F op = F()) {
  return __sequential::transform_exclusive_scan(f, l, o, identity<>(), init,
                                                op);
}
STARK_SIM_SEQUENTIAL(class I, class O, class F = minus<>)
O adjacent_difference(I f, I l, O o, F op = F()) {
  if (f == l)
    return o;
  __value<I> before = *f;
  *o = before;
  for (++f, ++o; f != l; ++f, ++o) {
    __value<I> now = *f;
    *o = op(now, before);
    before = now;
  }
  return o;
}
STARK_SIM_SEQUENTIAL(class K, class V, class O, class E = equal_to<>,
                     class F = plus<>)
O inclusive_scan_by_key(K f, K l, V v, O o, E same = E(), F op = F()) {
  if (f == l)
    return o;
  __value<V> sum = *v;
  *o = sum;
  for (K before = f; ++v, ++o, ++f != l; before = f) {
    sum = same(*before, *f) ? op(sum, *v) : __value<V>(*v);
    *o = sum;
  }
  return o;
}
STARK_SIM_SEQUENTIAL(class K, class V, class KO, class VO, class E = equal_to<>,
                     class F = plus<>)
pair<KO, VO> reduce_by_key(K f, K l, V v, KO ko, VO vo, E same = E(),
                           F op = F()) {
  while (f != l) {
    __value<K> key = *f;
    __value<V> sum = *v;
    for (++f, ++v; f != l && same(key, *f); ++f, ++v)
      sum = op(sum, *v);
    *ko = key;
    *vo = sum;
    ++ko;
    ++vo;
  }
  return pair<KO, VO>{ko, vo};
}

STARK_SIM_SEQUENTIAL(class I, class P) I remove_if(I f, I l, P is) {
  I o = f;
  for (; f != l; ++f)
    if (!is(*f)) {
      *o = *f;
      ++o;
    }
  return o;
}
STARK_SIM_SEQUENTIAL(class I, class T) I remove(I f, I l, T value) {
  I o = f;
  for (; f != l; ++f)
    if (!(*f == value)) {
      *o = *f;
      ++o;
    }
  return o;
}
STARK_SIM_SEQUENTIAL(class I, class O, class E = equal_to<>)
O unique_copy(I f, I l, O o, E same = E()) {
  if (f == l)
    return o;
  __value<I> kept = *f;
  *o = kept;
  for (++f, ++o; f != l; ++f)
    if (!same(kept, *f)) {
      kept = *f;
      *o = kept;
      ++o;
    }
  return o;
}
STARK_SIM_SEQUENTIAL(class I, class E = equal_to<>)
I unique(I f, I l, E same = E()) {
  return __sequential::unique_copy(f, l, f, same);
}
STARK_SIM_SEQUENTIAL(class I) void reverse(I f, I l) {
  for (std::ptrdiff_t n = l - f, i = 0; i < n / 2; ++i) {
    __value<I> v = f[i];
    f[i] = f[n - 1 - i];
    f[n - 1 - i] = v;
  }
}

STARK_SIM_SEQUENTIAL(class I, class T, class L = less<>)
I lower_bound(I f, I l, T value, L before = L()) {
  for (std::ptrdiff_t n = l - f; n > 0;) {
    std::ptrdiff_t half = n / 2;
    bool right = before(f[half], value);
    f = right ? f + (half + 1) : f;
    n = right ? n - half - 1 : half;
  }
  return f;
}
STARK_SIM_SEQUENTIAL(class I, class T, class L = less<>)
I upper_bound(I f, I l, T value, L before = L()) {
  for (std::ptrdiff_t n = l - f; n > 0;) {
    std::ptrdiff_t half = n / 2;
    bool right = !before(value, f[half]);
    f = right ? f + (half + 1) : f;
    n = right ? n - half - 1 : half;
  }
  return f;
}
STARK_SIM_SEQUENTIAL(class I, class T, class L = less<>)
bool binary_search(I f, I l, T value, L before = L()) {
  I at = __sequential::lower_bound(f, l, value, before);
  return at != l && !before(value, *at);
}

/// By insertion, as stable as it is slow; arrays of threads are short.
STARK_SIM_SEQUENTIAL(class K, class V, class L = less<>)
void stable_sort_by_key(K f, K l, V v, L before = L()) {
  for (std::ptrdiff_t n = l - f, i = 1; i < n; ++i) {
    __value<K> key = f[i];
    __value<V> value = v[i];
    std::ptrdiff_t j = i;
    for (; j > 0 && before(key, f[j - 1]); --j) {
      f[j] = f[j - 1];
      v[j] = v[j - 1];
    }
    f[j] = key;
    v[j] = value;
  }
}
STARK_SIM_SEQUENTIAL(class K, class V, class L = less<>)
void sort_by_key(K f, K l, V v, L before = L()) {
  __sequential::stable_sort_by_key(f, l, v, before);
}
STARK_SIM_SEQUENTIAL(class I, class L = less<>)
void stable_sort(I f, I l, L before = L()) {
  for (std::ptrdiff_t n = l - f, i = 1; i < n; ++i) {
    __value<I> value = f[i];
    std::ptrdiff_t j = i;
    for (; j > 0 && before(value, f[j - 1]); --j)
      f[j] = f[j - 1];
    f[j] = value;
  }
}
STARK_SIM_SEQUENTIAL(class I, class L = less<>)
void sort(I f, I l, L before = L()) { __sequential::stable_sort(f, l, before); }
STARK_SIM_SEQUENTIAL(class I, class L = less<>)
bool is_sorted(I f, I l, L before = L()) {
  for (std::ptrdiff_t n = l - f, i = 1; i < n; ++i)
    if (before(f[i], f[i - 1]))
      return false;
  return true;
}

} // namespace __sequential
} // namespace thrust

#endif
