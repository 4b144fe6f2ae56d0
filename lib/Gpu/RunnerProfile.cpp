//===- RunnerProfile.cpp - What a profiler says of a candidate ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   a call of a correct candidate with each size under ncu -> a paragraph
///   each, or why there are no counters, and what CUPTI records without them
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

ProfiledCall gpu::profiledCall(const Case &C, const Result &Out) {
  ProfiledCall Call;
  Call.Label = C.Label;
  Call.MovedBytes = C.MovedBytes;
  Call.CopyGBs = Out.CopyGBs;
  for (const Timing &T : Out.Timings)
    if (T.Label == C.Label)
      Call.MedianUs = T.MedianUs;
  return Call;
}

void GpuRunner::profile(const std::vector<unsigned> &Cases, Result &Out) {
  Profile &Found = Out.Counted.emplace();
  count(Cases, Out);
  if (Found.Text.empty())
    profileByCupti(Cases, Out);
}

void GpuRunner::count(const std::vector<unsigned> &Cases, Result &Out) {
  Profile &Found = *Out.Counted;
  std::string Program = findCudaTool("ncu", Options.Ncu);
  if (Program.empty()) {
    Found.Problem = "there is no ncu (Nsight Compute) where the GPU is";
    Found.Unavailable = true;
    return;
  }
  // What it cannot do at all it is not asked for again by this process.
  static std::map<std::string, std::string> Failed;
  if (auto Before = Failed.find(Program); Before != Failed.end()) {
    Found.Problem = Before->second;
    Found.Unavailable = true;
    return;
  }
  judge::Stages::Scope Profiling(Log, "profile", J->Cases[Cases.front()].Label);
  // It saves and restores what a kernel writes: the more memory is free, the
  // better.
  endBoth();
  Errand Bare = Candidate.bare();
  std::vector<NcuCall> Calls;
  for (unsigned Case : Cases) {
    Trial T;
    T.Case = Case;
    T.Seed = J->TimingSeed;
    Calls.push_back({requestFor(Command::Prepare, Case), requestFor(T)});
    Calls.back().Run.Flags |= Profiled;
  }
  NcuPages Pages = runUnderNcu(Program, spec(), Bare, Calls, Time);
  if (!Pages.Failed.empty() && !Pages.AtAll && Calls.size() > 1) {
    // Another size may be what it fails at.
    Calls.resize(1);
    Pages = runUnderNcu(Program, spec(), Bare, Calls, Time);
  }
  if (!Pages.Failed.empty()) {
    Found.Problem = "ncu: " + Pages.Failed;
    Found.Unavailable = Pages.AtAll;
    if (Pages.AtAll)
      Failed[Program] = Found.Problem;
    return;
  }
  size_t Profiled = std::min(Pages.Calls.size(), Cases.size()), All = 0;
  for (const std::vector<NcuLaunch> &Launches : Pages.Calls)
    All += Launches.size();
  for (size_t I = 0; I < Profiled && !Pages.Calls[I].empty(); ++I) {
    const std::vector<NcuLaunch> &Launches = Pages.Calls[I];
    ProfiledCall Call = profiledCall(J->Cases[Cases[I]], Out);
    Call.File = J->ProfiledText;
    // None is cut off but the last.
    Call.MaybeMoreLaunches =
        I + 1 == Pages.Calls.size() &&
        All + Pages.Calls.size() == Calls.size() * (1 + MostProfiled);
    std::string Text =
        I ? describeOtherSize(Call, Launches)
          : describeProfile(
                Call, Launches,
                linesIn(Pages.Source, mainKernelOf(Launches).Longest->Kernel));
    addProfile(Found.Text, Text);
  }
}
