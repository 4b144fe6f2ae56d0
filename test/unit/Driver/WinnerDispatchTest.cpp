//===- WinnerDispatchTest.cpp - A winner runs where it was proved  -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The generated source is compiled: by the host's compiler with a runtime of a
// few lines, which says what GPUs there are, and by nvcc, where it is.
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/WinnerDispatch.h"
#include "stark/AST/Toolkit.h"
#include "stark/Cache/GeneratedSource.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>
#include <optional>

using namespace stark;

namespace {
std::string replaced(std::string Text, llvm::StringRef What,
                     llvm::StringRef With) {
  size_t At = Text.find(What.str());
  EXPECT_NE(At, std::string::npos) << What.str();
  return Text.replace(At, What.size(), With.str());
}

class WinnerDispatchTest : public testing::Test {
protected:
  void SetUp() override {
    llvm::Expected<TemporaryFolder> Made = TemporaryFolder::create("dispatch");
    ASSERT_TRUE(bool(Made));
    Folder.emplace(std::move(*Made));
  }
  std::string path(const std::string &Name) const {
    return (Folder->path() + "/" + Name).str();
  }
  void write(const std::string &Name, const std::string &Text) {
    ASSERT_FALSE(bool(writeFileAtomically(path(Name), Text)));
  }

  llvm::Expected<Task> task(const std::string &Source,
                            const std::string &Workload,
                            const char *Toolkit = "none") {
    write("k.cu", Source);
    write("k.workload.json", Workload);
    ParseOptions Options;
    Options.Toolkit = Toolkit;
    return loadTask(path("k.cu"), path("k.workload.json"), Options);
  }
  /// Why it cannot be kept, or empty; made.cu is written.
  std::string make(const std::string &Source, const std::string &Winner,
                   const std::string &Workload, const char *Toolkit = "none") {
    llvm::Expected<Task> T = task(Source, Workload, Toolkit);
    if (!T)
      return llvm::toString(T.takeError());
    llvm::Expected<DispatchPlan> Plan = planDispatch(*T, Winner);
    if (!Plan)
      return llvm::toString(Plan.takeError());
    Covers = Plan->Covers;
    llvm::Expected<std::string> Text =
        makeGeneratedSource(Source, {{Winner, WinnerFacts(), *Plan, "sm_90"}},
                            path("k.cu"), path("made.cu"));
    if (!Text)
      return llvm::toString(Text.takeError());
    write("made.cu", *Text);
    return "";
  }
  /// What a program says; its output when it fails, too.
  std::string run(std::vector<std::string> Words) {
    ProcessSpec Spec;
    Spec.Program = Words.front();
    Spec.Arguments.assign(Words.begin() + 1, Words.end());
    Spec.WorkingFolder = Folder->path().str();
    llvm::Expected<ProcessResult> Done = runProcess(Spec);
    if (!Done)
      return llvm::toString(Done.takeError());
    return (Done->ok() ? "" : "failed\n" + Done->Err) + Done->Out;
  }

  std::optional<TemporaryFolder> Folder;
  std::string Covers;
};

const char *const Runtime = R"(#include <cstdio>
#define __global__
#define __launch_bounds__(...)
enum cudaError_t { cudaSuccess, cudaErrorOther };
enum cudaDeviceAttr {
  cudaDevAttrComputeCapabilityMajor, cudaDevAttrComputeCapabilityMinor };
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed };
struct cudaFuncAttributes { int maxThreadsPerBlock; };
// 0: sm_90 that loaded what was proved; 1: sm_80; 2: sm_90 that loaded code of
// another architecture; 3: sm_100 that compiled what was proved.
static int Device, Asked, Pending;
static const int Capability[] = {90, 80, 90, 100}, Bounds[] = {64, 64, 32, 64};
static cudaError_t cudaGetDevice(int *d) { *d = Device; return cudaSuccess; }
static cudaError_t cudaGetLastError() { return cudaError_t(Pending); }
static cudaError_t cudaPeekAtLastError() { return cudaError_t(Pending); }
static cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *) {
  return cudaSuccess;
}
static cudaError_t cudaDeviceGetAttribute(int *v, cudaDeviceAttr a, int d) {
  ++Asked;
  *v = a ? Capability[d] % 10 : Capability[d] / 10;
  return cudaSuccess;
}
template <class T>
static cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, T *) {
  a->maxThreadsPerBlock = Bounds[Device];
  return cudaSuccess;
}
)";
const char *const Scale = "int launch(const float *x, float *y, int n, float s)"
                          " { return 1; }\n";
