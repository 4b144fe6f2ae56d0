//===- Contract.cpp - What a candidate must keep -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Contract.h"
#include "ContractFindings.h"
#include "stark/Support/TimeTrace.h"
#include <algorithm>

using namespace stark;

static std::vector<Finding> allFindings(const ContractText &Text,
                                        llvm::StringRef Entry, EntryUsed As,
                                        llvm::ArrayRef<EntryInput> Inputs,
                                        bool Unparsed) {
  std::vector<Finding> All = tokenFindings(Text);
  auto Append = [&](std::vector<Finding> More) {
    for (Finding &F : More)
      All.push_back(std::move(F));
  };
  Append(directiveFindings(Text));
  Append(astFindings(Text));
  Append(outputFindings(Text));
  Append(launchFindings(Text));
  Append(streamFindings(Text));
  Append(inputFindings(Text, Entry, As, Inputs));
  Append(handleFindings(Text));
  if (Unparsed)
    Append(unparsedFindings(Text));
  return All;
}

std::vector<Violation> stark::checkContract(const ParsedSource &Source,
                                            const ParsedSource &Candidate,
                                            llvm::StringRef Entry, EntryUsed As,
                                            llvm::ArrayRef<EntryInput> Inputs) {
  TraceScope Traced("contract");
  ContractText Old(Source), New(Candidate);
  bool Unsure = !newErrors(Source, Candidate).empty();
  using Identity = decltype(std::declval<Finding>().identity());
  std::set<Identity> Known;
  for (const Finding &F : allFindings(Old, Entry, As, Inputs, Unsure))
    Known.insert(F.identity());
  std::vector<Violation> Result;
  std::set<std::pair<unsigned, Identity>> Said;
  std::set<unsigned> Lines;
  for (Finding &F : allFindings(New, Entry, As, Inputs, Unsure)) {
    // What was guessed from tokens says nothing new where the AST has spoken.
    unsigned Line = F.What.Line;
    if (Known.count(F.identity()) || (F.What.Guessed && Lines.count(Line)) ||
        !Said.insert({Line, F.identity()}).second)
      continue;
    Lines.insert(Line);
    Result.push_back(std::move(F.What));
  }
  for (Violation &V : symbolViolations(Old, New, Entry, As, Unsure))
    Result.push_back(std::move(V));
  std::stable_sort(
      Result.begin(), Result.end(),
      [](const Violation &A, const Violation &B) { return A.Line < B.Line; });
  return Result;
}
