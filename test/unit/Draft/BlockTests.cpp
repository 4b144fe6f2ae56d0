//===- BlockTests.cpp - Blocks that nobody gives, in drafts ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Drafted.h"

using namespace stark;
using nlohmann::json;

// What the program reads for its block is no size, whatever it is called.
TEST(DraftOfBlock, TakesAUsualOneForWhatIsRead) {
  json W = drafted(R"(
extern "C" int atoi(const char *);
__global__ void k(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i];
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]), bs = atoi(argv[2]);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  k<<<(n + bs - 1) / bs, bs>>>(x, y, n);
})");
  EXPECT_EQ(W["launch"]["block"], "256");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 256)");
  EXPECT_EQ(W["sizes"][0], json({{"n", 1024}}));
}

// The two sides of a block that are arguments come to no more than 256 threads.
TEST(DraftOfBlock, SharesTheThreadsOutToItsSides) {
  json W = drafted(R"(
__global__ void k(unsigned char *x, int width, int height) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < width && j < height)
    x[j * width + i] = x[j * width + i] > 99;
}
void run(int width, int height, int block_x, int block_y) {
  unsigned char *x;
  cudaMalloc(&x, width * height);
  dim3 block(block_x, block_y);
  dim3 grid((width + block_x - 1) / block_x, (height + block_y - 1) / block_y);
  k<<<grid, block>>>(x, width, height);
})",
                   "k");
  EXPECT_EQ(W["launch"]["block"], "16, 16");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(width, 16), ceildiv(height, 16)");
}

static const char Transpose[] = R"(
__global__ void k(float *out, const float *in, int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height)
    tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * blockDim.y + threadIdx.x, y = blockIdx.x * blockDim.x + threadIdx.y;
  if (x < height && y < width)
    out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}
)";

// A tile that each thread has an element of is as large as the block.
TEST(DraftOfBlock, FitsTheTilesOfTheKernel) {
  json W = drafted(Transpose + std::string(R"(
void run(float *out, const float *in, int width, int height, int side) {
  dim3 block(side, side), grid((width + side - 1) / side, (height + side - 1) / side);
  k<<<grid, block>>>(out, in, width, height);
})"),
                   "k");
  EXPECT_EQ(W["launch"]["block"], "32, 32");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(width, 32), ceildiv(height, 32)");
  EXPECT_EQ(drafted(Transpose)["launch"]["block"], "32, 32");
}

// What the kernel multiplies blockIdx with is a side of its block, and what it
// counts in whole tiles is a multiple.
TEST(DraftOfBlock, ReadsTilesInTheIndex) {
  json W = drafted(R"(
#define TILE 16
__global__ void k(const float *m, const float *n, float *p, int width) {
  __shared__ float a[TILE][TILE], b[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0;
  for (int t = 0; t < width / TILE; ++t) {
    a[ty][tx] = m[row * width + t * TILE + tx];
    b[ty][tx] = n[(t * TILE + ty) * width + col];
    __syncthreads();
    for (int i = 0; i < TILE; ++i)
      sum += a[ty][i] * b[i][tx];
    __syncthreads();
  }
  if (row < width && col < width)
    p[row * width + col] = sum;
})");
  EXPECT_EQ(W["launch"]["block"], "16, 16");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(width, 16), ceildiv(width, 16)");
  EXPECT_EQ(W["multiple_of"]["width"], 16);
}

// A bound that the kernel is launched within is kept to.
TEST(DraftOfBlock, KeepsToLaunchBounds) {
  json W = drafted(R"(
__global__ void __launch_bounds__(128) k(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] += 1;
})");
  EXPECT_EQ(W["launch"]["block"], "128");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 128)");
}

// What a block's first threads alone reach says nothing of the block.
TEST(DraftOfBlock, LooksAtAllItsThreads) {
  json W = drafted(R"(
__global__ void k(const float *x, float *y, int n) {
  __shared__ float warps[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < 32)
    warps[threadIdx.x] = 0;
  __syncthreads();
  if (i < n)
    y[i] = x[i] + warps[0];
})");
  EXPECT_EQ(W["launch"]["block"], "256");
}

// Where one block has a thread for each element, its threads are a size.
TEST(DraftOfBlock, KeepsSizesThatAreBlocks) {
  json W = drafted(R"(
extern "C" int atoi(const char *);
__global__ void k(float *x, int n) {
  if (threadIdx.x < n)
    x[threadIdx.x] *= 2;
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  k<<<1, n>>>(x, n);
})");
  EXPECT_EQ(W["launch"]["block"], "n");
  EXPECT_EQ(W["sizes"][0], json({{"n", 256}}));
}

// Sizes that are read from a stream, or that a struct of another file has.
TEST(DraftOfBlock, ReadsStreamsAndStructs) {
  const char Kernel[] = R"(
__global__ void k(const float *x, float *y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols)
    y[i] = x[i];
}
void run(int rows, int cols, int threads) {
  float *x, *y;
  cudaMalloc(&x, rows * cols * sizeof(float));
  cudaMalloc(&y, rows * cols * sizeof(float));
  k<<<(rows * cols + threads - 1) / threads, threads>>>(x, y, rows, cols);
}
)";
  for (const char *Main : {R"(
struct istream { istream &operator>>(int &); } cin;
int main() {
  int r, c;
  cin >> r >> c;
  run(r, c, 64);
})",
                           R"(
struct Config { int rows, cols, per_block; };
Config parse(int argc, char **argv);
int main(int argc, char **argv) {
  Config c = parse(argc, argv);
  run(c.rows, c.cols, c.per_block);
})"}) {
    json W = drafted(Kernel + std::string(Main), "k");
    EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"rows\", \"cols\"")) << Main;
    EXPECT_EQ(W["launch"]["block"],
              Main[1] == 's' && Main[8] == 'i' ? "64" : "256");
  }
}

