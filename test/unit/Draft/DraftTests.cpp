//===- DraftTests.cpp - What a draft takes from a source ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Drafted.h"

using namespace stark;
using nlohmann::json;

namespace {
constexpr const char *Add = R"(
__global__ void add(const float *a, float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    b[i] = a[i];
}
)";
} // namespace

// Sizes, grid and block are those of the program, with the names that the
// kernel has for them; a block is no size.
TEST(Draft, TakesSizesFromMain) {
  json W = drafted(std::string(Add) + R"(
#define COUNT 100000
int main() {
  int count = COUNT, threads = 128;
  float *a, *b;
  cudaMalloc((void **)&a, count * sizeof(float));
  cudaMalloc(&b, count * sizeof(float));
  add<<<(count + threads - 1) / threads, threads>>>(a, b, count);
})");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 128)");
  EXPECT_EQ(W["launch"]["block"], "128");
  EXPECT_EQ(W["sizes"][0]["n"], 100000);
  EXPECT_EQ(W["arguments"]["a"]["shape"], list("\"n\""));
  EXPECT_EQ(W["arguments"]["n"]["value"], "n");
}

// What is written is an output, what is read before is not; what the host
// clears begins as zeros.
TEST(Draft, TellsRoles) {
  json W = drafted(R"(
__global__ void k(float *in, float *out, float *both, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  out[i] = in[i];
  out[i] = out[i] * 2;
  both[i] += 1;
  atomicAdd(&bins[i], 1);
}
int main() {
  int n = 4096;
  float *a, *b, *c;
  int *d;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMalloc(&c, n * sizeof(float));
  cudaMalloc(&d, n * sizeof(int));
  cudaMemset(d, 0, n * sizeof(int));
  k<<<n / 256, 256>>>(a, b, c, d, n);
})");
  EXPECT_EQ(W["arguments"]["in"]["role"], "input");
  EXPECT_EQ(W["arguments"]["out"]["role"], "output");
  EXPECT_EQ(W["arguments"]["both"]["role"], "inout");
  EXPECT_EQ(W["arguments"]["bins"]["role"], "inout");
  EXPECT_EQ(W["arguments"]["bins"]["init"], "zeros");
}

// With no main(), shapes are told from the indices, and the grid from guards.
// What the entry itself clears, or copies to, it writes.
TEST(Draft, TellsRolesOfWhatIsCopied) {
  json W = drafted(R"(
__global__ void count(const int *in, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&bins[in[i] & 63], 1);
}
void counted(int *in, int *bins, int *copy, int n) {
  cudaMemsetAsync(bins, 0, 64 * sizeof(int));
  count<<<(n + 127) / 128, 128>>>(in, bins, n);
  cudaMemcpyAsync(copy, in, n * sizeof(int), cudaMemcpyDeviceToDevice);
})",
                   "counted");
  EXPECT_EQ(W["arguments"]["in"]["role"], "input");
  EXPECT_EQ(W["arguments"]["bins"]["role"], "output");
  EXPECT_EQ(W["arguments"]["copy"]["role"], "output");
}

TEST(Draft, TellsShapesFromIndices) {
  json W = drafted(R"(
__global__ void product(const float *A, const float *B, float *C, int M, int N,
                        int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0;
    for (int k = 0; k < K; ++k)
      sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
  }
})");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(N, 16), ceildiv(M, 16)");
  EXPECT_EQ(W["launch"]["block"], "16, 16");
  EXPECT_EQ(W["arguments"]["A"]["shape"], list("\"M\", \"K\""));
  EXPECT_EQ(W["arguments"]["B"]["shape"], list("\"N\", \"K\""));
  EXPECT_EQ(W["arguments"]["C"]["shape"], list("\"M\", \"N\""));
}

// Values that are places in an array stay inside it; where rows begin, they
// rise in equal steps.
TEST(Draft, KeepsIndicesInside) {
  json W = drafted(R"(
__global__ void spmv(const int *rows, const int *cols, const float *v,
                     const float *x, float *y, int n, int nnz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int j = rows[i]; j < rows[i + 1]; ++j)
    sum += v[j] * x[cols[j]];
  y[i] = sum;
}
int main() {
  int n = 1024, nnz = 8192;
  int *r, *c;
  float *v, *x, *y;
  cudaMalloc(&r, (n + 1) * sizeof(int));
  cudaMalloc(&c, nnz * sizeof(int));
  cudaMalloc(&v, nnz * sizeof(float));
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  spmv<<<n / 256, 256>>>(r, c, v, x, y, n, nnz);
})");
  EXPECT_EQ(W["arguments"]["rows"]["init"],
            json::parse("{\"arange\": \"nnz / n\"}"));
  EXPECT_EQ(W["arguments"]["cols"]["init"],
            json::parse("{\"integers\": [0, \"n\"]}"));
}

