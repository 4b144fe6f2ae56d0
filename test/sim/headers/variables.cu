// A variable's kind can be read in the device module: shared and constant ones
// are annotated, dynamic shared memory is external, device and constant ones are
// externally initialized; the host's module keeps a shadow of what it may name.
// RUN: %sim-device-pass -emit-llvm -O0 %s -o - | FileCheck %s
// RUN: %sim-host-pass -emit-llvm -O0 %s -o - | FileCheck %s --check-prefix=HOST

// CHECK-DAG: @plain = externally_initialized global [4 x float] zeroinitializer, align 16
// CHECK-DAG: @_ZL5fixed = internal constant [2 x float]
// CHECK-DAG: @counter = externally_initialized global i32 5
// CHECK-DAG: @both = externally_initialized global i32 3
// CHECK-DAG: @whole = external global [0 x float]
// CHECK-DAG: @_ZZ6kernelvE6inside = internal global [32 x float] undef
// CHECK-DAG: @_ZZ9templatedIdEvPT_E4tile = linkonce_odr global [8 x double] undef
// CHECK-DAG: @_ZZ9templatedIdEvPT_E6halves = linkonce_odr global [4 x %struct.__half] undef
// CHECK-DAG: [[SHARED:@[^ ]+]] = {{.*}}c"stark_shared\00"
// CHECK-DAG: [[CONSTANT:@[^ ]+]] = {{.*}}c"stark_constant\00"
// CHECK-DAG: [[MANAGED:@[^ ]+]] = {{.*}}c"stark_managed\00"
// CHECK: @llvm.global.annotations = {{.*}}ptr @plain, ptr [[CONSTANT]]{{.*}}ptr @both, ptr [[MANAGED]]{{.*}}ptr @_ZZ6kernelvE6inside, ptr [[SHARED]]{{.*}}ptr @_ZZ9templatedIdEvPT_E4tile, ptr [[SHARED]]

// HOST-DAG: @plain = internal global [4 x float] undef
// HOST-DAG: @counter = internal global i32 undef

#include <cuda_fp16.h>

__constant__ float plain[4];
__constant__ const float fixed[2] = {1, 2};
__device__ int counter = 5;
__device__ __managed__ int both = 3;
extern __shared__ float whole[];

__global__ void __launch_bounds__(128, 2) kernel() {
  __shared__ float inside[32];
  inside[threadIdx.x] = plain[0] + fixed[threadIdx.x] + counter + both;
  whole[threadIdx.x] = inside[0];
}
template <class T> __global__ void templated(T *out) {
  __shared__ T tile[8];
  __shared__ half halves[4];
  static __shared__ int word;
  extern __shared__ __align__(16) T dynamic[];
  tile[threadIdx.x] = out[0];
  halves[threadIdx.x] = __float2half(1.0f);
  word = 1;
  out[1] = tile[0] + (T)__half2float(halves[0]) + word + dynamic[1];
}
template __global__ void templated<double>(double *);
float *host_sees() { return (counter = 1, plain); }
