//===- WayTests.cpp - Which way a program goes, in drafts -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Drafted.h"

using namespace stark;
using nlohmann::json;

static const std::string Kernel = R"(
extern "C" int atoi(const char *);
extern "C" double atof(const char *);
extern "C" void exit(int) __attribute__((noreturn));
extern "C" void failed(const char *) __attribute__((noreturn));
#define assert(e) ((e) ? (void)0 : failed(#e))
__global__ void k(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
)";

/// Of a program that launches k in run().
static json programOf(const std::string &Main) {
  return drafted(Kernel + R"(
void run(int n) {
  float *x, *y;
  cudaMalloc((void **)&x, n * sizeof(float));
  cudaMalloc((void **)&y, n * sizeof(float));
  k<<<(n + 127) / 128, 128>>>(x, y, n);
}
)" + Main,
                 "k");
}

// A program that is told what to do is told what it launches with.
TEST(DraftOfWay, IsToldTheModeThatLaunches) {
  for (const char *Main :
       {"int main(int argc, char **argv) {\n"
        "  int mode = atoi(argv[1]);\n"
        "  if (mode == 0) return 0;\n"
        "  else if (mode == 2) run(4096);\n"
        "  else exit(1);\n"
        "}\n",
        "int main(int argc, char **argv) {\n"
        "  int layer = atoi(argv[1]), way = atoi(argv[2]), n;\n"
        "  if (layer == 0) n = 4096;\n"
        "  else if (layer == 1) n = 8192;\n"
        "  else exit(1);\n"
        "  if (way == 3) run(n);\n"
        "}\n",
        "void work(int way, int n) { if (way == 1) run(n); }\n"
        "int main(int argc, char **argv) {\n"
        "  int way = atoi(argv[1]);\n"
        "  if (way != 1 && way != 5) exit(1);\n"
        "  work(way, 4096);\n"
        "}\n"}) {
    json W = programOf(Main);
    EXPECT_EQ(W["sizes"][0], (json{{"n", 4096}})) << Main;
    EXPECT_EQ(W["launch"]["block"], "128") << Main;
  }
}

// What a program ends without is the number that it wants.
TEST(DraftOfWay, TakesTheNumberThatACheckWants) {
  for (const char *Check : {"  if (w != 3) return 1;\n", "  assert(w == 3);\n",
                            "  if (n < 1 || w != 3) exit(1);\n"}) {
    json W = drafted(Kernel + R"(
__global__ void rows(const float *x, float *y, int n, int w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j < w; ++j) sum += x[i * w + j];
  y[i] = sum;
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]), w = atoi(argv[2]);
)" + std::string(Check) +
                         R"(
  float *x, *y;
  cudaMalloc((void **)&x, n * w * sizeof(float));
  cudaMalloc((void **)&y, n * sizeof(float));
  rows<<<(n + 127) / 128, 128>>>(x, y, n, w);
})",
                     "rows");
    EXPECT_EQ(W["arguments"]["w"]["value"], 3) << Check;
    EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"3 * n\"")) << Check;
  }
}

// A whole number may be read as a real one; what stays real is no size.
TEST(DraftOfWay, ReadsWholeNumbersAsRealOnes) {
  json W = programOf("int main(int argc, char **argv) {\n"
                     "  int n = atof(argv[1]);\n"
                     "  if (n < 1) return 1;\n"
                     "  run(n);\n"
                     "}\n");
  EXPECT_EQ(W["sizes"][0], (json{{"n", 1024}}));
  EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"n\""));
  json Real = drafted(Kernel + R"(
__global__ void scale(float *x, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}
int main(int argc, char **argv) {
  float by = atof(argv[1]), *x;
  cudaMalloc((void **)&x, 4096 * sizeof(float));
  scale<<<16, 256>>>(x, by, 4096);
})",
                      "scale");
  EXPECT_EQ(Real["arguments"]["by"]["value"], 1);
}

static const char Heads[] = R"(
template <int D> __global__ void heads(const float *x, float *y, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n)
    for (int d = 0; d < D; ++d)
      y[(blockIdx.y * n + i) * D + d] = x[(blockIdx.y * n + i) * D + d];
}
template <int D>
static void launch(dim3 grid, const float *x, float *y, int n) {
  heads<D><<<grid, 64>>>(x, y, n);
}
)";

