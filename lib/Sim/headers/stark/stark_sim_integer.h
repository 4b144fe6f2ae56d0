//===- stark_sim_integer.h - Integer intrinsics --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Bits, bytes, high products, funnel shifts, dot products of bytes.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_INTEGER_H
#define STARK_SIM_INTEGER_H

STARK_SIM_DEVICE int __popc(unsigned x) { return __builtin_popcount(x); }
STARK_SIM_DEVICE int __popcll(unsigned long long x) {
  return __builtin_popcountll(x);
}
STARK_SIM_DEVICE int __clz(int x) { return x ? __builtin_clz(x) : 32; }
STARK_SIM_DEVICE int __clzll(long long x) {
  return x ? __builtin_clzll(x) : 64;
}
STARK_SIM_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
STARK_SIM_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
STARK_SIM_DEVICE unsigned __brev(unsigned x) {
  return __builtin_bitreverse32(x);
}
STARK_SIM_DEVICE unsigned long long __brevll(unsigned long long x) {
  return __builtin_bitreverse64(x);
}
/// The place of the \p n-th set bit from \p base upwards, or downwards for a
/// negative \p n; 0xffffffff where there is none.
STARK_SIM_DEVICE unsigned __fns(unsigned mask, unsigned base, int n) {
  int step = n < 0 ? -1 : 1, left = n < 0 ? -n : n;
  if (n == 0)
    return base < 32 && (mask >> base & 1) ? base : 0xffffffffu;
  for (int bit = (int)base; bit >= 0 && bit < 32; bit += step)
    if ((mask >> bit & 1) && --left == 0)
      return bit;
  return 0xffffffffu;
}

STARK_SIM_DEVICE int __mulhi(int a, int b) { return (long long)a * b >> 32; }
STARK_SIM_DEVICE unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned long long)a * b >> 32;
}
STARK_SIM_DEVICE long long __mul64hi(long long a, long long b) {
  return (__int128)a * b >> 64;
}
STARK_SIM_DEVICE unsigned long long __umul64hi(unsigned long long a,
                                               unsigned long long b) {
  return (unsigned __int128)a * b >> 64;
}
STARK_SIM_DEVICE int __mul24(int a, int b) {
  return (int)((unsigned)((int)((unsigned)a << 8) >> 8) *
               (unsigned)((int)((unsigned)b << 8) >> 8));
}
STARK_SIM_DEVICE unsigned __umul24(unsigned a, unsigned b) {
  return (a & 0xffffff) * (b & 0xffffff);
}
STARK_SIM_DEVICE unsigned __usad(unsigned a, unsigned b, unsigned c) {
  return (a > b ? a - b : b - a) + c;
}
STARK_SIM_DEVICE unsigned __sad(int a, int b, unsigned c) {
  return (a > b ? (unsigned)a - b : (unsigned)b - a) + c;
}
STARK_SIM_DEVICE int __hadd(int a, int b) { return ((long long)a + b) >> 1; }
STARK_SIM_DEVICE int __rhadd(int a, int b) {
  return ((long long)a + b + 1) >> 1;
}
STARK_SIM_DEVICE unsigned __uhadd(unsigned a, unsigned b) {
  return ((unsigned long long)a + b) >> 1;
}
STARK_SIM_DEVICE unsigned __urhadd(unsigned a, unsigned b) {
  return ((unsigned long long)a + b + 1) >> 1;
}

/// Byte i of the result is byte (selector >> 4i) & 7 of a (0-3) and b (4-7), or
/// its sign repeated where bit 3 of that nibble is set.
STARK_SIM_ONE("int")
unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  unsigned long long bytes = (unsigned long long)b << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned nibble = selector >> (4 * i);
    unsigned byte = bytes >> (8 * (nibble & 7)) & 0xff;
    if (nibble & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

STARK_SIM_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high,
                                          unsigned shift) {
  return (((unsigned long long)high << 32 | low) << (shift & 31)) >> 32;
}
STARK_SIM_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high,
                                          unsigned shift) {
  return ((unsigned long long)high << 32 | low) >> (shift & 31);
}
STARK_SIM_DEVICE unsigned __funnelshift_lc(unsigned low, unsigned high,
                                           unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
STARK_SIM_DEVICE unsigned __funnelshift_rc(unsigned low, unsigned high,
                                           unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

/// The sum of c and the products of \p N lanes of a and b, of types A and B.
template <class A, class B, int N, int First = 0>
STARK_SIM_BOTH unsigned __stark_sim_dot(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < N; ++i)
    c += (unsigned)((int)(A)(a >> (8 * sizeof(A) * i)) *
                    (int)(B)(b >> (8 * sizeof(B) * (First + i))));
  return c;
}
STARK_SIM_ONE("int") int __dp4a(int a, int b, int c) {
  return (int)__stark_sim_dot<signed char, signed char, 4>(a, b, c);
}
STARK_SIM_ONE("int") unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  return __stark_sim_dot<unsigned char, unsigned char, 4>(a, b, c);
}
STARK_SIM_DEVICE int __dp4a(char4 a, char4 b, int c) {
  return __dp4a(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c);
}
STARK_SIM_DEVICE unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return __dp4a(__builtin_bit_cast(unsigned, a),
                __builtin_bit_cast(unsigned, b), c);
}
STARK_SIM_ONE("int") int __dp2a_lo(int a, int b, int c) {
  return (int)__stark_sim_dot<short, signed char, 2>(a, b, c);
}
STARK_SIM_ONE("int") int __dp2a_hi(int a, int b, int c) {
  return (int)__stark_sim_dot<short, signed char, 2, 2>(a, b, c);
}
STARK_SIM_ONE("int") unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return __stark_sim_dot<unsigned short, unsigned char, 2>(a, b, c);
}
STARK_SIM_ONE("int") unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) {
  return __stark_sim_dot<unsigned short, unsigned char, 2, 2>(a, b, c);
}

STARK_SIM_DEVICE int __vimax3_s32(int a, int b, int c) {
  int m = a > b ? a : b;
  return m > c ? m : c;
}
STARK_SIM_DEVICE int __vimin3_s32(int a, int b, int c) {
  int m = a < b ? a : b;
  return m < c ? m : c;
}
STARK_SIM_DEVICE int __vimax_s32_relu(int a, int b) {
  return __vimax3_s32(a, b, 0);
}
STARK_SIM_DEVICE int __viaddmax_s32(int a, int b, int c) {
  int sum = (int)((unsigned)a + b);
  return sum > c ? sum : c;
}
STARK_SIM_DEVICE int __viaddmin_s32(int a, int b, int c) {
  int sum = (int)((unsigned)a + b);
  return sum < c ? sum : c;
}

#endif
