// What nvcc takes is read without an error, though Clang alone refuses it.
// REQUIRES: cuda-toolkit
// RUN: %stark-tool sites %s --json -- -rdc=true | FileCheck %s --check-prefix=CLEAN
// CLEAN: "errors": []
// RUN: %stark-tool sites %s -- -rdc=true | FileCheck %s
#ifndef __NVCC__
#error nvcc says who it is
#endif
#include <cooperative_groups.h>
#include <cuda/barrier>

namespace cg = cooperative_groups;
constexpr int Archs[] = {__CUDA_ARCH_LIST__};

__global__ void mixed(float *x, double d, int m, unsigned u, long l) {
  x[0] = min(u, m) + max(l, 3ul) + min(x[1], d) + max(d, x[2]) + min(m, 4);
  if (isfinite(x[0]) && ::isfinite(d) && !isfinite(x[2]))
    x[0] = __tanhf(x[1]);
}

// A user's own template of two types is meant where there is one.
template <class A, class B> __device__ float min(A a, B b) { return 1; }
__device__ float own(int a, double b) { return min(a, b); }

bool host(float a, double b, int n, unsigned long m) {
  return isfinite(a) && isnan(b) && isinf(a) && max(a, b) < max(n, 2u);
}

__global__ void ordered(int *x, cudaSurfaceObject_t s) {
  __nv_atomic_add(x, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  x[1] = __nv_atomic_load_n(x, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM);
  __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
  surf2DLayeredwrite(1.0f, s, 1, 2, 3);
}

dim3 narrowing(size_t n) {
  const dim3 grid{n, n};
  return grid;
}

__global__ void shared(int *x) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ alignas(128) char buffer[128];
  if (threadIdx.x == 0)
    init(&bar, blockDim.x);
  cg::this_cluster().sync();
  register int first = buffer[0];
  x[0] = first;
}

template <int N> __global__ void child(int *x) { x[0] = N; }

__global__ void parent(int *x) {
  child<3><<<1, 32>>>(x);
  x[1] = 2;
}

// CHECK: launch: host
void launch(int *x, cudaStream_t s) {
  // CHECK: launch:launch1: launch of shared, line [[#@LINE+1]], grid 4, block (16, 16, 1)
  shared<<<4, {16, 16, 1}, 0, s>>>(x);
  // CHECK: launch:launch2: launch of child<4>, line [[#@LINE+1]], grid 1, block 32
  child<4><< <1, 32>> >(x);
}
