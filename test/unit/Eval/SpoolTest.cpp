//===- SpoolTest.cpp - From a candidate to a job and back ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FolderFixture.h"
#include "stark/AST/Toolkit.h"
#include "stark/Eval/Evaluator.h"
#include "stark/Judge/Race.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/Process.h"
#include "llvm/Support/FileSystem.h"
#include <filesystem>
#include <functional>

using namespace stark;

namespace {
const char *const Header = "#define FACTOR 2.0f\n";
const char *const SourceText = R"(#include "factor.h"
#include <cuda_runtime.h>
namespace {
__global__ void scale_kernel(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = FACTOR * x[i];
}
} // namespace
void scale(const float *x, float *y, int n, cudaStream_t stream) {
  scale_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
)";
const char *const WorkloadText = R"({
  "entry": "scale",
  "sizes": [{"n": 4096}],
  "arguments": {
    "x": {"dtype": "f32", "shape": ["n"], "init": "normal"},
    "y": {"dtype": "f32", "shape": ["n"], "role": "output"},
    "n": {"value": "n"}
  },
  "bytes": "8 * n"
})";

/// A source in a folder of its own, and a spool.
class SpoolEvaluatorTest : public FolderFixture {
protected:
  void SetUp() override {
    if (!findToolkit() || findToolkit()->Nvcc.empty())
      GTEST_SKIP() << "no nvcc here";
    write("src/scale.cu", SourceText);
    write("src/factor.h", Header);
    write("src/scale.workload.json", WorkloadText);
    T = llvm::cantFail(
        loadTask(path("src/scale.cu"), path("src/scale.workload.json"), {}));
    Options.Build.Arch = "sm_90";
    Judge = llvm::cantFail(makeSpoolEvaluator(T, path("spool"), Options, Time));
  }
  static std::string replaced(std::string Text, const std::string &From,
                              const std::string &To) {
    size_t At = Text.find(From);
    EXPECT_NE(At, std::string::npos) << From;
    return Text.replace(At, From.size(), To);
  }
  llvm::Expected<Verdict> ask(std::string Text) {
    Candidate C;
    C.Node = 1;
    C.Text = std::move(Text);
    C.Seed = 42;
    return Judge->evaluate(C);
  }
  Verdict verdictOf(std::string Text) {
    llvm::Expected<Verdict> V = ask(std::move(Text));
    if (V)
      return *V;
    ADD_FAILURE() << llvm::toString(V.takeError());
    return {};
  }
  std::string errorOf(std::string Text, ErrorKind Kind) {
    llvm::Expected<Verdict> V = ask(std::move(Text));
    if (V) {
      ADD_FAILURE() << "a verdict: " << verdictName(V->Kind).str();
      return "";
    }
    llvm::Error E = V.takeError();
    EXPECT_EQ(errorKind(E), Kind);
    return llvm::toString(std::move(E));
  }
  std::vector<std::string> jobs() {
    std::vector<std::string> Names;
    std::error_code Error;
    for (llvm::sys::fs::directory_iterator I(path("spool/jobs"), Error), End;
         I != End && !Error; I.increment(Error))
      Names.push_back(I->path().substr(path("spool/jobs/").size()));
    return Names;
  }
  /// The only one there is.
  job::Job theJob() {
    std::string Problem, Id = jobs().at(0);
    std::string File = path("spool/jobs/" + Id + "/job.json");
    job::Job J = job::parseJob(llvm::cantFail(readFile(File)), File, Problem);
    EXPECT_EQ(Problem, "");
    return J;
  }
  /// The result that a worker would leave for it.
  job::Result resultFor(job::Outcome End) {
    job::Job J = theJob();
    job::Result R;
    R.Id = J.Id;
    R.SourceDigest = J.SourceDigest;
    R.CandidateDigest = J.CandidateDigest;
    R.Compiler = J.Compiler;
    R.End = End;
    R.Device = "GPU";
    R.CopyGBs = 1000;
    return R;
  }
  void finish(const job::Result &R) {
    write("spool/results/" + R.Id + ".json", job::printResult(R));
    llvm::sys::fs::remove_directories(path("spool/jobs/" + R.Id));
  }

  Task T;
  EvaluatorOptions Options;
  FakeClock Time;
  std::unique_ptr<Evaluator> Judge;
  std::string Faster = replaced(SourceText, "256, 0", "128 + 128, 0");
};
} // namespace

