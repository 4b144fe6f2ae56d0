//===- stark_sim_float16.h - Rounding to sixteen bits --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   half has 10 bits of mantissa and exponents from -14, bfloat16 has 7 and
/// from -126. Every conversion rounds once; NaN becomes 0x7fff, as on a GPU.
///   Arithmetic is done in a wider type and rounded. In single precision that
/// rounds twice without harm, since its 24 bits are at least twice 11 (8) and
/// two more; where they are not enough the wider result is rounded to odd
/// first, which keeps what a second rounding has to know (Boldo and Melquiond,
/// 2008).
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_FLOAT16_H
#define STARK_SIM_FLOAT16_H

#include "stark_sim.h"

/// Exponent and mantissa of the finite \p x, as one number without sign, in a
/// format with \p Mantissa stored bits whose smallest normal exponent is
/// \p Smallest and whose exponents have no end.
template <int Mantissa, int Smallest>
STARK_SIM_BOTH unsigned __stark_sim_magnitude(double x,
                                              __stark_sim_direction direction) {
  unsigned long long bits = __builtin_bit_cast(unsigned long long, x);
  bool negative = bits >> 63;
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  unsigned long long digits = bits & 0xfffffffffffffull;
  if (exponent > -1023)
    digits |= 1ull << 52;
  int shift = 52 - Mantissa;
  if (exponent < Smallest)
    shift += Smallest - exponent;
  if (shift > 60) {
    digits = digits != 0;
    shift = 60;
  }
  unsigned kept = (unsigned)(digits >> shift);
  unsigned long long rest = digits & ((1ull << shift) - 1);
  unsigned long long middle = 1ull << (shift - 1);
  bool up = (direction == __stark_sim_rn &&
             (rest > middle || (rest == middle && (kept & 1)))) ||
            (direction == __stark_sim_ru && !negative && rest) ||
            (direction == __stark_sim_rd && negative && rest);
  // A carry out of the mantissa raises the exponent, as it should.
  kept += up;
  if (exponent > Smallest)
    kept += (unsigned)(exponent - Smallest) << Mantissa;
  return kept;
}

/// The sixteen bits of \p x in the format of that name.
template <int Mantissa, int Smallest>
STARK_SIM_ONE("convert")
unsigned short __stark_sim_narrow(double x, __stark_sim_direction direction) {
  constexpr unsigned Infinity = ((1u << (15 - Mantissa)) - 1) << Mantissa;
  unsigned sign = __builtin_signbit(x) ? 0x8000 : 0;
  if (x != x)
    return 0x7fff;
  if (__builtin_isinf(x))
    return (unsigned short)(sign | Infinity);
  unsigned magnitude = __stark_sim_magnitude<Mantissa, Smallest>(x, direction);
  if (magnitude >= Infinity)
    magnitude = direction == __stark_sim_rn ||
                        direction == (sign ? __stark_sim_rd : __stark_sim_ru)
                    ? Infinity
                    : Infinity - 1;
  return (unsigned short)(sign | magnitude);
}

/// \p x in single precision, rounded to odd: cut, with the last bit set where
/// something was cut.
STARK_SIM_BOTH float __stark_sim_odd(double x) {
  float cut = (float)x;
  if ((double)cut == x || cut != cut)
    return cut;
  unsigned bits = __builtin_bit_cast(unsigned, cut);
  if (__builtin_fabs((double)cut) > __builtin_fabs(x))
    --bits;
  return __builtin_bit_cast(float, bits | 1);
}
/// A 64-bit integer in double precision, rounded to odd.
template <class T> STARK_SIM_BOTH double __stark_sim_odd_integer(T i) {
  double cut = (double)i;
  long double lost = (long double)i - (long double)cut;
  return __stark_sim_made_odd(cut, __stark_sim_sign(lost));
}

STARK_SIM_BOTH unsigned short __stark_sim_half_bits(float x) {
  if (x != x)
    return 0x7fff;
  return __builtin_bit_cast(unsigned short, (_Float16)x);
}
STARK_SIM_BOTH float __stark_sim_half_value(unsigned short bits) {
  return (float)__builtin_bit_cast(_Float16, bits);
}
STARK_SIM_BOTH unsigned short __stark_sim_bfloat_bits(float x) {
  if (x != x)
    return 0x7fff;
  unsigned bits = __builtin_bit_cast(unsigned, x);
  return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
STARK_SIM_BOTH float __stark_sim_bfloat_value(unsigned short bits) {
  return __builtin_bit_cast(float, (unsigned)bits << 16);
}

#endif
