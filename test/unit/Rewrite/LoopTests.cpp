//===- LoopTests.cpp - What is known of loops and reductions --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/Accumulation.h"
#include "Analysis/LoopJamBody.h"
#include "Analysis/LoopNest.h"
#include "Analysis/Remap.h"
#include "ParsedKernels.h"

using namespace stark;
using namespace clang;

static std::string countedLoop(llvm::StringRef Header) {
  ParsedKernels P(("__global__ void k(float *x, int n) {\n  for (" + Header +
                   ") x[i] = 1;\n}")
                      .str());
  auto L = readCountedLoop(P.facts(), P.only(), P.loop());
  if (!L)
    return "none";
  return std::string(L->Down ? "down" : "up") +
         (surelyRuns(P.facts(), P.only(), *L) ? ", runs" : "");
}

TEST(CountedLoop, Counts) {
  EXPECT_EQ(countedLoop("int i = 0; i < n; ++i"), "up");
  EXPECT_EQ(countedLoop("int i = 0; i < 4; i += 2"), "up, runs");
  EXPECT_EQ(countedLoop("int i = 8; i > 0; --i"), "down, runs");
  EXPECT_EQ(countedLoop("int i = 0; i < n; --i"), "none");
  EXPECT_EQ(countedLoop("int i = 0; i != n; ++i"), "none");
  EXPECT_EQ(countedLoop("char i = 0; i < n; ++i"), "none");
}

static std::string threadLoop(llvm::StringRef Header) {
  ParsedKernels P(("__global__ void k(float *x, int *m, int n) {\n"
                   "  int t = threadIdx.x;\n  for (" +
                   Header + ") x[i] = 1;\n}")
                      .str());
  auto L = readThreadLoop(P.facts(), P.only(), P.loop());
  if (!L)
    return "none";
  return *L ? ((*L)->Grid ? "grid" : "block") : L->why().str();
}

TEST(ThreadLoop, IsSharedByABlockOrTheGrid) {
  EXPECT_EQ(threadLoop("int i = threadIdx.x; i < n; i += blockDim.x"), "block");
  EXPECT_EQ(threadLoop("int i = t; n > i; i = i + blockDim.x"), "block");
  EXPECT_EQ(threadLoop("int i = blockIdx.x * blockDim.x + t; i < n; "
                       "i += gridDim.x * blockDim.x"),
            "grid");
  EXPECT_EQ(threadLoop("int i = 0; i < n; i += blockDim.x"), "none");
  EXPECT_EQ(threadLoop("int i = t; i <= n; i += blockDim.x"),
            "its condition is not 'index < bound'");
  EXPECT_EQ(threadLoop("int i = t; i < m[0]; i += blockDim.x"),
            "its bound is not a plain number that stays the same");
}

/// What keeps the iterations of the first loop in their threads.
static std::string remap(llvm::StringRef Body, llvm::StringRef After = "") {
  ParsedKernels P(
      ("__global__ void k(const float *x, float *y, float *z, int n) {\n"
       "  __shared__ float s[128];\n  float sum = 0;\n"
       "  for (int i = threadIdx.x; i < n; i += blockDim.x) { " +
       Body + " }\n" + After + "}\nvoid host(float *x, int n) {\n" +
       "  k<<<n, 128>>>(x, x, x, n);\n}")
          .str());
  const Kernel &K = P.only();
  Accesses A(P.facts(), K);
  auto L = readThreadLoop(P.facts(), K, P.loop());
  if (!L || !*L)
    return "no loop";
  WhyNot Why =
      whyNotRemap(P.facts(), K, A, findReductions(P.facts(), K).All, **L);
  return Why ? Why->str() : "";
}

static const char *const Tree = R"(
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int h = blockDim.x / 2; h > 0; h /= 2) {
    if (threadIdx.x < h)
      s[threadIdx.x] += s[threadIdx.x + h];
    __syncthreads();
  }
)";

TEST(Remap, IterationsMoveWhereNothingCanTell) {
  EXPECT_EQ(remap("y[i] = x[i] * 2;"), "");
  EXPECT_EQ(remap("y[n + i] = 1;"), "");
  EXPECT_EQ(remap("sum += x[i];", Tree), "");
  EXPECT_EQ(remap("y[i] = threadIdx.x;"),
            "its body uses threadIdx, so which thread runs an iteration "
            "matters");
  EXPECT_EQ(remap("y[i * 2] = 1;"),
            "it stores to an element whose index is not the loop's plus "
            "something that stays the same");
  EXPECT_EQ(remap("sum += x[i];", "  y[threadIdx.x] = sum;\n"),
            "what a thread collects in 'sum' goes elsewhere than into a "
            "reduction of the whole block (line 5)");
  EXPECT_EQ(remap("y[n + i] = x[i];"),
            "'y' and 'x' may be the same memory, at different indices (lines 4 "
            "and 4)");
  EXPECT_EQ(remap("y[i] = 1;", "  y[0] = 2;\n"),
            "'y' of the loop and 'y' at line 5 may be the same memory, with no "
            "barrier between them");
}

