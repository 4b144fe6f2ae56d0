//===- ValueTests.cpp - What a draft fills arrays with --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Drafted.h"

using namespace stark;
using nlohmann::json;

static json initOf(const std::string &Array, const std::string &Body) {
  return drafted("__global__ void k(const " + Array +
                 ", int *out, int n) {\n"
                 "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                 "  if (i >= n)\n"
                 "    return;\n" +
                 Body + "}\n")["arguments"]["in"]["init"];
}

static json below(int Least, int Limit) {
  return json{{"integers", {Least, Limit}}};
}

// Values that a kernel tells apart are those that it names.
TEST(DraftOfValues, TakesWhatIsComparedWith) {
  EXPECT_EQ(initOf("int *in", R"(
  int cell = in[i], around = in[i] + in[i + 1];
  if (cell == 1 && around < 3)
    cell = 0;
  else if (cell == 0 && around == 3)
    cell = 1;
  out[i] = cell;
)"),
            below(0, 2));
  EXPECT_EQ(initOf("unsigned char *in", "out[i] = !in[i];"), below(0, 2));
  EXPECT_EQ(initOf("int *in", "if (in[i] != -1) out[i] = 3;"), below(-1, 2));
  EXPECT_EQ(initOf("unsigned char *in", "out[i] = in[i] == 255 ? 1 : 0;"),
            (json{{"integers", {0, 2}}, {"times", 255}}));
}

// Each way of a switch counts, and what each writes.
TEST(DraftOfValues, TakesLabelsOfSwitches) {
  std::string Source = R"(
__global__ void k(const int *kind, float *a, float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  switch (kind[i]) {
  case 0: a[i] = 1; break;
  case 1: a[i] = 2; return;
  case 2: b[i] = 3; break;
  }
})";
  json W = drafted(Source)["arguments"];
  EXPECT_EQ(W["kind"]["init"], below(0, 3));
  EXPECT_EQ(W["b"]["shape"], list("\"n\""));
  EXPECT_EQ(W["b"]["role"], "inout");
}

// What the block has copied of an array is as the array is.
TEST(DraftOfValues, ComparesCopiesOfABlock) {
  EXPECT_EQ(initOf("int *in", R"(
  __shared__ int tile[256];
  tile[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = tile[threadIdx.x] == 2;
)"),
            below(0, 3));
}

// An array that the host clears, and then reads, is none of zeros.
TEST(DraftOfValues, ComparesWhatIsReadAfterAClear) {
  json W = drafted(R"(
extern "C" void *memset(void *, int, size_t);
void read(int *into);
__global__ void k(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] == 1 ? 2 : 0;
}
int main() {
  int n = 5000, *in, *out, *host = (int *)malloc(n * sizeof(int));
  memset(host, 0, n * sizeof(int));
  read(host);
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMemcpy(in, host, n * sizeof(int), cudaMemcpyHostToDevice);
  k<<<(n + 255) / 256, 256>>>(in, out, n);
})");
  EXPECT_EQ(W["arguments"]["in"]["init"], below(0, 2));
}

// What the program puts there comes first, and sums are no values of an array.
TEST(DraftOfValues, LeavesSumsAndWhatIsKnown) {
  EXPECT_EQ(initOf("int *in", "out[i] = in[i] + in[i + 1] == 3;"), json());
  EXPECT_EQ(initOf("int *in", "out[i] = in[i] == 1000;"), json());
  json W = drafted(R"(
__global__ void k(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] == 1)
    out[i] = 1;
}
int main() {
  int n = 5000, *in, *out, *host = (int *)malloc(n * sizeof(int));
  for (int i = 0; i < n; ++i)
    host[i] = rand() % 10;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMemcpy(in, host, n * sizeof(int), cudaMemcpyHostToDevice);
  k<<<(n + 255) / 256, 256>>>(in, out, n);
})");
  EXPECT_EQ(W["arguments"]["in"]["init"], below(0, 10));
}

