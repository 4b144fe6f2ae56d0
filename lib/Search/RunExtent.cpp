//===- RunExtent.cpp - How far a run goes ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/RunExtent.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"

using namespace stark;

RunExtent stark::extentOf(const RunIdentity &I) {
  return {I.Options.Attempts, I.Options.Limits};
}

unsigned stark::attemptsBegun(const RecordedRun &Run) {
  if (Run.Tuning)
    return Run.Tuning->Attempts;
  // The first one is the source.
  return Run.Attempts.empty() ? 0 : unsigned(Run.Attempts.size()) - 1;
}

std::vector<BudgetLimit>
stark::addLimits(std::vector<BudgetLimit> E,
                 const std::vector<BudgetLimit> &More) {
  for (const BudgetLimit &L : More) {
    auto Same = llvm::find_if(E, [&](const BudgetLimit &Had) {
      return Had.What == L.What && Had.Role == L.Role;
    });
    if (Same == E.end())
      E.push_back(L);
    else
      Same->Limit += L.Limit;
  }
  return E;
}

static bool same(const RunExtent &A, const RunExtent &B) {
  auto Same = [](const BudgetLimit &L, const BudgetLimit &R) {
    return printBudgetLimit(L) == printBudgetLimit(R);
  };
  return A.Attempts == B.Attempts && llvm::equal(A.Limits, B.Limits, Same);
}

/// The first \p Lines lines of \p Text.
static llvm::StringRef firstLines(llvm::StringRef Text, size_t Lines) {
  size_t End = 0;
  for (; Lines && End != llvm::StringRef::npos; --Lines)
    End = Text.find('\n', End) + 1;
  return Text.take_front(End);
}

/// Cuts the journal in \p Path where its attempts end.
static llvm::Error forgetEnd(const std::string &Path,
                             const JournalContent &Content) {
  size_t Kept = 0;
  while (Kept < Content.Events.size() && attemptOf(Content.Events[Kept]))
    ++Kept;
  if (Kept == Content.Events.size())
    return llvm::Error::success();
  llvm::Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  return writeFileAtomically(Path, firstLines(*Text, Kept));
}

llvm::Error stark::setExtent(llvm::StringRef RunFolder, const RunExtent &To) {
  llvm::Expected<std::unique_ptr<FileLock>> Lock = lockFolder(RunFolder);
  if (!Lock)
    return Lock.takeError();
  llvm::Expected<RunIdentity> I = readIdentity(RunFolder);
  if (!I)
    return I.takeError();
  if (same(extentOf(*I), To))
    return llvm::Error::success();
  std::string Path = (RunFolder + "/journal.jsonl").str();
  llvm::Expected<JournalContent> Content = readJournal(Path);
  if (!Content)
    return Content.takeError();
  llvm::Expected<RecordedRun> Run =
      readEvents(RunFolder, *Content, I->Options.Jobs);
  if (!Run)
    return Run.takeError();
  if (unsigned Begun = attemptsBegun(*Run); Begun > To.Attempts)
    return usageError("run '" + RunFolder + "' has begun " +
                      llvm::Twine(Begun) + " attempts, wanted " +
                      llvm::Twine(To.Attempts));
  // In this order: a run that lost its end finds it again with what run.json
  // still says.
  if (llvm::Error E = forgetEnd(Path, *Content))
    return E;
  // Other nodes will have the numbers of the variants, or none.
  for (unsigned N = 0; N < Run->Nodes.size(); ++N)
    if (Run->Nodes.node(N).Tuned)
      (void)llvm::sys::fs::remove(RunFolder + "/" + candidateFile(N));
  I->Options.Attempts = To.Attempts;
  I->Options.Limits = To.Limits;
  return writeFileAtomically((RunFolder + "/run.json").str(),
                             printIdentity(*I));
}
