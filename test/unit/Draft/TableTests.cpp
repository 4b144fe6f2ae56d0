//===- TableTests.cpp - Drafts of what is launched through a table --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Drafted.h"

using namespace stark;
using nlohmann::json;

static const std::string Kernels = R"(
__global__ void plain(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
__global__ void other(const float *x, float *y, int n) {
  if (threadIdx.x < n)
    y[threadIdx.x] = x[threadIdx.x];
}
typedef void (*Kernel)(const float *, float *, int);
)";

// What is launched through a pointer that comes out of what is not followed is
// each kernel of its type whose address is taken.
TEST(DraftOfTable, LaunchesKernelsOfTheirType) {
  json W = drafted(Kernels + R"(
template <class T> struct Map { T &operator[](const char *); };
Map<Kernel> kernels;
int main(int argc, char **argv) {
  kernels["plain"] = plain;
  int n = 5000;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  kernels[argv[1]]<<<(n + 31) / 32, 32>>>(x, y, n);
})",
                   "plain");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 32)");
  EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"n\""));
  EXPECT_EQ(W["sizes"][0]["n"], 5000);
}

// So are host functions, those in a std::function as well.
TEST(DraftOfTable, CallsFunctionsOfTheirType) {
  for (const char *Table :
       {"void (*get(int))(const float *, float *, int);\n"
        "struct Table { void (*run)(const float *, float *, int); };\n"
        "Table table{launch};\n",
        "namespace std { template <class F> struct function;\n"
        "template <class R, class... A> struct function<R(A...)> {\n"
        "  template <class F> function(F f);\n"
        "  R operator()(A...) const; }; }\n"
        "void add(std::function<void(const float *, float *, int)> f);\n"
        "std::function<void(const float *, float *, int)> &get(int);\n"
        "int added = (add(launch), 0);\n"}) {
    json W = drafted(Kernels +
                         R"(
void launch(const float *x, float *y, int n) {
  plain<<<(n + 31) / 32, 32>>>(x, y, n);
}
)" + Table + R"(
int main() {
  int n = 5000;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  void (*taken)(const float *, float *, int) = launch;
  get(3)(x, y, n);
})",
                     "plain");
    EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 32)") << Table;
    EXPECT_EQ(W["sizes"][0]["n"], 5000) << Table;
  }
}

// A function of another type, or of which no address is taken, is not called.
TEST(DraftOfTable, LeavesOthers) {
  json W = drafted(Kernels + R"(
Kernel get(int);
void (*taken)(float *, int);
int main() {
  int n = 5000;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  Kernel known = other;
  get(3)<<<(n + 31) / 32, 32>>>(x, y, n);
})",
                   "plain");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 256)");
}
