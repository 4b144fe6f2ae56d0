//===- KernelTests.cpp - What a draft takes from a kernel's own text ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Drafted.h"

using namespace stark;
using nlohmann::json;

// What inline PTX reads and writes counts, with its width.
TEST(DraftOfKernel, ReadsInlinePtx) {
  json W = drafted(R"(
__global__ void copy(const float *in, float *out, int *count, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n)
    return;
  float a, b, c, d;
  asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(in + i));
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};"
               :: "l"(out + i), "f"(a), "f"(b), "f"(c), "f"(d));
  asm volatile("red.global.add.s32 [%0+4], %1;" :: "l"(count), "r"(1));
})");
  EXPECT_EQ(W["arguments"]["in"]["shape"], list("\"n\""));
  EXPECT_EQ(W["arguments"]["out"]["shape"], list("\"n\""));
  EXPECT_EQ(W["arguments"]["out"]["role"], "output");
  EXPECT_EQ(W["arguments"]["count"]["shape"], list("2"));
  EXPECT_EQ(W["arguments"]["count"]["role"], "inout");
}

// Asynchronous copies, copies by a thread and fragments reach what they say.
TEST(DraftOfKernel, ReadsCopiesAndFragments) {
  json W = drafted(R"(
namespace nvcuda { namespace wmma {
struct matrix_a; struct row_major; struct accumulator;
template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment { T x[8]; };
enum layout_t { mem_row_major, mem_col_major };
__device__ void load_matrix_sync(fragment<matrix_a, 16, 16, 16, short, row_major> &a,
                                 const short *p, unsigned ldm);
__device__ void store_matrix_sync(float *p,
    const fragment<accumulator, 16, 16, 16, float> &a, unsigned ldm, layout_t layout);
} }
extern "C" __device__ void *memcpy(void *to, const void *from, size_t bytes);
extern "C" __device__ void __pipeline_memcpy_async(void *to, const void *from, size_t bytes);
using namespace nvcuda;
__global__ void k(const short *a, float *c, const int *more, int *copied) {
  __shared__ int block[64];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, short, wmma::row_major> f;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::load_matrix_sync(f, a, 32);
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
  __pipeline_memcpy_async(block + threadIdx.x, more + threadIdx.x, 4);
  memcpy(copied + 2 * threadIdx.x, block, 2 * sizeof(int));
}
void launch(const short *a, float *c, const int *more, int *copied) {
  k<<<1, 32>>>(a, c, more, copied);
})",
                   "k");
  EXPECT_EQ(W["arguments"]["a"]["shape"], list("496"));
  EXPECT_EQ(W["arguments"]["c"]["shape"], list("256"));
  EXPECT_EQ(W["arguments"]["c"]["role"], "output");
  EXPECT_EQ(W["arguments"]["more"]["shape"], list("32"));
  EXPECT_EQ(W["arguments"]["copied"]["shape"], list("64"));
  EXPECT_EQ(W["arguments"]["copied"]["role"], "output");
}

// The last turn of a loop of strides is another thread's than the last.
TEST(DraftOfKernel, FollowsStridesToTheirEnd) {
  json W = drafted(R"(
#define COUNT 100000
float *somewhere();
__global__ void fill(float *out, float *twice) {
  int stride = gridDim.x * blockDim.x;
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = j; i < COUNT; i += stride)
    out[i] = i;
  while (j < 2 * COUNT) {
    twice[j] = j;
    j += stride;
  }
}
int main() { fill<<<32, 256>>>(somewhere(), somewhere()); })");
  EXPECT_EQ(W["arguments"]["out"]["shape"], list("100000"));
  EXPECT_EQ(W["arguments"]["twice"]["shape"], list("200000"));
}

// An index that counts the blocks of a grid of two sides through is one axis.
TEST(DraftOfKernel, CountsBlocksThrough) {
  json W = drafted(R"(
__global__ void scale(float *x, float by, int n) {
  int i = (blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= by;
})");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 256)");
  EXPECT_EQ(W["launch"]["block"], "256");
  EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"n\""));
}

// A block has a second side where threads are told apart along it.
TEST(DraftOfKernel, GivesBlocksTheSidesThatAreUsed) {
  json W = drafted(R"(
__global__ void add(const float *row, float *x, int columns, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < columns && blockIdx.y < rows)
    x[blockIdx.y * columns + i] += row[i];
})");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(columns, 256), rows");
  EXPECT_EQ(W["launch"]["block"], "256");
}