// What a loop computes as a remainder stays one in its last turn.
TEST(DraftOfValues, KeepsRemaindersBelowTheirDivisor) {
  json W = drafted(R"(
__global__ void k(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i];
}
int main() {
  int n = 5000, *in, *out, *host = (int *)malloc(n * sizeof(int));
  int value = 1;
  for (int i = 0; i < n; ++i) {
    host[i] = value;
    value = (value + 13) % 20;
  }
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMemcpy(in, host, n * sizeof(int), cudaMemcpyHostToDevice);
  k<<<(n + 255) / 256, 256>>>(in, out, n);
})");
  EXPECT_EQ(W["arguments"]["in"]["init"], below(0, 20));
}

// ... and its array has all of them, of which a few turns see some.
TEST(DraftOfValues, TakesAllRemainders) {
  json W = drafted(R"(
__global__ void k(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i];
}
int main() {
  int n = 5000, *in, *out, *host = (int *)malloc(n * sizeof(int));
  for (int i = 0; i < n; ++i)
    host[i] = i % 1000;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMemcpy(in, host, n * sizeof(int), cudaMemcpyHostToDevice);
  k<<<(n + 255) / 256, 256>>>(in, out, n);
})");
  EXPECT_EQ(W["arguments"]["in"]["init"], below(0, 1000));
}

// A warp has 32 lanes, the first of which may be who writes.
TEST(DraftOfValues, KnowsHowLongAWarpIs) {
  json W = drafted(R"(
__global__ void k(const float *in, float *out, int n) {
  int row = blockIdx.x, lane = threadIdx.x % warpSize;
  if (row < n && lane == 0)
    out[row] = in[row * warpSize + lane];
}
int main() {
  int n = 5000;
  float *in, *out;
  cudaMalloc(&in, n * 32 * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  k<<<n, 32>>>(in, out, n);
})");
  EXPECT_EQ(W["arguments"]["out"]["role"], "output");
}

// Rows of a sparse matrix, of which the program has as many as a constant says:
// with fewer rows there are fewer elements, and none has more than before.
TEST(DraftOfValues, KeepsRowsAsLongAsTheyAre) {
  json W = drafted(R"(
#define N 1000
#define NNZ 2500
__global__ void first(const int *begins, const int *columns, int *out) {
  int sum = 0;
  for (int j = begins[blockIdx.x]; j < begins[blockIdx.x + 1]; ++j)
    sum += columns[j];
  out[blockIdx.x] = sum;
}
void read(int *);
int main() {
  int *begins, *columns, *out;
  cudaMalloc(&begins, (N + 1) * sizeof(int));
  cudaMalloc(&columns, NNZ * sizeof(int));
  cudaMalloc(&out, N * sizeof(int));
  first<<<N, 32>>>(begins, columns, out);
})",
                   "first");
  EXPECT_EQ(W["arguments"]["columns"]["shape"], list("\"3 * N\""));
  EXPECT_EQ(W["arguments"]["begins"]["init"], (json{{"arange", 3}}));
}

// Ends of a range are no one number, and where values choose bins it has all of
// the values that are drawn.
TEST(DraftOfValues, TellsTheEndsOfARangeApart) {
  json W = drafted(R"(
__global__ void clip(float *x, int n, float lo, float hi, float gain) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = gain * (x[i] < lo ? lo : x[i] > hi ? hi : x[i]);
})")["arguments"];
  EXPECT_EQ(W["lo"]["value"], -1);
  EXPECT_EQ(W["hi"]["value"], 1);
  EXPECT_EQ(W["gain"]["value"], 1);
  W = drafted(R"(
__global__ void count(const float *x, int *bins, int n, float nMin, float nMax) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&bins[int((x[i] - nMin) / (nMax - nMin) * 16)], 1);
})")["arguments"];
  EXPECT_EQ(W["nMin"]["value"], -8);
  EXPECT_EQ(W["nMax"]["value"], 8);
  W = drafted(R"(
__global__ void count(const float *x, int *out, int n, float low, float high) {
  extern __shared__ int bins[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&bins[int((x[i] - low) / (high - low) * 16)], 1);
  if (threadIdx.x < 16)
    out[blockIdx.x * 16 + threadIdx.x] = bins[threadIdx.x];
})")["arguments"];
  EXPECT_EQ(W["low"]["value"], -8);
  EXPECT_EQ(W["high"]["value"], 8);
}

