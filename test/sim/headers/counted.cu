// What is one instruction of a GPU is one call of a function that says so, and
// the accurate functions are not among them.
// RUN: %sim-device-pass -emit-llvm -O1 %s -o - | FileCheck %s

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// CHECK-DAG: [[SFU:@[^ ]+]] = {{.*}}c"stark_one:sfu\00"
// CHECK-DAG: [[HALF:@[^ ]+]] = {{.*}}c"stark_one:half\00"
// CHECK-DAG: [[CONVERT:@[^ ]+]] = {{.*}}c"stark_one:convert\00"
// CHECK-DAG: [[INT:@[^ ]+]] = {{.*}}c"stark_one:int\00"
// CHECK: @llvm.global.annotations
// CHECK-DAG: ptr @{{[^ ]*}}__stark_sim_unit_ex2{{[^ ]*}}, ptr [[SFU]]
// CHECK-DAG: ptr @{{[^ ]*}}__hfma2{{[^ ]*}}, ptr [[HALF]]
// CHECK-DAG: ptr @{{[^ ]*}}__float2half{{[^ ]*}}, ptr [[CONVERT]]
// CHECK-DAG: ptr @{{[^ ]*}}__byte_perm{{[^ ]*}}, ptr [[INT]]

// CHECK-LABEL: define {{.*}}@fast(
// CHECK: fmul
// CHECK-NEXT: call {{.*}}__stark_sim_unit_ex2
// CHECK-NEXT: store
// CHECK-NEXT: ret
extern "C" __global__ void fast(float x, float *out) { *out = __expf(x); }

// CHECK-LABEL: define {{.*}}@accurate(
// CHECK: call {{.*}}@{{(llvm.exp.f32|expf)}}(
extern "C" __global__ void accurate(float x, float *out) { *out = expf(x); }

// CHECK-LABEL: define {{.*}}@pairs(
// CHECK: call {{.*}}__hfma2
// CHECK-NOT: {{ call }}
// CHECK: ret
extern "C" __global__ void pairs(__half2 *x) { x[0] = __hfma2(x[0], x[1], x[2]); }

// CHECK-LABEL: define {{.*}}@converted(
// CHECK: call {{.*}}__float2half
// CHECK-NOT: {{ call }}
// CHECK: ret
extern "C" __global__ void converted(float x, __half *out) {
  *out = __float2half(x);
}

// CHECK-LABEL: define {{.*}}@bytes(
// CHECK: call {{.*}}__byte_perm
extern "C" __global__ void bytes(unsigned x, unsigned *out) {
  *out = __byte_perm(x, out[1], 0x3210);
}
