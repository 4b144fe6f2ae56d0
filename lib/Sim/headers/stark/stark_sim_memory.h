//===- stark_sim_memory.h - Loads and stores with hints, address spaces, the
// heap ===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A cache hint changes no result, so a load with one is a load. The device's
/// heap and assert are the runtime's.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_MEMORY_H
#define STARK_SIM_MEMORY_H

#define STARK_SIM_HINTED(TYPE)                                                 \
  STARK_SIM_DEVICE TYPE __ldg(const TYPE *p) { return *p; }                    \
  STARK_SIM_DEVICE TYPE __ldca(const TYPE *p) { return *p; }                   \
  STARK_SIM_DEVICE TYPE __ldcg(const TYPE *p) { return *p; }                   \
  STARK_SIM_DEVICE TYPE __ldcs(const TYPE *p) { return *p; }                   \
  STARK_SIM_DEVICE TYPE __ldlu(const TYPE *p) { return *p; }                   \
  STARK_SIM_DEVICE TYPE __ldcv(const TYPE *p) {                                \
    TYPE value;                                                                \
    __builtin_memcpy(&value, p, sizeof(TYPE));                                 \
    return value;                                                              \
  }                                                                            \
  STARK_SIM_DEVICE void __stcg(TYPE *p, TYPE value) { *p = value; }            \
  STARK_SIM_DEVICE void __stcs(TYPE *p, TYPE value) { *p = value; }            \
  STARK_SIM_DEVICE void __stwb(TYPE *p, TYPE value) { *p = value; }            \
  STARK_SIM_DEVICE void __stwt(TYPE *p, TYPE value) { *p = value; }

STARK_SIM_HINTED(char)
STARK_SIM_HINTED(signed char)
STARK_SIM_HINTED(unsigned char)
STARK_SIM_HINTED(short)
STARK_SIM_HINTED(unsigned short)
STARK_SIM_HINTED(int)
STARK_SIM_HINTED(unsigned)
STARK_SIM_HINTED(long)
STARK_SIM_HINTED(unsigned long)
STARK_SIM_HINTED(long long)
STARK_SIM_HINTED(unsigned long long)
STARK_SIM_HINTED(float)
STARK_SIM_HINTED(double)
STARK_SIM_HINTED(char2)
STARK_SIM_HINTED(char4)
STARK_SIM_HINTED(uchar2)
STARK_SIM_HINTED(uchar4)
STARK_SIM_HINTED(short2)
STARK_SIM_HINTED(short4)
STARK_SIM_HINTED(ushort2)
STARK_SIM_HINTED(ushort4)
STARK_SIM_HINTED(int2)
STARK_SIM_HINTED(int4)
STARK_SIM_HINTED(uint2)
STARK_SIM_HINTED(uint4)
STARK_SIM_HINTED(longlong2)
STARK_SIM_HINTED(ulonglong2)
STARK_SIM_HINTED(float2)
STARK_SIM_HINTED(float4)
STARK_SIM_HINTED(double2)

// An address of another space is the address itself, which only a conversion
// back or inline PTX can use.
#define STARK_SIM_SPACE(NAME)                                                  \
  STARK_SIM_DEVICE size_t __cvta_generic_to_##NAME(const void *p) {            \
    return (size_t)p;                                                          \
  }                                                                            \
  STARK_SIM_DEVICE void *__cvta_##NAME##_to_generic(size_t address) {          \
    return (void *)address;                                                    \
  }
// Shared addresses begin at 0, so that 32 bits hold them; those of another
// block of the cluster may be negative.
extern "C" __device__ char *__stark_sim_shared;
STARK_SIM_DEVICE size_t __cvta_generic_to_shared(const void *p) {
  return (size_t)((const char *)p - __stark_sim_shared);
}
STARK_SIM_DEVICE void *__cvta_shared_to_generic(size_t address) {
  return __stark_sim_shared + (int)address;
}
STARK_SIM_SPACE(global)
STARK_SIM_SPACE(local)
STARK_SIM_SPACE(constant)
#undef STARK_SIM_SPACE
#define STARK_SIM_IN_SPACE(NAME)                                               \
  STARK_SIM_DEVICE unsigned NAME(const void *) {                               \
    __stark_sim_unsupported(#NAME);                                            \
    return 0;                                                                  \
  }
STARK_SIM_IN_SPACE(__isShared)
STARK_SIM_IN_SPACE(__isGlobal)
STARK_SIM_IN_SPACE(__isLocal)
STARK_SIM_IN_SPACE(__isConstant)
#undef STARK_SIM_IN_SPACE

STARK_SIM_DEVICE void *malloc(size_t bytes) {
  return __stark_sim_malloc(bytes);
}
STARK_SIM_DEVICE void free(void *pointer) { __stark_sim_free(pointer); }
__device__ __inline__ void *operator new(size_t bytes) {
  return __stark_sim_malloc(bytes);
}
__device__ __inline__ void *operator new[](size_t bytes) {
  return __stark_sim_malloc(bytes);
}
__device__ __inline__ void operator delete(void *pointer) noexcept {
  __stark_sim_free(pointer);
}
__device__ __inline__ void operator delete[](void *pointer) noexcept {
  __stark_sim_free(pointer);
}
__device__ __inline__ void operator delete(void *pointer, size_t) noexcept {
  __stark_sim_free(pointer);
}
__device__ __inline__ void operator delete[](void *pointer, size_t) noexcept {
  __stark_sim_free(pointer);
}
__device__ __inline__ void *operator new(size_t, void *place) noexcept {
  return place;
}
__device__ __inline__ void *operator new[](size_t, void *place) noexcept {
  return place;
}
__device__ __inline__ void operator delete(void *, void *) noexcept {}
__device__ __inline__ void operator delete[](void *, void *) noexcept {}

// What the assert() of glibc calls.
STARK_SIM_DEVICE void __assert_fail(const char *message, const char *file,
                                    unsigned line, const char *function) {
  __stark_sim_assert(message, file, line, function);
}

#endif