const char *const Sizes = R"("arguments": {
  "x": {"dtype": "f32", "shape": ["n"]},
  "y": {"dtype": "f32", "shape": ["n"], "role": "output"},
  "n": {"value": "n"}, "s": {"value": "0.1"} },
  "sizes": [{"n": 1024}, {"n": 4096}, {"n": 96, "check_only": true}])";
} // namespace

// The winner (2) is taken on the device and with the arguments that it was
// proved with, also after another device was chosen; else the source (1). What
// a device is is asked once.
TEST_F(WinnerDispatchTest, ChoosesAtRunTime) {
  if (findProgram("c++").empty())
    GTEST_SKIP() << "there is no c++";
  ASSERT_EQ(make(Scale, replaced(Scale, "return 1", "return 2"),
                 std::string("{\"entry\": \"launch\", ") + Sizes + "}"),
            "");
  EXPECT_EQ(Covers, "n=1024; n=4096; n=96");
  write("main.cpp", std::string(Runtime) + R"(#include "made.cu"
int main() {
  alignas(256) static float a[8192], b[8192];
  auto call = [](int d, const float *x, float *y, int n, float s = 0.1f) {
    Device = d;
    std::printf("%d", launch(x, y, n, s));
  };
  for (int twice = 0; twice < 2; ++twice)
    for (int d = 0; d < 4; ++d)
      call(d, a, b, 1024);
  std::printf(" asked %d; sizes ", Asked);
  call(0, a, b, 4096), call(0, a, b, 96), call(0, a, b, 2048);
  std::printf("; scalar ");
  call(0, a, b, 1024, 0.2f);
  std::printf("; aligned ");
  call(0, a + 1, b, 1024), call(0, a + 64, b, 1024);
  std::printf("; apart ");
  call(0, a, a, 1024), call(0, a, a + 512, 1024), call(0, a, a + 1024, 1024);
  std::printf("; null ");
  call(0, nullptr, b, 1024), call(0, a, nullptr, 1024);
}
)");
  ASSERT_EQ(run({"c++", "-std=c++17", "-o", "main", "main.cpp"}), "");
  EXPECT_EQ(run({path("main")}), "21112111 asked 8; sizes 221; scalar 1; "
                                 "aligned 12; apart 112; null 11");
}

// With the macro that `check` defines a call that the source would take ends
// the process, and one that a winner takes is as ever.
TEST_F(WinnerDispatchTest, EndsInPlaceOfTheSource) {
  if (findProgram("c++").empty())
    GTEST_SKIP() << "there is no c++";
  ASSERT_EQ(make(Scale, replaced(Scale, "return 1", "return 2"),
                 std::string("{\"entry\": \"launch\", ") + Sizes + "}"),
            "");
  write("main.cpp", "#define " + TrapMacro.str() + "\n" + Runtime +
                        R"(#include "made.cu"
int main(int n, char **) {
  alignas(256) static float a[2048], b[2048];
  return launch(a, b, n == 1 ? 1024 : 1025, 0.1f) - 2;
}
)");
  ASSERT_EQ(run({"c++", "-std=c++17", "-o", "main", "main.cpp"}), "");
  EXPECT_EQ(run({path("main")}), "");
  EXPECT_EQ(run({path("main"), "other"}), "failed\n");
}

// An error that the program has not seen yet stays, and nothing is asked.
TEST_F(WinnerDispatchTest, LeavesErrors) {
  if (findProgram("c++").empty())
    GTEST_SKIP() << "there is no c++";
  ASSERT_EQ(make(Scale, replaced(Scale, "return 1", "return 2"),
                 std::string("{\"entry\": \"launch\", ") + Sizes + "}"),
            "");
  write("main.cpp", std::string(Runtime) + R"(#include "made.cu"
int main() {
  alignas(256) static float a[1024], b[1024];
  Pending = 1;
  std::printf("%d", launch(a, b, 1024, 0.1f));
  Pending = 0;
  std::printf("%d", launch(a, b, 1024, 0.1f));
}
)");
  ASSERT_EQ(run({"c++", "-std=c++17", "-o", "main", "main.cpp"}), "");
  EXPECT_EQ(run({path("main")}), "12");
}

