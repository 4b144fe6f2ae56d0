#include <ATen/Dispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/relu.h>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
using namespace at;

#define LAUNCH(kernel, n, ...)                                                 \
  kernel<<<min(65535, div_up(n, 256)), 256, 0,                                 \
           at::cuda::getCurrentCUDAStream()>>>(__VA_ARGS__)

__host__ __device__ int div_up(int a, int b) { return (a + b - 1) / b; }

namespace {
struct Silu {
  __device__ float operator()(float x) const { return x / (1.f + expf(-x)); }
};

template <class T, class F>
__global__ void map(const T *__restrict__ x, T *__restrict__ y, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = static_cast<T>(f(static_cast<float>(x[i])));
}
} // namespace

__device__ constexpr float taps[3] = {0.25f, 0.5f, 0.25f};

static __global__ void __launch_bounds__(256)
smooth(const float *x, float *y, int n) {
  extern __shared__ float row[];
  cg::thread_block block = cg::this_thread_block();
  int i = blockIdx.x * 256 + threadIdx.x;
  row[threadIdx.x] = i < n ? x[i] : -INFINITY;
  block.sync();
  if (i < n)
    y[i] = taps[0] * row[max(0, (int)threadIdx.x - 1)] +
           taps[1] * row[threadIdx.x] +
           taps[2] * row[min(255, threadIdx.x + 1)];
}

extern "C" __global__ void scale(float *x, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < div_up(n, 1))
    x[i] *= by;
}

Tensor entry(const Tensor &x) {
  TORCH_CHECK(x.is_cuda(), "x is not on the GPU");
  Tensor y = empty_like(x);
  int n = x.numel();
  AT_DISPATCH_FLOATING_TYPES_AND2(
      kHalf, kBFloat16, x.scalar_type(), "silu", [&] {
        LAUNCH(map, n, x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), n,
               Silu());
      });
  if (x.scalar_type() != kFloat)
    return y;
  C10_CUDA_CHECK(cudaFuncSetAttribute(
      smooth, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024));
  smooth<<<div_up(n, 256), 256, 100 * 1024>>>(y.data_ptr<float>(),
                                              y.data_ptr<float>(), n);
  LAUNCH(scale, n, y.data_ptr<float>(), 2.f, n);
  return relu(y);
}
