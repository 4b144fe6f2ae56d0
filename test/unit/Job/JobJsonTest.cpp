//===- JobJsonTest.cpp - Jobs and results as JSON ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Job/Job.h"
#include <gtest/gtest.h>

using namespace stark::job;

namespace {
Job exampleJob() {
  Job J;
  J.Id = "attempt-1";
  J.Purpose = "attempt";
  J.SourceLibrary = "source.so";
  J.CandidateLibrary = "candidate.so";
  J.SourceDigest = "s";
  J.CandidateDigest = "c";
  J.Arch = "sm_90";
  Leaf X, Y, N, Eps, S;
  X.Name = "x";
  X.Fill.Kind = InitKind::File;
  X.Fill.File = "x.npy";
  X.Otherwise.resize(2);
  X.Otherwise[0].Of = Regime::Hardened;
  X.Otherwise[0].Fill.Kind = InitKind::Mixed;
  X.Otherwise[0].Fill.Keep = Triangle::Lower;
  X.Otherwise[1].Of = Regime::EqualRows;
  X.Otherwise[1].Fill.EqualRows = true;
  X.Weight = true;
  Y.Name = "y";
  Y.Type = DType::BF16;
  Y.Use = Role::Output;
  Y.Tolerance = 1e-3;
  N.Name = "n";
  N.Kind = LeafKind::Integer;
  Eps.Name = "eps";
  Eps.Kind = LeafKind::Real;
  S.Name = "stream";
  S.Kind = LeafKind::Stream;
  Leaf P;
  P.Name = "points";
  P.Type = DType::U8;
  P.Use = Role::InOut;
  P.Fields.resize(2);
  P.Fields[0].Name = "x";
  P.Fields[0].Count = 3;
  P.Fields[0].Otherwise = X.Otherwise;
  P.Fields[0].Tolerance = 1e-4;
  P.Fields[1].Name = "cell";
  P.Fields[1].Offset = 12;
  P.Fields[1].Type = DType::I32;
  J.Leaves = {X, Y, N, Eps, S, P};
  Case C;
  C.Label = "n=7";
  C.Values.resize(6);
  C.Values[5].Shape = {7, 16};
  C.Values[5].FieldFills.resize(2);
  C.Values[0].Shape = {7, 3};
  C.Values[1].Shape = {7};
  C.Values[2].Integer = -7;
  C.Values[3].Real = 1e-5;
  Case Hardened = C;
  Hardened.Timed = false;
  Hardened.Filling = Regime::Hardened;
  Case Drawn = Hardened;
  Drawn.Filling = Regime::EqualRows;
  Drawn.Added = Drawn.Brief = Drawn.Drawn = Drawn.Shifted = true;
  J.Cases = {C, Hardened, Drawn};
  J.DrawnCases = 7;
  J.MayBeDegenerate = true;
  J.Precision = {"mma tf32"};
  J.SanitizeAbove = 1.5;
  J.AsyncBarriers = true;
  J.Torch = "2.11.0";
  J.SharedSource = std::string(64, 'a');
  J.Seeds = {1, UINT64_MAX};
  J.TimingSeed = 1ull << 63;
  return J;
}

Timing exampleTiming() {
  Timing T;
  T.Label = "n=1";
  T.Samples = 3;
  T.MedianUs = 2;
  T.SourceMedianUs = 5;
  T.Speedup = 2.5;
  T.SpeedupLow = 4.0 / 3;
  T.SpeedupHigh = 6;
  return T;
}

std::string errorOf(std::string Text, const std::string &From,
                    const std::string &To) {
  size_t At = Text.find(From);
  EXPECT_NE(At, std::string::npos) << From;
  Text.replace(At, From.size(), To);
  std::string Error;
  parseJob(Text, "job.json", Error);
  return Error;
}
} // namespace

TEST(JobJson, AJobComesBackAsItWas) {
  std::string Text = printJob(exampleJob()), Error;
  Job J = parseJob(Text, "job.json", Error);
  EXPECT_EQ(Error, "");
  EXPECT_EQ(printJob(J), Text);
  EXPECT_EQ(J.Seeds.back(), UINT64_MAX);
  EXPECT_EQ(J.Cases[0].Values[2].Integer, -7);
  EXPECT_EQ(J.Leaves[0].Fill.File, "x.npy");
  EXPECT_EQ(J.Leaves[1].Use, Role::Output);
}

