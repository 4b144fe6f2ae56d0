// What forms.cu includes: inline PTX in a header of the user's, and in a macro.
#pragma once

#define STARK_TEST_LOAD(INTO, FROM) asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(INTO) : "l"(FROM))

__device__ __forceinline__ float load_once(const float *p) {
  float v;
  STARK_TEST_LOAD(v, p);
  return v;
}

__device__ __forceinline__ float4 load_quad(const float4 *p) {
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(p));
  return v;
}

__device__ __forceinline__ unsigned shared_address(const void *p) {
  unsigned a;
  asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(a) : "l"(p));
  return a;
}
