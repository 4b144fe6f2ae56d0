//===- UnrollTest.cpp - Which loops nvcc unrolls --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "stark/Sim/Compile.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include <gtest/gtest.h>
#include <map>

using namespace llvm;
using namespace stark::sim;

/// Shows \p Visit the instructions of \p Text's kernels, optimized, whose names
/// are a k and perhaps a digit.
static void visit(const std::string &Text,
                  function_ref<void(const Instruction &)> Visit) {
  CompileRequest Request;
  Request.Path = "/source/k.cu";
  Request.Text = Text;
  llvm::Expected<CompileResult> R = compileFor(Side::Device, Request);
  if (!R || !R->Code) {
    ADD_FAILURE() << (R ? R->Diagnostics : toString(R.takeError()));
    return;
  }
  optimizeDevice(*R->Code);
  for (Function &F : *R->Code)
    if (F.getName().starts_with("_Z1k") || F.getName().starts_with("_Z2k"))
      for (Instruction &I : instructions(F))
        Visit(I);
}

/// Whether kernel k of \p Text still has an array in memory.
static bool hasArray(const std::string &Text) {
  bool Has = false;
  visit(Text, [&](const Instruction &I) { Has |= isa<AllocaInst>(I); });
  return Has;
}

/// A thread's tile of a product of matrices, in \p Rounds rounds a barrier.
static std::string tile(int Rows, int Columns, int Rounds) {
  return "constexpr int R = " + std::to_string(Rows) +
         ", C = " + std::to_string(Columns) +
         ", D = " + std::to_string(Rounds) + R"(;
__global__ void k(const float *a, const float *b, float *c, int n) {
  float sums[R * C] = {0}, x[R], y[C];
  for (int s = 0; s < n; ++s)
    for (int d = 0; d < D; ++d) {
      for (int i = 0; i < R; ++i)
        x[i] = a[(s * D + d) * 512 + threadIdx.x * R + i];
      for (int j = 0; j < C; ++j)
        y[j] = b[(s * D + d) * 512 + threadIdx.y * C + j];
      for (int i = 0; i < R; ++i)
        for (int j = 0; j < C; ++j)
          sums[i * C + j] += x[i] * y[j];
    }
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j)
      c[(threadIdx.x * R + i) * 512 + threadIdx.y * C + j] = sums[i * C + j];
}
)";
}

/// An array that each round of a loop takes through \p Steps products.
static std::string rounds(int Rounds, int Steps) {
  std::string Body;
  for (int I = 0; I < Steps; ++I)
    Body += "v = v * w + u; ";
  return "constexpr int T = " + std::to_string(Rounds) + R"(;
__global__ void k(const float *a, float *c, int n, float w, float u) {
  float kept[T];
  for (int i = 0; i < T; ++i)
    kept[i] = a[i * 7 + threadIdx.x];
  for (int s = 0; s < n; ++s)
    for (int i = 0; i < T; ++i) {
      float v = kept[i];
      )" +
         Body + R"(
      kept[i] = v;
    }
  for (int i = 0; i < T; ++i)
    c[i * 512 + threadIdx.x] = kept[i];
}
)";
}

// ptxas of CUDA 13.0 reports a stack of 0 bytes for all of these: what a thread
// sums up in a tile lies in registers, however many loops it takes.
TEST(Unroll, AThreadsTileLiesInRegisters) {
  EXPECT_FALSE(hasArray(tile(4, 4, 8)));
  EXPECT_FALSE(hasArray(tile(8, 8, 16)));
  EXPECT_FALSE(hasArray(tile(8, 16, 16)));
  EXPECT_FALSE(hasArray(tile(12, 12, 40)));
  EXPECT_FALSE(hasArray(tile(8, 24, 32)));
}

