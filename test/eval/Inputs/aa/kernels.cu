// Kernels of many kinds, from 2 us to 5 ms on a large GPU, in one library:
// utils/gpu-aa times it against itself, and against one that is built with
// SLOWER=1, where those that can be do 2 % more.
#include <cstdint>
#include <cuda_runtime.h>

#ifndef SLOWER
#define SLOWER 0
#endif

struct Argument {
  void *Data;
  const int64_t *Shape;
  int64_t Rank;
};

static __device__ long first_index() {
  return (long)blockIdx.x * blockDim.x + threadIdx.x;
}
static __device__ uint32_t mix(uint32_t v) {
  v ^= v >> 16;
  v *= 0x7feb352du;
  v ^= v >> 15;
  v *= 0x846ca68bu;
  return v ^ v >> 16;
}
static __device__ float of_block(float v, bool largest) {
  __shared__ float part[32];
  for (int o = 16; o; o /= 2) {
    float other = __shfl_xor_sync(~0u, v, o);
    v = largest ? fmaxf(v, other) : v + other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = v;
  __syncthreads();
  float all = part[0];
  for (int i = 1; i < (int)blockDim.x / 32; ++i)
    all = largest ? fmaxf(all, part[i]) : all + part[i];
  return all;
}

// zero is 0, which the compiler cannot know: what is multiplied by it is read.
static __global__ void copy(const float *x, const float *w, float *y, long n,
                            long extra, float zero) {
  long i = first_index();
  if (i >= n)
    return;
  float v = 2.0f * x[i] + 1.0f;
  if (SLOWER && i < extra)
    v += zero * w[i];
  y[i] = v;
}
static __global__ void triad(const float *x, const float *w, float *y, long n,
                             long extra, float zero) {
  long i = first_index();
  if (i >= n)
    return;
  float v = x[i] + 3.0f * w[i];
  if (SLOWER && i < extra)
    v += zero * w[n + i];
  y[i] = v;
}
static __global__ void softmax(const float *x, float *y, long rows, long cols) {
  long r = blockIdx.x % rows;
  const float *a = x + r * cols;
  float most = -1e30f, sum = 0;
  for (long i = threadIdx.x; i < cols; i += blockDim.x)
    most = fmaxf(most, a[i]);
  most = of_block(most, true);
  for (long i = threadIdx.x; i < cols; i += blockDim.x)
    sum += __expf(a[i] - most);
  sum = of_block(sum, false);
  for (long i = threadIdx.x; i < cols; i += blockDim.x)
    y[r * cols + i] = __expf(a[i] - most) / sum;
}
static __global__ void layernorm(const float *x, const float *w, float *y,
                                 long rows, long cols) {
  long r = blockIdx.x % rows;
  const float *a = x + r * cols;
  float mean = 0, square = 0;
  for (long i = threadIdx.x; i < cols; i += blockDim.x)
    mean += a[i];
  mean = of_block(mean, false) / cols;
  for (long i = threadIdx.x; i < cols; i += blockDim.x)
    square += (a[i] - mean) * (a[i] - mean);
  float scale = rsqrtf(of_block(square, false) / cols + 1e-5f);
  for (long i = threadIdx.x; i < cols; i += blockDim.x)
    y[r * cols + i] = (a[i] - mean) * scale * w[i];
}
static __global__ void row_sums(const float *x, float *y, long rows,
                                long cols) {
  long r = first_index() / 32;
  if (r >= rows)
    return;
  float sum = 0;
  for (long i = threadIdx.x % 32; i < cols; i += 32)
    sum += x[r * cols + i];
  for (int o = 16; o; o /= 2)
    sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0)
    y[r] = sum;
}
static __global__ void column_sums(const float *x, float *y, long rows,
                                   long cols) {
  long c = first_index();
  if (c >= cols)
    return;
  float sum = 0;
  for (long r = 0; r < rows; ++r)
    sum += x[r * cols + c];
  y[c] = sum;
}
static __global__ void stencil(const float *x, float *y, long rows, long cols) {
  long c = (long)blockIdx.x * 32 + threadIdx.x;
  long r = (long)blockIdx.y * 8 + threadIdx.y;
  if (r >= rows)
    r -= rows;
  if (r >= rows || c >= cols)
    return;
  long up = r ? r - 1 : 0, down = r + 1 < rows ? r + 1 : r;
  long left = c ? c - 1 : 0, right = c + 1 < cols ? c + 1 : c;
  y[r * cols + c] = 0.5f * x[r * cols + c] +
                    0.125f * (x[up * cols + c] + x[down * cols + c] +
                              x[r * cols + left] + x[r * cols + right]);
}
static __global__ void transpose(const float *x, float *y, long n) {
  __shared__ float tile[32][33];
  long c = (long)blockIdx.x * 32 + threadIdx.x;
  long r = (long)blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    tile[threadIdx.y + i][threadIdx.x] = x[(r + i) * n + c];
  __syncthreads();
  c = (long)blockIdx.y * 32 + threadIdx.x;
  r = (long)blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    y[(r + i) * n + c] = tile[threadIdx.x][threadIdx.y + i];
}
static __global__ void matmul(const float *x, const float *w, float *y, long n,
                              long k, long tiles, float zero) {
  __shared__ float a[16][17], b[16][17];
  long r = (long)blockIdx.y * 16 + threadIdx.y;
  long c = (long)blockIdx.x * 16 + threadIdx.x;
  float sum = 0, extra = 0;
  for (long t = 0; t < tiles; ++t) {
    long k0 = t * 16 < k ? t * 16 : 0;
    a[threadIdx.y][threadIdx.x] = x[r * k + k0 + threadIdx.x];
    b[threadIdx.y][threadIdx.x] = w[(k0 + threadIdx.y) * n + c];
    __syncthreads();
    float part = 0;
    for (int i = 0; i < 16; ++i)
      part += a[threadIdx.y][i] * b[i][threadIdx.x];
    (t * 16 < k ? sum : extra) += part;
    __syncthreads();
  }
  y[r * n + c] = sum + zero * extra;
}
static __global__ void gather(const float *x, float *y, long n) {
  long i = first_index();
  if (i < n)
    y[i] = x[mix((uint32_t)i) % (uint32_t)n];
}
static __global__ void histogram(const float *x, float *y, long n, long bins) {
  long i = first_index();
  if (i < n)
    atomicAdd(y + mix(__float_as_uint(x[i])) % (uint32_t)bins, 1.0f);
}
static __global__ void compute(const float *x, float *y, long n, long steps,
                               float one) {
  long i = first_index();
  if (i >= n)
    return;
  float v = x[i];
  for (long s = 0; s < steps; ++s)
    v = v * one + 0.0f;
  y[i] = v + x[i];
}
/// As long as its first input says.
static __global__ void by_data(const float *x, float *y, long n, long steps,
                               float one) {
  long i = first_index();
  if (i >= n)
    return;
  float v = x[i];
  long mine = (long)(steps * (1.0f + fabsf(x[0])));
  for (long s = 0; s < mine; ++s)
    v = v * one + 0.0f;
  y[i] = v;
}
static __global__ void step(const float *x, float *y, long n) {
  long i = first_index();
  if (i < n)
    y[i] = x[i] * 0.5f + 1.0f;
}
/// Each address follows from what was read before.
static __global__ void latency(const float *x, float *y, long n, long steps) {
  uint32_t at = threadIdx.x * 977u;
  float sum = 0;
  for (long s = 0; s < steps; ++s) {
    float v = x[at % (uint32_t)n];
    sum += v > 0;
    at = at * 1664525u + 1013904223u + (v > 0 ? 1 : 2);
  }
  y[threadIdx.x] = sum > -1 ? x[threadIdx.x] : sum;
}
static __global__ void reduce(const float *x, float *y, long n) {
  float sum = 0;
  for (long i = first_index(); i < n; i += (long)gridDim.x * blockDim.x)
    sum += x[i] * x[i];
  sum = of_block(sum, false);
  if (threadIdx.x == 0)
    y[1 + blockIdx.x] = sum;
}
static __global__ void reduce_parts(float *y, int parts) {
  float sum = 0;
  for (int i = threadIdx.x; i < parts; i += blockDim.x)
    sum += y[1 + i];
  sum = of_block(sum, false);
  if (threadIdx.x == 0)
    y[0] = sum;
}

