//===- base.h - What algorithms are called with ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Operators, policies, pointers to device memory.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_THRUST_BASE_H
#define STARK_SIM_THRUST_BASE_H

#include "tuples.h"
#include <cstddef>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

namespace thrust {

#define STARK_SIM_OPERATOR(NAME, RESULT, EXPRESSION)                           \
  template <class T = void> struct NAME {                                      \
    typedef T first_argument_type;                                             \
    typedef T second_argument_type;                                            \
    typedef RESULT result_type;                                                \
    STARK_SIM_EITHER constexpr RESULT operator()(const T &a,                   \
                                                 const T &b) const {           \
      return EXPRESSION;                                                       \
    }                                                                          \
  };                                                                           \
  template <> struct NAME<void> {                                              \
    template <class A, class B>                                                \
    STARK_SIM_EITHER constexpr auto operator()(const A &a, const B &b) const { \
      return EXPRESSION;                                                       \
    }                                                                          \
  };
STARK_SIM_OPERATOR(plus, T, a + b)
STARK_SIM_OPERATOR(minus, T, a - b)
STARK_SIM_OPERATOR(multiplies, T, a *b)
STARK_SIM_OPERATOR(divides, T, a / b)
STARK_SIM_OPERATOR(modulus, T, a % b)
STARK_SIM_OPERATOR(bit_and, T, a &b)
STARK_SIM_OPERATOR(bit_or, T, a | b)
STARK_SIM_OPERATOR(bit_xor, T, a ^ b)
STARK_SIM_OPERATOR(maximum, T, a < b ? b : a)
STARK_SIM_OPERATOR(minimum, T, b < a ? b : a)
STARK_SIM_OPERATOR(equal_to, bool, a == b)
STARK_SIM_OPERATOR(not_equal_to, bool, a != b)
STARK_SIM_OPERATOR(less, bool, a < b)
STARK_SIM_OPERATOR(less_equal, bool, a <= b)
STARK_SIM_OPERATOR(greater, bool, a > b)
STARK_SIM_OPERATOR(greater_equal, bool, a >= b)
STARK_SIM_OPERATOR(logical_and, bool, a &&b)
STARK_SIM_OPERATOR(logical_or, bool, a || b)
#undef STARK_SIM_OPERATOR

template <class T = void> struct identity {
  template <class A> STARK_SIM_EITHER constexpr A operator()(const A &a) const {
    return a;
  }
};
template <class T = void> struct negate {
  template <class A> STARK_SIM_EITHER constexpr A operator()(const A &a) const {
    return -a;
  }
};
template <class T = void> struct square {
  template <class A> STARK_SIM_EITHER constexpr A operator()(const A &a) const {
    return a * a;
  }
};
template <class T = void> struct logical_not {
  template <class A>
  STARK_SIM_EITHER constexpr bool operator()(const A &a) const {
    return !a;
  }
};
template <class A, class R> struct unary_function {
  typedef A argument_type;
  typedef R result_type;
};
template <class A, class B, class R> struct binary_function {
  typedef A first_argument_type;
  typedef B second_argument_type;
  typedef R result_type;
};

/// Policies: where an algorithm runs, and in which stream.
struct __policy {};
struct __sequential_policy : __policy {};
struct __parallel_policy : __policy {
  cudaStream_t stream = 0;
  __parallel_policy on(cudaStream_t s) const {
    __parallel_policy other;
    other.stream = s;
    return other;
  }
  template <class Allocator>
  const __parallel_policy &operator()(Allocator &&) const {
    return *this;
  }
};
struct __host_policy : __policy {};
inline constexpr __sequential_policy seq{};
inline constexpr __host_policy host{};
inline constexpr __parallel_policy device{};
namespace cuda {
inline constexpr __parallel_policy par{};
inline constexpr __parallel_policy par_nosync{};
} // namespace cuda
namespace cuda_cub {
using cuda::par;
using cuda::par_nosync;
} // namespace cuda_cub
namespace system {
namespace cuda {
using thrust::cuda::par;
using thrust::cuda::par_nosync;
} // namespace cuda
} // namespace system

template <class P>
inline constexpr bool __is_policy =
    std::is_base_of_v<__policy, std::decay_t<P>>;
template <class P>
inline constexpr bool __is_parallel =
    std::is_base_of_v<__parallel_policy, std::decay_t<P>>;

/// An element of device memory as the host has it.
template <class T> class device_reference {
public:
  explicit device_reference(T *p) : At(p) {}
  operator std::remove_const_t<T>() const {
    std::remove_const_t<T> value;
    cudaMemcpy(&value, At, sizeof(T), cudaMemcpyDeviceToHost);
    return value;
  }
  const device_reference &operator=(const T &value) const {
    cudaMemcpy((void *)At, &value, sizeof(T), cudaMemcpyHostToDevice);
    return *this;
  }
  const device_reference &operator=(const device_reference &other) const {
    return *this = std::remove_const_t<T>(other);
  }
  const device_reference &operator+=(const T &value) const {
    return *this = T(*this) + value;
  }
  T *operator&() const { return At; }

private:
  T *At;
};

template <class T> class device_ptr {
public:
  typedef std::ptrdiff_t difference_type;
  typedef std::remove_cv_t<T> value_type;
  typedef device_ptr pointer;
  typedef T &reference;
  typedef T element_type;
  typedef std::random_access_iterator_tag iterator_category;

  device_ptr() = default;
  STARK_SIM_EITHER device_ptr(std::nullptr_t) {}
  STARK_SIM_EITHER explicit device_ptr(T *p) : At(p) {}
  template <class U, class = std::enable_if_t<std::is_convertible_v<U *, T *>>>
  STARK_SIM_EITHER device_ptr(const device_ptr<U> &other) : At(other.get()) {}
  STARK_SIM_EITHER T *get() const { return At; }

  __device__ T &operator*() const { return *At; }
  __host__ device_reference<T> operator*() const {
    return device_reference<T>(At);
  }
  __device__ T &operator[](difference_type i) const { return At[i]; }
  __host__ device_reference<T> operator[](difference_type i) const {
    return device_reference<T>(At + i);
  }
  STARK_SIM_EITHER device_ptr &operator+=(difference_type n) {
    At += n;
    return *this;
  }
  STARK_SIM_EITHER device_ptr &operator-=(difference_type n) {
    At -= n;
    return *this;
  }
  STARK_SIM_EITHER device_ptr &operator++() { return *this += 1; }
  STARK_SIM_EITHER device_ptr &operator--() { return *this -= 1; }
  STARK_SIM_EITHER device_ptr operator++(int) { return device_ptr(At++); }
  STARK_SIM_EITHER device_ptr operator--(int) { return device_ptr(At--); }
  STARK_SIM_EITHER device_ptr operator+(difference_type n) const {
    return device_ptr(At + n);
  }
  STARK_SIM_EITHER device_ptr operator-(difference_type n) const {
    return device_ptr(At - n);
  }
  STARK_SIM_EITHER difference_type operator-(const device_ptr &b) const {
    return At - b.At;
  }
  STARK_SIM_EITHER bool operator==(const device_ptr &b) const {
    return At == b.At;
  }
  STARK_SIM_EITHER bool operator!=(const device_ptr &b) const {
    return At != b.At;
  }
  STARK_SIM_EITHER bool operator<(const device_ptr &b) const {
    return At < b.At;
  }
  explicit operator bool() const { return At; }

private:
  T *At = nullptr;
};

template <class T> STARK_SIM_EITHER device_ptr<T> device_pointer_cast(T *p) {
  return device_ptr<T>(p);
}
template <class T>
STARK_SIM_EITHER device_ptr<T> device_pointer_cast(const device_ptr<T> &p) {
  return p;
}
template <class T> STARK_SIM_EITHER T *raw_pointer_cast(T *p) { return p; }
template <class T>
STARK_SIM_EITHER T *raw_pointer_cast(const device_ptr<T> &p) {
  return p.get();
}
template <class T> __host__ device_ptr<T> device_malloc(std::size_t n) {
  void *p = nullptr;
  cudaMalloc(&p, n * sizeof(T));
  return device_ptr<T>((T *)p);
}
template <class T> __host__ void device_free(device_ptr<T> p) {
  cudaFree((void *)p.get());
}

template <class I> using __value = typename std::iterator_traits<I>::value_type;

/// Whether what it reads is device memory.
template <class I> struct __device_memory : std::false_type {};
template <class T> struct __device_memory<device_ptr<T>> : std::true_type {};

} // namespace thrust

#endif
