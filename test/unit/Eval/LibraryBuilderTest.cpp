//===- LibraryBuilderTest.cpp - Who compiles host code, and when ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Run by test/eval/host-compilers.test and own-host.test, which know
/// stark-tool and where headers are kept.
///
//===----------------------------------------------------------------------===//

#include "LibraryBuilder.h"
#include "FolderFixture.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>

using namespace stark;

namespace {
const char *const SourceText = R"(#include <ATen/ATen.h>
#include <stdexcept>
at::Tensor twice(const at::Tensor &x) { return x + x; }
)";
const char *const WorkloadText = R"({
  "entry": "twice",
  "sizes": [{}],
  "arguments": {"x": {"tensor": "input", "dtype": "f32", "shape": [64]}},
  "returns": [{"dtype": "f32", "shape": [64]}]
})";

std::string sourceWith(llvm::StringRef More) {
  return (More + SourceText).str();
}

class HostCompilers : public FolderFixture {
protected:
  void SetUp() override {
    const char *Tool = std::getenv("STARK_HOST_TOOL");
    if (!Tool)
      GTEST_SKIP() << "only where STARK_HOST_TOOL names a stark-tool";
    write("twice.cpp", SourceText);
    write("twice.workload.json", WorkloadText);
    Options.Arch = "sm_90";
    Options.Simulated = true;
    Options.Tool = Tool;
    load({});
  }
  void load(std::vector<std::string> Flags) {
    ParseOptions Parse;
    Parse.Flags = std::move(Flags);
    T = llvm::cantFail(
        loadTask(path("twice.cpp"), path("twice.workload.json"), Parse));
  }
  static Candidate candidate(std::string Text, Purpose Why) {
    Candidate C;
    C.Node = 1;
    C.Why = Why;
    C.Text = std::move(Text);
    return C;
  }

  Task T;
  BuildOptions Options;
};
} // namespace

namespace {
/// The same of an entry of pointers, which nvcc alone could compile.
class HostCompilersOfPointers : public FolderFixture {
protected:
  void SetUp() override {
    const char *Tool = std::getenv("STARK_HOST_TOOL");
    if (!Tool)
      GTEST_SKIP() << "only where STARK_HOST_TOOL names a stark-tool";
    write("twice.h", "void twice(float *y, const float *x, int n);\n");
    Options.Arch = "sm_90";
    Options.Tool = Tool;
  }
  Task task(llvm::StringRef Source, llvm::StringRef Workload,
            std::vector<std::string> Flags = {}) {
    write("twice.cu", Source);
    write("twice.workload.json", Workload);
    ParseOptions Parse;
    Parse.Flags = std::move(Flags);
    return llvm::cantFail(
        loadTask(path("twice.cu"), path("twice.workload.json"), Parse));
  }
  BuildResult build(const Task &T, llvm::StringRef Text,
                    Purpose Why = Purpose::Attempt) {
    Candidate C;
    C.Node = 1;
    C.Why = Why;
    C.Text = Text.str();
    return llvm::cantFail(LibraryBuilder(T, Options).candidate(C));
  }
  BuildOptions Options;
};

constexpr const char *TwiceKernel = R"(#include "twice.h"
#include <cstdio>
static __global__ void add(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] + x[i];
}
void twice(float *y, const float *x, int n) {
  add<<<(n + 127) / 128, 128>>>(y, x, n);
}
int main() {
  std::printf("not linked\n");
}
)";
constexpr const char *TwiceArguments = R"(
  "sizes": [{"n": 1000}],
  "arguments": {"y": {"dtype": "f32", "shape": ["n"], "role": "output"},
                "x": {"dtype": "f32", "shape": ["n"]}, "n": {"value": "n"}}})";

std::string twiceWorkload(llvm::StringRef Entry) {
  return (Entry + TwiceArguments).str();
}
} // namespace

// nvcc makes the kernels alone, for a host function that launches them and for
// a bare kernel; what is to win it makes whole.
TEST_F(HostCompilersOfPointers, OwnForAttempts) {
  for (const char *Entry :
       {"{\"entry\": \"twice\",", "{\"launch\": {\"kernel\": \"add\", "
                                  "\"grid\": \"n\", \"block\": \"1\"},"}) {
    Task T = task(TwiceKernel, twiceWorkload(Entry));
    std::string Text = std::string(TwiceKernel) + "// a candidate\n";
    for (auto [Why, By] : {std::pair(Purpose::Attempt, HostCompiler::Own),
                           std::pair(Purpose::Confirm, HostCompiler::Users)}) {
      BuildResult Built = build(T, Text, Why);
      ASSERT_TRUE(Built.Ok) << Built.Diagnostics;
      EXPECT_EQ(Built.Host, By) << Entry;
      EXPECT_TRUE(Built.HasDeviceCode);
      EXPECT_NE(Built.Diagnostics.find("registers"), std::string::npos)
          << Built.Diagnostics;
      // main() is compiled, and nothing that it needs is linked.
      EXPECT_FALSE(llvm::is_contained(Built.Imports, "puts"));
    }
  }
}

