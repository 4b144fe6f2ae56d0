//===- UnlaunchedTests.cpp - Drafts of kernels that nothing launches ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Drafted.h"

using namespace stark;
using nlohmann::json;

// Dynamic shared memory is as long as sizes say, and not as those that the dry
// run has.
TEST(DraftOfUnlaunched, CountsSharedMemoryInSizes) {
  json W = drafted(R"(
__global__ void attend(const float *q, const float *v, float *o, int keys, int d) {
  extern __shared__ float block[];
  float *scores = block, *sums = block + keys;
  for (int k = threadIdx.x; k < keys; k += blockDim.x)
    scores[k] = q[blockIdx.x * d] * v[k * d];
  for (int i = threadIdx.x; i < d; i += blockDim.x)
    sums[i] = scores[0] * v[i];
  for (int i = threadIdx.x; i < d; i += blockDim.x)
    o[blockIdx.x * d + i] = sums[i];
})");
  EXPECT_EQ(W["launch"]["shared_bytes"], "4 * (keys + d)");
}

// A row for each block: rows come first, as they lie.
TEST(DraftOfUnlaunched, PutsRowsFirst) {
  json W = drafted(R"(
__global__ void twice(const float *x, float *y, int columns) {
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    y[blockIdx.x * columns + i] = 2 * x[blockIdx.x * columns + i];
})");
  EXPECT_EQ(W["arguments"]["y"]["shape"], list(R"("blocks", "columns")"));
}

// The last fields of the last struct need not be used.
TEST(DraftOfUnlaunched, CountsWholeStructs) {
  json W = drafted(R"(
struct Node { double mass; int first, last; double unused[7]; };
__global__ void reset(Node *nodes, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    nodes[i].mass = 0;
    nodes[i].first = nodes[i].last = -1;
  }
})");
  EXPECT_EQ(W["arguments"]["nodes"]["shape"], list(R"("n", 72)"));
}

// What has neighbours in three directions is followed within its border.
TEST(DraftOfUnlaunched, FollowsWithinABorder) {
  json W = drafted(R"(
__global__ void smooth(const float *x, float *y, int nx, int ny, int nz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  int k = blockIdx.z;
  if (k > 0 && k < nz - 1 && j > 0 && j < ny - 1 && i > 0 && i < nx - 1) {
    int at = (k * ny + j) * nx + i;
    y[at] = x[at - nx * ny] + x[at + nx * ny];
  }
})");
  EXPECT_EQ(W["launch"]["grid"],
            "ceildiv(nx - 1, 16), ceildiv(ny - 1, 16), nz - 1");
  EXPECT_EQ(W["arguments"]["x"]["shape"], list(R"("nx", "ny", "nz")"));
}

// An offset is none unless a program says so.
TEST(DraftOfUnlaunched, TakesNoOffset) {
  json W = drafted(R"(
__global__ void pick(const float *table, const int *at, float *y, int n, int first_offset) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = table[at[i] - first_offset];
})");
  EXPECT_EQ(W["arguments"]["first_offset"]["value"], 0);
}

// A class with constructors is given field by field where it can be made of
// nothing.
TEST(DraftOfUnlaunched, GivesClassesWithConstructors) {
  json W = drafted(R"(
struct vec3 {
  float e[3];
  __host__ __device__ vec3() : e{1, 1, 1} {}
  __host__ __device__ vec3(float x, float y, float z) : e{x, y, z} {}
};
struct Pose {
  vec3 at;
  int id;
  Pose() = default;
  Pose(int id) : id(id) {}
};
__global__ void shift(float *x, Pose p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] += p.at.e[0];
})");
  ASSERT_TRUE(W.is_object()) << W;
  EXPECT_TRUE(W["arguments"].contains("p.at.e[2]")) << W;
  EXPECT_TRUE(W["arguments"].contains("p.id"));
}

// ... and where it asks for something, or hides it, by its bytes.
TEST(DraftOfUnlaunched, GivesAClassThatAsksForMore) {
  for (const char *Class :
       {"struct P { int n; P(int n) : n(n) {} };",
        "class P { int n; public: P() {} };", "struct P { const int n; };",
        "struct P { int n; __device__ P() {} };"}) {
    json W = drafted(std::string(Class) +
                     "__global__ void k(float *x, P p) { x[0] = sizeof(p); }");
    ASSERT_TRUE(W.is_object()) << Class << W;
    EXPECT_TRUE(W["arguments"].contains("p.n")) << Class;
  }
}

// ... but not where it is more than its bytes.
TEST(DraftOfUnlaunched, GivesNoClassThatIsMoreThanItsBytes) {
  for (const char *Class :
       {"struct P { int n; virtual void f() {} };",
        "struct Q { int m; }; struct P : Q { int n; P(int n) : n(n) {} };",
        "struct P { int n; P(int); P(const P &); };",
        "struct P { int n; P(int); ~P(); };"}) {
    json W = drafted(std::string(Class) +
                     "__global__ void k(float *x, P p) { x[0] = sizeof(p); }");
    EXPECT_TRUE(W.is_string()) << Class << W;
  }
}
