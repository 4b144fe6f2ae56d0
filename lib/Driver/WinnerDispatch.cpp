//===- WinnerDispatch.cpp - A winner that only runs where it was proved  -===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/WinnerDispatch.h"
#include "stark/AST/Dispatch.h"
#include "stark/Cache/GeneratedSource.h"
#include "stark/Support/CodeTokens.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Task/Guard.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;

/// Digits of the digest in a winner's names.
static constexpr size_t SuffixDigits = 8;

/// The number of the first token at or behind byte \p At.
static size_t tokenAt(const std::vector<CodeToken> &Tokens, size_t At) {
  return llvm::partition_point(
             Tokens, [&](const CodeToken &T) { return T.Begin < At; }) -
         Tokens.begin();
}

static std::vector<TokenEdit> byTokens(llvm::StringRef Text,
                                       const std::vector<DispatchEdit> &Edits) {
  std::vector<CodeToken> Tokens = codeTokens(Text);
  std::vector<TokenEdit> Made;
  for (const DispatchEdit &E : Edits)
    Made.push_back(
        {tokenAt(Tokens, E.Place.Begin), tokenAt(Tokens, E.Place.End), E.Text});
  return Made;
}

/// Whether \p SourceText, T's source or a part of it, compiles with its winner.
static llvm::Error checkPlanFor(const Task &T, llvm::StringRef SourceText,
                                llvm::StringRef WinnerText,
                                const DispatchPlan &Plan,
                                const ParsedSource &Winner,
                                const DispatchCut &Cut, bool Extracted) {
  llvm::Expected<std::string> Text = makeGeneratedSource(
      SourceText, {{WinnerText.str(), WinnerFacts(), Plan, T.Parse.Arch}},
      T.SourcePath, T.SourcePath);
  if (!Text)
    return Text.takeError();
  llvm::Expected<std::unique_ptr<ParsedSource>> Made =
      parseSource(T.SourcePath, *Text, T.Parse);
  if (!Made)
    return Made.takeError();
  if (llvm::Error E = checkDispatch(**Made, Winner, Cut,
                                    Text->rfind(winnerMark(Plan.Suffix))))
    return E;
  return Extracted
             ? checkMeaning(**Made, Winner, T.Parse, T.Load.Entry, Plan.Suffix)
             : llvm::Error::success();
}

/// What of the source the entry reaches, where the winner stands beside that
/// alone, too; else nothing.
static std::vector<TokenRange>
keptFor(const Task &T, llvm::StringRef WinnerText, const DispatchPlan &Plan,
        const ParsedSource &Winner, const DispatchCut &Cut,
        const UsersSource *Users) {
  std::optional<CodeReach> Reach =
      reachOf(Users ? Users->Text : T.SourceText, T.Load.Entry);
  if (!Reach)
    return {};
  DispatchPlan OfKept = Plan;
  OfKept.Kept = Reach->Kept;
  size_t Count = codeTokens(Reach->Text).size();
  std::optional<DispatchPlan> Moved = movePlan(OfKept, {{0, Count}});
  if (!Moved)
    return {};
  if (llvm::Error E = checkPlanFor(T, Reach->Text, WinnerText, *Moved, Winner,
                                   Cut, Users)) {
    llvm::consumeError(std::move(E));
    return {};
  }
  return std::move(Reach->Kept);
}

llvm::Expected<DispatchPlan> stark::planDispatch(const Task &T,
                                                 llvm::StringRef WinnerText,
                                                 const UsersSource *Users) {
  const std::string &SourceText = Users ? Users->Text : T.SourceText;
  llvm::Expected<Guard> Where = makeGuard(T);
  if (!Where)
    return Where.takeError();
  llvm::Expected<std::unique_ptr<ParsedSource>> Winner =
      parseSource(T.SourcePath, WinnerText, T.Parse);
  if (!Winner)
    return Winner.takeError();
  DispatchPlan Plan;
  Plan.Suffix = DigestBuilder()
                    .add("winner", codeDigest(WinnerText))
                    .add("arch", T.Parse.Arch)
                    .add("entry", T.Load.Entry)
                    .add("guard", Where->Condition)
                    .finish()
                    .substr(0, SuffixDigits);
  llvm::Expected<DispatchCut> Cut = cutWinner(
      Users ? *Users->Parsed : *T.Parsed, **Winner, T.Load.Entry, Plan.Suffix,
      Users ? T.Parsed.get() : nullptr, T.Load.entryUsed());
  if (!Cut)
    return Cut.takeError();
  Plan.Source = byTokens(SourceText, Cut->Source);
  Plan.Winner = byTokens(WinnerText, Cut->Winner);
  Plan.ChoiceAt = tokenAt(codeTokens(SourceText), Cut->ChoiceAt);
  Plan.Name = Cut->Name;
  Plan.Linkage = Cut->Linkage;
  Plan.Head = Cut->Head;
  Plan.Tail = Cut->Tail;
  Plan.WinnerTail = Cut->WinnerTail;
  Plan.Arguments = Cut->Arguments;
  Plan.Renamed = Cut->Renamed;
  Plan.Macros = Cut->Macros;
  Plan.Includes = Cut->Includes;
  Plan.Guard = Where->Condition;
  Plan.Covers = Where->Covers;
  if (llvm::Error E =
          checkPlanFor(T, SourceText, WinnerText, Plan, **Winner, *Cut, Users))
    return E;
  Plan.Kept = keptFor(T, WinnerText, Plan, **Winner, *Cut, Users);
  return Plan;
}

llvm::Error stark::checkPlannable(const Task &T, const UsersSource *Users) {
  llvm::Expected<Guard> Where = makeGuard(T);
  if (!Where)
    return Where.takeError();
  return checkDispatchable(Users ? *Users->Parsed : *T.Parsed, T.Load.Entry,
                           T.Load.entryUsed());
}