static unsigned blocks(long n) { return (unsigned)((n + 255) / 256); }
static dim3 grid(long columns, long rows) {
  return dim3((unsigned)columns, (unsigned)rows);
}
/// 2 % more, where it is to be slower.
static long more(long n) { return n + SLOWER * n / 50; }

extern "C" int stark_last_error() { return (int)cudaGetLastError(); }

// The numbers of the kinds are those of utils/gpu-aa.
extern "C" void stark_call(void **p) {
  const float *x = (const float *)((Argument *)p[0])->Data;
  const float *w = (const float *)((Argument *)p[1])->Data;
  float *y = (float *)((Argument *)p[2])->Data;
  long kind = *(long long *)p[3], a = *(long long *)p[4];
  long b = *(long long *)p[5], c = *(long long *)p[6];
  cudaStream_t s = *(cudaStream_t *)p[7];
  unsigned parts = blocks(a) < 1024 ? blocks(a) : 1024;
  switch (kind) {
  case 0:
    copy<<<blocks(a), 256, 0, s>>>(x, w, y, a, a / 25, 0.0f);
    break;
  case 1:
    triad<<<blocks(a), 256, 0, s>>>(x, w, y, a, a * 3 / 50, 0.0f);
    break;
  case 2:
    softmax<<<(unsigned)more(a), 256, 0, s>>>(x, y, a, b);
    break;
  case 3:
    row_sums<<<blocks(a * 32), 256, 0, s>>>(x, y, a, b);
    break;
  case 4:
    stencil<<<grid((b + 31) / 32, (more(a) + 7) / 8), dim3(32, 8), 0, s>>>(
        x, y, a, b);
    break;
  case 5:
    transpose<<<grid(a / 32, a / 32), dim3(32, 8), 0, s>>>(x, y, a);
    break;
  case 6:
    matmul<<<grid(b / 16, a / 16), dim3(16, 16), 0, s>>>(x, w, y, b, c,
                                                         more(c / 16), 0.0f);
    break;
  case 7:
    gather<<<blocks(a), 256, 0, s>>>(x, y, a);
    break;
  case 8:
    cudaMemsetAsync(y, 0, (size_t)b * 4, s);
    histogram<<<blocks(a), 256, 0, s>>>(x, y, a, b);
    break;
  case 9:
    compute<<<blocks(a), 256, 0, s>>>(x, y, a, more(b), 1.0f);
    break;
  case 10:
    layernorm<<<(unsigned)more(a), 256, 0, s>>>(x, w, y, a, b);
    break;
  case 11:
    step<<<blocks(a), 256, 0, s>>>(x, y, a);
    for (long i = 1; i < b; ++i)
      step<<<blocks(a), 256, 0, s>>>(y, y, a);
    break;
  case 12:
    latency<<<1, 256, 0, s>>>(x, y, a, more(b));
    break;
  case 13:
    by_data<<<blocks(a), 256, 0, s>>>(x, y, a, b, 1.0f);
    break;
  case 14:
    reduce<<<parts, 256, 0, s>>>(x, y, a);
    reduce_parts<<<1, 256, 0, s>>>(y, (int)parts);
    break;
  case 15:
    column_sums<<<(unsigned)((b + 63) / 64), 64, 0, s>>>(x, y, a, b);
    break;
  }
}