// Blocks that are set field by field are as many as the program sets.
TEST(DraftOfValues, KeepsBlocksThatAreSetByField) {
  json W = drafted(R"(
__global__ void k(const float *in, float *out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    out[i] = in[i];
}
void launch(const float *in, float *out, int n) {
  dim3 blocks, threads;
  blocks.x = 8;
  threads.x = 64;
  k<<<blocks, threads>>>(in, out, n);
})",
                   "k");
  EXPECT_EQ(W["launch"]["grid"], "8");
  EXPECT_EQ(W["launch"]["block"], "64");
}

static bool saysOrder(const std::string &Place) {
  std::vector<std::string> Said;
  drafted("__global__ void k(const int *in, int *out, int *count, int n) {\n"
          "  __shared__ int mine;\n"
          "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
          "  if (i >= n)\n"
          "    return;\n" +
              Place + "}\n",
          "k", &Said);
  for (const std::string &Note : Said)
    if (Note.find("'out'") != std::string::npos &&
        Note.find("order differs") != std::string::npos)
      return true;
  return false;
}

// Where elements go where an atomic operation says, no comparison of them is of
// use, and the draft says so.
TEST(DraftOfValues, SaysWhereAtomicsMakeTheOrder) {
  EXPECT_TRUE(saysOrder("if (in[i] > 3) out[atomicAdd(count, 1)] = in[i];"));
  EXPECT_TRUE(saysOrder("int at = atomicAdd(&mine, 1);\n"
                        "__shared__ int base;\n"
                        "if (threadIdx.x == 0) base = atomicAdd(count, mine);\n"
                        "out[base + at] = in[i];"));
  EXPECT_FALSE(saysOrder("out[i] = in[i]; atomicAdd(count, 1);"));
  EXPECT_FALSE(saysOrder("atomicAdd(&out[in[i]], 1);"));
}

// A size that the host puts into an array of one element is that size there,
// and guards by it are those of the size.
TEST(DraftOfValues, KnowsSizesInArraysOfOneElement) {
  for (const char *Set :
       {"int *count; cudaMalloc(&count, sizeof(int));"
        "cudaMemcpy(count, &n, sizeof(int), cudaMemcpyHostToDevice);",
        "int held[1] = {n}, *count; cudaMalloc(&count, sizeof(int));"
        "cudaMemcpy(count, held, sizeof(int), cudaMemcpyHostToDevice);",
        "int *count; cudaMallocManaged(&count, sizeof(int)); *count = n;",
        "int *held = (int *)malloc(sizeof(int)), *count; held[0] = n;"
        "cudaMalloc(&count, 1 * sizeof(int));"
        "cudaMemcpy(count, held, sizeof(int), cudaMemcpyHostToDevice);"}) {
    json W = drafted(std::string(R"(
template <class T> int cudaMallocManaged(T **, size_t);
__global__ void add(const float *a, float *b, int *count) {
  int i = blockIdx.x * 1024 + threadIdx.x;
  if (i < *count)
    b[i] = a[i];
}
int main() {
  int n = 5000;
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  )") + Set + R"(
  add<<<(n + 1023) / 1024, 1024>>>(a, b, count);
})");
    EXPECT_EQ(W["arguments"]["count"]["init"],
              json::parse(R"({"integers": ["n", "n + 1"]})"))
        << Set;
    EXPECT_EQ(W["arguments"]["b"]["shape"], list("\"n\"")) << Set;
  }
}

// A variable that has another value at each copy holds none of them.
TEST(DraftOfValues, KnowsNoSizeWhereSeveralAreCopied) {
  json W = drafted(R"(
__global__ void k(float *a, int *at, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    a[i] += *at;
}
int main() {
  int n = 5000, step = 0, *at;
  float *a;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&at, sizeof(int));
  for (step = 0; step < n; ++step) {
    cudaMemcpy(at, &step, sizeof(int), cudaMemcpyHostToDevice);
    k<<<(n + 255) / 256, 256>>>(a, at, n);
  }
})");
  EXPECT_NE(W["arguments"]["at"]["init"],
            json::parse(R"({"integers": ["n", "n + 1"]})"));
}

