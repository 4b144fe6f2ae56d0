//===- FakeRunner.h - A judge without a GPU -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_TEST_JUDGE_FAKERUNNER_H
#define STARK_TEST_JUDGE_FAKERUNNER_H

#include "stark/Job/Names.h"
#include "stark/Judge/Judge.h"
#include "stark/Posix/Clock.h"
#include "stark/Posix/File.h"
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace stark::judge {

/// Source and candidate give the same in the one output, leaf 1; a test changes
/// what they give.
class FakeRunner : public Runner {
public:
  MaybeStop open(const job::Job &TheJob, job::Result &) override {
    J = &TheJob;
    return std::nullopt;
  }
  CompareRule rule() const override { return Rule; }
  void plan(const std::vector<Trial> &) override {}
  SourceEnd source(const Trial &T) override {
    fill(Theirs, T);
    return Source(T);
  }
  MaybeStop candidate(const Trial &T) override {
    fill(Ours, T);
    return Candidate(T);
  }
  const void *ofSource(const Trial &, unsigned Leaf) override {
    EXPECT_EQ(Leaf, 1u);
    return Theirs.data();
  }
  const void *ofCandidate(const Trial &, unsigned Leaf) override {
    EXPECT_EQ(Leaf, 1u);
    return Ours.data();
  }
  std::string nameOf(const Trial &) const override { return "call"; }
  MaybeStop leaveOut(unsigned) override { return std::nullopt; }
  MaybeStop time(unsigned, std::vector<job::Timing> &, std::string &) override {
    return std::nullopt;
  }

  CompareRule Rule;
  std::function<SourceEnd(const Trial &)> Source = [](const Trial &) {
    return SourceEnd();
  };
  std::function<MaybeStop(const Trial &)> Candidate = [](const Trial &) {
    return std::nullopt;
  };
  std::vector<float> Theirs, Ours;

protected:
  /// Of element \p I of the output.
  virtual float value(const Trial &T, size_t I) const = 0;
  const job::Job *J = nullptr;

private:
  void fill(std::vector<float> &Output, const Trial &T) {
    Output.resize(J->Cases[T.Case].Values[1].elements());
    for (size_t I = 0; I < Output.size(); ++I)
      Output[I] = value(T, I);
  }
};

/// Has job J judged, with runner R.
template <class RunnerType> class JudgeFixture : public testing::Test {
protected:
  void SetUp() override {
    char Name[] = "/tmp/stark-judge-XXXXXX";
    Folder = mkdtemp(Name);
  }
  void TearDown() override { std::filesystem::remove_all(Folder); }
  job::Result run() {
    std::string Error;
    EXPECT_TRUE(posix::writeFileAtomically((Folder / "job.json").string(),
                                           printJob(J), Error))
        << Error;
    return judge(Folder.string(), R, Outputs, Time);
  }
  std::string end() {
    job::Result Out = run();
    return std::string(nameOf(Out.End)) + ": " + Out.Diagnostics;
  }

  std::filesystem::path Folder;
  job::Job J;
  RunnerType R;
  std::string Outputs; ///< see judge()
  FakeClock Time;
};

} // namespace stark::judge

#endif
