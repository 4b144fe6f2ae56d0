//===- stark_sim_atomic.h - Atomic operations ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Relaxed operations of Clang on whatever memory the pointer names, so that
/// the pass sees atomicrmw and cmpxchg. A wider scope is never wrong in the
/// simulator: the forms for a block and for the system are the same ones.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_ATOMIC_H
#define STARK_SIM_ATOMIC_H

/// Swaps in what \p next makes of the value that is there, and returns that. An
/// operation that no instruction has is a loop over cmpxchg.
template <class T, class Next>
STARK_SIM_DEVICE T __stark_sim_atomic_loop(T *p, Next next) {
  T seen = __atomic_load_n(p, __ATOMIC_RELAXED);
  T wanted = next(seen);
  while (!__atomic_compare_exchange_n(p, &seen, wanted, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED))
    wanted = next(seen);
  return seen;
}

#define STARK_SIM_ATOMIC(NAME, TYPE, BUILTIN)                                  \
  STARK_SIM_DEVICE TYPE NAME(TYPE *p, TYPE value) {                            \
    return BUILTIN(p, value, __ATOMIC_RELAXED);                                \
  }                                                                            \
  STARK_SIM_DEVICE TYPE NAME##_block(TYPE *p, TYPE value) {                    \
    return BUILTIN(p, value, __ATOMIC_RELAXED);                                \
  }                                                                            \
  STARK_SIM_DEVICE TYPE NAME##_system(TYPE *p, TYPE value) {                   \
    return BUILTIN(p, value, __ATOMIC_RELAXED);                                \
  }

#define STARK_SIM_ATOMIC_BITS(NAME, BUILTIN)                                   \
  STARK_SIM_ATOMIC(NAME, int, BUILTIN)                                         \
  STARK_SIM_ATOMIC(NAME, unsigned, BUILTIN)                                    \
  STARK_SIM_ATOMIC(NAME, unsigned long long, BUILTIN)
STARK_SIM_ATOMIC_BITS(atomicAdd, __atomic_fetch_add)
STARK_SIM_ATOMIC(atomicAdd, float, __atomic_fetch_add)
STARK_SIM_ATOMIC(atomicAdd, double, __atomic_fetch_add)
STARK_SIM_ATOMIC(atomicSub, int, __atomic_fetch_sub)
STARK_SIM_ATOMIC(atomicSub, unsigned, __atomic_fetch_sub)
STARK_SIM_ATOMIC_BITS(atomicMin, __atomic_fetch_min)
STARK_SIM_ATOMIC(atomicMin, long long, __atomic_fetch_min)
STARK_SIM_ATOMIC_BITS(atomicMax, __atomic_fetch_max)
STARK_SIM_ATOMIC(atomicMax, long long, __atomic_fetch_max)
STARK_SIM_ATOMIC_BITS(atomicAnd, __atomic_fetch_and)
STARK_SIM_ATOMIC_BITS(atomicOr, __atomic_fetch_or)
STARK_SIM_ATOMIC_BITS(atomicXor, __atomic_fetch_xor)
STARK_SIM_ATOMIC_BITS(atomicExch, __atomic_exchange_n)
#undef STARK_SIM_ATOMIC_BITS

STARK_SIM_DEVICE unsigned __stark_sim_atomic_inc(unsigned *p, unsigned limit,
                                                 int) {
  return __stark_sim_atomic_loop(
      p, [=](unsigned old) { return old >= limit ? 0u : old + 1u; });
}
STARK_SIM_DEVICE unsigned __stark_sim_atomic_dec(unsigned *p, unsigned limit,
                                                 int) {
  return __stark_sim_atomic_loop(p, [=](unsigned old) {
    return old == 0 || old > limit ? limit : old - 1u;
  });
}
STARK_SIM_DEVICE float __stark_sim_atomic_swap(float *p, float value, int) {
  unsigned bits = __atomic_exchange_n(
      (unsigned *)p, __builtin_bit_cast(unsigned, value), __ATOMIC_RELAXED);
  return __builtin_bit_cast(float, bits);
}
STARK_SIM_ATOMIC(atomicInc, unsigned, __stark_sim_atomic_inc)
STARK_SIM_ATOMIC(atomicDec, unsigned, __stark_sim_atomic_dec)
STARK_SIM_ATOMIC(atomicExch, float, __stark_sim_atomic_swap)

#define STARK_SIM_CAS(NAME, TYPE)                                              \
  STARK_SIM_DEVICE TYPE NAME(TYPE *p, TYPE expected, TYPE value) {             \
    __atomic_compare_exchange_n(p, &expected, value, false, __ATOMIC_RELAXED,  \
                                __ATOMIC_RELAXED);                             \
    return expected;                                                           \
  }
#define STARK_SIM_CAS_SCOPES(TYPE)                                             \
  STARK_SIM_CAS(atomicCAS, TYPE)                                               \
  STARK_SIM_CAS(atomicCAS_block, TYPE)                                         \
  STARK_SIM_CAS(atomicCAS_system, TYPE)

STARK_SIM_CAS_SCOPES(unsigned short)
STARK_SIM_CAS_SCOPES(int)
STARK_SIM_CAS_SCOPES(unsigned)
STARK_SIM_CAS_SCOPES(unsigned long long)
#undef STARK_SIM_CAS_SCOPES
#undef STARK_SIM_CAS

// A vector is added element by element; each element is atomic by itself.
STARK_SIM_DEVICE float2 atomicAdd(float2 *p, float2 value) {
  return float2{atomicAdd(&p->x, value.x), atomicAdd(&p->y, value.y)};
}
STARK_SIM_DEVICE float4 atomicAdd(float4 *p, float4 value) {
  return float4{atomicAdd(&p->x, value.x), atomicAdd(&p->y, value.y),
                atomicAdd(&p->z, value.z), atomicAdd(&p->w, value.w)};
}

#endif
