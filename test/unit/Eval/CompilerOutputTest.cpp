//===- CompilerOutputTest.cpp - What nvcc says ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompilerOutput.h"
#include "stark/Eval/Verdict.h"
#include <csignal>
#include <gtest/gtest.h>

using namespace stark;

TEST(CompilerOutput, ErrorsComeWithTheirLines) {
  const char *Said = R"(softmax.cu(3): warning #177-D: variable "x" was declared
    int x;
        ^

softmax.cu(12): error: identifier "foo" is undefined
      y[i] = foo(x[i]);
             ^

softmax.cu(12): error: identifier "foo" is undefined
      y[i] = foo(x[i]);
             ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

1 error detected in the compilation of "softmax.cu".
)";
  std::string Out = compilerErrors(Said);
  EXPECT_EQ(Out, "softmax.cu(12): error: identifier \"foo\" is undefined\n"
                 "      y[i] = foo(x[i]);\n"
                 "             ^\n");
}

TEST(CompilerOutput, WithoutAnErrorLineAllIsShown) {
  EXPECT_EQ(compilerErrors("something odd\n"), "something odd\n");
}

TEST(CompilerOutput, KernelsAreDescribed) {
  const char *Said = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_ZN12_GLOBAL__N_11kEPKfPfi' for 'sm_90'
ptxas info    : Function properties for _ZN12_GLOBAL__N_11kEPKfPfi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 1024 bytes smem, 372 bytes cmem[0]
ptxas info    : Compiling entry function '_Z4tileIfEvPT_' for 'sm_90'
ptxas info    : Function properties for _Z4tileIfEvPT_
    16 bytes stack frame, 40 bytes spill stores, 48 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers
)";
  EXPECT_EQ(describeResources(Said),
            "k: 32 registers, 1024 bytes of static shared memory, no spills\n"
            "tile<float>: 255 registers, 0 bytes of static shared memory, 40 "
            "bytes of spill stores, 48 of spill loads\n");
  std::vector<sim::KernelResources> Wanted = {
      {"_ZN12_GLOBAL__N_11kEPKfPfi", 32, 1024, 0, 0, 0},
      {"_Z4tileIfEvPT_", 255, 0, 16, 40, 48}};
  EXPECT_EQ(resourcesIn(Said).Kernels, Wanted);
  EXPECT_EQ(describeResources(
                "ptxas info    : Compiling entry function "
                "'_Z3actI6__halfXadL_Z4siluRKfEEEvPT_PKS3_i' for 'sm_90'\n"
                "ptxas info    : Used 33 registers\n"),
            "act<__half, &silu(float const&)>: 33 registers, 0 bytes of static "
            "shared memory, spills unknown\n");
  Verdict V;
  V.Compiler = describeResources(Said) +
               "ns::tile<int>: 40 registers, 0 bytes of static shared memory, "
               "no spills\na note: many registers, they say\n";
  EXPECT_EQ(registersOf(V),
            (std::map<std::string, unsigned>{{"k", 32}, {"tile", 40}}));
  llvm::StringSet<> Kernels = compiledKernels(Said);
  EXPECT_EQ(Kernels.size(), 2u);
  EXPECT_TRUE(Kernels.contains("_ZN12_GLOBAL__N_11kEPKfPfi"));
  EXPECT_TRUE(Kernels.contains("_Z4tileIfEvPT_"));
}

TEST(CompilerOutput, TheLinkersComplaintIsShort) {
  EXPECT_EQ(linkerErrors("/usr/bin/ld: a.o: in function `launch':\n"
                         "tmp.cpp:(.text+0x1): undefined reference to `f'\n"
                         "tmp.cpp:(.text+0x9): undefined reference to `f'\n"
                         "collect2: error: ld returned 1 exit status\n"),
            "undefined reference to `f'\n");
}

TEST(CompilerOutput, AFullDiskIsNotTheTextsFault) {
  ProcessResult Failed;
  Failed.ExitCode = 1;
  EXPECT_TRUE(compilerItselfFailed(Failed, "x: No space left on device"));
  EXPECT_FALSE(compilerItselfFailed(Failed, "k.cu(1): error: expected a ';'"));
}

// nvcc that is killed, and nvcc of which a compiler is: it exits with what the
// shell between them says. A compiler that crashes does so over the text.
TEST(CompilerOutput, AKillIsNotTheTextsFault) {
  ProcessResult Killed;
  Killed.Signal = SIGKILL;
  EXPECT_TRUE(compilerItselfFailed(Killed, ""));
  for (int Signal : {SIGKILL, SIGTERM, SIGINT, SIGSEGV}) {
    ProcessResult Inner;
    Inner.ExitCode = 128 + Signal;
    EXPECT_EQ(compilerItselfFailed(Inner, "Killed"), Signal != SIGSEGV);
  }
  ProcessResult Ptxas;
  Ptxas.ExitCode = 255;
  EXPECT_FALSE(compilerItselfFailed(Ptxas, "ptxas fatal : aborted"));
}
