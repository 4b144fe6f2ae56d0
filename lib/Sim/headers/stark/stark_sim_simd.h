//===- stark_sim_simd.h - Two halves or four bytes of a word at once -----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   __vadd4 and its kin: one lane function, over the lanes of a word. A
/// comparison fills a lane with ones (__vcmp) or sets its lowest bit (__vset).
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_SIMD_H
#define STARK_SIM_SIMD_H

template <class Lane, class Function>
STARK_SIM_DEVICE unsigned __stark_sim_lanes(unsigned a, unsigned b,
                                            Function function) {
  constexpr int Bits = 8 * sizeof(Lane);
  unsigned result = 0;
  for (int i = 0; i < 32; i += Bits)
    result |= ((unsigned)function((int)(Lane)(a >> i), (int)(Lane)(b >> i)) &
               ((1u << Bits) - 1))
              << i;
  return result;
}
/// \p value, or the nearer end of what a Lane holds.
template <class Lane> STARK_SIM_DEVICE int __stark_sim_lane_clamp(int value) {
  constexpr int Bits = 8 * sizeof(Lane);
  constexpr bool Signed = (Lane)-1 < (Lane)0;
  constexpr int Low = Signed ? -(1 << (Bits - 1)) : 0;
  constexpr int High = Signed ? (1 << (Bits - 1)) - 1 : (1 << Bits) - 1;
  return value < Low ? Low : value > High ? High : value;
}

#define STARK_SIM_LANES(NAME, LANE, EXPRESSION)                                \
  STARK_SIM_DEVICE unsigned NAME(unsigned a, unsigned b) {                     \
    typedef LANE Lane;                                                         \
    return __stark_sim_lanes<Lane>(a, b,                                       \
                                   [](int x, int y) { return EXPRESSION; });   \
  }
#define STARK_SIM_LANES_1(NAME, LANE, EXPRESSION)                              \
  STARK_SIM_DEVICE unsigned NAME(unsigned a) {                                 \
    typedef LANE Lane;                                                         \
    return __stark_sim_lanes<Lane>(a, a,                                       \
                                   [](int x, int) { return EXPRESSION; });     \
  }
#define STARK_SIM_COMPARE(NAME, SUFFIX, LANE, OPERATOR)                        \
  STARK_SIM_LANES(__vcmp##NAME##SUFFIX, LANE, x OPERATOR y ? -1 : 0)           \
  STARK_SIM_LANES(__vset##NAME##SUFFIX, LANE, x OPERATOR y ? 1 : 0)

#define STARK_SIM_SIMD(N, S, U)                                                \
  STARK_SIM_LANES(__vadd##N, U, x + y)                                         \
  STARK_SIM_LANES(__vsub##N, U, x - y)                                         \
  STARK_SIM_LANES(__vaddss##N, S, __stark_sim_lane_clamp<Lane>(x + y))         \
  STARK_SIM_LANES(__vsubss##N, S, __stark_sim_lane_clamp<Lane>(x - y))         \
  STARK_SIM_LANES(__vaddus##N, U, __stark_sim_lane_clamp<Lane>(x + y))         \
  STARK_SIM_LANES(__vsubus##N, U, __stark_sim_lane_clamp<Lane>(x - y))         \
  STARK_SIM_LANES(__vmaxs##N, S, x > y ? x : y)                                \
  STARK_SIM_LANES(__vmaxu##N, U, x > y ? x : y)                                \
  STARK_SIM_LANES(__vmins##N, S, x < y ? x : y)                                \
  STARK_SIM_LANES(__vminu##N, U, x < y ? x : y)                                \
  STARK_SIM_LANES(__vavgs##N, S, (x + y + (x + y >= 0)) >> 1)                  \
  STARK_SIM_LANES(__vavgu##N, U, (x + y + 1) >> 1)                             \
  STARK_SIM_LANES(__vhaddu##N, U, (x + y) >> 1)                                \
  STARK_SIM_LANES(__vabsdiffs##N, S, x > y ? x - y : y - x)                    \
  STARK_SIM_LANES(__vabsdiffu##N, U, x > y ? x - y : y - x)                    \
  STARK_SIM_LANES_1(__vabs##N, S, x < 0 ? -x : x)                              \
  STARK_SIM_LANES_1(__vabsss##N, S,                                            \
                    __stark_sim_lane_clamp<Lane>(x < 0 ? -x : x))              \
  STARK_SIM_LANES_1(__vneg##N, S, -x)                                          \
  STARK_SIM_LANES_1(__vnegss##N, S, __stark_sim_lane_clamp<Lane>(-x))          \
  STARK_SIM_COMPARE(eq, N, U, ==)                                              \
  STARK_SIM_COMPARE(ne, N, U, !=)                                              \
  STARK_SIM_COMPARE(gts, N, S, >)                                              \
  STARK_SIM_COMPARE(gtu, N, U, >)                                              \
  STARK_SIM_COMPARE(ges, N, S, >=)                                             \
  STARK_SIM_COMPARE(geu, N, U, >=)                                             \
  STARK_SIM_COMPARE(lts, N, S, <)                                              \
  STARK_SIM_COMPARE(ltu, N, U, <)                                              \
  STARK_SIM_COMPARE(les, N, S, <=)                                             \
  STARK_SIM_COMPARE(leu, N, U, <=)                                             \
  STARK_SIM_DEVICE unsigned __vsads##N(unsigned a, unsigned b) {               \
    return __stark_sim_dot<U, U, 32 / (8 * sizeof(U))>(                        \
        __vabsdiffs##N(a, b), N == 2 ? 0x00010001u : 0x01010101u, 0u);         \
  }                                                                            \
  STARK_SIM_DEVICE unsigned __vsadu##N(unsigned a, unsigned b) {               \
    return __stark_sim_dot<U, U, 32 / (8 * sizeof(U))>(                        \
        __vabsdiffu##N(a, b), N == 2 ? 0x00010001u : 0x01010101u, 0u);         \
  }

STARK_SIM_SIMD(2, short, unsigned short)
STARK_SIM_SIMD(4, signed char, unsigned char)
#undef STARK_SIM_SIMD
#undef STARK_SIM_COMPARE
#undef STARK_SIM_LANES_1
#undef STARK_SIM_LANES

#endif
