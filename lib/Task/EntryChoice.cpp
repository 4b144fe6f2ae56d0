//===- EntryChoice.cpp - For which function a workload is drafted ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Task/EntryChoice.h"
#include "stark/AST/Parse.h"
#include "stark/Support/Error.h"
#include "stark/Task/Workload.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;

llvm::Expected<EntryChoice> stark::chooseEntry(const ParsedSource &Source,
                                               llvm::StringRef Name) {
  if (!Name.empty()) {
    llvm::Expected<Signature> Named = findEntry(Source, Name);
    if (!Named)
      return Named.takeError();
    return EntryChoice{std::move(*Named), {}};
  }
  std::vector<Signature> Candidates = entryCandidates(Source);
  if (Candidates.empty())
    return usageError("'" + Source.path() +
                      "' has no function that launches a kernel, and no "
                      "kernel");
  auto Chosen = llvm::find_if(Candidates, [](const Signature &S) {
    return !llvm::errorToBool(checkCallable(S));
  });
  if (Chosen == Candidates.end())
    Chosen = Candidates.begin();
  EntryChoice Choice{*Chosen, {}};
  for (const Signature &S : Candidates)
    if (S.Line != Chosen->Line || S.Name != Chosen->Name)
      Choice.Others.push_back(S.Name);
  return Choice;
}
