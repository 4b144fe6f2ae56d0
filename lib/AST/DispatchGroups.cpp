//===- DispatchGroups.cpp - What a source and its winner share  ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DispatchGroups.h"

using namespace stark;

/// The group of \p Names, of several the one that they are made.
size_t GroupList::groupOf(const std::set<std::string> &Names) {
  size_t Index = All.size();
  for (const std::string &Name : Names)
    if (auto Found = ByName.find(Name); Found != ByName.end())
      Index = std::min(Index, Found->second);
  if (Index == All.size()) {
    All.emplace_back();
    Words.emplace_back();
  }
  for (const std::string &Name : Names) {
    auto Found = ByName.find(Name);
    size_t Old = Found == ByName.end() ? Index : Found->second;
    if (Old != Index) {
      Group Moved = std::exchange(All[Old], Group());
      for (const std::string &Other : Moved.Names) {
        ByName[Other] = Index;
        All[Index].Names.insert(Other);
      }
      All[Index].Units.insert(All[Index].Units.end(), Moved.Units.begin(),
                              Moved.Units.end());
      All[Index].Text += Moved.Text;
      Words[Index].merge(Words[Old]);
      Words[Old].clear();
    }
    ByName[Name] = Index;
    All[Index].Names.insert(Name);
  }
  return Index;
}

void GroupList::readMacros(const UnitList &List) {
  const SourceTokens &Tokens = List.Tokens;
  for (size_t I = 0; I + 2 < Tokens.All.size(); ++I) {
    if (!Tokens.All[I].InDirective || !Tokens.All[I].StartsLine ||
        !Tokens.is(I, "#") ||
        (!Tokens.is(I + 1, "define") && !Tokens.is(I + 1, "undef")))
      continue;
    size_t End = I;
    while (Tokens.All[End].Kind != SourceToken::EndOfDirective)
      ++End;
    Range Bytes{Tokens.All[I].Bytes.Begin, Tokens.All[End].Bytes.End};
    std::string Name = Tokens.text(I + 2).str();
    Macros.insert(Name);
    size_t Index = groupOf({Name});
    All[Index].Text += List.print(Bytes);
    Words[Index].merge(List.words(Bytes));
    I = End;
  }
}

GroupList::GroupList(const UnitList &List) {
  readMacros(List);
  std::set<std::string> Pasted;
  for (const Unit &U : List.Units) {
    if (U.Names.empty())
      continue;
    std::set<std::string> Of = List.words(U.Bytes);
    for (const std::string &Name : U.Names)
      if (!Of.count(Name))
        Pasted.insert(Name);
    size_t Index = groupOf({U.Names.begin(), U.Names.end()});
    All[Index].Units.push_back(&U);
    All[Index].Text += List.print(U.Bytes);
    Words[Index].merge(Of);
  }
  for (size_t I = 0; I < All.size(); ++I) {
    // A name that a macro pastes together can be pasted anywhere.
    Words[I].insert(Pasted.begin(), Pasted.end());
    for (const std::string &Word : Words[I])
      if (auto Found = ByName.find(Word);
          Found != ByName.end() && Found->second != I)
        All[I].Needs.insert(Found->second);
  }
}

std::vector<bool> GroupList::sharedWith(const GroupList &Other) const {
  std::vector<bool> Shared(All.size());
  for (size_t I = 0; I < All.size(); ++I) {
    if (All[I].Names.empty())
      continue;
    auto Found = Other.ByName.find(*All[I].Names.begin());
    if (Found == Other.ByName.end())
      continue;
    const Group &There = Other.All[Found->second];
    Shared[I] = There.Names == All[I].Names && There.Text == All[I].Text;
    // A word that is a name there only means another thing here.
    for (size_t Need : There.Needs)
      Shared[I] = Shared[I] && ByName.count(*Other.All[Need].Names.begin());
  }
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (size_t I = 0; I < All.size(); ++I)
      for (size_t Need : All[I].Needs)
        if (Shared[I] && !Shared[Need]) {
          Shared[I] = false;
          Changed = true;
        }
  }
  return Shared;
}

std::set<size_t> GroupList::reach(size_t First,
                                  const std::vector<bool> &Without) const {
  std::set<size_t> Found{First};
  std::vector<size_t> Open{First};
  while (!Open.empty()) {
    size_t I = Open.back();
    Open.pop_back();
    for (size_t Need : All[I].Needs)
      if (!Without[Need] && Found.insert(Need).second)
        Open.push_back(Need);
  }
  return Found;
}
