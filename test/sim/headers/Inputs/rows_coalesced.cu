// Each element is added by whoever of a warp is there, one atomic addition for
// those of a row together; the counters are a device variable.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__device__ unsigned Done;

__global__ void rows_kernel(const float *x, float *y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols)
    return;
  cg::coalesced_group here = cg::coalesced_threads();
  auto of_row = cg::labeled_partition(here, i / cols);
  float sum = cg::reduce(of_row, x[i], cg::plus<float>());
  if (of_row.thread_rank() == 0)
    atomicAdd(y + i / cols, sum);
  if (here.thread_rank() == 0)
    atomicInc(&Done, 1000000);
}

void rows(const float *x, float *y, int rows, int cols, cudaStream_t stream) {
  cudaMemsetAsync(y, 0, rows * sizeof(float), stream);
  rows_kernel<<<(rows * cols + 95) / 96, 96, 0, stream>>>(x, y, rows, cols);
}
