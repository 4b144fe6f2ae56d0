//===- LaunchBoundsTest.cpp - What __launch_bounds__ promises -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchBounds.h"
#include "stark/Sim/Compile.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include <gtest/gtest.h>
#include <map>

using namespace stark::sim;

// Bounds come from a macro, a constant, an argument of a template, a
// declaration before the kernel; a kernel without any has none.
TEST(LaunchBounds, AreFoundWhereverTheyComeFrom) {
  CompileRequest Request;
  Request.Path = "/source/k.cu";
  Request.Text = R"(
#define THREADS 64
constexpr int Blocks = 3;
__global__ void __launch_bounds__(THREADS) plain(int *p) { *p = 1; }
__global__ void __launch_bounds__(2 * THREADS, Blocks) both(int *p) { *p = 2; }
template <int N> __global__ void __launch_bounds__(N, N / 32)
    templated(int *p) { *p = N; }
__global__ void __launch_bounds__(96) declared(int *p);
__global__ void declared(int *p) { *p = 3; }
static __global__ void __launch_bounds__(32) hidden(int *p) { *p = 4; }
namespace { __global__ void __launch_bounds__(160) unnamed(int *p) { *p = 5; } }
__global__ void without(int *p) { *p = 6; }
template <int N> __global__ void __maxnreg__(N) few(int *p) { *p = 7; }
void stark_call(int *p) {
  templated<512><<<1, 1>>>(p);
  templated<1024><<<1, 1>>>(p);
  few<40><<<1, 1>>>(p);
  hidden<<<1, 1>>>(p);
  unnamed<<<1, 1>>>(p);
}
)";
  llvm::Expected<CompileResult> R = compileFor(Side::Device, Request);
  ASSERT_TRUE(bool(R)) << llvm::toString(R.takeError());
  ASSERT_TRUE(R->Code) << R->Diagnostics;
  noteAnnotations(*R->Code);
  const llvm::Function *Few = R->Code->getFunction("_Z3fewILi40EEvPi");
  ASSERT_TRUE(Few);
  EXPECT_EQ(launchBoundsOf(*Few).Registers, 40u);
  std::map<std::string, std::pair<unsigned, unsigned>> Found;
  for (const llvm::Function &F : *R->Code) {
    LaunchBounds B = launchBoundsOf(F);
    if (!F.isDeclaration() && B.Threads)
      Found[F.getName().str()] = {B.Threads, B.Blocks};
  }
  std::map<std::string, std::pair<unsigned, unsigned>> Wanted = {
      {"_Z5plainPi", {64, 0}},
      {"_Z4bothPi", {128, 3}},
      {"_Z9templatedILi512EEvPi", {512, 16}},
      {"_Z9templatedILi1024EEvPi", {1024, 32}},
      {"_Z8declaredPi", {96, 0}},
      {"_ZL6hiddenPi", {32, 0}},
      {"_ZN12_GLOBAL__N_17unnamedEPi", {160, 0}}};
  EXPECT_EQ(Found, Wanted);
}

// As ptxas has it: a kernel of 1024 threads has at most 64 registers a thread,
// of 256 threads and 4 blocks as many, of 96 and 7 blocks 96 (of 97.5).
TEST(LaunchBounds, LimitRegistersAsTheBlocksMustFit) {
  EXPECT_EQ(withinBounds(200, {}), 200u);
  EXPECT_EQ(withinBounds(200, {1024, 0}), 64u);
  EXPECT_EQ(withinBounds(200, {256, 4}), 64u);
  EXPECT_EQ(withinBounds(200, {96, 7}), 96u);
  EXPECT_EQ(withinBounds(200, {33, 8}), 128u);
  EXPECT_EQ(withinBounds(40, {256, 4}), 40u);
  EXPECT_EQ(withinBounds(200, {1024, 1000000}), 200u);
}

// As ptxas 13.0 has it for sm_90, which takes no limit below 24.
TEST(LaunchBounds, LimitRegistersAsTheyAreSaid) {
  EXPECT_EQ(withinBounds(200, {0, 0, 40}), 40u);
  EXPECT_EQ(withinBounds(30, {0, 0, 40}), 30u);
  EXPECT_EQ(withinBounds(200, {0, 0, 8}), 24u);
  EXPECT_EQ(registerLimitOf({"-O3", "-maxrregcount=64"}), 64u);
  EXPECT_EQ(registerLimitOf({"--maxrregcount", "32", "-DN=2"}), 32u);
  EXPECT_EQ(registerLimitOf({"-maxrregcount"}), 0u);
  EXPECT_EQ(registerLimitOf({"-DN=64"}), 0u);
}

// The command line's limit is for kernels that say nothing of themselves.
TEST(LaunchBounds, OfAKernelComeBeforeTheCommandLines) {
  CompileRequest Request;
  Request.Path = "/source/k.cu";
  Request.Flags = {"-maxrregcount=48"};
  Request.Text = R"(
__global__ void __launch_bounds__(64) bound(int *p) { *p = 1; }
__global__ void __maxnreg__(32) few(int *p) { *p = 2; }
__global__ void plain(int *p) { *p = 3; }
void stark_call(int *p) { bound<<<1, 1>>>(p); few<<<1, 1>>>(p); plain<<<1, 1>>>(p); }
)";
  llvm::Expected<CompileResult> R = compileFor(Side::Device, Request);
  ASSERT_TRUE(bool(R)) << llvm::toString(R.takeError());
  ASSERT_TRUE(R->Code) << R->Diagnostics;
  noteAnnotations(*R->Code);
  auto Limit = [&](const char *Symbol) {
    return launchBoundsOf(*R->Code->getFunction(Symbol)).Registers;
  };
  EXPECT_EQ(Limit("_Z5boundPi"), 0u);
  EXPECT_EQ(Limit("_Z3fewPi"), 32u);
  EXPECT_EQ(Limit("_Z5plainPi"), 48u);
}