// With the envelope "between" sizes in between count, in the steps of those
// that were proved.
TEST_F(WinnerDispatchTest, Between) {
  if (findProgram("c++").empty())
    GTEST_SKIP() << "there is no c++";
  std::string Workload =
      std::string("{\"entry\": \"launch\", \"envelope\": \"between\", ") +
      Sizes;
  ASSERT_EQ(
      make(Scale, replaced(Scale, "return 1", "return 2"), Workload + "}"), "");
  EXPECT_EQ(Covers, "n from 96 to 4096, multiples of 32");
  write("main.cpp", std::string(Runtime) + R"(#include "made.cu"
int main() {
  alignas(256) static float a[8192], b[8192];
  const int sizes[] = {64, 96, 97, 128, 4064, 4096, 4128};
  for (int n : sizes)
    std::printf("%d", launch(a, b, n, 0.1f));
}
)");
  ASSERT_EQ(run({"c++", "-std=c++17", "-o", "main", "main.cpp"}), "");
  EXPECT_EQ(run({path("main")}), "1212221");
}

// What cannot be asked of an argument at run time is refused by its name.
TEST_F(WinnerDispatchTest, RefusesArguments) {
  std::string Text = "void launch(float *x, int n) { x[0] = n; }\n";
  auto Refusal = [&](const char *Value) {
    return make(Text, replaced(Text, "= n", "= n + 0"),
                std::string(R"({"entry": "launch", "envelope": "between",
      "sizes": [{"n": 8}, {"n": 16}], "arguments": {
      "x": {"dtype": "f32", "shape": ["n"], "role": "output"},
      "n": {"value": ")") +
                    Value + "\"}}}");
  };
  EXPECT_EQ(Refusal("n"), "");
  EXPECT_EQ(Refusal("2 * n"),
            "with the envelope 'between' argument 'n' has to be one of the "
            "sizes or the same for all of them");
}

// nvcc compiles the winner of sm_90 also for sm_80, and what other files see of
// the object is what they see of the source's.
TEST_F(WinnerDispatchTest, CompilesForAll) {
  std::optional<Toolkit> Cuda = findToolkit();
  if (!Cuda || Cuda->Nvcc.empty())
    GTEST_SKIP() << "there is no nvcc";
  std::string Source = R"(#include <cfloat>
#define TILE 128
struct Params { int n; };
__constant__ float gain[4];
void set_gain(const float *g) { cudaMemcpyToSymbol(gain, g, sizeof(gain)); }
namespace {
__global__ void hidden(float *x, int n) { if (n) x[0] = gain[0]; }
}
static __device__ float twice(float v) { return v + v; }
__device__ float sum(float4 v) { return v.x + v.y + twice(v.z); }
template <int N> __global__ void tiled(const float *x, float *y, Params p) {
  for (int i = threadIdx.x; i < p.n; i += N)
    y[i] = sum({x[i], gain[1], 0, 0});
}
template __global__ void tiled<4>(const float *, float *, Params);
namespace ns {
enum { Grid = 3 };
static void check() {}
void launch(const float *x, float *y, int n, cudaStream_t s = nullptr) {
  check();
  tiled<TILE><<<Grid, TILE, 0, s>>>(x, y, Params{n});
}
} // namespace ns
extern "C" void other(float *x, int n) { hidden<<<1, 1>>>(x, n); }
extern "C" {
__global__ void plain(float *x) { *x = TILE; }
}
)";
  std::string Winner = replaced(Source, "TILE 128", "TILE 256");
  Winner = replaced(Winner, "#include <cfloat>",
                    "#include <cooperative_groups.h>\n#include <cfloat>\n"
                    "namespace cg = cooperative_groups;");
  Winner = replaced(Winner, "  for (int i",
                    "  asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n"
                    "  cg::this_thread_block().sync();\n  for (int i");
  Winner = replaced(Winner, "__device__ float sum(float4 v) {",
                    "__device__ float sum(float4 v) {\n"
                    "  asm volatile(\"griddepcontrol.wait;\");");
  ASSERT_EQ(make(Source, Winner, R"({"entry": "ns::launch",
    "sizes": [{"n": 64}], "arguments": {
    "x": {"dtype": "f32", "shape": ["n"]},
    "y": {"dtype": "f32", "shape": ["n"], "role": "output"},
    "n": {"value": "n"}}})",
                 Cuda->Root.c_str()),
            "");
  std::vector<std::string> Symbols;
  for (const char *Name : {"k", "made"}) {
    std::string File = Name;
    ASSERT_EQ(run({Cuda->Nvcc, "-Werror", "all-warnings", "-Xcompiler",
                   "-Wall,-Wextra", "-gencode", "arch=compute_80,code=sm_80",
                   "-gencode", "arch=compute_90,code=[sm_90,compute_90]", "-c",
                   "-o", File + ".o", File + ".cu"}),
              "");
    std::string Listed =
        run({"nm", "--extern-only", "--defined-only", "-j", File + ".o"});
    llvm::SmallVector<llvm::StringRef> Lines;
    llvm::StringRef(Listed).split(Lines, '\n');
    // nvcc names unnamed namespaces after a digest of the text.
    llvm::erase_if(Lines,
                   [](llvm::StringRef L) { return L.contains("_GLOBAL__N_"); });
    Symbols.push_back(llvm::join(Lines, "\n"));
  }
  EXPECT_NE(Symbols[0].find("other"), std::string::npos);
  EXPECT_EQ(Symbols[0], Symbols[1]);
}