TEST(Reductions, TreesOfHalvesAreFound) {
  auto Find = [](std::string Text) {
    ParsedKernels P("__global__ void k(float *x) {\n  __shared__ float s[128];"
                    "\n  float sum = x[threadIdx.x];\n" +
                    Text + "}");
    Reductions R = findReductions(P.facts(), P.only());
    std::string Found;
    for (const Reduction &Each : R.All)
      Found += nameOf(Each.Array) + Each.Operation +
               (Each.StartsAtBlock ? "block" : "");
    for (const AlmostReduction &Each : R.Almost)
      Found += Each.Lacks.str();
    return Found;
  };
  EXPECT_EQ(Find(Tree), "s+block");
  std::string Text = Tree;
  EXPECT_EQ(Find(Text.substr(Text.find("for"))),
            "no barrier stands before its loop");
  Text.replace(Text.find("+="), 2, "-=");
  EXPECT_EQ(Find(Text), "");
}

// The rounds that the first warp runs by itself belong to the tree when they
// begin where the loop ends.
TEST(Reductions, AWarpMayFinishATree) {
  auto Find = [](std::string Condition, std::string Behind) {
    ParsedKernels P("__device__ void end(volatile float *s, int t) {\n"
                    "  s[t] += s[t + 2];\n  s[t] += s[t + 1];\n}\n"
                    "__global__ void k(float *x) {\n  __shared__ float s[128];"
                    "\n  int t = threadIdx.x;\n  s[t] = x[t];\n"
                    "  __syncthreads();\n  for (int w = blockDim.x / 2; " +
                    Condition +
                    "; w /= 2) {\n    if (t < w) s[t] += s[t + w];\n"
                    "    __syncthreads();\n  }\n" +
                    Behind + "}");
    Reductions R = findReductions(P.facts(), P.kernel("k"));
    EXPECT_TRUE(R.All.empty());
    return R.ByWarp.empty() ? 0 : R.ByWarp.front().WarpFrom;
  };
  EXPECT_EQ(Find("w > 2", "  if (t < 32) end(s, t);\n"), 2u);
  EXPECT_EQ(Find("w >= 4", "  if (t < 2) end(s, t);\n"), 2u);
  EXPECT_EQ(Find("w > 4", "  if (t < 32) end(s, t);\n"), 0u);
  EXPECT_EQ(Find("w > 2", "  if (t < 1) end(s, t);\n"), 0u);
  EXPECT_EQ(Find("w > 2", "  end(s, t);\n"), 0u);
  EXPECT_EQ(Find("w > 1", "  if (t < 32) s[t] += s[t + 1];\n"), 0u);
  EXPECT_EQ(Find("w > 1", "  if (t < 32) { s[t] += s[t + 1]; }\n"), 1u);
}

TEST(Accumulation, OnlyWhatMayBeReordered) {
  ParsedKernels P(R"(
__global__ void k(float *x, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += x[i];
    sum = fmaxf(x[i], sum);
    sum = x[i] - sum;
    sum *= sum;
    sum -= x[i];
  }
})");
  std::string Found;
  forEach(P.loop()->getBody(), [&](const Stmt *N) {
    const auto *B = llvm::dyn_cast<BinaryOperator>(N);
    if (!B || !B->isAssignmentOp())
      return;
    auto A = readAccumulation(B, P.facts().context());
    Found += (A ? A->Operation : "none") + " ";
  });
  EXPECT_EQ(Found, "+ fmaxf none none + ");
}

static std::string interchange(llvm::StringRef Store) {
  ParsedKernels P(("__global__ void k(float *y, int cols) {\n"
                   "  float sum = 0;\n"
                   "  for (int j = 0; j < cols; ++j)\n"
                   "    for (int r = 0; r < 8; ++r) {\n      " +
                   Store + "\n    }\n}")
                      .str());
  auto N = readLoopNest(P.facts(), P.only(), P.loop());
  if (!N)
    return "no nest";
  Accesses A(P.facts(), P.only());
  if (!walksAcrossRows(P.facts(), P.only(), A, *N))
    return "walks along";
  OrReason<bool> Reorders = readInterchange(P.facts(), P.only(), A, *N);
  return Reorders ? (*Reorders ? "reorders" : "") : Reorders.why().str();
}

