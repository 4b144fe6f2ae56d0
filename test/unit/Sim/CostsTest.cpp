//===- CostsTest.cpp - What a GPU issues for matrices and copies ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Costs.h"
#include "Instrument.h"
#include "stark/Sim/Compile.h"
#include "llvm/IR/Module.h"
#include <gtest/gtest.h>

using namespace llvm;
using namespace stark::sim;

/// Of all basic blocks of \p Text.
static CodeBlock costsOfKernel(const std::string &Text) {
  CompileRequest Request;
  Request.Path = "/source/k.cu";
  Request.Text = Text;
  llvm::Expected<CompileResult> R = compileFor(Side::Device, Request);
  CodeBlock Sum;
  if (!R || !R->Code) {
    ADD_FAILURE() << (R ? R->Diagnostics : toString(R.takeError()));
    return Sum;
  }
  optimizeDevice(*R->Code);
  llvm::Expected<Tables> T = instrument(*R->Code, "k.cu");
  if (!T) {
    ADD_FAILURE() << toString(T.takeError());
    return Sum;
  }
  for (const CodeBlock &C : T->Blocks) {
    for (unsigned U = 0; U < Units; ++U)
      Sum.Slots[U] += C.Slots[U];
    Sum.Path += C.Path;
    Sum.LoadDepth += C.LoadDepth;
    Sum.SharedDepth += C.SharedDepth;
  }
  return Sum;
}

static CodeBlock products(const std::string &Body) {
  return costsOfKernel("#include <cuda_fp16.h>\n#include <mma.h>\n"
                       "using namespace nvcuda;\n"
                       "extern \"C\" __global__ void k(__half *h, float *o) {\n"
                       "  __shared__ __align__(16) __half s[2][256];\n"
                       "  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, "
                       "wmma::row_major> a;\n"
                       "  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, "
                       "wmma::col_major> b;\n"
                       "  wmma::fragment<wmma::accumulator, 16, 16, 16, float> "
                       "x, y;\n"
                       "  s[0][threadIdx.x] = s[1][threadIdx.x] = h[0];\n"
                       "  __syncthreads();\n"
                       "  wmma::fill_fragment(x, 0.0f);\n"
                       "  wmma::fill_fragment(y, 0.0f);\n" +
                       Body +
                       "  wmma::store_matrix_sync(o, x, 16, "
                       "wmma::mem_row_major);\n"
                       "  wmma::store_matrix_sync(o + 256, y, 16, "
                       "wmma::mem_row_major);\n}\n");
}

static float slots(const CodeBlock &C, Unit U) { return C.Slots[unsigned(U)]; }

// nvcc keeps in registers what was loaded, as no barrier lies between.
TEST(Costs, AFragmentIsLoadedOnce) {
  const std::string Load = "wmma::load_matrix_sync(a, s[0], 16);\n"
                           "wmma::load_matrix_sync(b, s[1], 16);\n",
                    First = "wmma::mma_sync(x, a, b, x);\n",
                    Second = "wmma::mma_sync(y, a, b, y);\n";
  CodeBlock None = products(""), One = products(Load + First),
            Two = products(Load + First + Load + Second);
  EXPECT_EQ(slots(One, Unit::Memory) - slots(None, Unit::Memory), 8);
  EXPECT_EQ(slots(Two, Unit::Memory), slots(One, Unit::Memory));
  // Two products of 16 x 16 x 16, and nothing to bring numbers into the form
  // that the simulator has for them.
  EXPECT_EQ(slots(One, Unit::Half) - slots(None, Unit::Half), 8);
  EXPECT_EQ(slots(Two, Unit::Half) - slots(One, Unit::Half), 8);
  EXPECT_EQ(slots(Two, Unit::Double), 0);
  EXPECT_EQ(slots(Two, Unit::Integer), slots(One, Unit::Integer));
  // They do not wait for one another.
  EXPECT_LT(Two.Path, One.Path + 33);
  EXPECT_EQ(Two.SharedDepth, One.SharedDepth);
}

static CodeBlock copies(const std::string &Body) {
  return costsOfKernel("#include <cuda_pipeline.h>\n"
                       "extern \"C\" __global__ void k(float *o, const float4 "
                       "*v, int n) {\n"
                       "  __shared__ float4 s[2][128];\n"
                       "  float sum = 0;\n"
                       "  int t = threadIdx.x;\n" +
                       Body + "  o[t] = sum;\n}\n");
}

// Who waits for what was just asked for waits for memory; where something is
// computed in between, no thread waits.
TEST(Costs, ACopyGoesOnBesideWhatIsComputed) {
  const std::string Copy = "__pipeline_memcpy_async(&s[(i + 1) % 2][t], &v[i * "
                           "128 + t], 16);\n__pipeline_commit();\n",
                    Wait = "__pipeline_wait_prior(0);\n__syncthreads();\n",
                    Use = "sum += s[i % 2][127 - t].x;\n__syncthreads();\n",
                    Loop = "for (int i = 0; i < n; ++i) {\n";
  CodeBlock AtOnce = copies(Loop + Copy + Wait + Use + "}\n"),
            Ahead = copies(Loop + Wait + Copy + Use + "}\n"),
            None = copies(Loop + Wait + Use + "}\n");
  EXPECT_EQ(None.LoadDepth, 0);
  EXPECT_EQ(Ahead.LoadDepth, 0);
  EXPECT_EQ(AtOnce.LoadDepth, 1);
  // What a closure holds is in registers, however often it is called.
  const std::string Closure = "auto copy = [&](int i) {\n" + Copy +
                              "};\ncopy(0); copy(1); copy(n);\n" + Loop + Wait +
                              "copy(i + 2);\n" + Use + "}\n";
  EXPECT_EQ(copies(Closure).LoadDepth, 0);
  // The copy is one instruction.
  EXPECT_EQ(slots(AtOnce, Unit::Memory) - slots(None, Unit::Memory), 1);
}