// A winner of what was extracted stands behind the user's source: what it
// changed under names of its own, the rest is the headers'. One that a
// specialisation of the headers would change is refused.
TEST_F(WinnerDispatchTest, TakesWhatWasExtracted) {
  write("k.cuh", R"(#pragma once
template <class T> struct Step { static constexpr int N = 1; };
template <> struct Step<double> { static constexpr int N = 2; };
__device__ float same(float x) { return x; }
template <class T> __global__ void k(const T *x, T *y) {
  *y = same(*x) * Step<T>::N;
}
)");
  std::string Source =
      "#include \"k.cuh\"\nint launch(const float *x, float *y,"
      " int n, float s) {\n  k<<<1, 1>>>(x, y);\n  return 1;"
      "\n}\n";
  write("k.cu", Source);
  write("k.workload.json",
        std::string("{\"entry\": \"launch\", ") + Sizes + "}");
  ParseOptions Options;
  Options.Toolkit = "none";
  ExtractedTask T = llvm::cantFail(
      loadExtractedTask(path("k.cu"), path("k.workload.json"), Options));
  ASSERT_TRUE(T.Users);
  EXPECT_EQ(T.Users->Text, Source);
  EXPECT_EQ(T.Users->Headers, std::vector<std::string>{path("k.cuh")});
  EXPECT_TRUE(T.Of.Headers.empty());
  std::string Winner = replaced(T.Of.SourceText, "*y = same", "*y = 1 * same");
  DispatchPlan Plan = llvm::cantFail(planDispatch(T.Of, Winner, T.Users.get()));
  std::string Text = llvm::cantFail(
      makeGeneratedSource(Source, {{Winner, WinnerFacts(), Plan, "sm_90"}},
                          path("k.cu"), path("made.cu")));
  EXPECT_NE(Text.find("#include \"k.cuh\""), std::string::npos);
  EXPECT_NE(Text.find("1 * same"), std::string::npos);
  EXPECT_EQ(Text.find("float same("), std::string::npos) << Text;

  std::string Other = replaced(Winner, "Step<T>::N", "Step<double>::N");
  llvm::Expected<DispatchPlan> Refused =
      planDispatch(T.Of, Other, T.Users.get());
  ASSERT_FALSE(bool(Refused));
  EXPECT_NE(llvm::toString(Refused.takeError()).find("would mean something"),
            std::string::npos);
}

// Where a macro says its own line, file or function, the winner's says another,
// and means the same.
TEST_F(WinnerDispatchTest, PlacesAreNoMeaning) {
  write("k.cuh", R"(#pragma once
void report(const char *file, int line, const char *function);
#define CHECK(x) { if (x) report(__FILE__, __LINE__, __FUNCTION__); }
// Not reached: so the lines are others beside the header.
__device__ float other(float x) { return x; }
template <class T> __global__ void k(const T *x, T *y) { *y = *x * 7; }
template <class T> int start(const T *x, T *y) {
  k<<<1, 1>>>(x, y);
  CHECK(x == y);
  return 11;
}
)");
  write("k.cu", "#include \"k.cuh\"\nint launch(const float *x, float *y, "
                "int n, float s) {\n  return start(x, y);\n}\n");
  write("k.workload.json",
        std::string("{\"entry\": \"launch\", ") + Sizes + "}");
  ParseOptions Options;
  Options.Toolkit = "none";
  ExtractedTask T = llvm::cantFail(
      loadExtractedTask(path("k.cu"), path("k.workload.json"), Options));
  ASSERT_TRUE(T.Users);
  std::string Winner = replaced(T.Of.SourceText, "*x * 7", "7 * *x");
  llvm::Expected<DispatchPlan> Plan = planDispatch(T.Of, Winner, T.Users.get());
  EXPECT_TRUE(bool(Plan)) << llvm::toString(Plan.takeError());
}
