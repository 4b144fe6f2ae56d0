//===- KeptCandidate.cpp - A winner that somebody wrote ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   a candidate's file -> judged as a winner is confirmed -> an entry of the
///   store, if it is right and faster
///
//===----------------------------------------------------------------------===//

#include "KernelSearch.h"
#include "stark/Driver/KernelBuild.h"
#include "stark/Driver/WinnerDispatch.h"
#include "stark/Driver/WinnerEntry.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/Support/Format.h"

using namespace stark;

static constexpr size_t ReasonLimit = 4000; // bytes

namespace {
struct Notes : EvaluationObserver {
  explicit Notes(BuildObserver &To) : To(To) {}
  void onNote(llvm::StringRef Note) override { To.onNote(Note); }
  BuildObserver &To;
};
} // namespace

/// The verdict that lets it win, or why it does not.
static llvm::Expected<Verdict> judge(const BuildStep &Step,
                                     const KeptCandidate &Given,
                                     const std::string &Text, double Margin,
                                     BuildObserver &Observer) {
  EvaluationRequest Request = Given.Judged;
  Request.Source = Step.In.SourcePath;
  Request.Workload = Step.In.WorkloadPath;
  Request.Flags = Step.In.Flags;
  Request.Arch = Step.In.Arch;
  Request.Candidates = {Given.File};
  Request.Texts = {Text};
  Request.Why = Purpose::Confirm;
  Notes Told(Observer);
  llvm::Expected<Evaluation> Done = evaluateCandidates(Request, Told);
  if (!Done)
    return Done.takeError();
  std::optional<Verdict> &Found = Done->Candidates.front().Found;
  if (!Found)
    return suspended(Done->Waiting);
  if (!Found->correct()) {
    std::string Why = trimForWindow(
        Found->Run.empty() ? Found->Compiler : Found->Run, ReasonLimit);
    return failed(Given.File + " is not kept: " + nameOf(Found->Kind) + ": " +
                  llvm::StringRef(Why).rtrim());
  }
  if (Found->speedup() < Margin || Found->speedupLow() <= 1) {
    std::string Text;
    llvm::raw_string_ostream(Text)
        << Given.File << " is not kept: "
        << llvm::format("%.3f times as fast as the source (95 %%: %.3f to "
                        "%.3f), wanted %.3f",
                        Found->speedup(), Found->speedupLow(),
                        Found->speedupHigh(), Margin);
    return failed(Text);
  }
  return std::move(*Found);
}

llvm::Expected<std::string> stark::keepCandidate(BuildStep Step,
                                                 const KeptCandidate &Given,
                                                 BuildObserver &Observer) {
  if (llvm::Error E = completeInputs(Step.In, nullptr, Given.Judged.Toolkit))
    return E;
  llvm::Expected<std::string> Text = readText(Given.File);
  if (!Text)
    return Text.takeError();
  ParseOptions Parse;
  Parse.Flags = Step.In.Flags;
  Parse.Toolkit = Given.Judged.Toolkit;
  Parse.Arch = Step.In.Arch;
  llvm::Expected<ExtractedTask> Loaded =
      loadTaskOf(*Text, Step.In.SourcePath, Step.In.WorkloadPath, Parse);
  if (!Loaded)
    return Loaded.takeError();
  const Task &T = Loaded->Of;
  const UsersSource *Users = Loaded->Users.get();
  if (llvm::Error E = checkPlannable(T, Users))
    return withContext(std::move(E), Given.File + " cannot be kept");
  llvm::Expected<std::string> Folder = keepingFolder(Step);
  if (!Folder)
    return Folder.takeError();
  llvm::Expected<Verdict> Judged =
      judge(Step, Given, *Text, T.Load.Margin, Observer);
  if (!Judged)
    return Judged.takeError();
  CacheEntry Entry =
      makeEntry(T, {std::move(*Text), Given.Title, Given.Author}, *Judged);
  if (Users)
    Entry.Headers = Users->Headers;
  if (llvm::Error E = addPlan(Entry, T, Users))
    return E;
  return keepEntry(Step, Entry, *Folder, Observer);
}
