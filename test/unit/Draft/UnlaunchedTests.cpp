//===- UnlaunchedTests.cpp - Drafts of kernels that nothing launches ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Drafted.h"

using namespace stark;
using nlohmann::json;

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

// ... and not where it asks for something, or hides it.
TEST(DraftOfUnlaunched, GivesNoClassThatAsksForMore) {
  for (const char *Class : {"struct P { int n; P(int n) : n(n) {} };",
                            "class P { int n; public: P() {} };",
                            "struct P { int n; virtual void f() {} };",
                            "struct P { int n; __device__ P() {} };"}) {
    json W = drafted(std::string(Class) +
                     "__global__ void k(float *x, P p) { x[0] = sizeof(p); }");
    EXPECT_TRUE(W.is_string()) << Class << W;
  }
}
