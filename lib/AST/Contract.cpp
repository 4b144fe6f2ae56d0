//===- Contract.cpp - What a candidate must keep -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Contract.h"
#include "ContractFindings.h"
#include <algorithm>
#include <map>

using namespace stark;

/// Errors that \p Candidate has more often than \p Source.
static bool hasNewErrors(const ParsedSource &Source,
                         const ParsedSource &Candidate) {
  std::map<std::string, int> Counts;
  for (const SourceError &E : Source.errors())
    ++Counts[E.Message];
  for (const SourceError &E : Candidate.errors())
    if (--Counts[E.Message] < 0)
      return true;
  return false;
}

static std::vector<Finding> allFindings(const ContractText &Text,
                                        bool Unparsed) {
  std::vector<Finding> All = tokenFindings(Text);
  auto Append = [&](std::vector<Finding> More) {
    for (Finding &F : More)
      All.push_back(std::move(F));
  };
  Append(directiveFindings(Text));
  Append(astFindings(Text));
  if (Unparsed)
    Append(unparsedFindings(Text));
  return All;
}

std::vector<Violation> stark::checkContract(const ParsedSource &Source,
                                            const ParsedSource &Candidate,
                                            llvm::StringRef Entry) {
  ContractText Old(Source), New(Candidate);
  bool Unsure = hasNewErrors(Source, Candidate);
  std::set<std::string> Known;
  for (const Finding &F : allFindings(Old, Unsure))
    Known.insert(F.Key);
  std::vector<Violation> Result;
  std::set<std::pair<unsigned, std::string>> Said;
  std::set<unsigned> Lines;
  for (Finding &F : allFindings(New, Unsure)) {
    // What was guessed from tokens says nothing new where the AST has spoken.
    bool Guess = llvm::StringRef(F.Key).starts_with("unparsed");
    if (Known.count(F.Key) || (Guess && Lines.count(F.What.Line)) ||
        !Said.insert({F.What.Line, F.Key}).second)
      continue;
    Lines.insert(F.What.Line);
    Result.push_back(std::move(F.What));
  }
  for (Violation &V : symbolViolations(Old, New, Entry, Unsure))
    Result.push_back(std::move(V));
  std::stable_sort(
      Result.begin(), Result.end(),
      [](const Violation &A, const Violation &B) { return A.Line < B.Line; });
  return Result;
}