// The same ptxas has no stack for up to 266 steps of 16 rounds, 36 of 32 and 17
// of 64, and the whole array on the stack beyond.
TEST(Unroll, LongBodiesAreUnrolledForAnArrayInShortLoopsAlone) {
  EXPECT_FALSE(hasArray(rounds(16, 200)));
  EXPECT_TRUE(hasArray(rounds(16, 300)));
  EXPECT_FALSE(hasArray(rounds(32, 25)));
  EXPECT_TRUE(hasArray(rounds(32, 60)));
  EXPECT_FALSE(hasArray(rounds(64, 10)));
  EXPECT_TRUE(hasArray(rounds(64, 60)));
}

/// An array whose elements go through \p Function in \p Rounds rounds.
static std::string mapped(int Rounds, const char *Function) {
  return "constexpr int T = " + std::to_string(Rounds) + R"(;
__global__ void k(const float *a, float *c, float l) {
  float kept[T];
  for (int i = 0; i < T; ++i)
    kept[i] = a[i * 7 + threadIdx.x];
  for (int i = 0; i < T; ++i)
    c[i * 512 + threadIdx.x] = )" +
         Function + R"(;
}
)";
}

// The same ptxas has no stack for quotients and roots of 128 rounds, for expf
// of 96, tanhf of 96, logf and erff of 64, powf of 32, and one for 128, 128,
// 96, 96 and 48: they are not yet what they become.
TEST(Unroll, FunctionsCountAsTheyAreSeen) {
  EXPECT_FALSE(hasArray(mapped(128, "kept[i] / l")));
  EXPECT_FALSE(hasArray(mapped(128, "sqrtf(kept[i])")));
  EXPECT_FALSE(hasArray(mapped(96, "expf(kept[i])")));
  EXPECT_TRUE(hasArray(mapped(128, "expf(kept[i])")));
  EXPECT_FALSE(hasArray(mapped(96, "tanhf(kept[i])")));
  EXPECT_TRUE(hasArray(mapped(128, "tanhf(kept[i])")));
  EXPECT_FALSE(hasArray(mapped(64, "logf(kept[i])")));
  EXPECT_TRUE(hasArray(mapped(96, "logf(kept[i])")));
  EXPECT_FALSE(hasArray(mapped(64, "erff(kept[i])")));
  EXPECT_FALSE(hasArray(mapped(32, "powf(kept[i], l)")));
  EXPECT_TRUE(hasArray(mapped(48, "powf(kept[i], l)")));
}

