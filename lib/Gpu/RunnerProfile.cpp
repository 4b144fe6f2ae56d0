//===- RunnerProfile.cpp - What a profiler says of a candidate ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   one call of a correct candidate under ncu -> a paragraph, or why there is
/// none
/// Nothing is compared: it says nothing of whether a candidate is right.
///
//===----------------------------------------------------------------------===//

#include "CudaTool.h"
#include "Ncu.h"
#include "ProfileText.h"
#include "Runner.h"

using namespace stark;
using namespace stark::gpu;
using namespace stark::job;

/// What is known of \p Case beside the counters.
static ProfiledCall callOf(const Case &C, const Result &Out) {
  ProfiledCall Call;
  Call.Label = C.Label;
  Call.MovedBytes = C.MovedBytes;
  Call.CopyGBs = Out.CopyGBs;
  for (const Timing &T : Out.Timings)
    if (T.Label == C.Label)
      Call.MedianUs = T.MedianUs;
  return Call;
}

void GpuRunner::profile(unsigned Case, Result &Out) {
  Profile &Found = Out.Counted.emplace();
  std::string Program = findCudaTool("ncu", Options.Ncu);
  if (Program.empty()) {
    Found.Problem = "there is no ncu (Nsight Compute) where the GPU is";
    Found.Unavailable = true;
    return;
  }
  judge::Stages::Scope Profiling(Log, "profile", J->Cases[Case].Label);
  // It saves and restores what a kernel writes: the more memory is free, the
  // better.
  Source.Child.reset();
  Candidate.Child.reset();
  ChildSpec Bare = Candidate.Spec;
  Bare.SharedBytes = 0;
  Trial T;
  T.Case = Case;
  T.Seed = J->TimingSeed;
  Request Run = requestFor(T);
  Run.Flags |= Profiled;
  NcuPages Pages =
      runUnderNcu(Program, Bare, requestFor(Command::Prepare, Case), Run, Time);
  if (!Pages.Failed.empty()) {
    Found.Problem = "ncu: " + Pages.Failed;
    Found.Unavailable = Pages.AtAll;
    return;
  }
  ProfiledCall Call = callOf(J->Cases[Case], Out);
  Call.File = J->ProfiledText;
  Call.MaybeMoreLaunches = Pages.Launches.size() == MostProfiled;
  const NcuLaunch &Main = *mainKernelOf(Pages.Launches).Longest;
  Found.Text =
      describeProfile(Call, Pages.Launches, linesIn(Pages.Source, Main.Kernel));
}