// A template is drafted as the file launches it.
TEST(Draft, NamesInstantiations) {
  json W = drafted(R"(
template <class T, int B> __global__ void k(T *x, int n) {
  int i = blockIdx.x * B + threadIdx.x;
  if (i < n)
    x[i] = i;
}
int main() {
  double *x;
  int n = 3000;
  cudaMalloc(&x, n * sizeof(double));
  k<double, 64><<<(n + 63) / 64, 64>>>(x, n);
})");
  EXPECT_EQ(W["launch"]["kernel"], "k<double, 64>");
  EXPECT_EQ(W["arguments"]["x"]["dtype"], "f64");
}

// Variables of the device that the host sets are part of the workload, and so
// are elements before a pointer.
TEST(Draft, KeepsSymbolsAndElementsBeforeAPointer) {
  json W = drafted(R"(
__constant__ float coef[5];
__global__ void stencil(const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int j = -2; j <= 2; ++j)
    sum += coef[j + 2] * in[i + j];
  out[i] = sum;
}
int main() {
  int n = 4096;
  float h[5], *in, *out;
  cudaMemcpyToSymbol(coef, h, sizeof(h));
  cudaMalloc(&in, (n + 4) * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  stencil<<<n / 128, 128>>>(in + 2, out);
})");
  EXPECT_EQ(W["symbols"]["coef"]["shape"], list("5"));
  EXPECT_EQ(W["arguments"]["in"]["shape"], list("\"n + 4\""));
  EXPECT_EQ(W["arguments"]["in"]["before"], 2);
}

// A host function that launches on pointers of the device comes before
// kernels; one that copies from the host's memory does not.
TEST(Draft, PrefersLaunchers) {
  std::string Launcher = std::string(Add) + R"(
void launch(const float *x, float *y, int n) {
  add<<<(n + 255) / 256, 256>>>(x, y, n);
})";
  EXPECT_EQ(drafted(Launcher)["entry"], "launch");
  std::string Solver = std::string(Add) + R"(
void solve(const float *x, float *y, int n) {
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMemcpy(a, x, n * sizeof(float), cudaMemcpyHostToDevice);
  add<<<(n + 255) / 256, 256>>>(a, b, n);
  cudaMemcpy(y, b, n * sizeof(float), cudaMemcpyDeviceToHost);
})";
  EXPECT_EQ(drafted(Solver)["launch"]["kernel"], "add");
}

// Structs of one scalar type are arrays with one more dimension.
TEST(Draft, TakesStructsOfOneType) {
  json W = drafted(R"(
struct Body { float x, y, z, mass; float v[2]; };
__global__ void move(Body *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    b[i].x += b[i].v[0];
}
int main() {
  int n = 512;
  Body *b;
  cudaMalloc(&b, n * sizeof(Body));
  move<<<n / 64, 64>>>(b, n);
})");
  EXPECT_EQ(W["arguments"]["b"]["dtype"], "f32");
  EXPECT_EQ(W["arguments"]["b"]["shape"], list("\"n\", 6"));
}

// What the host draws below a size stays below it; a block's size, which is a
// parameter of the launcher, is no size.
TEST(Draft, KeepsTheRangeThatTheHostDraws) {
  json W = drafted(R"(
__global__ void pick(const int *at, const float *x, float *y, int n, int v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i * v + at[i]];
}
void launch(const int *at, const float *x, float *y, int n, int v, int block) {
  pick<<<(n + block - 1) / block, block>>>(at, x, y, n, v);
}
int main() {
  int n = 2048, v = 300;
  int *h = (int *)malloc(n * sizeof(int)), *at;
  float *x, *y;
  for (int i = 0; i < n; ++i)
    h[i] = rand() % v;
  cudaMalloc(&at, n * sizeof(int));
  cudaMalloc(&x, n * v * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(at, h, n * sizeof(int), cudaMemcpyHostToDevice);
  launch(at, x, y, n, v, 64);
})");
  EXPECT_EQ(W["entry"], "launch");
  EXPECT_EQ(W["arguments"]["at"]["init"],
            json::parse("{\"integers\": [0, \"v\"]}"));
  EXPECT_EQ(W["arguments"]["block"]["value"], 64);
}