// A table of constants lies in constant memory, whatever picks from it.
TEST(Unroll, ATableOfConstantsIsNoArrayOfTheThread) {
  EXPECT_FALSE(hasArray(R"(
__global__ void k(const int *a, float *c) {
  const float of[4] = {1.0f, 2.5f, 3.0f, 4.0f};
  c[threadIdx.x] = of[a[threadIdx.x] & 3];
}
)"));
}

// An index that is data keeps the array in memory.
TEST(Unroll, AnIndexThatIsDataKeepsTheArray) {
  EXPECT_TRUE(hasArray(R"(
__global__ void k(const int *a, int *c, int n) {
  int bins[16] = {0};
  for (int i = 0; i < n; ++i)
    ++bins[a[i] & 15];
  for (int i = 0; i < 16; ++i)
    c[threadIdx.x * 16 + i] = bins[i];
}
)"));
}

static std::string sums(int Count) {
  std::string Text;
  for (int I = 0; I < Count; ++I)
    Text += "s = s * a + a; ";
  return Text;
}

// As counted in what nvcc 13.0 makes of them for sm_90: 16 rounds, then 4, then
// one; or 4 and one; or 2 and one.
TEST(Unroll, LoopsOfUnknownLength) {
  const std::string Loop = "for (int k = 0; k < n; ++k)";
  struct Each {
    std::string Loop, Body;
    unsigned Loads; ///< once for each round that its stages take
  };
  const Each All[] = {
      {Loop, "float a = x[k]; " + sums(2), 16 + 4 + 1},
      {Loop, "float a = x[k]; " + sums(14), 4 + 1},
      {Loop, "float a = x[k]; " + sums(30), 2 + 1},
      {Loop, "float a = x[k]; " + sums(60), 1},
      // A branch changes nothing, and `#pragma unroll` says nothing.
      {Loop, "float a = x[k]; if (a > 0) { " + sums(14) + "}", 4 + 1},
      {"#pragma unroll\n" + Loop,
       "float a = x[k]; if (a > 0) { " + sums(14) + "}", 4 + 1},
      // One that is left early is as it is, as is one that writes in strides.
      {Loop, "float a = x[k]; if (a > 0) break; s += a;", 1},
      {"for (int k = i; k < n; k += m)", "y[k] = x[k];", 1},
      // A number is one.
      {"#pragma unroll 8\n" + Loop, "float a = x[k]; " + sums(4), 8 + 1},
  };
  std::string Text;
  for (unsigned I = 0; I < std::size(All); ++I)
    Text += "__global__ void k" + std::to_string(I) +
            "(const float *x, float *y, int n, int m) {\n"
            "  int i = threadIdx.x; float s = 0;\n" +
            All[I].Loop + " { " + All[I].Body + " }\n  y[i] = s;\n}\n";
  std::map<std::string, unsigned> Loads;
  visit(Text, [&](const Instruction &I) {
    if (isa<LoadInst>(I) && I.getType()->isFloatTy())
      ++Loads[I.getFunction()->getName().substr(3, 2).str()];
  });
  for (unsigned I = 0; I < std::size(All); ++I)
    EXPECT_EQ(Loads["k" + std::to_string(I)], All[I].Loads)
        << All[I].Loop << All[I].Body;
}

// Taps of a filter that are a number apart share what leads there, whether the
// numbers are known or come of a loop that is unrolled.
TEST(Optimize, AddressesAreSharedAcrossConditions) {
  std::map<std::string, unsigned> Addresses;
  visit(R"(
template <int Width>
__device__ void filter(const float *x, const float *w, float *y, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int r = 0; r < m; ++r)
    for (int c = 0; c < (Width ? Width : m); ++c) {
      int row = r - 2, column = i - 2 + c;
      if (row >= 0 && row < n && column >= 0 && column < n)
        s += x[row * n + column] * w[r * 5 + c];
    }
  y[i] = s;
}
__global__ void k0(const float *x, const float *w, float *y, int n, int m) {
  filter<0>(x, w, y, n, m);
}
__global__ void k5(const float *x, const float *w, float *y, int n, int m) {
  filter<5>(x, w, y, n, m);
}
)",
        [&](const Instruction &I) {
          auto *G = dyn_cast<GetElementPtrInst>(&I);
          if (G && !G->hasAllConstantIndices())
            ++Addresses[I.getFunction()->getName().substr(3, 2).str()];
        });
  // Three for the two arrays and the taps of a row: two rows and one, or as
  // many stages of a row.
  EXPECT_LE(Addresses["k5"], 3u * 3);
  EXPECT_LE(Addresses["k0"], 3u * 3);
}

// nvcc does not see that a counter that doubles is a power of two, unless it
// knows the numbers.
TEST(Optimize, RemaindersByWhatDoubles) {
  unsigned Unknown = 0, Known = 0;
  visit(R"(
__global__ void k0(const int *x, int *y, int n) {
  int i = threadIdx.x, s = 0;
  for (int k = 1; k < n; k *= 2)
    if (i % (2 * k) == 0)
      s += x[i + k];
  y[i] = s;
}
__global__ void k1(const int *x, int *y, int n) {
  int i = threadIdx.x, s = 0;
  for (int k = 1; k < 64; k *= 2)
    if (i % (2 * k) == 0)
      s += x[i + k];
  y[i] = s;
}
)",
        [&](const Instruction &I) {
          bool Is = I.getFunction()->getName().starts_with("_Z2k0");
          (Is ? Unknown : Known) += I.isIntDivRem();
        });
  EXPECT_EQ(Unknown, 1u);
  EXPECT_EQ(Known, 0u);
}
