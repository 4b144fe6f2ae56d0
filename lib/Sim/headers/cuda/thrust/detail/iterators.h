//===- iterators.h - Iterators that compute what they point to ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Counting, constant, transformed, permuted and zipped ones.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_THRUST_ITERATORS_H
#define STARK_SIM_THRUST_ITERATORS_H

#include "base.h"

namespace thrust {

/// What iterators that move together have in common; \p Self has at(n), the
/// element n places on, and moved(n).
template <class Self, class Value, class Reference = Value> struct __iterator {
  typedef std::ptrdiff_t difference_type;
  typedef Value value_type;
  typedef Reference reference;
  typedef void pointer;
  typedef std::random_access_iterator_tag iterator_category;

  STARK_SIM_EITHER decltype(auto) operator*() const { return self().at(0); }
  STARK_SIM_EITHER decltype(auto) operator[](difference_type n) const {
    return self().at(n);
  }
  STARK_SIM_EITHER Self operator+(difference_type n) const {
    return self().moved(n);
  }
  STARK_SIM_EITHER Self operator-(difference_type n) const {
    return self().moved(-n);
  }
  STARK_SIM_EITHER Self &operator+=(difference_type n) {
    return (Self &)*this = self().moved(n);
  }
  STARK_SIM_EITHER Self &operator++() { return *this += 1; }
  STARK_SIM_EITHER Self operator++(int) {
    Self before = self();
    *this += 1;
    return before;
  }
  STARK_SIM_EITHER bool operator==(const Self &b) const {
    return self() - b == 0;
  }
  STARK_SIM_EITHER bool operator!=(const Self &b) const {
    return self() - b != 0;
  }
  STARK_SIM_EITHER bool operator<(const Self &b) const {
    return self() - b < 0;
  }

private:
  STARK_SIM_EITHER const Self &self() const { return (const Self &)*this; }
};

template <class T = int>
struct counting_iterator : __iterator<counting_iterator<T>, T> {
  using __base = __iterator<counting_iterator<T>, T>;
  using __base::operator-;
  counting_iterator() = default;
  STARK_SIM_EITHER explicit counting_iterator(T first) : First(first) {}
  STARK_SIM_EITHER T at(std::ptrdiff_t n) const { return T(First + n); }
  STARK_SIM_EITHER counting_iterator moved(std::ptrdiff_t n) const {
    return counting_iterator(T(First + n));
  }
  STARK_SIM_EITHER std::ptrdiff_t operator-(const counting_iterator &b) const {
    return std::ptrdiff_t(First) - std::ptrdiff_t(b.First);
  }
  T First = T();
};
template <class T>
STARK_SIM_EITHER counting_iterator<T> make_counting_iterator(T first) {
  return counting_iterator<T>(first);
}

template <class T>
struct constant_iterator : __iterator<constant_iterator<T>, T> {
  using __base = __iterator<constant_iterator<T>, T>;
  using __base::operator-;
  STARK_SIM_EITHER explicit constant_iterator(T value, std::ptrdiff_t place = 0)
      : Value(value), Place(place) {}
  STARK_SIM_EITHER T at(std::ptrdiff_t) const { return Value; }
  STARK_SIM_EITHER constant_iterator moved(std::ptrdiff_t n) const {
    return constant_iterator(Value, Place + n);
  }
  STARK_SIM_EITHER std::ptrdiff_t operator-(const constant_iterator &b) const {
    return Place - b.Place;
  }
  T Value;
  std::ptrdiff_t Place;
};
template <class T>
STARK_SIM_EITHER constant_iterator<T> make_constant_iterator(T value) {
  return constant_iterator<T>(value);
}

template <class F, class I>
struct transform_iterator
    : __iterator<transform_iterator<F, I>,
                 std::decay_t<std::invoke_result_t<F, __value<I>>>> {
  using __base = __iterator<transform_iterator,
                            std::decay_t<std::invoke_result_t<F, __value<I>>>>;
  using __base::operator-;
  STARK_SIM_EITHER transform_iterator(I of, F f) : Of(of), Function(f) {}
  STARK_SIM_EITHER typename __base::value_type at(std::ptrdiff_t n) const {
    return Function(*(Of + n));
  }
  STARK_SIM_EITHER transform_iterator moved(std::ptrdiff_t n) const {
    return transform_iterator(Of + n, Function);
  }
  STARK_SIM_EITHER std::ptrdiff_t operator-(const transform_iterator &b) const {
    return Of - b.Of;
  }
  STARK_SIM_EITHER transform_iterator &operator=(const transform_iterator &b) {
    Of = b.Of;
    return *this;
  }
  transform_iterator(const transform_iterator &) = default;
  I Of;
  F Function;
};
template <class F, class I>
STARK_SIM_EITHER transform_iterator<F, I> make_transform_iterator(I of, F f) {
  return transform_iterator<F, I>(of, f);
}

template <class I, class Map>
struct permutation_iterator
    : __iterator<permutation_iterator<I, Map>, __value<I>> {
  using __base = __iterator<permutation_iterator, __value<I>>;
  using __base::operator-;
  STARK_SIM_EITHER permutation_iterator(I of, Map map) : Of(of), By(map) {}
  STARK_SIM_EITHER decltype(auto) at(std::ptrdiff_t n) const {
    return Of[*(By + n)];
  }
  STARK_SIM_EITHER permutation_iterator moved(std::ptrdiff_t n) const {
    return permutation_iterator(Of, By + n);
  }
  STARK_SIM_EITHER std::ptrdiff_t
  operator-(const permutation_iterator &b) const {
    return By - b.By;
  }
  I Of;
  Map By;
};
template <class I, class Map>
STARK_SIM_EITHER permutation_iterator<I, Map>
make_permutation_iterator(I of, Map map) {
  return permutation_iterator<I, Map>(of, map);
}

/// The elements are tuples of what the iterators point to.
template <class Iterators> struct zip_iterator;
template <class... I>
struct zip_iterator<tuple<I...>>
    : __iterator<zip_iterator<tuple<I...>>, tuple<__value<I>...>> {
  using __base = __iterator<zip_iterator, tuple<__value<I>...>>;
  using __base::operator-;
  STARK_SIM_EITHER explicit zip_iterator(tuple<I...> of) : Of(of) {}
  template <std::size_t... At>
  STARK_SIM_EITHER auto each(std::ptrdiff_t n,
                             std::index_sequence<At...>) const {
    return tuple<decltype(*(thrust::get<At>(Of) + n))...>(
        *(thrust::get<At>(Of) + n)...);
  }
  STARK_SIM_EITHER auto at(std::ptrdiff_t n) const {
    return each(n, std::index_sequence_for<I...>());
  }
  template <std::size_t... At>
  STARK_SIM_EITHER zip_iterator moved(std::ptrdiff_t n,
                                      std::index_sequence<At...>) const {
    return zip_iterator(tuple<I...>(thrust::get<At>(Of) + n...));
  }
  STARK_SIM_EITHER zip_iterator moved(std::ptrdiff_t n) const {
    return moved(n, std::index_sequence_for<I...>());
  }
  STARK_SIM_EITHER std::ptrdiff_t operator-(const zip_iterator &b) const {
    return thrust::get<0>(Of) - thrust::get<0>(b.Of);
  }
  tuple<I...> Of;
};
template <class... I>
STARK_SIM_EITHER zip_iterator<tuple<I...>> make_zip_iterator(tuple<I...> of) {
  return zip_iterator<tuple<I...>>(of);
}
template <class... I>
STARK_SIM_EITHER zip_iterator<tuple<I...>> make_zip_iterator(I... of) {
  return zip_iterator<tuple<I...>>(tuple<I...>(of...));
}

template <class F, class I>
struct __device_memory<transform_iterator<F, I>> : __device_memory<I> {};
template <class I, class Map>
struct __device_memory<permutation_iterator<I, Map>>
    : std::bool_constant<__device_memory<I>::value ||
                         __device_memory<Map>::value> {};
template <class... I>
struct __device_memory<zip_iterator<tuple<I...>>>
    : std::bool_constant<(__device_memory<I>::value || ...)> {};

template <class I> STARK_SIM_EITHER std::ptrdiff_t distance(I first, I last) {
  return last - first;
}
template <class I> STARK_SIM_EITHER void advance(I &it, std::ptrdiff_t n) {
  it = it + n;
}

} // namespace thrust

#endif
