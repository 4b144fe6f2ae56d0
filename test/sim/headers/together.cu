// What threads do together is convergent, and reaches the runtime with the
// arguments that the source gave.
// RUN: %sim-device-pass -emit-llvm -O1 %s -o - | FileCheck %s

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

// CHECK-LABEL: define {{.*}}@barriers(
// CHECK: call void @__stark_sim_barrier(i32 noundef 0, i32 noundef 0)
// CHECK: call {{.*}}@__stark_sim_barrier_reduce(i32 noundef 2, i32 noundef %x)
// CHECK: call {{.*}}@__stark_sim_syncwarp(i32 noundef 255)
// CHECK: call void @__stark_sim_fence(i32 noundef 1)
extern "C" __global__ void barriers(int x, int *out) {
  __syncthreads();
  *out = __syncthreads_or(x);
  __syncwarp(0xff);
  __threadfence();
}

// CHECK-LABEL: define {{.*}}@shuffles(
// CHECK: call i64 @__stark_sim_shuffle(i32 noundef -1, i64 noundef %{{.*}}, i32 noundef 2, i32 noundef 16, i32 noundef 32)
// CHECK: call i64 @__stark_sim_shuffle(i32 noundef 15, i64 noundef %{{.*}}, i32 noundef 3, i32 noundef 1, i32 noundef 4)
// CHECK: call {{.*}}@__stark_sim_vote(i32 noundef -1, i32 noundef 2,
// CHECK: call {{.*}}@__stark_sim_reduce(i32 noundef -1, i32 noundef %{{.*}}, i32 noundef 4)
extern "C" __global__ void shuffles(float f, double d, int i, float *out) {
  out[0] = __shfl_down_sync(0xffffffff, f, 16);
  out[1] = __shfl_xor_sync(0xf, d, 1, 4);
  out[2] = __ballot_sync(0xffffffff, i > 3);
  out[3] = __reduce_max_sync(0xffffffff, i);
}

// CHECK-LABEL: define {{.*}}@groups(
// CHECK: call void @__stark_sim_grid_sync()
// CHECK: call i64 @__stark_sim_shuffle(i32 noundef %{{.*}}, i64 noundef %{{.*}}, i32 noundef 3, i32 noundef 8, i32 noundef 16)
// CHECK: call i64 @__stark_sim_shuffle(i32 noundef %{{.*}}, i64 noundef %{{.*}}, i32 noundef 3, i32 noundef 4, i32 noundef 16)
// CHECK: @__stark_sim_activemask()
extern "C" __global__ void groups(int x, int *out) {
  cg::this_grid().sync();
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  out[0] = cg::reduce(tile, x, cg::plus<int>());
  out[1] = cg::coalesced_threads().size();
}

// CHECK-LABEL: define {{.*}}@places(
// CHECK: call {{.*}}@__stark_sim_sreg(i32 noundef 3)
// CHECK: call {{.*}}@__stark_sim_sreg(i32 noundef 6)
extern "C" __global__ void places(dim3 *out) {
  out[0] = dim3(blockIdx.x, 2, 3);
  out[1] = blockDim;
  uint3 t = threadIdx;
  out[2] = t;
}

// CHECK: declare void @__stark_sim_barrier(i32 noundef, i32 noundef) {{.*}}#[[BARRIER:[0-9]+]]
// CHECK: attributes #[[BARRIER]] = { convergent