// Of a kernel and a host function of one name that is drafted which can be
// called as it stands, and the other is not taken for it.
TEST(DraftOfBlock, TellsKernelsFromTheirNamesakes) {
  json W = drafted(R"(
__global__ void scale(float *x, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= by;
}
void scale(float *host, int n) {
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  cudaMemcpy(x, host, n * sizeof(float), cudaMemcpyHostToDevice);
  scale<<<(n + 127) / 128, 128>>>(x, 2.f, n);
}
int main() {
  int n = 5000;
  float *host = (float *)malloc(n * sizeof(float));
  scale(host, n);
})");
  EXPECT_EQ(W["launch"]["kernel"], "scale");
  EXPECT_EQ(W["launch"]["block"], "128");
  EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"n\""));
}

// What is as long as all threads is the grid times the block, and not the grid
// squared where they happen to be as many.
TEST(DraftOfBlock, CountsThreadsOfAllBlocks) {
  json W = drafted(R"(
#define COUNT 1024*1024
#define BLOCKS 1024
#define THREADS 1024
__global__ void k(const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < COUNT)
    y[i] = x[i];
}
int main() {
  float *x, *y;
  cudaMalloc(&x, sizeof(float) * COUNT);
  cudaMalloc(&y, sizeof(float) * COUNT);
  k<<<BLOCKS, THREADS>>>(x, y);
})");
  EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"1024 * BLOCKS\""));
}

// A number of blocks that nobody gives, and nothing else is of, says nothing.
TEST(DraftOfBlock, GuessesGridsOfOurNumbersAlone) {
  json W = drafted(R"(
#define TPB 128
__global__ void k(const float *x, float *y, int units) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < units)
    y[i] = x[i];
}
struct Layer {
  int units, outBlocks;
  float *in, *out;
  void forward() { k<<<outBlocks, TPB>>>(in, out, units); }
};)");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(units, 128)");
  EXPECT_EQ(W["launch"]["block"], "128");
}

// What the grid takes whole tiles of, also in several steps.
TEST(DraftOfBlock, KeepsToWholeTilesOfGrids) {
  json W = drafted(R"(
#define BLOCK 64
__global__ void k(float *x, int n) {
  int i = blockIdx.x * BLOCK * 4 + threadIdx.x;
  for (int j = 0; j < 4; ++j)
    x[i + j * BLOCK] += 1;
}
void run(int n) {
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  k<<<n / 4 / BLOCK, BLOCK>>>(x, n);
})",
                   "k");
  EXPECT_EQ(W["multiple_of"]["n"], 256);
}

// Of rows in a pitch as much is gone through as a loop says.
TEST(DraftOfBlock, KeepsWidthsBesidePitches) {
  json W = drafted(R"(
__global__ void k(const float *x, float *y, int width, int height, int pitch) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= height)
    return;
  float sum = 0;
  for (int i = 0; i < width; ++i)
    sum += x[row * pitch + i];
  y[row] = sum;
})");
  EXPECT_EQ(W["arguments"]["width"]["value"], "width");
  EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"height\", \"pitch\""));
}

// Products of 24 bits are products, and of an optimizer's decay 1 less than
// that is no 0.
TEST(DraftOfBlock, MultipliesBy24Bits) {
  json W = drafted(R"(
extern "C" __device__ int __mul24(int, int);
__global__ void k(float *x, const float *g, float beta1, int n) {
  int i = threadIdx.x + __mul24(blockIdx.x, blockDim.x);
  if (i < n)
    x[i] = g[i] / (1 - beta1);
})");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 256)");
  EXPECT_EQ(W["arguments"]["beta1"]["value"], 0.9);
}

// A grid that the program fixes has a thread for each element of no more than
// its threads are; where each takes several, or the program has a number, the
// size is as it is.
TEST(DraftOfBlock, KeepsSizesOfOursToAFixedGrid) {
  auto Size = [](const std::string &Guard, const std::string &Of,
                 const std::string &Entry = "") {
    json W = drafted("__global__ void scan(const int *in, int *out, int n) {\n"
                     "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
                         Guard + " out[i] = in[i];\n}\n" + Of,
                     Entry);
    EXPECT_LE(W["sizes"].back()["n"], W["sizes"][0]["n"]);
    return W["sizes"][0]["n"].get<int64_t>();
  };
  const char *Ours = "void run(const int *in, int *out, int n) {\n"
                     "  scan<<<1, 1024>>>(in, out, n);\n}\n";
  EXPECT_EQ(Size("if (i < n)", Ours), 1024);
  EXPECT_EQ(Size("if (i < n)", Ours, "scan"), 1024);
  EXPECT_EQ(Size("if (i < n - 1)", Ours), 1025);
  EXPECT_GT(Size("for (; i < n; i += blockDim.x * gridDim.x)", Ours), 1024);
  EXPECT_EQ(Size("if (i < n)", "int main() {\n  int *in, *out, n = 5000;\n"
                               "  cudaMalloc(&in, n * sizeof(int));\n"
                               "  cudaMalloc(&out, n * sizeof(int));\n"
                               "  scan<<<1, 1024>>>(in, out, n);\n}\n"),
            5000);
}
