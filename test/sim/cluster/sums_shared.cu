// A cluster of four blocks a row. Each sums its quarter; what the others have it
// reads in their shared memory.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

#ifndef BEFORE // what orders writes and reads
#define BEFORE cluster.sync()
#endif
#ifndef AFTER // what keeps a block there until others have read
#define AFTER cluster.sync()
#endif
#ifndef RANK
#define RANK(other) other
#endif
#ifndef CLUSTER
#define CLUSTER 4
#endif
#ifndef THREADS
#define THREADS 128
#endif

__global__ void sums_kernel(const float *x, float *y, int d) {
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float all[THREADS];
  __shared__ float part;
  int first = cluster.block_rank() * (d / 4), row = blockIdx.x / 4;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < d / 4; i += blockDim.x)
    sum += x[(size_t)row * d + first + i];
  all[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    part = 0.0f;
    for (int other = 0; other < THREADS; ++other)
      part += all[other];
  }
  BEFORE;
  sum = 0.0f;
  for (int other = 0; other < 4; ++other)
    sum += *cluster.map_shared_rank(&part, RANK(other));
  AFTER;
  for (int i = threadIdx.x; i < d / 4; i += blockDim.x)
    y[(size_t)row * d + first + i] = sum * x[(size_t)row * d + first + i];
}

void sums(const float *x, float *y, int rows, int d, cudaStream_t stream) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = CLUSTER;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(rows * 4);
  config.blockDim = dim3(THREADS);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, sums_kernel, x, y, d);
}
