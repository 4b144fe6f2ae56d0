//===- stark_sim_float16_device.h - A format's shuffles, loads and atomics ===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Included once for each format, after stark_sim_float16_arithmetic.h.
///
//===----------------------------------------------------------------------===//

STARK_SIM_SHUFFLE(STARK_SIM_NARROW)
STARK_SIM_SHUFFLE(STARK_SIM_NARROW_2)
STARK_SIM_HINTED(STARK_SIM_NARROW)
STARK_SIM_HINTED(STARK_SIM_NARROW_2)

STARK_SIM_DEVICE STARK_SIM_NARROW atomicAdd(STARK_SIM_NARROW *p,
                                            STARK_SIM_NARROW value) {
  unsigned short old =
      __stark_sim_atomic_loop((unsigned short *)p, [=](unsigned short bits) {
        return __hadd(STARK_SIM_NARROW(STARK_SIM_RAW{bits}), value).__x;
      });
  return STARK_SIM_RAW{old};
}
STARK_SIM_DEVICE STARK_SIM_NARROW_2 atomicAdd(STARK_SIM_NARROW_2 *p,
                                              STARK_SIM_NARROW_2 value) {
  unsigned old = __stark_sim_atomic_loop((unsigned *)p, [=](unsigned bits) {
    return __builtin_bit_cast(
        unsigned, __hadd2(__builtin_bit_cast(STARK_SIM_NARROW_2, bits), value));
  });
  return __builtin_bit_cast(STARK_SIM_NARROW_2, old);
}

// The last that is included for a format: its names end here.
#undef STARK_SIM_NARROW
#undef STARK_SIM_NARROW_2
#undef STARK_SIM_RAW
#undef STARK_SIM_RAW_2
#undef STARK_SIM_NAME
#undef STARK_SIM_ROUND
#undef STARK_SIM_VALUE
#undef STARK_SIM_BITS
