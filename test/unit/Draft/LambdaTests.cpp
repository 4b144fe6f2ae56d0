//===- LambdaTests.cpp - Launches in lambdas ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Drafted.h"

using namespace stark;
using nlohmann::json;

static const std::string Kernel = R"(
__global__ void twice(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= 2;
}
namespace std {
template <class T> class function;
template <class R, class... A> class function<R(A...)> {
public:
  template <class F> function(F f);
  function(const function &);
  R operator()(A...) const;
  void *held[4];
};
}
)";

static void expectLaunch(const json &W) {
  ASSERT_TRUE(W.is_object()) << W;
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 64)") << W;
  EXPECT_EQ(W["launch"]["block"], "64");
  EXPECT_EQ(W["sizes"][0], json::parse(R"({"n": 5000})"));
  EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"n\""));
}

// What a lambda captures by reference is what the function around it has.
TEST(DraftOfLambda, HasWhatItCaptures) {
  expectLaunch(drafted(Kernel + R"(
template <class F> void repeat(F f, int times) {
  for (int i = 0; i < times; ++i)
    f();
}
int main() {
  int n = 5000;
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  auto run = [&](int b) { twice<<<(n + b - 1) / b, b>>>(x, n); };
  repeat([&] { run(64); }, 10);
})"));
}

// So is one in a std::function, which is passed on.
TEST(DraftOfLambda, IsCalledByAFunctionObject) {
  expectLaunch(drafted(Kernel + R"(
void once(const std::function<void(int)> &f, int b) { f(b); }
void repeat(std::function<void(int)> f, int b) { once(f, b); }
int main() {
  int n = 5000;
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  repeat([&](int b) { twice<<<(n + b - 1) / b, b>>>(x, n); }, 64);
})"));
}

// A function of which only the name is known calls what it is given.
TEST(DraftOfLambda, IsCalledByWhatIsNotKnown) {
  expectLaunch(drafted(Kernel + R"(
template <class F> float timeOf(F f, int times);
int main() {
  int n = 5000;
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  float ms = timeOf([=] { twice<<<(n + 63) / 64, 64>>>(x, n); }, 10);
})"));
}

// Its object is that of the method that it was made in, whoever calls it.
TEST(DraftOfLambda, HasTheObjectAroundIt) {
  expectLaunch(drafted(Kernel + R"(
struct Timer {
  int runs = 0;
  template <class F> void time(F f) { ++runs; f(); }
};
struct Solver {
  float *x;
  int n;
  void solve() {
    Timer t;
    t.time([this] { twice<<<(n + 63) / 64, 64>>>(x, n); });
  }
};
int main() {
  Solver s;
  s.n = 5000;
  cudaMalloc(&s.x, s.n * sizeof(float));
  s.solve();
})"));
}
