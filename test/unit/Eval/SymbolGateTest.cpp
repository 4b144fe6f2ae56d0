//===- SymbolGateTest.cpp - What a candidate may import ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SymbolGate.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>

using namespace stark;

namespace {
/// The facts of \p Texts, each compiled as C++.
ObjectFacts compiledAll(const std::vector<std::string> &Texts,
                        const std::string &Level = "-O0") {
  llvm::Expected<TemporaryFolder> Folder = TemporaryFolder::create("gate");
  EXPECT_TRUE(bool(Folder));
  std::vector<std::string> Objects;
  for (const std::string &Text : Texts) {
    std::string Name =
        (Folder->path() + "/" + std::to_string(Objects.size())).str();
    llvm::cantFail(writeFileAtomically(Name + ".cpp", Text));
    ProcessSpec Spec;
    Spec.Program = "c++";
    Spec.Arguments = {"-c", "-fPIC", Level, Name + ".cpp", "-o", Name + ".o"};
    ProcessResult Ran = llvm::cantFail(runProcess(Spec));
    EXPECT_TRUE(Ran.ok()) << Ran.Err;
    Objects.push_back(Name + ".o");
  }
  return llvm::cantFail(readObjects(Objects));
}
ObjectFacts compiled(const std::string &Text) { return compiledAll({Text}); }

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

// What <iostream> itself may bring is no initialiser of the candidate's; what
// hides beside it is.
TEST(SymbolGate, StreamsMayBeOpened) {
  EXPECT_EQ(compiled("#include <iostream>\nvoid f() { std::cout << 1; }\n")
                .Initializers,
            0u);
  // As GCC's library had it until 2022, whichever there is.
  const std::string Opens =
      "namespace std { struct ios_base { struct Init { Init(); ~Init(); }; }; "
      "}\nstatic std::ios_base::Init Opened;\n";
  for (const char *Level : {"-O0", "-O1", "-O3"}) {
    auto Count = [&](const std::string &Text) {
      return compiledAll({Text}, Level).Initializers;
    };
    EXPECT_EQ(Count(Opens + "void f() {}\n"), 0u) << Level;
    for (const char *Other :
         {"int g();\nint A = g();\n",
          "static volatile int A = 1;\nint B = A + 1;\n",
          "static void h() { __builtin_puts(\"\"); }\n"
          "static int C = (h(), 1);\nint *p() { return &C; }\n",
          "extern \"C\" void h();\nstatic int D = (h(), 1);\n",
          "void (*Later)();\nstatic int E = (Later(), 1);\n"})
      EXPECT_EQ(Count(Opens + Other), 1u) << Level << "\n" << Other;
    EXPECT_EQ(Count(Opens + "__attribute__((constructor)) static void h() "
                            "{ __builtin_puts(\"\"); }\n"),
              1u)
        << Level;
    EXPECT_EQ(Count("int g();\nint A = g();\n"), 1u) << Level;
  }
}

// Of all objects together: what one half defines the other may ask for.
TEST(SymbolGate, TwoObjectsAreOneLibrary) {
  ObjectFacts Facts = compiledAll({"void dlopen_of_ours(); void fork();\n"
                                   "void f() { dlopen_of_ours(); fork(); }\n"
                                   "int g(); static int A = g();\n",
                                   "extern \"C\" void abort();\n"
                                   "void dlopen_of_ours() { abort(); }\n"
                                   "void fork() {}\nint g() { return 1; }\n"
                                   "int g(); static int B = g();\n"});
  EXPECT_EQ(Facts.Initializers, 2u);
  EXPECT_FALSE(Facts.HasDeviceCode);
  for (const std::string &Import : Facts.Imports)
    EXPECT_TRUE(Import == "abort" || Import.find("_Z") != 0) << Import;
  EXPECT_TRUE(llvm::is_contained(Facts.Imports, "abort"));
}

namespace {
/// As much of ATen as has the names; nothing is linked.
constexpr const char *Aten = R"(
namespace at {
struct Tensor;
struct Context {
  void setAllowTF32CuBLAS(bool);
  bool allowTF32CuBLAS() const;
  void setDeterministicAlgorithms(bool, bool);
};
Context &globalContext();
void set_num_threads(int);
namespace autocast { void set_enabled(bool); }
namespace _ops {
struct add_Tensor { static Tensor &call(const Tensor &); };
struct _softmax { static Tensor &call(const Tensor &); };
struct relu_ { static Tensor &call(const Tensor &); };
struct from_file { static Tensor &call(const Tensor &); };
}
}
namespace c10 { namespace cuda {
struct CUDAStream;
CUDAStream &getStreamFromPool(bool, signed char);
CUDAStream &getCurrentCUDAStream(signed char);
void setCurrentCUDAStream(CUDAStream &);
void set_device(signed char);
} }
)";
std::string found(const std::string &Body) {
  static const BuildResult Plain =
      asSource(compiled(Aten + std::string("void f() {}\n")));
  std::optional<GateFinding> Found = gate(
      compiled(Aten + ("void f(at::Tensor &x) { " + Body + " }\n")), Plain);
  return Found ? describe(*Found) : "";
}
} // namespace

// libtorch has settings and streams of its own.
TEST(SymbolGate, WaysAroundTheJudgeThroughATen) {
  const std::string Device =
      ", which the source does not: the device's settings belong to the "
      "judge\n";
  EXPECT_EQ(found("at::globalContext().setAllowTF32CuBLAS(true);"),
            "the candidate uses 'at::Context::setAllowTF32CuBLAS(bool)'" +
                Device);
  EXPECT_EQ(
      found("at::globalContext().setDeterministicAlgorithms(true, false);"),
      "the candidate uses 'at::Context::setDeterministicAlgorithms(bool, "
      "bool)'" +
          Device);
  EXPECT_NE(found("at::set_num_threads(64);"), "");
  EXPECT_NE(found("at::autocast::set_enabled(true);"), "");
  EXPECT_NE(found("c10::cuda::set_device(1);"), "");
  EXPECT_EQ(found("c10::cuda::getStreamFromPool(false, 0);"),
            "the candidate uses 'c10::cuda::getStreamFromPool(bool, signed "
            "char)', which the source does not: work must stay on the stream "
            "that the entry is given\n");
  EXPECT_NE(found("c10::cuda::setCurrentCUDAStream("
                  "c10::cuda::getCurrentCUDAStream(0));"),
            "");
  EXPECT_NE(found("at::_ops::from_file::call(x);"), "");
  // Asking is allowed, as is any operator.
  EXPECT_EQ(found("at::globalContext().allowTF32CuBLAS();"), "");
  EXPECT_EQ(found("c10::cuda::getCurrentCUDAStream(0);"), "");
  EXPECT_EQ(found("at::_ops::add_Tensor::call(at::_ops::relu_::call(x));"), "");
}

TEST(SymbolGate, OperatorsAreNamed) {
  ObjectFacts Facts = compiled(
      Aten + std::string("void f(at::Tensor &x) { at::_ops::relu_::call(x); "
                         "at::_ops::add_Tensor::call(x); "
                         "at::_ops::_softmax::call(x); "
                         "at::_ops::relu_::call(x); }\n"));
  EXPECT_EQ(operatorsIn(Facts),
            (std::vector<std::string>{"_softmax", "add_Tensor", "relu_"}));
  Facts.Imports = {"_ZN2at4_ops", "_ZN2at4_ops999x4callE", "_ZN2at4_opsx"};
  EXPECT_TRUE(operatorsIn(Facts).empty());
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
