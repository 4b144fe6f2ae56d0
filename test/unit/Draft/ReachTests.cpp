//===- ReachTests.cpp - What threads reach, in drafts ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Drafted.h"

using namespace stark;
using nlohmann::json;

// Where the program allocates with another size of the same number, an array
// is as long as threads reach.
TEST(DraftOfReach, TellsSizesOfOneNumberApart) {
  json W = drafted(R"(
__global__ void product(const float *a, const float *b, float *c, int m, int k, int n) {
  int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (i >= m || j >= n)
    return;
  float sum = 0;
  for (int p = 0; p < k; ++p)
    sum += a[i * k + p] * b[p * n + j];
  c[i * n + j] = sum;
}
int main() {
  int m = 1024, k = 2048, n = 1024;
  int both = m * k;
  float *a, *b, *c;
  cudaMalloc(&a, both * sizeof(float));
  cudaMalloc(&b, both * sizeof(float));
  cudaMalloc(&c, m * n * sizeof(float));
  product<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, k, n);
})");
  EXPECT_EQ(W["arguments"]["a"]["shape"], list("\"m\", \"k\""));
  EXPECT_EQ(W["arguments"]["b"]["shape"], list("\"k\", \"n\""));
  EXPECT_EQ(W["arguments"]["c"]["shape"], list("\"m\", \"n\""));
}

// A loop whose end is rounded up in real numbers has its last turn as well.
TEST(DraftOfReach, FollowsLoopsUpToARoundedNumber) {
  json W = drafted(R"(
extern "C" __device__ double ceil(double);
#define TILE 16
__global__ void product(float *a, float *b, float *c, int width) {
  __shared__ float s[TILE][TILE], t[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int p = 0; p < ceil(width / (float)TILE); ++p) {
    s[threadIdx.y][threadIdx.x] = row < width && p * TILE + threadIdx.x < width
                                      ? a[row * width + p * TILE + threadIdx.x] : 0;
    t[threadIdx.y][threadIdx.x] = col < width && p * TILE + threadIdx.y < width
                                      ? b[(p * TILE + threadIdx.y) * width + col] : 0;
    __syncthreads();
    for (int k = 0; k < TILE; ++k)
      sum += s[threadIdx.y][k] * t[k][threadIdx.x];
    __syncthreads();
  }
  if (row < width && col < width)
    c[row * width + col] = sum;
})");
  EXPECT_EQ(W["arguments"]["a"]["shape"], list("\"width\", \"width\""));
  EXPECT_EQ(W["arguments"]["b"]["shape"], list("\"width\", \"width\""));
}

// Blocks that take whole tiles without a guard ask for multiples of them,
// whatever their threads are.
TEST(DraftOfReach, KeepsToWholeTilesWithoutAGuard) {
  json W = drafted(R"(
__global__ void twice(const float *x, float *y, int n) {
  for (int i = threadIdx.x; i < 128; i += blockDim.x)
    y[blockIdx.x * 128 + i] = 2 * x[blockIdx.x * 128 + i];
}
int main() {
  int n = 1 << 20;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  twice<<<(n + 127) / 128, 32>>>(x, y, n);
})");
  EXPECT_EQ(W["multiple_of"], json({{"n", 128}}));
}

// Every second row of an image has its colours, in rows of a length of its own.
TEST(DraftOfReach, CountsEverySecondRow) {
  json W = drafted(R"(
__global__ void dim(unsigned char *luma, int width, int height, int pitchY,
                    unsigned char *chroma, int pitchUV) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height)
    return;
  luma[y * pitchY + x] /= 2;
  if (x % 2 == 0 && y % 2 == 0)
    chroma[y / 2 * pitchUV + x] /= 2;
}
void run(unsigned char *luma, int width, int height, int pitchY, unsigned char *chroma, int pitchUV) {
  dim<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(luma, width, height, pitchY, chroma, pitchUV);
})");
  EXPECT_EQ(W["arguments"]["pitchUV"]["value"], "pitchUV");
  EXPECT_EQ(W["arguments"]["chroma"]["shape"],
            list("\"height / 2\", \"pitchUV\""));
}

// Of an output of which threads write no more than half the rest is as it was.
TEST(DraftOfReach, FillsWhatIsWrittenInPart) {
  json W = drafted(R"(
__global__ void sums(const int *x, int *out, int n) {
  int i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
  if (threadIdx.x == 0)
    out[blockIdx.x] = x[i] + x[i + blockDim.x];
}
int main() {
  const int N = 1 << 20;
  int threads = 1024, blocks = (N + threads - 1) / threads;
  int *x, *out;
  cudaMalloc(&x, N * sizeof(int));
  cudaMalloc(&out, blocks * sizeof(int));
  sums<<<blocks / 2, threads>>>(x, out, N);
})");
  EXPECT_EQ(W["arguments"]["out"]["role"], "inout");
}

// What the host fills by turns of sign has both at its end.
TEST(DraftOfReach, TakesBothSignsOfWhatGrows) {
  json W = drafted(R"(
__global__ void k(const int *x, int *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i];
}
int main() {
  const int N = 1 << 20;
  int *h = (int *)malloc(N * sizeof(int)), *x, *y;
  for (int i = 0; i < N; i++)
    h[i] = (i % 2 == 0) ? i : -i;
  cudaMalloc(&x, N * sizeof(int));
  cudaMalloc(&y, N * sizeof(int));
  cudaMemcpy(x, h, N * sizeof(int), cudaMemcpyHostToDevice);
  k<<<(N + 255) / 256, 256>>>(x, y, N);
})");
  EXPECT_EQ(W["arguments"]["x"]["init"],
            json({{"integers", {1 - (1 << 20), (1 << 20) - 1}}}));
}

// An array of which values say where it is read is as long as all threads of
// the grid are many.
TEST(DraftOfReach, CountsThreadsOfAllAxes) {
  json W = drafted(R"(
__global__ void advect(const float4 *velocity, const float *in, float *out, int width, int height, float dt) {
  int x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
  if (x >= width || y >= height)
    return;
  float4 v = velocity[y * width + x];
  int fromX = (int)(x - dt * v.x), fromY = (int)(y - dt * v.y);
  out[y * width + x] = in[fromY * width + fromX];
}
void run(const float4 *velocity, const float *in, float *out, int width, int height, float dt) {
  advect<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(velocity, in, out, width, height, dt);
})",
                   "advect");
  EXPECT_EQ(W["arguments"]["in"]["shape"], list("\"width\", \"height\""));
}

// Of a few elements the threads that are followed may not reach the last.
TEST(DraftOfReach, DoesNotTakeFewForAPart) {
  json W = drafted(R"(
__global__ void pack(const float *x, unsigned char *out, int n) {
  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n)
    return;
  out[i / 2] = x[i] > 0;
}
int main() {
  int n = 33, packed = (n + 1) / 2;
  float *x;
  unsigned char *out;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&out, packed);
  pack<<<(packed + 127) / 128, 128>>>(x, out, n);
})");
  EXPECT_EQ(W["arguments"]["out"]["role"], "output");
}
