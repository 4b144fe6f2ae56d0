//===- PollsTest.cpp - Which accesses wait for other threads --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Polls.h"
#include "Instrument.h"
#include "stark/Sim/Compile.h"
#include "llvm/IR/Module.h"
#include <gtest/gtest.h>

using namespace llvm;
using namespace stark::sim;

/// Of a kernel with this body the number of accesses that poll.
static size_t polls(const std::string &Body) {
  CompileRequest Request;
  Request.Path = "/source/k.cu";
  Request.Text = "extern \"C\" __global__ void k(int *f, volatile int *v, "
                 "int *o, int n) {\n"
                 "  __shared__ int b;\n"
                 "  if (threadIdx.x == 0) b = n;\n"
                 "  __syncthreads();\n" +
                 Body + "\n}\n";
  llvm::Expected<CompileResult> R = compileFor(Side::Device, Request);
  if (!R || !R->Code) {
    ADD_FAILURE() << (R ? R->Diagnostics : toString(R.takeError()));
    return 0;
  }
  optimizeDevice(*R->Code);
  return pollsOf(*R->Code->getFunction("k")).size();
}

TEST(Polls, AWordThatAnotherThreadChanges) {
  EXPECT_EQ(polls("while (atomicAdd(f + blockIdx.x, 0) == 0) {} o[0] = 1;"),
            1u);
  // Its place is read anew each time.
  EXPECT_EQ(polls("while (atomicAdd(f + b, 0) == 0) {} o[0] = 1;"), 1u);
  EXPECT_EQ(polls("while (v[b - 1] < n) {} o[0] = 1;"), 1u);
  EXPECT_EQ(polls("while (atomicCAS(f, 1, 1) != 1) {} o[0] = 1;"), 1u);
  EXPECT_EQ(polls("int s; do s = v[n]; while (__any_sync(~0u, s == 0));\n"
                  "o[0] = s;"),
            1u);
  // Of a loop that looks back the inner one.
  EXPECT_EQ(polls("int i = n, s = 0, w;\n"
                  "while (true) {\n"
                  "  do w = atomicAdd(f + i, 0); while (w == 0);\n"
                  "  s += atomicAdd(o + i, 0);\n"
                  "  if (w == 2) break;\n"
                  "  --i;\n"
                  "}\n"
                  "o[0] = s;"),
            1u);
}

TEST(Polls, OtherLoopsDoNot) {
  EXPECT_EQ(polls("while (atomicCAS(f, 0, 1) != 0) {} o[0] = 1;"), 0u)
      << "it takes a lock";
  EXPECT_EQ(polls("while (atomicExch(f, 0) != 0) {} o[0] = 1;"), 0u);
  EXPECT_EQ(polls("for (int i = 0; i < n && v[i]; ++i) {} o[0] = 1;"), 0u)
      << "another word each time";
  EXPECT_EQ(polls("int s = 0; for (int i = 0; i < n; ++i) s += v[0];\n"
                  "o[0] = s;"),
            0u)
      << "it ends whatever it reads";
  EXPECT_EQ(polls("for (int i = 0; v[0]; ++i) o[i] = 1;"), 0u)
      << "it works meanwhile";
  EXPECT_EQ(polls("o[0] = v[0];"), 0u);
}
