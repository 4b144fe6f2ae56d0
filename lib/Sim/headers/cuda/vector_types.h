//===- vector_types.h - char1 to double4, dim3 ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Plain structs x, y, z, w with CUDA's sizes and alignments: two and four
/// elements are aligned as a whole, up to 16 bytes; three as their element.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_VECTOR_TYPES_H
#define STARK_SIM_VECTOR_TYPES_H

#define STARK_SIM_VECTORS(NAME, TYPE, ALIGN1, ALIGN2, ALIGN4)                  \
  struct __attribute__((aligned(ALIGN1))) NAME##1 { TYPE x; };                 \
  struct __attribute__((aligned(ALIGN2))) NAME##2 { TYPE x, y; };              \
  struct __attribute__((aligned(ALIGN1))) NAME##3 { TYPE x, y, z; };           \
  struct __attribute__((aligned(ALIGN4))) NAME##4 { TYPE x, y, z, w; };

STARK_SIM_VECTORS(char, signed char, 1, 2, 4)
STARK_SIM_VECTORS(uchar, unsigned char, 1, 2, 4)
STARK_SIM_VECTORS(short, short, 2, 4, 8)
STARK_SIM_VECTORS(ushort, unsigned short, 2, 4, 8)
STARK_SIM_VECTORS(int, int, 4, 8, 16)
STARK_SIM_VECTORS(uint, unsigned, 4, 8, 16)
STARK_SIM_VECTORS(long, long, 8, 16, 16)
STARK_SIM_VECTORS(ulong, unsigned long, 8, 16, 16)
STARK_SIM_VECTORS(longlong, long long, 8, 16, 16)
STARK_SIM_VECTORS(ulonglong, unsigned long long, 8, 16, 16)
STARK_SIM_VECTORS(float, float, 4, 8, 16)
STARK_SIM_VECTORS(double, double, 8, 16, 16)
#undef STARK_SIM_VECTORS

struct dim3 {
  unsigned x, y, z;
  constexpr __host__ __device__ dim3(unsigned vx = 1, unsigned vy = 1,
                                     unsigned vz = 1)
      : x(vx), y(vy), z(vz) {}
  constexpr __host__ __device__ dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr __host__ __device__ operator uint3() const {
    return uint3{x, y, z};
  }
};

#endif