// What a number leaves in a byte is what the program computes with.
TEST(Draft, KeepsValuesInTheirType) {
  json W = drafted(R"(
__global__ void k(const unsigned char *a, unsigned char *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    b[i] = a[i];
}
int main() {
  int n = 4096;
  unsigned char *h = (unsigned char *)malloc(n), *a, *b;
  for (int i = 0; i < n; ++i)
    h[i] = rand() % 500 + 1;
  cudaMalloc(&a, n);
  cudaMalloc(&b, n);
  cudaMemcpy(a, h, n, cudaMemcpyHostToDevice);
  k<<<n / 256, 256>>>(a, b, n);
}
)");
  EXPECT_EQ(W["arguments"]["a"]["init"]["integers"], list("1, 256"));
}

// In llm.c they all are: the launcher is the entry.
TEST(Draft, TellsALauncherFromAKernelOfItsName) {
  json W = drafted(R"(
__global__ void scale(float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] *= 2;
}
void scale(float *y, int n, int threads) {
  scale<<<(n + threads - 1) / threads, threads>>>(y, n);
}
)");
  EXPECT_EQ(W["entry"], "scale");
  EXPECT_TRUE(W["arguments"].contains("threads"));
}

// A file with errors is followed as far as it goes.
TEST(Draft, BearsTypesThatAreNone) {
  json W = drafted(R"(
struct Half { Missing x; };
__global__ void k(float *y, int n) {
  auto a = undeclared(n);
  Half h = {1}, hs[4];
  struct Later *l = 0;
  auto b = l->x, c = h.x;
  y[threadIdx.x] = hs[1].x + a;
  if (threadIdx.x < n)
    y[threadIdx.x] = 1;
}
)");
  EXPECT_EQ(W["launch"]["kernel"], "k");
}

// What is square has no million rows.
TEST(Draft, GivesSizesThatFitAGpu) {
  json W = drafted(R"(
__global__ void k(float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int j = 0; j < n; ++j)
      y[i * n + j] = i;
}
)");
  EXPECT_EQ(W["arguments"]["y"]["shape"], list("\"n\", \"n\""));
  EXPECT_LE(W["sizes"][0]["n"], 1 << 14);
  EXPECT_GE(W["sizes"][0]["n"], 1 << 12);
}

// Rows of a table: the table has as many as it has elements over its columns.
TEST(Draft, KeepsRowsInside) {
  json W = drafted(R"(
__global__ void gather(const int *at, const float *table, float *y, int n,
                       int columns) {
  int i = blockIdx.x;
  const float *row = table + at[i] * columns;
  if (threadIdx.x < columns)
    y[i * columns + threadIdx.x] = row[threadIdx.x];
}
int main() {
  int n = 512, columns = 64, *at;
  float *table, *y;
  cudaMalloc(&at, n * sizeof(int));
  cudaMalloc(&table, 1000 * columns * sizeof(float));
  cudaMalloc(&y, n * columns * sizeof(float));
  gather<<<n, 64>>>(at, table, y, n, columns);
})");
  EXPECT_EQ(W["arguments"]["table"]["shape"], list("\"1000 * columns\""));
  EXPECT_EQ(W["arguments"]["at"]["init"]["integers"], list("0, 1000"));
}

// What is computed of something unknown may be no block at all.
TEST(Draft, GuessesBlocksThatCannotBe) {
  json W = drafted(std::string(Add) + R"(
int main() {
  int n = 100000, threads = n / 2;
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  add<<<2, threads>>>(a, b, n);
})");
  EXPECT_EQ(W["launch"]["block"], "256");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 256)");
}

// A method that nothing calls is followed as of an object of its own: what its
// fields are called, sizes are called.
TEST(Draft, FollowsMethods) {
  json W = drafted(std::string(Add) + R"(
struct Atoms {
  int count;
  float *from;
};
struct Step {
  Atoms *atoms;
  float *into;
  void run();
};
void Step::run() {
  add<<<(atoms->count + 63) / 64, 64>>>(atoms->from, into, atoms->count);
})",
                   "add");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 64)");
  EXPECT_EQ(W["launch"]["block"], "64");
  EXPECT_EQ(W["arguments"]["a"]["shape"], list("\"n\""));
}

