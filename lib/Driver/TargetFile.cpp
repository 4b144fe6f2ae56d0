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

std::string stark::subjectOf(const TargetFile &Of, const TargetSource &Source) {
  std::string Name = llvm::sys::path::filename(Source.Source).str();
  bool HasMore = llvm::any_of(Of.Sources, [&](const TargetSource &Other) {
    return Other.Source == Source.Source && Other.Workload != Source.Workload;
  });
  if (HasMore)
    Name += (" with " + llvm::sys::path::filename(Source.Workload)).str();
  return Name;
}

/// Whether the run in \p Folder is of another workload than \p Workload, the
/// bytes of one. Runs of before do not say of which.
static bool isOfAnother(llvm::StringRef Folder, llvm::StringRef Workload) {
  llvm::Expected<std::string> Own =
      readFile((Folder + "/" + RunWorkloadFile).str());
  if (Own)
    return *Own != Workload;
  llvm::consumeError(Own.takeError());
  return false;
}

std::string stark::newestRun(const TargetSource &Source) {
  llvm::Expected<std::string> Workload = readFile(Source.Workload);
  if (!Workload) {
    llvm::consumeError(Workload.takeError());
    return "";
  }
  std::string Newest;
  llvm::sys::TimePoint<> Then;
  std::error_code Code;
  for (fs::directory_iterator I(Source.Runs, Code), End; I != End && !Code;
       I.increment(Code)) {
    fs::file_status Journal;
    if (fs::status(I->path() + "/journal.jsonl", Journal) ||
        !fs::exists(I->path() + "/run.json") ||
        isOfAnother(I->path(), *Workload))
      continue;
    auto Time = Journal.getLastModificationTime();
    // Of two in one tick the name decides, so that the answer is always one.
    if (Newest.empty() || Time > Then || (Time == Then && I->path() > Newest)) {
      Newest = I->path();
      Then = Time;
    }
  }
  return Newest;
}
