//===- KernelTune.cpp - A search on purpose -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelSearch.h"
#include "stark/Support/Error.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;

/// "2.500 times as fast, measured on NVIDIA H200"
static std::string describe(const WinnerFacts &F) {
  std::string Text;
  llvm::raw_string_ostream(Text)
      << llvm::format("%.3f times as fast, ", F.Speedup)
      << (F.Modelled ? "modelled" : "measured") << " on " << F.Device;
  return Text;
}

/// Why a search has no winner.
static std::string whyNone(const WinnerFacts &F) {
  llvm::StringRef Why = F.Title;
  Why.consume_front("nothing: ");
  return Why.str();
}

/// Whether \p New takes the place of \p Old. What was measured counts for more
/// than what was modelled.
static bool isBetter(const WinnerFacts &New, const WinnerFacts &Old) {
  if (New.Modelled != Old.Modelled)
    return Old.Modelled;
  return New.Speedup > Old.Speedup;
}

llvm::Error stark::tuneKernel(const BuildStep &Step, const BuildSearch &Search,
                              unsigned More, BuildObserver &Observer) {
  llvm::Expected<std::string> Folder = keepingFolder(Step);
  if (!Folder)
    return Folder.takeError();
  BuildStep OneArch = Step;
  OneArch.MoreArchs.clear();
  llvm::Expected<Lookup> Had = findForBuild(OneArch);
  if (!Had)
    return Had.takeError();
  llvm::Expected<SearchedEntry> Found =
      searchForEntry(Step, Search, More, Observer);
  if (!Found)
    return Found.takeError();
  const WinnerFacts &New = Found->Entry.Facts, &Old = Had->Entry.Facts;
  bool Won = !Found->Entry.WinnerText.empty();
  if (!Had->Why && !(Won && isBetter(New, Old))) {
    Observer.onNote(sourceName(Step) + ": the winner of before stays, " +
                    describe(Old) + "; that of the search: " +
                    (Won ? describe(New) : "none (" + whyNone(New) + ")"));
    return llvm::Error::success();
  }
  if (!Won)
    Observer.onNote(sourceName(Step) + ": no winner (" + whyNone(New) + ")");
  else
    Observer.onNote(sourceName(Step) + ": a winner was kept, " + describe(New) +
                    (Had->Why ? "" : "; that of before: " + describe(Old)));
  return keep(Step, *Found, *Folder, Observer);
}