// What is built while it is checked is what is built otherwise; what nobody
// asks for afterwards ends with the builder.
TEST_F(HostCompilersOfPointers, WhatIsStartedIsTheSame) {
  Task T = task(TwiceKernel, twiceWorkload("{\"entry\": \"twice\","));
  LibraryBuilder Libraries(T, Options);
  auto Of = [](const std::string &Text) {
    Candidate C;
    C.Node = 1;
    C.Text = Text;
    return C;
  };
  Candidate Good = Of(std::string(TwiceKernel) + "// good\n"),
            Bad = Of(std::string(TwiceKernel) + "int broken(\n");
  Libraries.prepare(Of(std::string(TwiceKernel) + "// never asked for\n"));
  for (const Candidate &C : {Good, Bad}) {
    Libraries.prepare(C);
    for (unsigned Times = 0; Times < 2; ++Times) {
      BuildResult Built = llvm::cantFail(Libraries.candidate(C));
      EXPECT_EQ(Built.Ok, C.Text == Good.Text) << Built.Diagnostics;
      EXPECT_FALSE(Built.Diagnostics.empty());
    }
  }
}

// What host code and kernels share beyond launches is nvcc's, and so is what
// only its flags say.
TEST_F(HostCompilersOfPointers, TheUsersForTheRest) {
  std::string Text = TwiceKernel, Symbol = TwiceKernel;
  Symbol.replace(Symbol.find("  add<<<"), 0,
                 "  cudaMemcpyToSymbolAsync(factor, x, 4);\n");
  Symbol = "__constant__ float factor;\n" + Symbol;
  std::string Entry = twiceWorkload("{\"entry\": \"twice\",");
  for (auto &[Source, Flags] :
       {std::pair(Symbol, std::vector<std::string>{}),
        std::pair(Text,
                  std::vector<std::string>{"--default-stream=per-thread"}),
        std::pair(Text, std::vector<std::string>{"-rdc=true"})}) {
    BuildResult Built = build(task(Source, Entry, Flags), Source + "//\n");
    ASSERT_TRUE(Built.Ok) << Built.Diagnostics;
    EXPECT_EQ(Built.Host, HostCompiler::Users);
  }
}

// A kernel that does not compile is told of in nvcc's words.
TEST_F(HostCompilersOfPointers, ErrorsAreOfNvcc) {
  Task T = task(TwiceKernel, twiceWorkload("{\"entry\": \"twice\","));
  std::string Text = TwiceKernel;
  Text.replace(Text.find("x[i] + x[i]"), 11, "x[i] + missing");
  BuildResult Built = build(T, Text);
  EXPECT_FALSE(Built.Ok);
  EXPECT_EQ(Built.Kind, VerdictKind::NotCompiled);
  EXPECT_NE(Built.Diagnostics.find("identifier \"missing\" is undefined"),
            std::string::npos)
      << Built.Diagnostics;
}

// An attempt's host code is compiled by our own compiler, what is to win by
// the user's; each is compared with the source as the same compiler made it.
TEST_F(HostCompilers, OwnForAttemptsTheUsersToWin) {
  LibraryBuilder Libraries(T, Options);
  std::string Sources[2];
  for (auto [Why, By] : {std::pair(Purpose::Attempt, HostCompiler::Own),
                         std::pair(Purpose::Confirm, HostCompiler::Users)}) {
    BuildResult Built =
        llvm::cantFail(Libraries.candidate(candidate(SourceText, Why)));
    ASSERT_TRUE(Built.Ok) << Built.Diagnostics;
    EXPECT_EQ(Built.Host, By);
    const BuildResult *Source = llvm::cantFail(Libraries.source(Built));
    EXPECT_EQ(Source->Host, By);
    Sources[Why == Purpose::Confirm] = Source->Library;
  }
  EXPECT_NE(Sources[0], Sources[1]);
  EXPECT_TRUE(llvm::sys::fs::exists(Sources[0]));
}

// What is read ahead, while it is checked, comes to what it comes to otherwise;
// so does what nobody asks for again, or asks for twice.
TEST_F(HostCompilers, WhatIsReadAheadIsTheSame) {
  LibraryBuilder Ahead(T, Options), After(T, Options);
  Ahead.prepare(candidate(sourceWith("int never;\n"), Purpose::Attempt));
  for (const char *More : {"// another\n", "int broken(\n"}) {
    Candidate C = candidate(sourceWith(More), Purpose::Attempt);
    BuildResult Wanted = llvm::cantFail(After.candidate(C));
    Ahead.prepare(C);
    for (unsigned Times = 0; Times < 2; ++Times) {
      BuildResult Built = llvm::cantFail(Ahead.candidate(C));
      EXPECT_EQ(Built.Ok, Wanted.Ok) << More;
      EXPECT_EQ(Built.Host, Wanted.Host) << More;
      EXPECT_EQ(Built.Diagnostics, Wanted.Diagnostics);
    }
  }
}