// What a loop moves in its body has moved as often in its last turn.
TEST(DraftOfKernel, MovesPointersToTheLastTurn) {
  json W = drafted(R"(
__global__ void product(const float *a, const float *b, float *c, int M, int N,
                        int K) {
  __shared__ float tile[2][8];
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || column >= N)
    return;
  a += row * K;
  b += column;
  int which = 0;
  float sum = 0;
  for (int k = 0; k < K; k += 2) {
    tile[which][0] = a[0];
    sum += tile[which][0] * b[0] + a[1] * b[N];
    a += 2;
    b += 2 * N;
    which ^= 1;
  }
  c[row * N + column] = sum;
})");
  EXPECT_EQ(W["arguments"]["a"]["shape"], list("\"M\", \"K\""));
  EXPECT_EQ(W["arguments"]["b"]["shape"], list("\"N\", \"K\""));
  EXPECT_EQ(W["arguments"]["c"]["shape"], list("\"M\", \"N\""));
}

// A grid that a function of another file gives has as many blocks as the
// kernel's guards ask for, and a launcher's arrays are as long.
TEST(DraftOfKernel, CoversGridsThatAreNotKnown) {
  json W = drafted(R"(
dim3 gridFor(int n);
__global__ void scale(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 2 * in[i];
}
void scaled(const float *in, float *out, int n) {
  scale<<<gridFor(n), 512>>>(in, out, n);
}
void among(dim3 grid, dim3 block, const float *in, float *out, int n) {
  scale<<<grid, block>>>(in, out, n);
})",
                   "scaled");
  EXPECT_EQ(W["arguments"]["in"]["shape"], list("\"n\""));
  EXPECT_EQ(W["arguments"]["out"]["shape"], list("\"n\""));
}

// Of a tensor whose sides are an argument one side is enough: its length, and a
// stride of 1. What divides is never 0.
TEST(DraftOfKernel, GivesTensorsOneSide) {
  json W = drafted(R"(
__global__ void gather(size_t numel, size_t num_dims, const size_t *dims,
                       const size_t *strides, const float *in, float *out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= numel)
    return;
  unsigned at = 0, left = i;
  for (unsigned d = 0; d < num_dims; d++) {
    unsigned side = num_dims - 1 - d;
    at += (left % dims[side]) * strides[side];
    left /= dims[side];
  }
  out[i] = in[at];
})");
  EXPECT_EQ(W["arguments"]["num_dims"]["value"], 1);
  EXPECT_EQ(W["arguments"]["dims"]["init"]["integers"],
            list("\"numel\", \"numel + 1\""));
  EXPECT_EQ(W["arguments"]["strides"]["init"], "ones");
  EXPECT_EQ(W["arguments"]["in"]["shape"], list("\"numel\""));
  W = drafted(R"(
__global__ void share(const int *by, int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] /= by[i];
})");
  EXPECT_EQ(W["arguments"]["by"]["init"]["integers"], list("1, 16"));
}

// Places that threads hand on through the memory of their block stay inside
// the array that they are places of.
TEST(DraftOfKernel, FollowsPlacesThroughSharedMemory) {
  json W = drafted(R"(
__global__ void gather(const int *at, const float *table, float *out, int n) {
  __shared__ int block[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  block[threadIdx.x] = i < n ? at[i] : 0;
  if (i < n)
    out[i] = table[block[255 - threadIdx.x]];
}
int main() {
  int n = 4096, rows = 1000, *at;
  float *table, *out;
  cudaMalloc(&at, n * sizeof(int));
  cudaMalloc(&table, rows * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  gather<<<n / 256, 256>>>(at, table, out, n);
})");
  EXPECT_EQ(W["arguments"]["at"]["init"]["integers"], list("0, 1000"));
}

// A row is no longer than from its begin to the next one's.
TEST(DraftOfKernel, KeepsRowsWithinTheirPitch) {
  json W = drafted(R"(
__global__ void twice(float *x, int pitch, int width, int height) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < width && row < height)
    x[row * pitch + i] *= 2;
})");
  EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"pitch\", \"height\""));
  for (const json &Size : W["sizes"])
    EXPECT_GE(int(Size["pitch"]), int(Size["width"]));
}

