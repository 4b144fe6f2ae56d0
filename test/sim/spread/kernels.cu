// Kernels whose blocks have to do with each other, or have not; RUN says which are launched.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

#define BLOCKS 12
#define THREADS 64
__device__ int mine() { return blockIdx.x * THREADS + threadIdx.x; }
__device__ float kept[BLOCKS];
__constant__ float scale[2];
__device__ int held;

// So much that a call is not repeated more than once.
__global__ void works(float *y) {
  float v = threadIdx.x;
  for (int i = 0; i < 4000; ++i)
    v = v * 0.999f + 1.0f;
  y[threadIdx.x] = v;
}
// A block keeps to itself, and its sum is left for a later launch.
__global__ void apart(const float *x, float *y, int n) {
  __shared__ float part[THREADS];
  part[threadIdx.x] = x[mine() % n] * scale[0];
  __syncthreads();
  for (int s = THREADS / 2; s > 0; s /= 2) {
    if (threadIdx.x < s)
      part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  y[mine()] = part[0] + x[mine() % n] + scale[1];
  if (threadIdx.x == 0)
    kept[blockIdx.x] = part[0];
}
__global__ void after(float *y) { y[mine()] += kept[(blockIdx.x + 5) % BLOCKS]; }
// Atomics whose result nobody uses.
__global__ void adds(const float *x, float *y, int *z, int n) {
  atomicAdd(&z[mine() % 7], 1);
  atomicMax(&z[8], mine() * 37 % 101);
  atomicXor((unsigned *)&z[9], mine() * 40503u);
  atomicAdd(&y[BLOCKS * THREADS + mine() % 3], x[mine() % n]);
  atomicAdd((unsigned long long *)&z[10], 1ull << mine() % 40);
}
// Who comes first gets the first place.
__global__ void draws(const float *x, float *y, int *z, int n) {
  int place = atomicAdd(&z[12], 1);
  y[place] = x[mine() % n];
}
// The last block adds up what all have left.
__global__ void lasts(const float *x, float *y, int *z, int n) {
  if (threadIdx.x == 0) {
    y[blockIdx.x] = x[blockIdx.x % n];
    __threadfence();
    if (atomicAdd(&z[13], 1) == BLOCKS - 1) {
      float sum = 0;
      for (int b = 0; b < BLOCKS; ++b)
        sum += ((volatile float *)y)[b];
      y[BLOCKS * THREADS + 4] = sum;
    }
  }
}
__global__ void locks(float *y) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&held, 0, 1) != 0)
      ;
    y[BLOCKS * THREADS + 5] = y[BLOCKS * THREADS + 5] * 0.5f + blockIdx.x;
    __threadfence();
    atomicExch(&held, 0);
  }
}
// A block waits for the one before it.
__global__ void chains(float *y, volatile int *z) {
  if (threadIdx.x == 0) {
    while (blockIdx.x > 0 && z[16 + blockIdx.x - 1] == 0)
      ;
    z[16 + blockIdx.x] = blockIdx.x == 0 ? 1 : z[16 + blockIdx.x - 1] * 2 % 1009;
  }
}
// Neighbours in one word.
__global__ void bytes(unsigned char *b) {
  for (int i = threadIdx.x; i < 33; i += THREADS)
    b[blockIdx.x * 33 + i] = i;
}
__global__ void asks(float *y) {
  if (threadIdx.x % 16 == 0) {
    float *own = (float *)malloc(8);
    own[0] = mine();
    y[mine()] += own[0];
    free(own);
  }
}
__global__ void prints(float *y) {
  if (threadIdx.x == 0)
    printf("block %d: %f\n", blockIdx.x, y[mine()]);
}
__global__ void looks(float *y) { y[mine()] += (float)(clock64() & 1023); }
// Blocks that are there together.
__global__ void meets(float *y) {
  if (threadIdx.x == 0)
    y[BLOCKS * THREADS + 16 + blockIdx.x] = y[mine()];
  cg::this_grid().sync();
  y[mine()] += y[BLOCKS * THREADS + 16 + (blockIdx.x + 1) % BLOCKS];
}
__global__ void __cluster_dims__(3, 1, 1) clusters(float *y) {
  __shared__ float part;
  cg::cluster_group all = cg::this_cluster();
  if (threadIdx.x == 0)
    part = y[mine()];
  all.sync();
  if (threadIdx.x == 1)
    y[mine()] += *all.map_shared_rank(&part, (all.block_rank() + 1) % 3);
  all.sync();
}
// Lanes that read one which is not there, and do not use what they get.
__global__ void shuffles(float *y) {
  float v = y[mine()];
  if (threadIdx.x % 32 < 16) {
    float other = __shfl_down_sync(0xffff, v, 8, 32);
    v += threadIdx.x % 32 < 8 ? other : 1.0f;
  }
  y[mine()] = v;
}
// Faults in the middle.
__global__ void beyond(const float *x, float *y, int n) {
  y[mine()] = x[blockIdx.x == 7 && threadIdx.x == 5 ? n : mine() % n];
}
__global__ void races(float *y) {
  if (threadIdx.x < 2)
    y[blockIdx.x == 9 ? 3 * THREADS : mine()] = mine() + threadIdx.x;
}
__global__ void unwritten(const float *fresh, float *y) { y[mine()] = blockIdx.x < 8 ? 0.0f : fresh[mine()]; }
__global__ void asserts(float *y) {
  y[mine()] = 1;
  if (blockIdx.x == 10 && threadIdx.x == 33)
    __trap();
}

extern "C" void stark_call(void **args) {
  const float *x = *(const float **)args[0];
  float *y = *(float **)args[1], *fresh = nullptr;
  int *z = *(int **)args[2], n = *(int *)args[3];
  float factors[2] = {0.5f, 3.0f};
  cudaMemcpyToSymbol(scale, factors, sizeof(factors));
  works<<<1, 1024>>>(y);
  apart<<<BLOCKS, THREADS>>>(x, y, n);
  after<<<BLOCKS, THREADS>>>(y);
  cudaMalloc((void **)&fresh, sizeof(float) * BLOCKS * THREADS);
  void *of_y[] = {&y};
  RUN;
  cudaFree(fresh);
}