// What a function that is defined elsewhere reads or returns is a size.
TEST(Draft, TakesSizesThatAreReadElsewhere) {
  json W = drafted(R"(
void read_extents(const char *file, int *width, int &height);
int parse_depth(int argc, char **argv);
__global__ void k(float *y, int w, int h, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < w * h * d)
    y[i] = 1;
}
int main(int argc, char **argv) {
  int width = 0, height = 0, depth = parse_depth(argc, argv);
  read_extents("image", &width, height);
  float *y;
  cudaMalloc(&y, width * height * depth * sizeof(float));
  k<<<(width * height * depth + 127) / 128, 128>>>(y, width, height, depth);
})");
  EXPECT_EQ(W["arguments"]["y"]["shape"], list("\"w\", \"h\", \"d\""));
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(w * h * d, 128)");
}

// A code of errors is none.
TEST(Draft, KnowsCodesOfErrors) {
  json W = drafted(std::string(Add) + R"(
int prepare();
int main() {
  int n = 4096, status = prepare();
  if (status != 0)
    return 1;
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  add<<<n / 256, 256>>>(a, b, n);
})");
  EXPECT_EQ(W["sizes"][0]["n"], 4096);
}

// What the library computes of what is not known is no size.
TEST(Draft, NamesNoMinimum) {
  json W = drafted("int min(int, int);\n" + std::string(Add) + R"(
int most();
int main() {
  int n = 4096, blocks = min(most() * 2, (n + 127) / 128);
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  add<<<blocks, 128>>>(a, b, n);
})");
  EXPECT_EQ(W["sizes"][0].size(), 1u);
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 128)");
}

// ceil(n / 128.0f) is n blocks of 128, whatever n is.
TEST(Draft, RoundsQuotientsOfWholeNumbers) {
  json W = drafted("extern \"C\" float ceilf(float);\n" + std::string(Add) + R"(
int main() {
  int n = 5000;
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  add<<<(int)ceilf(n / 128.0f), 128>>>(a, b, n);
})");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 128)");
}

// Of entries that are called as often, one that reads what it is given; one
// that is given the host's own arrays is called with no pointers of the device.
TEST(Draft, PrefersWhatReads) {
  const char *Text = R"(
__global__ void fill(float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = i;
}
__global__ void twice(float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] *= 2;
}
void prepare(float *host, float *y, int n) {
  fill<<<(n + 127) / 128, 128>>>(y, n);
  twice<<<(n + 127) / 128, 128>>>(host, n);
}
void doubled(float *y, int n) { twice<<<(n + 127) / 128, 128>>>(y, n); }
void filled(float *y, int n) { fill<<<(n + 127) / 128, 128>>>(y, n); }
int main() {
  int n = 4096;
  float *host = (float *)malloc(n * sizeof(float)), *y;
  cudaMalloc(&y, n * sizeof(float));
  filled(y, n);
  prepare(host, y, n);
  doubled(y, n);
})";
  EXPECT_EQ(drafted(Text)["entry"], "doubled");
}

// A macro that is a product is one size; one of another macro is not.
TEST(Draft, TakesAMacroForOneSize) {
  json W = drafted(std::string(Add) + R"(
#define COUNT (100 * 1024)
#define TWICE (COUNT * 2)
#define CHECK(call) do { if (call != cudaSuccess) return 1; } while (0)
int main() {
  float *a, *b;
  CHECK(cudaMalloc(&a, COUNT * sizeof(float)));
  cudaMalloc(&b, TWICE * sizeof(float));
  add<<<(COUNT + 127) / 128, 128>>>(a, b, COUNT);
})");
  EXPECT_EQ(W["sizes"][0], json::parse("{\"n\": 102400}"));
  EXPECT_EQ(W["arguments"]["b"]["shape"], list("\"2 * n\""));
}

// An argument that no array, grid or guard depends on has the program's value,
// and 1 where that is not known.
TEST(Draft, TakesNoSettingForASize) {
  const char *Kernel = R"(
__global__ void k(float *y, int n, int ticks, int shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = (i + ticks) >> shift;
}
)";
  json W = drafted(std::string(Kernel) + R"(
int main() {
  int n = 4096, ticks = 77, shift = 3;
  float *y;
  cudaMalloc(&y, n * sizeof(float));
  k<<<n / 64, 64>>>(y, n, ticks, shift);
})");
  EXPECT_EQ(W["sizes"][0], json::parse("{\"n\": 4096}"));
  EXPECT_EQ(W["arguments"]["ticks"]["value"], 77);
  EXPECT_EQ(W["arguments"]["shift"]["value"], 3);
  W = drafted(std::string(Kernel) + R"(
void frame(float *y, int ticks) { k<<<64, 64>>>(y, 4096, ticks, 2); }
)",
              "k");
  EXPECT_EQ(W["arguments"]["ticks"]["value"], 1);
  EXPECT_EQ(W["arguments"]["shift"]["value"], 2);
}