// A filter moves on by one element, not by a thousand.
TEST(DraftOfKernel, MovesFiltersByOne) {
  json W = drafted(R"(
__global__ void pool(const float *in, float *out, int width, int out_width,
                     int ksize, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= out_width)
    return;
  float most = 0;
  for (int k = 0; k < ksize; ++k)
    if (i * stride + k < width)
      most = max(most, in[i * stride + k]);
  out[i] = most;
}
void pooled(const float *in, float *out, int width, int ksize, int stride) {
  int out_width = (width - ksize) / stride + 1;
  pool<<<(out_width + 255) / 256, 256>>>(in, out, width, out_width, ksize, stride);
})",
                   "pooled");
  EXPECT_EQ(W["arguments"]["stride"]["value"], 1);
  EXPECT_EQ(W["arguments"]["in"]["shape"], list("\"width\""));
}

// The first thread of a block's last warp writes what the warp came to.
TEST(DraftOfKernel, FollowsTheLeaderOfTheLastWarp) {
  json W = drafted(R"(
__global__ void sums(const float *rows, float *out, int N, int K) {
  int warp = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp >= N)
    return;
  float sum = 0;
  for (int k = lane; k < K; k += 32)
    sum += rows[warp * K + k];
  if (lane == 0)
    out[warp] = sum;
}
void summed(const float *rows, float *out, int N, int K) {
  sums<<<(N + 3) / 4, 128>>>(rows, out, N, K);
})",
                   "sums");
  EXPECT_EQ(W["arguments"]["out"]["shape"], list("\"N\""));
}

// A quotient that is rounded up by a condition is so for any size.
TEST(DraftOfKernel, RoundsUpByConditions) {
  json W = drafted(R"(
int blocksFor(int n, int each) { return n % each == 0 ? n / each : n / each + 1; }
__global__ void twice(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= 2;
}
int main() {
  int n = 4096;
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  twice<<<blocksFor(n, 128), 128>>>(x, n);
})");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 128)");
}

// As is one to which the remainder adds one, in a sum or by a statement.
TEST(DraftOfKernel, RoundsUpByWhatTheRemainderAdds) {
  for (const char *Blocks :
       {"int blocks = n / 128 + (n % 128 > 0);",
        "int blocks = n / 128 + !!(n % 128);",
        "int blocks = (n % 128 != 0) + n / 128;",
        "int blocks = n / 128 + (n % 128 ? 1 : 0);",
        "int blocks = n / 128; if (n % 128) blocks++;",
        "int blocks = n / 128; if (n % 128 != 0) { blocks += 1; }"}) {
    json W = drafted(std::string(R"(
__global__ void twice(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= 2;
}
int main() {
  int n = 4096;
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  )") + Blocks + R"(
  twice<<<blocks, 128>>>(x, n);
})");
    EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 128)") << Blocks;
  }
}

// What is left over is no block more.
TEST(DraftOfKernel, LeavesSumsWithRemaindersAlone) {
  json W = drafted(R"(
__global__ void twice(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= 2;
}
int main() {
  int n = 4096;
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  twice<<<n / 128 + n % 128, 128>>>(x, n);
})");
  EXPECT_EQ(W["launch"]["grid"], "n / 128 + n % 128");
}

// though nothing in the file calls either.
TEST(DraftOfKernel, PreparesWhatIsGlobal) {
  json W = drafted(R"(
struct World { int count; };
float *device;
int blocks, bodies, bytes;
__global__ void move(float *x, int bodies) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] += bodies;
}
void step() { move<<<blocks, 64>>>(device, bodies); }
void clear() { cudaFree(device); device = 0; }
void setUp(World *world) {
  bodies = world->count;
  bytes = bodies * sizeof(float);
  blocks = bodies / 64;
  cudaMalloc(&device, bytes);
})",
                   "move");
  EXPECT_EQ(W["launch"]["grid"], "bodies / 64");
  EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"bodies\""));
}

// Rows that are as long as two others one after the other.
TEST(DraftOfKernel, SeesRowsOfTwoLengths) {
  json W = drafted(R"(
__global__ void join(const float *a, const float *b, float *out, int left,
                     int right) {
  int row = blockIdx.x;
  for (int i = threadIdx.x; i < left + right; i += blockDim.x)
    out[row * (left + right) + i] =
        i < left ? a[row * left + i] : b[row * right + i - left];
}
void joined(const float *a, const float *b, float *out, int rows, int left,
            int right) {
  join<<<rows, 128>>>(a, b, out, left, right);
})",
                   "joined");
  EXPECT_EQ(W["arguments"]["out"]["shape"], list("\"rows\", \"left + right\""));
}