// Cells of which sums are compared with a few are there or not.
TEST(DraftOfValues, TakesCellsThatAreCountedForTruthValues) {
  for (const char *Count :
       {"int sum = cells[i - 1] + cells[i + 1] + cells[i - n] + cells[i + n];"
        "next[i] = sum == 3 || (sum == 2 && cells[i]);",
        "int sum = 0; for (int d = -1; d <= 1; d += 2) sum += cells[i + d];"
        "next[i] = sum == 2;",
        "int sum = 0; sum += cells[i - n]; sum += cells[i + n];"
        "if (sum < 2 || sum > 3) next[i] = 0; else next[i] = 1;",
        "unsigned sum = cells[i - 1] + cells[i + 1]; switch (sum) {"
        "case 2: next[i] = 1; break; default: next[i] = 0; }"}) {
    json W = drafted(std::string(R"(
__global__ void life(const unsigned char *cells, unsigned char *next, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1, i = x + n * blockIdx.y + n;
  if (x < n - 1) {
    )") + Count + R"(
  }
}
void run(unsigned char *cells, unsigned char *next, int n) {
  life<<<dim3(n / 128, n - 2), 128>>>(cells, next, n);
})");
    EXPECT_EQ(W["arguments"]["cells"]["init"],
              json::parse(R"({"integers": [0, 2]})"))
        << Count;
  }
}

// What is compared after other arithmetic may be any number.
TEST(DraftOfValues, TakesOtherArithmeticForWhatItIs) {
  json W = drafted(R"(
__global__ void k(const int *a, int *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    b[i] = a[i] * 3 + a[i] / 7 > 20;
})");
  EXPECT_FALSE(W["arguments"]["a"].contains("init"));
}

// What a whole array is filled with is not what its first element is.
TEST(DraftOfValues, LooksAtAllThatIsCopied) {
  json W = drafted(R"(
__global__ void k(const int *a, int *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    b[i] = a[i] + 1;
}
int main() {
  int n = 5000, *host = new int[n], *a, *b;
  for (int i = 0; i < n; ++i)
    host[i] = i % 7;
  cudaMalloc(&a, n * sizeof(int));
  cudaMalloc(&b, n * sizeof(int));
  cudaMemcpy(a, host, n * sizeof(int), cudaMemcpyHostToDevice);
  k<<<(n + 255) / 256, 256>>>(a, b, n);
})");
  EXPECT_EQ(W["arguments"]["a"]["init"],
            json::parse(R"({"integers": [0, 7]})"));
}

// A float's number is told as the program has it, a double's to its last digit.
TEST(DraftOfValues, TellsFloatsAsTheyAreWritten) {
  json W = drafted(R"(
__global__ void k(float *out, float step, double wide, float third, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = step * third + wide;
}
int main() {
  const int n = 4096;
  float *out;
  cudaMalloc((void **)&out, n * sizeof(float));
  k<<<n / 256, 256>>>(out, 0.01f, 0.01f, 1.0f / 3, n);
})")["arguments"];
  EXPECT_EQ(W["step"]["value"].dump(), "0.01");
  EXPECT_EQ(W["wide"]["value"].dump(), "0.009999999776482582");
  EXPECT_EQ(float(W["third"]["value"].get<double>()), 1.0f / 3);
}