// What kernels leave in variables of the device is compared.
TEST(Draft, TakesVariablesOfTheDeviceForOutputs) {
  json W = drafted(R"(
__device__ float data;
__device__ int table[8];
__global__ void k() {
  data += 2;
  if (threadIdx.x < 8)
    table[threadIdx.x] = threadIdx.x;
}
int main() {
  float value = 3.5f;
  cudaMemcpyToSymbol(data, &value, sizeof(float));
  k<<<1, 32>>>();
  cudaMemcpyFromSymbol(&value, data, sizeof(float));
})");
  EXPECT_EQ(W["symbols"]["data"]["role"], "inout");
  EXPECT_EQ(W["symbols"]["data"]["init"], json::parse("{\"constant\": 3.5}"));
  EXPECT_EQ(W["symbols"]["table"]["role"], "inout");
}

// What only a failed assert() leaves is the way that is followed.
TEST(Draft, GoesOnAfterAsserts) {
  json W = drafted("extern \"C\" [[noreturn]] void __assert_fail();\n"
                   "int most();\n" +
                   std::string(Add) + R"(
int main() {
  int n = 4096;
  (n <= most() && "too many") ? (void)0 : __assert_fail();
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  add<<<n / 256, 256>>>(a, b, n);
})");
  EXPECT_EQ(W["launch"]["grid"], "n / 256");
}

// The operators of classes that are not the project's read what they are given.
TEST(Draft, SeesThroughOperatorsOfTheLibrary) {
  json W = drafted(R"(
# 1 "/usr/include/half.h" 1 3
struct __half { unsigned short bits; };
__device__ __half operator*(const __half &, const __half &);
__device__ __half &operator+=(__half &, const __half &);
# 1 "/draft.cu" 2
__global__ void scale(const __half *a, const __half *b, __half *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] += a[i] * b[i];
}
)");
  EXPECT_EQ(W["arguments"]["a"]["shape"], list("\"n\""));
  EXPECT_EQ(W["arguments"]["b"]["shape"], list("\"n\""));
  EXPECT_EQ(W["arguments"]["c"]["role"], "inout");
}

// The least of two, which std::min() returns by reference, is a number.
TEST(Draft, TakesReferencesForTheirNumbers) {
  json W = drafted(R"(
template <class T> const T &max(const T &, const T &);
__global__ void copy(const float *a, float *b, int n, int offset) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    b[i + offset] = a[i + offset];
}
int main() {
  int n = 4096;
  for (int o = -1; o < 100; ++o) {
    int offset = max(o, 0);
    float *a, *b;
    cudaMalloc(&a, (n + offset) * sizeof(float));
    cudaMalloc(&b, (n + offset) * sizeof(float));
    copy<<<n / 128, 128>>>(a, b, n, offset);
  }
})");
  EXPECT_EQ(W["arguments"]["a"]["shape"], list("\"n\""));
  EXPECT_EQ(W["arguments"]["offset"]["value"], 0);
}

// A buffer for the largest of several sizes is as long as its size needs, and a
// length that is written out is the size that it equals.
TEST(Draft, TakesLengthsThatAreReached) {
  const char *Text = R"(
#define MOST 65536
int main() {
  int n = 3000;
  float *a, *b;
  cudaMalloc(&a, MOST * sizeof(float));
  cudaMalloc(&b, 3000 * sizeof(float));
  add<<<(n + 127) / 128, 128>>>(a, b, n);
})";
  json W = drafted(std::string(Add) + Text);
  EXPECT_EQ(W["arguments"]["a"]["shape"], list("\"n\""));
  EXPECT_EQ(W["arguments"]["b"]["shape"], list("\"n\""));
}