// Columns and values of a sparse matrix are as long, and as many as is told.
TEST(DraftOfKernel, KnowsWhatRowsHoldInAll) {
  for (bool Told : {true, false}) {
    json W = drafted(std::string(R"(
__global__ void multiply(int rows, )") +
                     (Told ? "int nnz, " : "") + R"(const int *begin,
                         const int *column, const float *value, const float *x,
                         float *y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0;
  for (int i = begin[row]; i < begin[row + 1]; ++i)
    sum += value[i] * x[column[i]];
  y[row] = sum;
})");
    auto Length = list(Told ? "\"nnz\"" : "\"column_rows\"");
    EXPECT_EQ(W["arguments"]["column"]["shape"], Length);
    EXPECT_EQ(W["arguments"]["value"]["shape"], Length);
    if (Told) {
      EXPECT_EQ(W["arguments"]["nnz"]["value"], "nnz");
    }
  }
}

// One number that bounds a loop divides nothing into rows.
TEST(DraftOfKernel, DividesByNoRows) {
  json W = drafted(R"(
__global__ void firsts(float *x, const int *length, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int most = length[0];
  for (int j = 0; j < most; ++j)
    if (i < n)
      x[i * most + j] += 1;
})");
  EXPECT_FALSE(W["arguments"]["length"]["init"].contains("arange")) << W;
}

// Each thread may run through all of it: the simulator is given little.
TEST(DraftOfKernel, ProvesOneSizeWithFew) {
  json W = drafted(R"(
__global__ void pull(const float *at, float *force, int bodies) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= bodies)
    return;
  for (int j = 0; j < bodies; ++j)
    force[i] += at[j] - at[i];
})");
  EXPECT_LE(int(W["sizes"].back()["bodies"]), 1 << 13) << W;
}

// What a program asks of its input holds: it would end otherwise.
TEST(DraftOfKernel, GivesInputThatPassesChecks) {
  json W = drafted(R"(
extern "C" int scanf(const char *, ...);
extern "C" void exit(int);
extern "C" int posix_memalign(void **, size_t, size_t);
__global__ void twice(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= 2;
}
int main() {
  int n, parts, each;
  scanf("%d", &parts);
  scanf("%d", &each);
  scanf("%d", &n);
  if (parts * each != n) {
    exit(1);
  }
  void *host = 0;
  int failed = posix_memalign(&host, 32, n * sizeof(float));
  if (!host || failed)
    exit(1);
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  twice<<<(n + 63) / 64, 64>>>(x, n);
})");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 64)");
  EXPECT_EQ(W["launch"]["block"], "64");
}

// A variable that has the number that the kernel is written with is no size.
TEST(DraftOfKernel, KeepsWhatTheKernelIsWrittenWith) {
  json W = drafted(R"(
#define COLUMNS 512
__global__ void twice(float *x, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * COLUMNS)
    x[i / COLUMNS * COLUMNS + i % COLUMNS] *= 2;
}
void run(int rows, int wide) {
  float *x;
  cudaMalloc(&x, rows * wide * sizeof(float));
  twice<<<rows * wide / 256, 256>>>(x, rows, wide);
}
int main() {
  int rows = 300, columns = COLUMNS;
  run(rows, columns);
})",
                   "twice");
  EXPECT_EQ(W["sizes"][0], json::parse(R"({"rows": 300})"));
  EXPECT_EQ(W["arguments"]["columns"]["value"], 512);
}

// Nor is what that number is made of.
TEST(DraftOfKernel, KeepsWhatItsConstantsAreMadeOf) {
  json W = drafted(R"(
#define BASE 100
const int half = 2 * BASE, wide = 2 * half;
__global__ void twice(float *x, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < rows && i < wide; ++r)
    x[r * wide + i] *= 2;
}
int main() {
  int rows = 300;
  float *x;
  cudaMalloc(&x, rows * 4 * BASE * sizeof(float));
  twice<<<(2 * half + 127) / 128, 128>>>(x, rows);
})");
  EXPECT_EQ(W["sizes"][0], json::parse(R"({"rows": 300})"));
  EXPECT_EQ(W["launch"]["grid"], "4");
}
