//===- stark_sim_float16_compare.h - Comparisons of a sixteen-bit format -===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Included once for each format, as stark_sim_float16_arithmetic.h is. The
/// forms that end in u are true where an operand is NaN. On pairs: a pair of 1
/// and 0 (__heq2), a mask (__heq2_mask), or one bool for both (__hbeq2).
///
//===----------------------------------------------------------------------===//

#define STARK_SIM_COMPARE(NAME, EXPRESSION)                                    \
  STARK_SIM_BOTH bool __h##NAME(STARK_SIM_NARROW a, STARK_SIM_NARROW b) {      \
    float x = (float)a, y = (float)b;                                          \
    return EXPRESSION;                                                         \
  }                                                                            \
  STARK_SIM_BOTH STARK_SIM_NARROW_2 __h##NAME##2(STARK_SIM_NARROW_2 a,         \
                                                 STARK_SIM_NARROW_2 b) {       \
    return STARK_SIM_NARROW_2(                                                 \
        STARK_SIM_NARROW(__h##NAME(a.x, b.x) ? 1.0f : 0.0f),                   \
        STARK_SIM_NARROW(__h##NAME(a.y, b.y) ? 1.0f : 0.0f));                  \
  }                                                                            \
  STARK_SIM_BOTH unsigned __h##NAME##2_mask(STARK_SIM_NARROW_2 a,              \
                                            STARK_SIM_NARROW_2 b) {            \
    return (__h##NAME(a.x, b.x) ? 0xffffu : 0u) |                              \
           (__h##NAME(a.y, b.y) ? 0xffff0000u : 0u);                           \
  }                                                                            \
  STARK_SIM_BOTH bool __hb##NAME##2(STARK_SIM_NARROW_2 a,                      \
                                    STARK_SIM_NARROW_2 b) {                    \
    return __h##NAME(a.x, b.x) && __h##NAME(a.y, b.y);                         \
  }
STARK_SIM_COMPARE(eq, x == y)
STARK_SIM_COMPARE(ne, x<y || x> y)
STARK_SIM_COMPARE(lt, x < y)
STARK_SIM_COMPARE(le, x <= y)
STARK_SIM_COMPARE(gt, x > y)
STARK_SIM_COMPARE(ge, x >= y)
STARK_SIM_COMPARE(equ, !(x < y || x > y))
STARK_SIM_COMPARE(neu, x != y)
STARK_SIM_COMPARE(ltu, !(x >= y))
STARK_SIM_COMPARE(leu, !(x > y))
STARK_SIM_COMPARE(gtu, !(x <= y))
STARK_SIM_COMPARE(geu, !(x < y))
#undef STARK_SIM_COMPARE

STARK_SIM_BOTH bool __hisnan(STARK_SIM_NARROW a) {
  return (float)a != (float)a;
}
STARK_SIM_BOTH int __hisinf(STARK_SIM_NARROW a) {
  float x = (float)a;
  return __builtin_isinf(x) ? (x < 0 ? -1 : 1) : 0;
}
STARK_SIM_BOTH STARK_SIM_NARROW_2 __hisnan2(STARK_SIM_NARROW_2 a) {
  return STARK_SIM_NARROW_2(STARK_SIM_NARROW(__hisnan(a.x) ? 1.0f : 0.0f),
                            STARK_SIM_NARROW(__hisnan(a.y) ? 1.0f : 0.0f));
}

#define STARK_SIM_OPERATOR(OPERATOR, OF_ONE, OF_PAIR)                          \
  STARK_SIM_BOTH bool operator OPERATOR(const STARK_SIM_NARROW &a,             \
                                        const STARK_SIM_NARROW &b) {           \
    return OF_ONE(a, b);                                                       \
  }                                                                            \
  STARK_SIM_BOTH bool operator OPERATOR(const STARK_SIM_NARROW_2 &a,           \
                                        const STARK_SIM_NARROW_2 &b) {         \
    return OF_PAIR(a, b);                                                      \
  }
STARK_SIM_OPERATOR(==, __heq, __hbeq2)
STARK_SIM_OPERATOR(!=, __hneu, __hbneu2)
STARK_SIM_OPERATOR(<, __hlt, __hblt2)
STARK_SIM_OPERATOR(<=, __hle, __hble2)
STARK_SIM_OPERATOR(>, __hgt, __hbgt2)
STARK_SIM_OPERATOR(>=, __hge, __hbge2)
#undef STARK_SIM_OPERATOR
