// Atomic operations are instructions that the pass can see, relaxed, and none is
// a call into a library.
// RUN: %sim-device-pass -emit-llvm -O1 %s -o %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: not grep __atomic_ %t.ll

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// CHECK-LABEL: @numbers(
// CHECK: atomicrmw add ptr %i, i32 1 monotonic
// CHECK: atomicrmw fadd ptr %f, float 1.000000e+00 monotonic
// CHECK: atomicrmw fadd ptr %d, double 1.000000e+00 monotonic
// CHECK: atomicrmw sub ptr %i, i32 2 monotonic
// CHECK: atomicrmw min ptr %i, i32 3 monotonic
// CHECK: atomicrmw umax ptr %u, i32 4 monotonic
// CHECK: atomicrmw and ptr %u, i32 5 monotonic
// CHECK: atomicrmw xchg ptr %f, i32
// CHECK: cmpxchg ptr %u
// CHECK: cmpxchg ptr %l, i64 1, i64 2 monotonic monotonic
extern "C" __global__ void numbers(int *i, unsigned *u, unsigned long long *l,
                                   float *f, double *d) {
  atomicAdd(i, 1);
  atomicAdd(f, 1.0f);
  atomicAdd_block(d, 1.0);
  atomicSub(i, 2);
  atomicMin(i, 3);
  atomicMax_system(u, 4u);
  atomicAnd(u, 5u);
  atomicExch(f, 6.0f);
  atomicInc(u, 7u);
  atomicCAS(l, 1ull, 2ull);
}

// CHECK-LABEL: @narrow(
// CHECK: cmpxchg ptr %h, i16
// CHECK: cmpxchg ptr %b, i32
// CHECK-COUNT-4: atomicrmw fadd ptr
extern "C" __global__ void narrow(__half *h, __nv_bfloat162 *b, float4 *f) {
  atomicAdd(h, __half(1.0f));
  atomicAdd(b, b[1]);
  atomicAdd(f, f[1]);
}
