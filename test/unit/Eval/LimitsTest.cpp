//===- LimitsTest.cpp - Programs that candidates drive too far ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Shell scripts in place of nvcc and stark-sim: what they take of time and
/// memory is a candidate's verdict, and an error of the source.
///
//===----------------------------------------------------------------------===//

#include "FolderFixture.h"
#include "LibraryBuilder.h"
#include "stark/Support/Error.h"
#include "llvm/Support/FileSystem.h"

using namespace stark;

namespace {
const char *const SourceText = R"(
__global__ void k(float *x, int n) { x[threadIdx.x] = n; }
void launch(float *x, int n) { k<<<1, 32>>>(x, n); }
)";
const char *const WorkloadText = R"({
  "entry": "launch", "sizes": [{"n": 64}],
  "arguments": {"x": {"dtype": "f32", "shape": ["n"], "role": "output"},
                "n": {"value": "n"}}
})";
/// Scripts that never end, take all memory, and crash.
const char *const Endless = "while :; do sleep 1; done\n";
const char *const Greedy = "s=xxxxxxxxxxxxxxxx; while :; do s=$s$s; done\n";
const char *const Crashing = "kill -SEGV $$\n";
const char *const Killed = "kill -KILL $$\n";

class Limits : public FolderFixture {
protected:
  void SetUp() override {
    write("k.cu", SourceText);
    write("k.workload.json", WorkloadText);
    ParseOptions Parse;
    Parse.Toolkit = "none";
    T = llvm::cantFail(loadTask(path("k.cu"), path("k.workload.json"), Parse));
  }
  std::string script(llvm::StringRef Name, llvm::StringRef Body) {
    write(Name.str(), ("#!/bin/sh\n" + Body).str());
    llvm::cantFail(llvm::errorCodeToError(llvm::sys::fs::setPermissions(
        path(Name.str()), llvm::sys::fs::all_all)));
    return path(Name.str());
  }
  Candidate candidate(unsigned Node = 1) const {
    Candidate C;
    C.Node = Node;
    C.Text = SourceText;
    return C;
  }
  /// What the simulator's judge makes of a stark-sim that does \p Body.
  std::string judged(llvm::StringRef Body, unsigned Node = 1) {
    EvaluatorOptions Options;
    Options.Sim = script("stark-sim", Body);
    Options.SimLimitMs = LimitMs;
    Options.SimMemoryLimit = 64 << 20;
    auto Judge = llvm::cantFail(makeSimEvaluator(T, "h200", Options));
    llvm::Expected<Verdict> V = Judge->evaluate(candidate(Node));
    return V ? verdictName(V->Kind).str() + ": " + V->Compiler + V->Run
             : "error: " + llvm::toString(V.takeError());
  }
  /// With an nvcc that does \p Body.
  BuildOptions withNvcc(llvm::StringRef Body) {
    (void)llvm::sys::fs::create_directories(path("toolkit/bin"));
    script("toolkit/bin/nvcc", Body);
    (void)llvm::sys::fs::create_directories(path("toolkit/include"));
    script("toolkit/include/cuda_runtime.h", "");
    BuildOptions Options;
    Options.Toolkit = path("toolkit");
    Options.Host = HostCompiler::Users;
    Options.Arch = "sm_90";
    Options.TimeoutMs = LimitMs;
    Options.MemoryLimit = 64 << 20;
    return Options;
  }
  /// What comes of a candidate, or of the source, where nvcc does \p Body.
  std::string built(llvm::StringRef Body, bool OfSource = false) {
    BuildOptions Options = withNvcc(Body);
    BuildResult Source;
    llvm::Expected<BuildResult> B =
        OfSource ? LibraryBuilder(T, Options).candidate(candidate())
                 : buildLibrary(T, SourceText, path("out"), "candidate.so",
                                Options, [&] { return &Source; });
    return !B      ? "error: " + llvm::toString(B.takeError())
           : B->Ok ? "built"
                   : B->Diagnostics;
  }

  Task T;
  uint64_t LimitMs = 600000;
};
} // namespace

TEST_F(Limits, ASimulatorThatDoesNotEnd) {
  LimitMs = 100;
  EXPECT_EQ(judged(Endless),
            "timed-out: stark-sim did not end within 0 s and 64 MiB");
  EXPECT_EQ(judged(Endless, /*Node=*/0),
            "error: stark-sim did not end within 0 s and 64 MiB");
}

TEST_F(Limits, ASimulatorThatTakesAllMemory) {
  EXPECT_EQ(judged(Greedy),
            "timed-out: stark-sim did not end within 600 s and 64 MiB");
}

// What crashes on a candidate is its fault; who is killed from outside, or
// says what is wrong with the host, ends the run.
TEST_F(Limits, ASimulatorThatCrashes) {
  EXPECT_EQ(judged(Crashing),
            "not-compiled: stark-sim crashed on it with signal 11");
  EXPECT_EQ(judged(Crashing, /*Node=*/0),
            "error: stark-sim crashed on it with signal 11");
  EXPECT_EQ(judged(Killed).substr(0, 32), "error: stark-sim left no result:");
  EXPECT_EQ(judged("echo 'error: no room' >&2; exit 1\n"),
            "error: stark-sim left no result: no room");
}

TEST_F(Limits, ACompilerThatTakesTooMuch) {
  EXPECT_EQ(built(Greedy), "the compiler took more than 64 MiB");
  LimitMs = 100;
  EXPECT_EQ(built(Endless), "the compiler did not finish in time");
  EXPECT_EQ(built(Endless, /*OfSource=*/true),
            "error: the source itself does not build: the compiler did not "
            "finish in time");
}

// Each nvcc waits until the other has begun. What is wrong with the source
// is told, whatever the candidate has come to.
TEST_F(Limits, TheSourceIsCompiledBesideTheCandidate) {
  write("began/here", "");
  std::string Began = path("began");
  BuildOptions Options = withNvcc("cd " + Began + R"(
touch nvcc.$$
for i in $(seq 600); do
  [ $(ls nvcc.* | wc -l) -ge 2 ] && touch both && break
  sleep 0.1
done
echo 'k.cu(1): error: no' >&2
exit 1
)");
  Candidate C = candidate();
  C.Text += "// another\n";
  LibraryBuilder Builder(T, Options);
  llvm::Expected<BuildResult> B = Builder.candidate(C);
  ASSERT_FALSE(bool(B));
  EXPECT_EQ(llvm::toString(B.takeError()).substr(0, 39),
            "the source itself does not build: k.cu(");
  EXPECT_TRUE(llvm::sys::fs::exists(Began + "/both"));
}

TEST_F(Limits, ACompilerThatCrashes) {
  EXPECT_NE(built(Crashing).substr(0, 6), "error:");
  EXPECT_EQ(built(Crashing, /*OfSource=*/true).substr(0, 39),
            "error: the source itself does not build");
  EXPECT_EQ(built("echo 'No space left on device' >&2; exit 1\n").substr(0, 6),
            "error:");
}
