//===- UniformTest.cpp - What is the same for all threads of a warp -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Uniform.h"
#include "Instrument.h"
#include "stark/Sim/Compile.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include <gtest/gtest.h>

using namespace llvm;
using namespace stark::sim;

/// Of kernels with these bodies, those whose one atomic is done once for a
/// warp.
static std::vector<std::string> joined(const std::vector<std::string> &Bodies) {
  CompileRequest Request;
  Request.Path = "/source/k.cu";
  for (size_t I = 0; I < Bodies.size(); ++I)
    Request.Text += "extern \"C\" __global__ void k" + std::to_string(I) +
                    "(int *o, float *f, const int *v, int *r, "
                    "unsigned long long *w, int n) {\n" +
                    Bodies[I] + "\n}\n";
  llvm::Expected<CompileResult> R = compileFor(Side::Device, Request);
  if (!R || !R->Code) {
    ADD_FAILURE() << (R ? R->Diagnostics : toString(R.takeError()));
    return {};
  }
  optimizeDevice(*R->Code);
  std::vector<std::string> Found;
  for (size_t I = 0; I < Bodies.size(); ++I) {
    unsigned Atomics = 0;
    for (Instruction &Each :
         instructions(*R->Code->getFunction("k" + std::to_string(I))))
      if (auto *A = dyn_cast<AtomicRMWInst>(&Each)) {
        ++Atomics;
        if (joinsWarp(*A))
          Found.push_back(Bodies[I]);
      }
    EXPECT_EQ(Atomics, 1u) << Bodies[I];
  }
  return Found;
}

// What nvcc 13.0 does for sm_90.
TEST(Uniform, WholeNumbersOfOneAddressAreJoined) {
  const std::vector<std::string> All = {
      "atomicAdd(o, v[threadIdx.x]);",
      "atomicAdd(o + blockIdx.x, v[threadIdx.x]);",
      "atomicAdd(o + v[blockIdx.x], v[threadIdx.x]);",
      "atomicMax(o, v[threadIdx.x]);",
      "atomicOr(o + (n > 5), v[threadIdx.x]);",
      "if (v[threadIdx.x] > n) r[threadIdx.x] = atomicAdd(o, 1);",
      "for (int i = threadIdx.x; i < n; i += blockDim.x)\n"
      "  atomicAdd(o, v[i]);",
      "__shared__ int s; atomicAdd(&s, v[threadIdx.x]);",
  };
  EXPECT_EQ(joined(All), All);
}

TEST(Uniform, OthersAreNot) {
  const std::vector<std::string> All = {
      "atomicAdd(o + threadIdx.x / 32, v[threadIdx.x]);",
      "atomicAdd(o + threadIdx.y, v[threadIdx.x]);",
      "atomicAdd(o + v[threadIdx.x], 1);",
      "atomicAdd(f, float(v[threadIdx.x]));",
      "atomicAdd(w, w[threadIdx.x + 1]);",
      "atomicExch(o, v[threadIdx.x]);",
      "int *p = o;\n"
      "if (v[threadIdx.x] > n) { p = r; r[1] = n; }\n"
      "atomicAdd(p, v[threadIdx.x]);",
  };
  EXPECT_EQ(joined(All), std::vector<std::string>());
}
