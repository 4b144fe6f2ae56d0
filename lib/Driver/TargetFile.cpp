//===- TargetFile.cpp - What a target of a project is built with ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/TargetFile.h"
#include "stark/Json/Fields.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/Support/FileSystem.h"
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

std::string stark::newestRun(llvm::StringRef Runs) {
  std::string Newest;
  llvm::sys::TimePoint<> Then;
  std::error_code Code;
  for (fs::directory_iterator I(Runs, Code), End; I != End && !Code;
       I.increment(Code)) {
    fs::file_status Journal;
    if (fs::status(I->path() + "/journal.jsonl", Journal) ||
        !fs::exists(I->path() + "/run.json"))
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