TEST_F(SpoolEvaluatorTest, AJobIsLeftOnceAndItsResultRead) {
  std::string Waiting = errorOf(Faster, ErrorKind::Suspended);
  EXPECT_NE(Waiting.find("stark-worker --spool"), std::string::npos);
  ASSERT_EQ(jobs().size(), 1u);
  // Asked again, it finds its own job.
  errorOf(Faster, ErrorKind::Suspended);
  ASSERT_EQ(jobs().size(), 1u);
  std::string Job = path("spool/jobs/" + jobs()[0]);
  for (const char *File : {"/candidate.so", "/job.json"})
    EXPECT_TRUE(llvm::sys::fs::exists(Job + File)) << File;

  job::Result R = resultFor(job::Outcome::Correct);
  job::Samples Taken;
  Taken.Label = "n=4096";
  Taken.Blocks = {{{4, 4, 4}, {2, 2, 2}, {4, 4, 4}, {2, 2, 2}}};
  Taken.Throttled = 7;
  R.Timings = {judge::summarize({Taken})};
  finish(R);
  Verdict V = verdictOf(Faster);
  EXPECT_EQ(V.Kind, VerdictKind::Correct);
  EXPECT_DOUBLE_EQ(V.scoreUs(), 2);
  EXPECT_NE(V.Compiler.find("scale_kernel: "), std::string::npos) << V.Compiler;
  EXPECT_NE(V.Run.find("n=4096: median 2.00 us"), std::string::npos) << V.Run;
  EXPECT_NE(V.Run.find("3 samples beside 7 that are not counted"),
            std::string::npos)
      << V.Run;
  EXPECT_NE(V.Run.find("2.000 times as fast"), std::string::npos) << V.Run;
  EXPECT_NE(V.Run.find("at the device's copy rate of 1000 GB/s"),
            std::string::npos)
      << V.Run;
}

// What it will be asked of is in the queue before, once; what is no job by then
// is told when it is asked of.
TEST_F(SpoolEvaluatorTest, AJobMayBeLeftBefore) {
  Candidate C;
  C.Text = Faster;
  C.Seed = 42;
  Judge->begin(C);
  std::vector<std::string> Begun = jobs();
  ASSERT_EQ(Begun.size(), 1u);
  errorOf(Faster, ErrorKind::Suspended);
  EXPECT_EQ(jobs(), Begun);

  C.Text = replaced(SourceText, "FACTOR * x[i]", "no_such_name");
  Judge->begin(C);
  EXPECT_EQ(jobs(), Begun);
  Verdict V = verdictOf(C.Text);
  EXPECT_EQ(V.Kind, VerdictKind::NotCompiled);
  EXPECT_NE(V.Compiler.find("no_such_name"), std::string::npos) << V.Compiler;
}

// The source's library, which is the same for all, is there once, and again
// where somebody took it away. What was posted long ago goes.
TEST_F(SpoolEvaluatorTest, ASourcesLibraryIsLeftOnce) {
  auto Files = [&] {
    std::vector<std::string> Names;
    std::error_code Error;
    for (llvm::sys::fs::directory_iterator I(path("spool/libraries"), Error),
         End;
         I != End && !Error; I.increment(Error))
      Names.push_back(I->path());
    return Names;
  };
  write("spool/libraries/old.so", "");
  std::filesystem::last_write_time(
      path("spool/libraries/old.so"),
      std::filesystem::file_time_type::clock::now() -
          std::chrono::hours(31 * 24));
  errorOf(Faster, ErrorKind::Suspended);
  job::Job J = theJob();
  ASSERT_EQ(Files().size(), 1u);
  std::string Library = path("spool/libraries/" + J.SharedSource + ".so");
  EXPECT_EQ(Files()[0], Library);
  std::string Bytes = llvm::cantFail(readFile(Library));
  EXPECT_EQ(sha256(Bytes), J.SharedSource);
  errorOf(Faster + "\n", ErrorKind::Suspended);
  EXPECT_EQ(jobs().size(), 2u);
  EXPECT_EQ(Files().size(), 1u);

  llvm::sys::fs::remove(Library);
  errorOf(Faster + "\n\n", ErrorKind::Suspended);
  EXPECT_EQ(jobs().size(), 3u);
  EXPECT_TRUE(llvm::cantFail(readFile(Library)) == Bytes);
}

// What pairs of processes differ by says how sure a winner's figure is, so
// there are several, each with fewer samples.
TEST_F(SpoolEvaluatorTest, AWinnerIsTimedInEightPairsOfProcesses) {
  Candidate C;
  C.Text = Faster;
  C.Seed = 42;
  C.Why = Purpose::Confirm;
  Judge->begin(C);
  job::TimingRule Rule = theJob().Timing;
  EXPECT_EQ(Rule.Rounds, 8u);
  EXPECT_EQ(Rule.MinSamples, 20u);
  EXPECT_EQ(Rule.MaxSamples, 40u);
  llvm::sys::fs::remove_directories(path("spool/jobs"));

  C.Why = Purpose::Attempt;
  Judge->begin(C);
  Rule = theJob().Timing;
  EXPECT_EQ(Rule.Rounds, 1u);
  EXPECT_EQ(Rule.MinSamples, 30u);
}

