//===- vectors.h - Arrays of host and device ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What lies on the device is reached by copies, an element each where one is
/// asked for.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_THRUST_VECTORS_H
#define STARK_SIM_THRUST_VECTORS_H

#include "public.h"
#include <vector>

namespace thrust {

template <class T, class Allocator = std::allocator<T>> class device_vector;

template <class T, class Allocator = std::allocator<T>>
class host_vector : public std::vector<T, Allocator> {
public:
  using std::vector<T, Allocator>::vector;
  host_vector() = default;
  host_vector(const std::vector<T> &v)
      : std::vector<T, Allocator>(v.begin(), v.end()) {}
  host_vector(const device_vector<T> &v) : std::vector<T, Allocator>(v.size()) {
    thrust::copy(v.begin(), v.end(), this->data());
  }
  host_vector &operator=(const device_vector<T> &v) {
    return *this = host_vector(v);
  }
};

template <class T, class Allocator> class device_vector {
public:
  typedef T value_type;
  typedef device_ptr<T> iterator;
  typedef device_ptr<const T> const_iterator;
  typedef device_ptr<T> pointer;
  typedef device_reference<T> reference;
  typedef std::size_t size_type;
  typedef std::ptrdiff_t difference_type;

  device_vector() = default;
  explicit device_vector(size_type n, T value = T()) { resize(n, value); }
  device_vector(const device_vector &v) { *this = v; }
  device_vector(device_vector &&v) { swap(v); }
  template <class A> device_vector(const std::vector<T, A> &v) { *this = v; }
  device_vector(std::initializer_list<T> v)
      : device_vector(v.begin(), v.end()) {}
  template <class I, class = typename std::iterator_traits<I>::value_type>
  device_vector(I f, I l) {
    assign(f, l);
  }
  ~device_vector() { cudaFree(At); }

  device_vector &operator=(const device_vector &v) {
    if (this != &v)
      assign(v.begin(), v.end());
    return *this;
  }
  device_vector &operator=(device_vector &&v) {
    swap(v);
    return *this;
  }
  template <class A> device_vector &operator=(const std::vector<T, A> &v) {
    assign(v.data(), v.data() + v.size());
    return *this;
  }
  template <class I> void assign(I f, I l) {
    allocate(size_type(l - f));
    Size = size_type(l - f);
    thrust::copy(f, l, begin());
  }
  void resize(size_type n, T value = T()) {
    if (n > Room) {
      device_vector larger;
      larger.allocate(n);
      thrust::copy(begin(), end(), larger.begin());
      larger.Size = Size;
      swap(larger);
    }
    size_type before = Size;
    Size = n;
    if (n > before)
      thrust::fill(begin() + before, end(), value);
  }
  void reserve(size_type n) {
    size_type size = Size;
    if (n > Room)
      resize(n);
    Size = size;
  }
  void push_back(const T &value) {
    if (Size == Room)
      reserve(Size ? 2 * Size : 8);
    resize(Size + 1, value);
  }
  void clear() { Size = 0; }
  void swap(device_vector &v) {
    std::swap(At, v.At);
    std::swap(Size, v.Size);
    std::swap(Room, v.Room);
  }

  size_type size() const { return Size; }
  size_type capacity() const { return Room; }
  bool empty() const { return !Size; }
  iterator begin() { return iterator(At); }
  iterator end() { return iterator(At + Size); }
  const_iterator begin() const { return const_iterator(At); }
  const_iterator end() const { return const_iterator(At + Size); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  device_ptr<T> data() { return begin(); }
  device_ptr<const T> data() const { return begin(); }
  device_reference<T> operator[](size_type i) {
    return device_reference<T>(At + i);
  }
  device_reference<const T> operator[](size_type i) const {
    return device_reference<const T>(At + i);
  }
  device_reference<T> front() { return (*this)[0]; }
  device_reference<T> back() { return (*this)[Size - 1]; }

private:
  /// What there was is lost.
  void allocate(size_type n) {
    if (n <= Room)
      return;
    cudaFree(At);
    cudaMalloc((void **)&At, n * sizeof(T));
    Room = n;
  }
  T *At = nullptr;
  size_type Size = 0, Room = 0;
};

} // namespace thrust

#endif
