// The types of both passes have CUDA's sizes and alignments.
// RUN: %sim-host-pass -fsyntax-only %s
// RUN: %sim-device-pass -fsyntax-only %s

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define LAYOUT(TYPE, SIZE, ALIGN)                                              \
  static_assert(sizeof(TYPE) == SIZE && alignof(TYPE) == ALIGN, #TYPE)

LAYOUT(char1, 1, 1);
LAYOUT(char2, 2, 2);
LAYOUT(uchar3, 3, 1);
LAYOUT(uchar4, 4, 4);
LAYOUT(short2, 4, 4);
LAYOUT(ushort3, 6, 2);
LAYOUT(short4, 8, 8);
LAYOUT(int2, 8, 8);
LAYOUT(int3, 12, 4);
LAYOUT(uint4, 16, 16);
LAYOUT(long2, 16, 16);
LAYOUT(longlong3, 24, 8);
LAYOUT(ulonglong4, 32, 16);
LAYOUT(float2, 8, 8);
LAYOUT(float3, 12, 4);
LAYOUT(float4, 16, 16);
LAYOUT(double2, 16, 16);
LAYOUT(double3, 24, 8);
LAYOUT(double4, 32, 16);
LAYOUT(dim3, 12, 4);
LAYOUT(__half, 2, 2);
LAYOUT(__half2, 4, 4);
LAYOUT(__nv_bfloat16, 2, 2);
LAYOUT(__nv_bfloat162, 4, 4);

constexpr dim3 Three(2, 3);
static_assert(Three.x == 2 && Three.y == 3 && Three.z == 1, "dim3");
static_assert(make_float4(1, 2, 3, 4).w == 4, "make_float4");
#ifdef __CUDA_ARCH__
static_assert(__CUDA_ARCH__ == 900, "architecture");
#endif