// It waits as long as it was told to, and takes a result that comes meanwhile.
TEST_F(SpoolEvaluatorTest, AResultIsWaitedForByTheClock) {
  class Coming : public FakeClock {
  public:
    explicit Coming(std::function<void()> Come) : Come(std::move(Come)) {}
    void sleep(Duration For) override {
      FakeClock::sleep(For);
      if (++Looks == 3)
        Come();
    }
    unsigned Looks = 0;

  private:
    std::function<void()> Come;
  };
  Options.WaitMs = 60'000;
  Judge = llvm::cantFail(makeSpoolEvaluator(T, path("spool"), Options, Time));
  errorOf(Faster, ErrorKind::Suspended);
  EXPECT_EQ(Time.now() - Clock::Time(), std::chrono::minutes(1));

  Coming Waits([&] { finish(resultFor(job::Outcome::Wrong)); });
  Judge = llvm::cantFail(makeSpoolEvaluator(T, path("spool"), Options, Waits));
  EXPECT_EQ(verdictOf(Faster).Kind, VerdictKind::Wrong);
  EXPECT_EQ(Waits.Looks, 3u);
}

TEST_F(SpoolEvaluatorTest, ResultsAreReadWithCare) {
  errorOf(Faster, ErrorKind::Suspended);
  job::Result R = resultFor(job::Outcome::Wrong);
  // One of another candidate is refused.
  job::Result Other = R;
  Other.CandidateDigest = std::string(64, '0');
  finish(Other);
  EXPECT_NE(errorOf(Faster, ErrorKind::Failed).find("the result is of job"),
            std::string::npos);
  // One that is cut short is an error.
  write("spool/results/" + R.Id + ".json", job::printResult(R).substr(0, 100));
  EXPECT_NE(errorOf(Faster, ErrorKind::Failed).find("not valid JSON"),
            std::string::npos);
  // That the candidate is wrong is a verdict.
  R.Diagnostics = "output 'y' is wrong";
  finish(R);
  Verdict V = verdictOf(Faster);
  EXPECT_EQ(V.Kind, VerdictKind::Wrong);
  EXPECT_EQ(V.Run, "output 'y' is wrong");
  // That the host failed is none; asked again, the job is there again.
  R.End = job::Outcome::Infrastructure;
  R.Diagnostics = "out of memory";
  finish(R);
  EXPECT_NE(errorOf(Faster, ErrorKind::Failed)
                .find("could not be judged: out of memory"),
            std::string::npos);
  EXPECT_EQ(jobs().size(), 0u);
  errorOf(Faster, ErrorKind::Suspended);
  EXPECT_EQ(jobs().size(), 1u);
}

TEST_F(SpoolEvaluatorTest, WhatDoesNotCompileIsAVerdictAtOnce) {
  Verdict V = verdictOf(replaced(SourceText, "FACTOR * x[i]", "FACTOR * z[i]"));
  EXPECT_EQ(V.Kind, VerdictKind::NotCompiled);
  EXPECT_EQ(V.Compiler.rfind("scale.cu(7): error: identifier \"z\" is "
                             "undefined\n",
                             0),
            0u)
      << V.Compiler;
  V = verdictOf(replaced(SourceText, "void scale(", "void scale2("));
  EXPECT_EQ(V.Kind, VerdictKind::NotCompiled);
  V = verdictOf(replaced(
      replaced(SourceText, "void scale(", "int missing(int);\nvoid scale("),
      "  scale_kernel<<<", "  n = missing(n);\n  scale_kernel<<<"));
  EXPECT_EQ(V.Kind, VerdictKind::NotCompiled);
  EXPECT_NE(V.Compiler.find("undefined reference to `missing(int)'"),
            std::string::npos)
      << V.Compiler;
  EXPECT_EQ(jobs().size(), 0u);
}

TEST_F(SpoolEvaluatorTest, AStreamOfItsOwnIsForbidden) {
  Verdict V =
      verdictOf(replaced(SourceText, "  scale_kernel<<<",
                         "  cudaStreamCreate(&stream);\n  scale_kernel<<<"));
  EXPECT_EQ(V.Kind, VerdictKind::Forbidden);
  EXPECT_EQ(V.Compiler,
            "the candidate uses 'cudaStreamCreate', which the source does "
            "not: work must stay on the stream that the entry is given\n");
}

TEST_F(SpoolEvaluatorTest, AnUnknownArchitectureHasToBeNamed) {
  Options.Build.Arch.clear();
  auto E = makeSpoolEvaluator(T, path("other"), Options, Time);
  ASSERT_FALSE(bool(E));
  EXPECT_NE(llvm::toString(E.takeError())
                .find("no worker has said yet which "
                      "GPU it has"),
            std::string::npos);
  write("other/device.json",
        "{\"device\":\"GPU\",\"arch\":\"sm_80\",\"driver\":\"\","
        "\"memory_mib\":1,\"l2_bytes\":1,\"copy_gb_per_s\":1.0,"
        "\"event_pair_us\":1.0,\"lockdown\":\"none\"}");
  EXPECT_TRUE(bool(makeSpoolEvaluator(T, path("other"), Options, Time)));
}