TEST(JobJson, HostileJobsAreRefusedWithTheFieldNamed) {
  std::string Text = printJob(exampleJob());
  EXPECT_EQ(errorOf(Text, "\"source.so\"", "\"../../etc/passwd\""),
            "job.json: field 'source_library': got '../../etc/passwd', wanted "
            "the name of a file in the job's folder");
  EXPECT_EQ(errorOf(Text, std::string(64, 'a'), "../../../etc/passwd"),
            "job.json: field 'shared_source': got '../../../etc/passwd', "
            "wanted 64 lower-case hexadecimal digits");
  EXPECT_EQ(errorOf(Text, "\"x.npy\"", "\"/dev/zero\""),
            "job.json: field 'leaves[0].init.file': got '/dev/zero', wanted "
            "the name of a file in the job's folder");
  EXPECT_EQ(errorOf(Text, "\"bf16\"", "\"fp8\""),
            "job.json: field 'leaves[1].type': got 'fp8', wanted f32, f64, "
            "f16, bf16, i8, i16, i32, i64, u8, bool, c64 or c128");
  EXPECT_EQ(errorOf(Text, "\"integer\": -7", "\"integer\": \"7\""),
            "job.json: field 'cases[0].values[2].integer': got \"7\", wanted "
            "an integer");
  EXPECT_EQ(errorOf(Text, "\"format\": 1", "\"format\": 2"),
            "job.json: field 'format': got 2, wanted 1");
  EXPECT_EQ(errorOf(Text, "\"timeout_ms\": 60000", "\"timeout_ms\": 0"),
            "job.json: field 'timeout_ms': got 0, wanted 1 ms to a day");
  EXPECT_EQ(errorOf(Text, "\"offset\": 12", "\"offset\": 13"),
            "job.json: field 'leaves[5].fields[1].offset': got 13, wanted a "
            "multiple of 4");
  EXPECT_EQ(errorOf(Text, "\"offset\": 12", "\"offset\": 16"),
            "job.json: field 'cases[0].values[5].shape': got [7,16], wanted "
            "one whose last extent has room for the leaf's fields");
  EXPECT_EQ(errorOf(Text, "\"arch\"", "\"architecture\""),
            "job.json: field 'arch': got nothing, wanted a string");
}

TEST(JobJson, ShapesThatOverflowAreRefused) {
  Job J = exampleJob();
  for (std::vector<int64_t> Shape :
       {std::vector<int64_t>{1ll << 62, 1ll << 62}, {1ll << 41}, {0}, {-1}}) {
    J.Cases[0].Values[0].Shape = Shape;
    std::string Error;
    parseJob(printJob(J), "job.json", Error);
    EXPECT_NE(Error.find("job.json: field 'cases[0].values[0].shape': got"),
              std::string::npos)
        << Error;
  }
}

TEST(JobJson, AnyBytesAreAnErrorAndNoCrash) {
  std::string Text = printJob(exampleJob());
  for (size_t Cut = 0; Cut < Text.size() - 2; Cut += 3) {
    std::string Error;
    parseJob(Text.substr(0, Cut), "job.json", Error);
    EXPECT_NE(Error, "") << Cut;
  }
  for (const char *Other : {"", "null", "[]", "3", "\"job\"", "{}", "\xff"}) {
    std::string Error;
    parseJob(Other, "job.json", Error);
    EXPECT_NE(Error, "") << Other;
  }
}

TEST(ResultJson, AResultComesBackAsItWas) {
  Result R;
  R.Id = "attempt-1";
  R.CandidateDigest = "c";
  R.SourceDigest = "s";
  R.End = Outcome::TimedOut;
  R.Diagnostics = "line 1\nline \"2\" \xff";
  R.Timings = {exampleTiming()};
  R.CopyGBs = 4250.5;
  R.Device = "GPU";
  R.Stages = {{"open", "", 0, 12}, {"compare", "n=8", 12, 20}};
  std::string Text = printResult(R), Error;
  Result Back = parseResult(Text, "r.json", Error);
  EXPECT_EQ(Error, "");
  EXPECT_EQ(printResult(Back), Text);
  EXPECT_EQ(Back.End, Outcome::TimedOut);
  EXPECT_EQ(Back.Stages.size(), 2u);
}

// Stages come from another machine: neither their number nor their times are
// taken as they come.
TEST(ResultJson, StagesAreChecked) {
  Result R;
  R.Stages.assign(MaxStages + 1, {"open", "", 0, 1});
  std::string Error;
  parseResult(printResult(R), "r.json", Error);
  EXPECT_NE(Error.find("r.json: field 'stages'"), std::string::npos) << Error;
  R.Stages = {{"open", "", 2, 1}};
  Error.clear();
  parseResult(printResult(R), "r.json", Error);
  EXPECT_NE(Error.find("'stages[0].end_us': got 1, wanted begin_us or later"),
            std::string::npos)
      << Error;
}

TEST(ResultJson, AForgedTimeIsRefused) {
  Result R;
  R.Timings = {exampleTiming()};
  R.Timings[0].MedianUs = 0;
  std::string Error;
  parseResult(printResult(R), "r.json", Error);
  EXPECT_EQ(Error, "r.json: field 'timings[0].median_us': got 0.0, wanted "
                   "a positive time");
}
