//===- stark_sim_cast.h - Conversions between kinds of numbers -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A conversion to an integer saturates, and NaN becomes 0 or, where 64 bits
/// are concerned, the integer of only the highest bit, as PTX says of cvt.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_CAST_H
#define STARK_SIM_CAST_H

#define STARK_SIM_BITS(NAME, TO, FROM)                                         \
  STARK_SIM_DEVICE TO NAME(FROM x) { return __builtin_bit_cast(TO, x); }
STARK_SIM_BITS(__float_as_int, int, float)
STARK_SIM_BITS(__float_as_uint, unsigned, float)
STARK_SIM_BITS(__int_as_float, float, int)
STARK_SIM_BITS(__uint_as_float, float, unsigned)
STARK_SIM_BITS(__double_as_longlong, long long, double)
STARK_SIM_BITS(__longlong_as_double, double, long long)
#undef STARK_SIM_BITS

STARK_SIM_DEVICE int __double2hiint(double x) {
  return (int)(__builtin_bit_cast(unsigned long long, x) >> 32);
}
STARK_SIM_DEVICE int __double2loint(double x) {
  return (int)__builtin_bit_cast(unsigned long long, x);
}
STARK_SIM_DEVICE double __hiloint2double(int high, int low) {
  return __builtin_bit_cast(double, (unsigned long long)(unsigned)high << 32 |
                                        (unsigned)low);
}

template <class From>
STARK_SIM_BOTH From __stark_sim_whole(From x, __stark_sim_direction direction) {
  switch (direction) {
  case __stark_sim_rn:
    return __builtin_elementwise_roundeven(x);
  case __stark_sim_rz:
    return __builtin_elementwise_trunc(x);
  case __stark_sim_rd:
    return __builtin_elementwise_floor(x);
  case __stark_sim_ru:
    return __builtin_elementwise_ceil(x);
  }
  return x;
}
template <class To, class From>
STARK_SIM_BOTH To __stark_sim_to_integer(From x,
                                         __stark_sim_direction direction) {
  constexpr bool Signed = (To)-1 < (To)0;
  constexpr int Bits = 8 * sizeof(To) - Signed;
  constexpr To High = (To)(~0ull >> (64 - Bits));
  constexpr To Low = Signed ? (To)(-High - 1) : (To)0;
  const From beyond = (From)2 * (From)(1ull << (Bits - 1));
  if (x != x)
    return sizeof(To) == 8 || sizeof(From) == 8
               ? (To)(1ull << (8 * sizeof(To) - 1))
               : (To)0;
  x = __stark_sim_whole(x, direction);
  if (x >= beyond)
    return High;
  if (Signed ? x < -beyond : x <= 0)
    return Low;
  return (To)x;
}
/// 64 bits of an integer fit a long double, which therefore knows what was
/// lost.
template <class To, class From>
STARK_SIM_BOTH To __stark_sim_to_float(From x,
                                       __stark_sim_direction direction) {
  To nearest = (To)x;
  if (direction == __stark_sim_rn)
    return nearest;
  long double lost = (long double)x - (long double)nearest;
  return __stark_sim_directed(nearest, __stark_sim_sign(lost), direction);
}

#define STARK_SIM_CONVERT(FROM_NAME, FROM, TO_NAME, TO, SUFFIX, HOW)           \
  STARK_SIM_DEVICE TO __##FROM_NAME##2##TO_NAME##_##SUFFIX(FROM x) {           \
    return HOW<TO>(x, __stark_sim_##SUFFIX);                                   \
  }
#define STARK_SIM_CONVERT_4(FROM_NAME, FROM, TO_NAME, TO, HOW)                 \
  STARK_SIM_CONVERT(FROM_NAME, FROM, TO_NAME, TO, rn, HOW)                     \
  STARK_SIM_CONVERT(FROM_NAME, FROM, TO_NAME, TO, rz, HOW)                     \
  STARK_SIM_CONVERT(FROM_NAME, FROM, TO_NAME, TO, rd, HOW)                     \
  STARK_SIM_CONVERT(FROM_NAME, FROM, TO_NAME, TO, ru, HOW)
#define STARK_SIM_CONVERT_BOTH_WAYS(NAME, TYPE)                                \
  STARK_SIM_CONVERT_4(float, float, NAME, TYPE, __stark_sim_to_integer)        \
  STARK_SIM_CONVERT_4(double, double, NAME, TYPE, __stark_sim_to_integer)      \
  STARK_SIM_CONVERT_4(NAME, TYPE, float, float, __stark_sim_to_float)          \
  STARK_SIM_CONVERT_4(NAME, TYPE, double, double, __stark_sim_to_float)

STARK_SIM_CONVERT_BOTH_WAYS(int, int)
STARK_SIM_CONVERT_BOTH_WAYS(uint, unsigned)
STARK_SIM_CONVERT_BOTH_WAYS(ll, long long)
STARK_SIM_CONVERT_BOTH_WAYS(ull, unsigned long long)
STARK_SIM_CONVERT_4(double, double, float, float, __stark_sim_to_float)
#undef STARK_SIM_CONVERT_BOTH_WAYS
#undef STARK_SIM_CONVERT_4
#undef STARK_SIM_CONVERT

#endif