// What is written only where values ask for it keeps the rest.
TEST(Draft, KeepsWhatIsWrittenOnCondition) {
  json W = drafted(R"(
__global__ void check(const float *a, float *b, bool *bad, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  if (a[i] > 0)
    b[i] = 1;
  else
    b[i] = 2;
  if (a[i] < 0)
    *bad = true;
}
int main() {
  int n = 4096;
  float *a, *b;
  bool *bad;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMalloc(&bad, sizeof(bool));
  check<<<n / 128, 128>>>(a, b, bad, n);
})");
  EXPECT_EQ(W["arguments"]["b"]["role"], "output");
  EXPECT_EQ(W["arguments"]["bad"]["role"], "inout");
  EXPECT_EQ(W["arguments"]["bad"]["shape"], list("1"));
}

// Of two arrays of indices one may choose the row and the other the element.
TEST(Draft, KeepsElementsInsideTheirRow) {
  json W = drafted(R"(
__global__ void pick(const int *row, const int *at, const float *q, float *y,
                     int n, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = q[row[i] * columns + at[i]];
}
int main() {
  int n = 4096, rows = 300, columns = 50, *row, *at;
  float *q, *y;
  cudaMalloc(&row, n * sizeof(int));
  cudaMalloc(&at, n * sizeof(int));
  cudaMalloc(&q, rows * columns * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  pick<<<n / 128, 128>>>(row, at, q, y, n, rows, columns);
})");
  EXPECT_EQ(W["arguments"]["row"]["init"]["integers"], list("0, \"rows\""));
  EXPECT_EQ(W["arguments"]["at"]["init"]["integers"], list("0, \"columns\""));
}

// A vector is as long as what stands in its braces.
TEST(Draft, CountsWhatStandsInBraces) {
  json W = drafted(R"(
namespace std {
template <class T> struct initializer_list {
  const T *first;
  size_t count;
};
template <class T> struct vector {
  vector(initializer_list<T>);
  T *data();
  size_t size();
};
}
__global__ void k(const int *x, int *y) { y[threadIdx.x] = x[threadIdx.x]; }
int main() {
  std::vector<int> host = {3, 1, 4, 1, 5};
  int *x, *y;
  cudaMalloc(&x, host.size() * sizeof(int));
  cudaMalloc(&y, host.size() * sizeof(int));
  cudaMemcpy(x, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
  k<<<1, 5>>>(x, y);
})");
  EXPECT_EQ(W["arguments"]["x"]["shape"], list("5"));
  EXPECT_EQ(W["arguments"]["x"]["init"]["integers"], list("1, 6"));
}

// What chooses an element of a thread's own array is below its length.
TEST(Draft, KeepsLabelsInsideLocalArrays) {
  json W = drafted(R"(
__global__ void loss(const int *label, float *y, int n) {
  float p[10];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < 10; ++j)
    p[j] = j;
  if (i < n)
    y[i] = p[label[i]];
}
int main() {
  int n = 4096, *label;
  float *y;
  cudaMalloc(&label, n * sizeof(int));
  cudaMalloc(&y, n * sizeof(float));
  loss<<<n / 128, 128>>>(label, y, n);
})");
  EXPECT_EQ(W["arguments"]["label"]["init"]["integers"], list("0, 10"));
}

// Values that choose a row are below the number of rows, which is one less than
// that of where rows begin.
TEST(Draft, KeepsRowsBelowTheirEnd) {
  json W = drafted(R"(
__global__ void k(const int *at, const int *rows, const float *v, float *y,
                  int n, int most) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int j = rows[at[i]]; j < rows[at[i] + 1]; ++j)
    sum += v[j];
  y[i] = sum;
}
int main() {
  int n = 4096, most = 300, *at, *rows;
  float *v, *y;
  cudaMalloc(&at, n * sizeof(int));
  cudaMalloc(&rows, (most + 1) * sizeof(int));
  cudaMalloc(&v, 8 * most * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  k<<<n / 128, 128>>>(at, rows, v, y, n, most);
})");
  EXPECT_EQ(W["arguments"]["at"]["init"]["integers"], list("0, \"most\""));
}

// A kernel that is launched on one part of an array after the other reaches
// one, whose sides are told apart where they are as long.
TEST(Draft, TakesOneOfSeveralParts) {
  json W = drafted(R"(
__global__ void turn(const float *in, float *out, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < columns && j < rows)
    out[i * rows + j] = in[j * columns + i];
}
int main() {
  int rows = 96, columns = 96, parts = 100;
  float *a, *b;
  cudaMalloc(&a, parts * rows * columns * sizeof(float));
  cudaMalloc(&b, parts * rows * columns * sizeof(float));
  dim3 block(16, 16), grid(columns / 16, rows / 16);
  for (int p = 0; p < parts; ++p)
    turn<<<grid, block>>>(a + p * rows * columns, b + p * rows * columns, rows,
                          columns);
})");
  EXPECT_EQ(W["arguments"]["in"]["shape"], list("\"rows\", \"columns\""));
  EXPECT_EQ(W["arguments"]["out"]["shape"], list("\"rows\", \"columns\""));
}