// A function that launches through another says what that one is given.
TEST(DraftOfWay, FollowsWhoLaunchesThroughAnother) {
  for (const char *Outer :
       {"void all(const float *x, float *y, int b, int n) {\n"
        "  launch<32>(dim3((n + 63) / 64, b), x, y, n);\n"
        "}\n",
        "static void inner(const float *x, float *y, int b, int n) {\n"
        "  dim3 grid((n + 63) / 64, b);\n"
        "  launch<32>(grid, x, y, n);\n"
        "}\n"
        "void all(const float *x, float *y, int b, int n) {\n"
        "  inner(x, y, b, n);\n"
        "}\n",
        // Of a switch that ends the program at what it does not know.
        "void all(const float *x, float *y, int b, int n, int d) {\n"
        "  dim3 grid((n + 63) / 64, b);\n"
        "  switch (d) {\n"
        "  case 32: launch<32>(grid, x, y, n); break;\n"
        "  default: exit(1);\n"
        "  }\n"
        "}\n"}) {
    json W = drafted(Kernel + Heads + Outer, "launch<32>");
    EXPECT_EQ(W["arguments"]["grid.x"]["value"], "ceildiv(n, 64)") << Outer;
    EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"32 * grid_y\", \"n\""))
        << Outer;
  }
}

// What an entry asserts of sizes that nobody gives holds.
TEST(DraftOfWay, HoldsWhatAnEntryAsserts) {
  for (const char *Check :
       {"  assert(n % w == 0);\n", "  if (n % w != 0) exit(1);\n",
        "  if (n % w) return;\n"}) {
    json W = drafted(Kernel +
                         "void run(const float *x, float *y, int n, int w)"
                         " {\n" +
                         Check + "  k<<<(n + 127) / 128, 128>>>(x, y, n);\n}\n",
                     "run");
    EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"n\"")) << Check;
    EXPECT_EQ(W["arguments"]["y"]["role"], "output") << Check;
  }
}

// A number of warps makes the block, and is no size.
TEST(DraftOfWay, MakesBlocksOfWarps) {
  json W = drafted(R"(
__global__ void rows(const float *x, float *y, int n) {
  int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= n) return;
  for (int i = threadIdx.x % 32; i < 64; i += 32)
    y[row * 64 + i] = 2 * x[row * 64 + i];
}
void run(const float *x, float *y, int n, int warps) {
  rows<<<(n + warps - 1) / warps, warps * 32>>>(x, y, n);
})",
                   "run");
  EXPECT_EQ(W["arguments"]["warps"]["value"], 8);
  EXPECT_EQ(W["arguments"]["y"]["role"], "output");
}

// How much of a size a block takes is a part of it, and no size.
TEST(DraftOfWay, TakesAPartOfASizeForEachBlock) {
  for (const char *Grid : {"n / part", "(n + part - 1) / part"}) {
    json W = drafted(R"(
__global__ void parts(const float *x, float *y, int n, int part) {
  for (int i = threadIdx.x; i < part; i += blockDim.x) {
    int at = (blockIdx.y * n + blockIdx.x * part + i);
    if (blockIdx.x * part + i < n) y[at] = 2 * x[at];
  }
}
void run(const float *x, float *y, int b, int n, int part) {
  parts<<<dim3()" + std::string(Grid) +
                     R"(, b), 128>>>(x, y, n, part);
})");
    EXPECT_EQ(W["arguments"]["part"]["value"], 16) << Grid;
    EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"b\", \"n\"")) << Grid;
  }
}

// What a program wants to be a multiple is one in the workload, whether the
// kernel's entry is followed in it or by itself.
TEST(DraftOfWay, KeepsToWhatACheckWantsOfSizes) {
  for (const char *Check :
       {"  assert(n % 48 == 0);\n", "  assert(n > 0 && n % 48 == 0);\n",
        "  if (n % 48 != 0) return;\n", "  if (n < 1 || n % 48) exit(1);\n",
        "  if (!(n % 48 == 0)) exit(1);\n"})
    for (const char *Entry : {"run", "k"}) {
      json W =
          drafted(Kernel + "void run(const float *x, float *y, int n) {\n" +
                      Check + "  k<<<(n + 127) / 128, 128>>>(x, y, n);\n}\n",
                  Entry);
      EXPECT_EQ(W["multiple_of"], (json{{"n", 48}})) << Check << Entry;
    }
  // One of another size, and what ends nothing, say nothing.
  json W = drafted(Kernel + "void run(const float *x, float *y, int n, int m) {"
                            "\n  assert(m % 48 == 0);\n"
                            "  int odd = n % 48 == 0 ? 1 : 2;\n"
                            "  k<<<(n + 127) / 128, 128>>>(x, y, n);\n}\n",
                   "k");
  EXPECT_FALSE(W.contains("multiple_of"));
}
