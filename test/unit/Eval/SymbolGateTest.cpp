//===- SymbolGateTest.cpp - What a candidate may import ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SymbolGate.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include <gtest/gtest.h>

using namespace stark;

namespace {
/// The facts of \p Text compiled as C++.
ObjectFacts compiled(llvm::StringRef Text) {
  llvm::Expected<TemporaryFolder> Folder = TemporaryFolder::create("gate");
  EXPECT_TRUE(bool(Folder));
  std::string Source = (Folder->path() + "/a.cpp").str(),
              Object = (Folder->path() + "/a.o").str();
  llvm::cantFail(writeFileAtomically(Source, Text));
  ProcessSpec Spec;
  Spec.Program = "c++";
  Spec.Arguments = {"-c", "-fPIC", Source, "-o", Object};
  ProcessResult Ran = llvm::cantFail(runProcess(Spec));
  EXPECT_TRUE(Ran.ok()) << Ran.Err;
  return llvm::cantFail(readObjects({Object}));
}

BuildResult asSource(const ObjectFacts &Facts) {
  BuildResult B;
  B.Imports = Facts.Imports;
  B.Initializers = Facts.Initializers;
  return B;
}
} // namespace

TEST(SymbolGate, HarmlessImportsPass) {
  for (const char *Name :
       {"__cudaLaunchKernel", "cudaGetLastError", "cudaMemsetAsync",
        "cudaFuncSetAttribute", "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
        "cudaMallocAsync", "printf", "_ZSt4cout", "memcpy", "expf",
        "cublasSgemm_v2", "__cxa_guard_acquire", "cudaGetDevice",
        "cudaDeviceGetAttribute", "cudaStreamSynchronize"})
    EXPECT_FALSE(whyForbidden(Name)) << Name;
}

TEST(SymbolGate, WaysAroundTheJudgeAreForbidden) {
  for (const char *Name : {"cudaStreamCreateWithFlags",
                           "cudaStreamBeginCapture_ptsz",
                           "cudaGraphLaunch",
                           "cudaEventElapsedTime_v2",
                           "cudaDeviceSetLimit",
                           "cudaGetDriverEntryPointByVersion",
                           "cuStreamCreate",
                           "pthread_create",
                           "_ZNSt6thread15_M_start_threadE",
                           "fork",
                           "system",
                           "execve",
                           "dlopen",
                           "dlsym",
                           "syscall",
                           "socket",
                           "fopen64",
                           "clock_gettime",
                           "getenv",
                           "_ZNSt6chrono3_V212steady_clock3nowEv",
                           "mprotect",
                           "longjmp"})
    EXPECT_TRUE(whyForbidden(Name)) << Name;
}

TEST(SymbolGate, WhatTheSourceDoesItselfIsAllowed) {
  const char *Text = "#include <cstdio>\n"
                     "void f() { std::fclose(std::fopen(\"x\", \"r\")); }\n";
  ObjectFacts Facts = compiled(Text);
  EXPECT_FALSE(gate(Facts, asSource(Facts)));
  std::optional<GateFinding> Found =
      gate(Facts, asSource(compiled("void f() {}\n")));
  ASSERT_TRUE(Found);
  ASSERT_EQ(Found->Imports.size(), 1u);
  EXPECT_EQ(Found->Imports[0].second, Reach::Files);
  EXPECT_EQ(describe(*Found),
            "the candidate uses 'fopen', which the source does not: the entry "
            "must not use files\n");
}

TEST(SymbolGate, CodeThatRunsOnLoadingIsCounted) {
  BuildResult Plain = asSource(compiled("void f() {}\n"));
  ObjectFacts Two =
      compiled("int g();\nint A = g();\n"
               "__attribute__((constructor)) static void early() { g(); }\n");
  EXPECT_EQ(Two.Initializers, 2u);
  std::optional<GateFinding> Found = gate(Two, Plain);
  ASSERT_TRUE(Found);
  EXPECT_EQ(describe(*Found),
            "the candidate has 2 functions that run when it is loaded, wanted "
            "1 at most: no dynamic initialisers of globals\n");
}

TEST(SymbolGate, WhatIsNoObjectIsAnError) {
  llvm::Expected<TemporaryFolder> Folder = TemporaryFolder::create("gate");
  ASSERT_TRUE(bool(Folder));
  std::string Path = (Folder->path() + "/x.o").str();
  llvm::cantFail(writeFileAtomically(Path, "no object"));
  llvm::Expected<ObjectFacts> Facts = readObjects({Path});
  ASSERT_FALSE(bool(Facts));
  EXPECT_EQ(llvm::toString(Facts.takeError()).substr(0, Path.size() + 2),
            Path + ": ");
}