// Numbers that the program reads are told apart; what has the name of a block
// is one.
TEST(Draft, TellsSizesThatAreReadApart) {
  json W = drafted(R"(
extern "C" int atoi(const char *);
__global__ void k(const float *in, float *out, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows)
    for (int j = 0; j < columns; ++j)
      out[i] += in[i * columns + j];
}
int main(int argc, char **argv) {
  int rows = atoi(argv[1]), columns = atoi(argv[2]);
  int threads = atoi(argv[3]);
  float *a, *b;
  cudaMalloc(&a, rows * columns * sizeof(float));
  cudaMalloc(&b, rows * sizeof(float));
  k<<<(rows + threads - 1) / threads, threads>>>(a, b, rows, columns);
})");
  EXPECT_NE(W["sizes"][0]["rows"], W["sizes"][0]["columns"]);
  EXPECT_EQ(W["launch"]["block"], "256");
  EXPECT_EQ(W["arguments"]["in"]["shape"], list("\"rows\", \"columns\""));
}

// Where nothing says how many blocks there are, and each has a row, there are
// as many as there are rows: a size of its own.
TEST(Draft, GivesEachBlockARow) {
  json W = drafted(R"(
__global__ void k(const float *in, float *out, int columns) {
  in += blockIdx.x * columns;
  out += blockIdx.x * columns;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    out[i] = 2 * in[i];
})");
  EXPECT_EQ(W["launch"]["grid"], "blocks");
  EXPECT_EQ(W["arguments"]["in"]["shape"], list("\"blocks\", \"columns\""));
  EXPECT_EQ(W["arguments"]["columns"]["value"], "columns");
}

// The radius of a filter is a few elements, not a thousand.
TEST(Draft, KeepsAHandful) {
  json W = drafted(R"(
__global__ void k(const float *in, const float *filter, float *out, int n,
                  int radius) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int j = 0; j < 2 * radius + 1; ++j)
    if (i + j < n)
      sum += filter[j] * in[i + j];
  out[i] = sum;
})");
  EXPECT_EQ(W["sizes"][0]["radius"], 3);
  EXPECT_EQ(W["arguments"]["filter"]["shape"], list("\"2 * radius + 1\""));
}

// A template that nothing instantiates has arguments that Clang takes.
TEST(Draft, InstantiatesTemplates) {
  json W = drafted(R"(
namespace ns {
template <typename T, int TILE, int PER_THREAD>
__global__ void scale(T *x, int n) {
  static_assert(TILE >= 64 && PER_THREAD == 2, "");
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = 2 * x[i];
}
})");
  EXPECT_EQ(W["launch"]["kernel"], "ns::scale<double, 128, 2>");
  EXPECT_EQ(W["arguments"]["x"]["dtype"], "f64");
}

// What is read four at a time, or as a word, lies at multiples of that: so are
// the sizes that it follows from.
TEST(Draft, DerivesMultiples) {
  json W = drafted(R"(
struct alignas(16) Four {
  float x, y, z, w;
};
__global__ void k(const float *in, float *out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  const Four *from = reinterpret_cast<const Four *>(in + row * columns);
  Four *to = reinterpret_cast<Four *>(out + row * columns);
  for (int i = 0; i < columns / 4; ++i)
    to[i] = from[i];
})");
  EXPECT_EQ(W["multiple_of"], json::parse(R"({"columns": 4})"));
  EXPECT_EQ(W["sizes"][1]["columns"].get<int>() % 4, 0);
  W = drafted(R"(
__global__ void k(const unsigned char *in, unsigned *out, int bytes, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = *(const unsigned *)(in + i * bytes);
})");
  EXPECT_EQ(W["multiple_of"], json::parse(R"({"bytes": 4})"));
}

