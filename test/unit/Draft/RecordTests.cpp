//===- RecordTests.cpp - Drafts of structs of several types ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Drafted.h"

using namespace stark;
using nlohmann::json;

namespace {
/// The fields of argument \p Name.
json fieldsOf(const json &W, const char *Name) {
  return W["arguments"][Name]["fields"];
}
} // namespace

// A struct of several types is its bytes, and a draft says what each of its
// fields is; of an output that is all.
TEST(DraftRecords, NamesTheFieldsOfAnOutput) {
  json W = drafted(R"(
struct Peak { double value; int at; };
__global__ void k(const float *x, Peak *peaks, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    peaks[i].value = x[i];
    peaks[i].at = i;
  }
}
int main() {
  int n = 4096;
  float *x;
  Peak *peaks;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&peaks, n * sizeof(Peak));
  k<<<n / 64, 64>>>(x, peaks, n);
})");
  EXPECT_EQ(W["arguments"]["peaks"]["dtype"], "u8");
  EXPECT_EQ(W["arguments"]["peaks"]["shape"], list("\"n\", 16"));
  EXPECT_EQ(
      fieldsOf(W, "peaks"),
      json::parse(R"({"value": {"dtype": "f64"}, "at": {"dtype": "i32"}})"));
}

// A field whose values are places in another array stays inside it, one that
// the kernel switches on has what it knows, and a real number is drawn.
TEST(DraftRecords, FillsFieldsByTheirUse) {
  json W = drafted(R"(
struct Point { float x, y; int cell; short kind; };
__global__ void spread(const Point *points, float *cells, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  Point p = points[i];
  switch (p.kind) {
  case 1: atomicAdd(&cells[p.cell], p.x); break;
  case 2: atomicAdd(&cells[p.cell], p.y); break;
  }
}
int main() {
  int n = 4096, m = 512;
  Point *points;
  float *cells;
  cudaMalloc(&points, n * sizeof(Point));
  cudaMalloc(&cells, m * sizeof(float));
  spread<<<n / 64, 64>>>(points, cells, n, m);
})");
  json Fields = fieldsOf(W, "points");
  EXPECT_EQ(Fields["x"], json::parse(R"({"dtype": "f32"})"));
  EXPECT_EQ(Fields["cell"],
            json::parse(R"({"dtype": "i32", "init": {"integers": [0, "m"]}})"));
  EXPECT_EQ(Fields["kind"],
            json::parse(R"({"dtype": "i16", "init": {"integers": [0, 3]}})"));
}

// What the host puts into a field goes before that, whether it sets the field
// or all of the struct.
TEST(DraftRecords, FillsFieldsAsTheHostDoes) {
  constexpr const char *Kernel = R"(
struct Ball { int alive; float at[3]; int steps; };
__global__ void move(Ball *balls, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && balls[i].alive) {
    for (int d = 0; d < 3; ++d)
      balls[i].at[d] += 1.0f;
    balls[i].steps++;
  }
}
)";
  for (const char *Fill :
       {"host[i].alive = i % 2; host[i].steps = 0;",
        "Ball b; b.alive = i % 2; b.steps = 0; host[i] = b;",
        "Ball *b = &host[i]; b->alive = i % 2; b->steps = 0;",
        "host[i] = Ball{i % 2, {0, 0, 0}, 0};"}) {
    json W = drafted(std::string(Kernel) + R"(
int main() {
  int n = 4096;
  Ball *host = new Ball[n], *balls;
  for (int i = 0; i < n; ++i) {
    )" + Fill + R"(
  }
  cudaMalloc(&balls, n * sizeof(Ball));
  cudaMemcpy(balls, host, n * sizeof(Ball), cudaMemcpyHostToDevice);
  move<<<n / 64, 64>>>(balls, n);
})");
    json Fields = fieldsOf(W, "balls");
    EXPECT_EQ(W["arguments"]["balls"]["role"], "inout") << Fill;
    EXPECT_EQ(Fields["alive"]["init"], json::parse(R"({"integers": [0, 2]})"))
        << Fill;
    EXPECT_EQ(Fields["steps"]["init"], "zeros") << Fill;
    EXPECT_EQ(Fields["at"]["dtype"], "f32") << Fill;
  }
}