// What libtorch has instantiated is found there by its name: all that is linked
// has to be defined somewhere.
TEST_F(HostCompilers, OursNamesWhatLibtorchHas) {
  Options.Simulated = false;
  LibraryBuilder Libraries(T, Options);
  BuildResult Built = llvm::cantFail(Libraries.candidate(
      candidate(sourceWith("static const float *inside(const at::Tensor &x) { "
                           "return x.const_data_ptr<float>(); }\n"
                           "const void *kept(const at::Tensor &x) { "
                           "return inside(x); }\n"),
                Purpose::Attempt)));
  EXPECT_TRUE(Built.Ok) << Built.Diagnostics;
  EXPECT_EQ(Built.Host, HostCompiler::Own);
}

// Beside our own compiler nvcc makes the device's code alone. What our own
// cannot tell apart the user's compile, with the same kernels in it.
TEST_F(HostCompilers, KernelsAreRegisteredBesideOurs) {
  Options.Simulated = false;
  LibraryBuilder Libraries(T, Options);
  const char *Kernels = R"(
template <class T> static __global__ void add(T *y, const T *x, int n) {
  if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] + x[threadIdx.x];
}
namespace { __global__ void __launch_bounds__(64) none(int n) {} }
%s
at::Tensor twice(const at::Tensor &x) {
  at::Tensor y = at::empty_like(x);
  none<<<1, 1>>>(0);
  add<float><<<1, 64>>>(y.data_ptr<float>(), x.data_ptr<float>(), 64);
  return y;
})";
  for (auto [More, By] :
       {std::pair("", HostCompiler::Own),
        std::pair("__global__ void add(int) {}", HostCompiler::Users)}) {
    std::string Text = "#include <ATen/ATen.h>\n" + std::string(Kernels);
    Text.replace(Text.find("%s"), 2, More);
    BuildResult Built =
        llvm::cantFail(Libraries.candidate(candidate(Text, Purpose::Attempt)));
    ASSERT_TRUE(Built.Ok) << Built.Diagnostics;
    EXPECT_EQ(Built.Host, By) << More;
    EXPECT_TRUE(Built.HasDeviceCode);
    for (const char *Kernel : {"add<float>: ", "none: "})
      EXPECT_NE(Built.Diagnostics.find(Kernel), std::string::npos)
          << Built.Diagnostics;
  }
}

// What only g++ takes is judged all the same, beside the source as g++ made it.
TEST_F(HostCompilers, TheUsersHasTheLastWord) {
  LibraryBuilder Libraries(T, Options);
  BuildResult Built = llvm::cantFail(Libraries.candidate(
      candidate(sourceWith("typedef int V __attribute__((vector_size(16)));\n"
                           "V mixed(V a, V b) { return "
                           "__builtin_shuffle(a, b); }\n"),
                Purpose::Attempt)));
  EXPECT_TRUE(Built.Ok) << Built.Diagnostics;
  EXPECT_EQ(Built.Host, HostCompiler::Users);
  EXPECT_EQ(llvm::cantFail(Libraries.source(Built))->Host, HostCompiler::Users);
}

// What only Clang takes may be tried, and does not win; the message is g++'s.
TEST_F(HostCompilers, WhatOnlyClangTakesDoesNotWin) {
  LibraryBuilder Libraries(T, Options);
  std::string Text = sourceWith(
      "unsigned turned(unsigned x) { return __builtin_bitreverse32(x); }\n");
  EXPECT_TRUE(
      llvm::cantFail(Libraries.candidate(candidate(Text, Purpose::Attempt)))
          .Ok);
  BuildResult Built =
      llvm::cantFail(Libraries.candidate(candidate(Text, Purpose::Confirm)));
  EXPECT_FALSE(Built.Ok);
  EXPECT_EQ(Built.Kind, VerdictKind::NotCompiled);
  EXPECT_NE(Built.Diagnostics.find("was not declared"), std::string::npos)
      << Built.Diagnostics;
}

// A compiler of ours that crashes, or is not there, says nothing of a text: all
// is built by the user's, and it is not asked again.
TEST_F(HostCompilers, ACrashIsNoVerdict) {
  // No object of it was kept by anybody.
  write("twice.cpp",
        sourceWith("const char *const Here = \"" + path("") + "\";\n"));
  load({});
  write("crash",
        "#!/bin/sh\necho asked >> " + path("asked") + "\nkill -SEGV $$\n");
  ASSERT_FALSE(
      llvm::sys::fs::setPermissions(path("crash"), llvm::sys::fs::all_all));
  for (const char *Tool : {"crash", "absent"}) {
    Options.Tool = path(Tool);
    LibraryBuilder Libraries(T, Options);
    for (int I = 0; I < 2; ++I) {
      BuildResult Built = llvm::cantFail(
          Libraries.candidate(candidate(T.SourceText, Purpose::Attempt)));
      EXPECT_TRUE(Built.Ok) << Built.Diagnostics;
      EXPECT_EQ(Built.Host, HostCompiler::Users);
    }
  }
  // Once for the headers, where they are not kept yet, and once for the source.
  EXPECT_LE(llvm::cantFail(readFile(path("asked"))).size(),
            std::string("asked\nasked\n").size());
}