// A buffer for all that the program has, of which a launch works on a part.
TEST(Draft, TakesThePartThatAnArgumentTells) {
  json W = drafted(std::string(Add) + R"(
#define STREAMS 4
int main() {
  int size = 1000000, part = size / STREAMS;
  float *a, *b;
  cudaMalloc(&a, size * sizeof(float));
  cudaMalloc(&b, size * sizeof(float));
  add<<<(part + 255) / 256, 256>>>(a, b, part);
})");
  EXPECT_EQ(W["arguments"]["b"]["shape"], list("\"size / STREAMS\""));
}

// A block that the entry makes of a size does not say what it is.
TEST(Draft, KeepsSizesThatBoundABlock) {
  json W = drafted(R"(
__global__ void k(const float *in, float *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[blockIdx.x * n + i] = in[blockIdx.x * n + i];
}
void launch(const float *in, float *out, int m, int n) {
  int threads = n < 1024 ? (n + 31) / 32 * 32 : 1024;
  k<<<m, threads>>>(in, out, n);
})");
  EXPECT_EQ(W["entry"], "launch");
  EXPECT_EQ(W["arguments"]["n"]["value"], "n");
  EXPECT_EQ(W["arguments"]["in"]["shape"], list("\"m\", \"n\""));
}

// Lengths hold with other numbers for the sizes as well: 2 * rows * (columns +
// 5) is none of another two.
TEST(Draft, LooksTwiceForLengths) {
  json W = drafted(R"(
__global__ void k(const float *in, float *out, int rows, int columns, int depth,
                  int boxes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows)
    return;
  for (int j = 0; j < boxes; ++j)
    for (int c = 0; c < 5 + columns; ++c)
      out[(i * boxes + j) * (5 + columns) + c] = in[i * depth];
})");
  EXPECT_EQ(W["arguments"]["out"]["shape"],
            list("\"rows\", \"boxes\", \"columns + 5\""));
}

// Labels that are real numbers stay inside what they choose from.
TEST(Draft, KeepsRealLabelsInside) {
  json W = drafted(R"(
__global__ void k(const float *labels, const float *probs, float *out, int n,
                  int classes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = probs[int(labels[i]) * n + i];
}
int main() {
  int n = 1000, classes = 10;
  float *l, *p, *o;
  cudaMalloc(&l, n * sizeof(float));
  cudaMalloc(&p, classes * n * sizeof(float));
  cudaMalloc(&o, n * sizeof(float));
  k<<<(n + 127) / 128, 128>>>(l, p, o, n, classes);
})");
  EXPECT_EQ(W["arguments"]["labels"]["init"],
            json::parse(R"({"integers": [0, "classes"]})"));
}

// Textures are handles that no number is.
TEST(Draft, TakesNoTextures) {
  json W = drafted(R"(
typedef unsigned long long cudaTextureObject_t;
__global__ void k(cudaTextureObject_t image, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = float(image);
})");
  EXPECT_NE(W.get<std::string>().find("a texture"), std::string::npos) << W;
}

// A table that values choose from has as many rows as there may be: a size of
// its own, which the values keep below. Bytes choose among 256.
TEST(Draft, GivesTablesRows) {
  json W = drafted(R"(
struct alignas(16) Four {
  float x, y, z, w;
};
__global__ void k(const int *tokens, const float *table, const unsigned char *kinds,
                  const float *costs, float *out, int n, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  for (int j = 0; j < width / 4; ++j)
    ((Four *)out)[i * (width / 4) + j] =
        ((const Four *)table)[tokens[i] * (width / 4) + j];
  out[i] *= costs[kinds[i]];
})");
  EXPECT_EQ(W["arguments"]["tokens"]["init"],
            json::parse(R"({"integers": [0, "table_rows"]})"));
  EXPECT_EQ(W["arguments"]["table"]["shape"],
            list("\"4 * table_rows\", \"width / 4\""));
  EXPECT_EQ(W["arguments"]["costs"]["shape"], list("256"));
}

// A row for each block of threads is as long as the block.
TEST(Draft, TakesTheBlockForARow) {
  json W = drafted(R"(
__global__ void k(const int *tokens, const float *table, float *out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      table[tokens[blockIdx.x] * blockDim.x + threadIdx.x];
}
void launch(const int *tokens, const float *table, float *out, int n, int width) {
  k<<<n, width>>>(tokens, table, out);
})");
  EXPECT_EQ(W["arguments"]["table"]["shape"],
            list("\"table_rows\", \"width\""));
  EXPECT_EQ(W["arguments"]["tokens"]["init"],
            json::parse(R"({"integers": [0, "table_rows"]})"));
}