TEST(LoopNest, LoopsChangePlacesWhereNoIterationCanTell) {
  EXPECT_EQ(interchange("y[r * cols + j] = j;"), "");
  EXPECT_EQ(interchange("sum += y[r * cols + j];"), "reorders");
  EXPECT_EQ(interchange("y[j * 8 + r] = j;"), "walks along");
  EXPECT_EQ(interchange("y[r * cols + j] = y[r * cols + j + 1];"),
            "an iteration may use what another one stores (lines 5 and 5)");
  EXPECT_EQ(interchange("y[r * cols + j] = j; if (j == 3) break;"),
            "it can end early");
}

TEST(CountedLoop, BracesAroundWhereItStartsAreNoPartOfIt) {
  ParsedKernels P("__global__ void k(float *x, int n) {\n"
                  "  for (int i{0}; i < n; ++i)\n    x[i] = 0;\n}");
  auto L = readCountedLoop(P.facts(), P.only(), P.loop());
  ASSERT_TRUE(L.has_value());
  EXPECT_EQ(P.facts().text(L->Start), "0");
}

/// What keeps the rounds of the first loop one after the other; how many
/// variables each has when nothing does.
static std::string jamOf(llvm::StringRef Loop) {
  ParsedKernels P(("__global__ void k(const float *x, float *y, int n) {\n"
                   "  __shared__ float s[128];\n  float best = 0;\n" +
                   Loop + "\n  y[0] = best;\n}")
                      .str());
  Accesses A(P.facts(), P.only());
  auto L = readJammedLoop(P.facts(), P.only(), A, P.loop());
  if (!L)
    return "none";
  return *L ? std::to_string((*L)->Own.size()) : L->why().str();
}

static std::string jam(llvm::StringRef Body, llvm::StringRef Outside = "") {
  return jamOf(
      (Outside + "  for (int j = 0; j < n; ++j) { " + Body + " }").str());
}

TEST(LoopJam, RoundsRunSideBySideWhereNoneCanTell) {
  constexpr llvm::StringLiteral Sum =
      "for (int i = 0; i < n; ++i) sum += s[i] * s[j + i];";
  EXPECT_EQ(jam(("float sum = 0; " + Sum + " best += sum;").str()), "1");
  EXPECT_EQ(jam(("sum = 0; " + Sum + " best += sum;").str(), "float sum;"),
            "1");
  EXPECT_EQ(jam(("int at = j; float sum = 0; " + Sum).str()), "2");
  EXPECT_EQ(jam(Sum.str(), "float sum = 0;"),
            "its inner loop changes more than variables of the round");
  EXPECT_EQ(jam(("sum = 0; " + Sum).str(), "float sum; best = sum;"),
            "line 4, before its inner loop, does more than give variables of "
            "the round a value");
  EXPECT_EQ(jam(("float sum = best; " + Sum + " best = sum;").str()),
            "its inner loop uses 'best', which a round may change");
  EXPECT_EQ(jam(("float sum = 0; " + Sum + " s[j] = sum;").str()),
            "line 4 stores to what its inner loop may read");
  EXPECT_EQ(jam(("float sum = 0; " + Sum + " __syncthreads();").str()),
            "line 4 may end it, wait or work together with other threads");
  EXPECT_EQ(jam("float sum = 0; for (int i = j; i < n; ++i) sum += s[i];"),
            "how long its inner loop is depends on the round");
  EXPECT_EQ(jam("float sum = 0; for (int i = 0; i < n; ++i) sum += s[i];"),
            "its rounds load nothing in common in their inner loop");
  EXPECT_EQ(jam("best += s[j];"), "none");
}

// From below zero on, the number of rounds is none that is counted with a sign.
TEST(LoopJam, NumbersOfBothKindsAreNotCompared) {
  auto From = [](llvm::StringRef Start, llvm::StringRef Bound) {
    return jamOf(("for (int j = " + Start + "; j < " + Bound +
                  "; ++j) { "
                  "float sum = 0; "
                  "for (int i = 0; i < n; ++i) sum += s[i] * x[j * n + i]; "
                  "best += sum; }")
                     .str());
  };
  EXPECT_EQ(From("0", "2u * n"), "1");
  EXPECT_EQ(From("-n", "n"), "1");
  EXPECT_EQ(
      From("-n", "2u * n"),
      "it compares a number that may be below zero as one without a sign");
}
