//===- TargetFile.cpp - What a target of a project is built with ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/TargetFile.h"
#include "stark/Json/Fields.h"
#include "stark/Search/Record.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <nlohmann/json.hpp>
#include <tuple>

using namespace stark;
using nlohmann::json;
namespace fs = llvm::sys::fs;

namespace stark {
template <class IO> static void fields(IO &F, TargetSource &S) {
  F.required("source", S.Source);
  F.required("workload", S.Workload);
  F.required("flags", S.Flags);
  F.required("runs", S.Runs);
}

template <class IO> static void fields(IO &F, TargetFile &T) {
  F.format("format", int64_t(1));
  F.required("target", T.Target);
  F.required("toolkit", T.Toolkit);
  F.required("store", T.Store);
  F.required("evaluator", T.Evaluator);
  F.required("archs", T.Archs);
  F.check(!T.Archs.empty(), "archs", "an architecture or more");
  F.required("sources", T.Sources);
}
} // namespace stark

llvm::Expected<TargetFile> stark::readTargetFile(llvm::StringRef Path) {
  llvm::Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  json Root = json::parse(*Text, nullptr, /*allow_exceptions=*/false);
  if (Root.is_discarded())
    return failed("'" + Path +
                  "' is not JSON; wanted kernels.json of a target");
  TargetFile T;
  if (std::string Why = readFields(Root, Path.str(), "", T); !Why.empty())
    return failed(Why);
  return T;
}

llvm::Expected<BuildStep> stark::stepOf(const TargetFile &Of,
                                        const TargetSource &Source) {
  llvm::Expected<std::vector<std::string>> Flags = readFlagsFile(Source.Flags);
  if (!Flags)
    return Flags.takeError();
  BuildStep Step;
  Step.In = {Source.Source, Source.Workload, std::move(*Flags),
             Of.Archs.front(), Of.Toolkit};
  Step.MoreArchs.assign(Of.Archs.begin() + 1, Of.Archs.end());
  Step.Stores = {Of.Store};
  return Step;
}

llvm::Expected<BuildStep> stark::wholeStepOf(const TargetFile &Of,
                                             const TargetSource &Source) {
  llvm::Expected<BuildStep> Step = stepOf(Of, Source);
  if (!Step)
    return Step;
  llvm::StringRef Name = llvm::sys::path::filename(Source.Source);
  // It lies beside the folder of the runs.
  Step->Output = (llvm::sys::path::parent_path(Source.Runs) + "/" + Name).str();
  std::vector<std::string> Workloads;
  for (const TargetSource &S : Of.Sources)
    if (S.Source == Source.Source && S.Flags == Source.Flags)
      Workloads.push_back(S.Workload);
  Step->In.WorkloadPath = Workloads.front();
  Step->MoreWorkloads.assign(Workloads.begin() + 1, Workloads.end());
  return Step;
}

std::string stark::subjectOf(const TargetFile &Of, const TargetSource &Source) {
  std::string Name = llvm::sys::path::filename(Source.Source).str();
  bool HasMore = llvm::any_of(Of.Sources, [&](const TargetSource &Other) {
    return Other.Source == Source.Source && Other.Workload != Source.Workload;
  });
  if (HasMore)
    Name += (" with " + llvm::sys::path::filename(Source.Workload)).str();
  return Name;
}

/// Empty where it cannot be read.
static std::string textOf(const std::string &Path) {
  llvm::Expected<std::string> Text = readFile(Path);
  if (Text)
    return std::move(*Text);
  llvm::consumeError(Text.takeError());
  return "";
}

namespace {
/// A run below a folder of runs.
struct FoundRun {
  bool IsOwn = false; ///< of the workload that is asked for, to the byte
  llvm::sys::TimePoint<> Time;
  std::string Folder; ///< of two in one tick it decides: the answer is one
  auto order() const { return std::tie(IsOwn, Time, Folder); }
};
} // namespace

std::string stark::newestRun(const TargetFile &Of, const TargetSource &Source) {
  std::string Own = textOf(Source.Workload);
  std::vector<std::string> Others;
  const TargetSource *First = nullptr;
  for (const TargetSource &S : Of.Sources) {
    if (S.Runs != Source.Runs)
      continue;
    First = First ? First : &S;
    if (S.Workload != Source.Workload)
      Others.push_back(textOf(S.Workload));
  }
  FoundRun Newest;
  std::error_code Code;
  for (fs::directory_iterator I(Source.Runs, Code), End; I != End && !Code;
       I.increment(Code)) {
    fs::file_status Journal;
    if (fs::status(I->path() + "/journal.jsonl", Journal) ||
        !fs::exists(I->path() + "/run.json"))
      continue;
    std::string Text = textOf(I->path() + "/" + RunWorkloadFile);
    FoundRun Run{Text == Own, Journal.getLastModificationTime(), I->path()};
    bool IsGuess = First && First->Workload == Source.Workload &&
                   !llvm::is_contained(Others, Text);
    if ((Run.IsOwn || IsGuess) && Newest.order() < Run.order())
      Newest = std::move(Run);
  }
  return Newest.Folder;
}
