// A kernel that is a template is looked at as each of its instances in the
// file, and changed where the change is the same for all.
// RUN: %stark-tool rewrites %s | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --apply block-reduce@reduce:loop1 -o %t.cu && FileCheck %s < %t.cu
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}

// LIST-DAG: {{^}}block-reduce@reduce:loop1: line
// CHECK: {{^[^/]*}}template <typename T, int Width>
// CHECK: {{^[^/]*}}block_reduce_sum_float(partial, x[threadIdx.x]);
template <typename T, int Width>
__global__ void reduce(const T *x, T *y) {
  __shared__ T partial[Width];
  partial[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int s = Width / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s)
      partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  y[blockIdx.x] = partial[0];
}

// Another function would be called for the other type.
// LIST-DAG: not block-reduce@types:loop1: {{.*}} the instances of the template would not change alike
template <typename T> __global__ void types(const T *x, T *y) {
  __shared__ T partial[256];
  partial[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s)
      partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  y[blockIdx.x] = partial[0];
}
// A change without a type's name is the same for both.
// LIST-DAG: {{^}}warp-tail@types:loop1: line

// LIST-DAG: not block-reduce@widths:loop1: {{.*}} the tree begins at 64, not at half of the block's 256 threads
template <int Width> __global__ void widths(const float *x, float *y) {
  __shared__ float partial[256];
  partial[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int s = Width / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s)
      partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  y[blockIdx.x] = partial[0];
}

// LIST-DAG: not {{.*}}@nowhere{{.*}} it is a template, whose types are not known
template <typename T> __global__ void nowhere(const T *x, T *y) {
  for (int i = threadIdx.x; i < 1000; i += blockDim.x)
    y[i] = x[i];
}

void launch(const float *x, float *y, const double *u, double *v) {
  reduce<float, 256><<<100, 256>>>(x, y);
  types<float><<<100, 256>>>(x, y);
  types<double><<<100, 256>>>(u, v);
  widths<256><<<100, 256>>>(x, y);
  widths<128><<<100, 256>>>(x, y);
}
