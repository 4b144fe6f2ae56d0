//===- tuples.h - Pairs and tuples of Thrust ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Unlike the C++ library's they are copied as bytes, as kernels' parameters
/// are, and can be assigned to in device code.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_THRUST_TUPLES_H
#define STARK_SIM_THRUST_TUPLES_H

#include "../../../stark/stark_sim.h"
#include <cstddef>
#include <type_traits>
#include <utility>

#define STARK_SIM_EITHER __host__ __device__

namespace thrust {

template <class A, class B> struct pair {
  typedef A first_type;
  typedef B second_type;
  A first;
  B second;
};
template <class A, class B> STARK_SIM_EITHER pair<A, B> make_pair(A a, B b) {
  return pair<A, B>{a, b};
}
template <class A, class B>
STARK_SIM_EITHER bool operator==(const pair<A, B> &a, const pair<A, B> &b) {
  return a.first == b.first && a.second == b.second;
}
template <class A, class B>
STARK_SIM_EITHER bool operator<(const pair<A, B> &a, const pair<A, B> &b) {
  return a.first < b.first || (!(b.first < a.first) && a.second < b.second);
}

template <class... T> struct tuple;
template <> struct tuple<> {};
template <class A, class... T> struct tuple<A, T...> {
  A head;
  tuple<T...> tail;

  tuple() = default;
  STARK_SIM_EITHER tuple(A a, T... t) : head(a), tail(t...) {}
  tuple(const tuple &) = default;
  template <class B, class... U,
            class = std::enable_if_t<sizeof...(U) == sizeof...(T)>>
  STARK_SIM_EITHER tuple(const tuple<B, U...> &b)
      : head(b.head), tail(b.tail) {}
  template <class B, class... U>
  STARK_SIM_EITHER tuple &operator=(const tuple<B, U...> &b) {
    head = b.head;
    tail = b.tail;
    return *this;
  }
  STARK_SIM_EITHER tuple &operator=(const tuple &b) {
    head = b.head;
    tail = b.tail;
    return *this;
  }
};

template <std::size_t I, class T> struct tuple_element;
template <std::size_t I, class A, class... T>
struct tuple_element<I, tuple<A, T...>> : tuple_element<I - 1, tuple<T...>> {};
template <class A, class... T> struct tuple_element<0, tuple<A, T...>> {
  typedef A type;
};
template <class T> struct tuple_size;
template <class... T>
struct tuple_size<tuple<T...>>
    : std::integral_constant<std::size_t, sizeof...(T)> {};

template <std::size_t I, class... T>
STARK_SIM_EITHER typename tuple_element<I, tuple<T...>>::type &
get(tuple<T...> &t) {
  if constexpr (I == 0)
    return t.head;
  else
    return thrust::get<I - 1>(t.tail);
}
template <std::size_t I, class... T>
STARK_SIM_EITHER const
    std::remove_reference_t<typename tuple_element<I, tuple<T...>>::type> &
    get(const tuple<T...> &t) {
  if constexpr (I == 0)
    return t.head;
  else
    return thrust::get<I - 1>(t.tail);
}
template <std::size_t I, class A, class B>
STARK_SIM_EITHER auto &get(pair<A, B> &p) {
  if constexpr (I == 0)
    return p.first;
  else
    return p.second;
}
template <class... T> STARK_SIM_EITHER tuple<T...> make_tuple(T... t) {
  return tuple<T...>(t...);
}
template <class... T> STARK_SIM_EITHER tuple<T &...> tie(T &...t) {
  return tuple<T &...>(t...);
}
STARK_SIM_EITHER inline bool operator==(tuple<>, tuple<>) { return true; }
STARK_SIM_EITHER inline bool operator<(tuple<>, tuple<>) { return false; }
template <class A, class... T, class B, class... U>
STARK_SIM_EITHER bool operator==(const tuple<A, T...> &a,
                                 const tuple<B, U...> &b) {
  return a.head == b.head && a.tail == b.tail;
}
template <class A, class... T, class B, class... U>
STARK_SIM_EITHER bool operator<(const tuple<A, T...> &a,
                                const tuple<B, U...> &b) {
  return a.head < b.head || (!(b.head < a.head) && a.tail < b.tail);
}

template <class T> STARK_SIM_EITHER void swap(T &a, T &b) {
  T c = a;
  a = b;
  b = c;
}

} // namespace thrust

#endif
