//===- CodeTemplate.cpp - CUDA text with named holes ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeTemplate.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace stark;

/// Calls \p Plain for each piece of text and \p Hole for each $name and @name.
static void
parts(llvm::StringRef Text, llvm::function_ref<void(llvm::StringRef)> Plain,
      llvm::function_ref<void(char Sign, llvm::StringRef Name)> Hole) {
  while (!Text.empty()) {
    size_t At = Text.find_first_of("$@");
    Plain(Text.take_front(At));
    if (At == llvm::StringRef::npos)
      return;
    llvm::StringRef Name = Text.substr(At + 1).take_while(
        [](char C) { return llvm::isAlnum(C) || C == '_'; });
    Hole(Text[At], Name);
    Text = Text.substr(At + 1 + Name.size());
  }
}

CodeTemplate::Values CodeTemplate::names(FreshName Fresh) const {
  Values Names;
  parts(
      Text, [](llvm::StringRef) {},
      [&](char Sign, llvm::StringRef Name) {
        if (Sign == '@' && !Names.contains(Name))
          Names[Name] = Fresh(Name);
      });
  return Names;
}

llvm::Expected<std::string> CodeTemplate::fill(const Values &Given,
                                               const Values &Names) const {
  std::string Out, Unfilled;
  llvm::StringSet<> Used;
  parts(
      Text, [&](llvm::StringRef Plain) { Out += Plain; },
      [&](char Sign, llvm::StringRef Name) {
        const Values &From = Sign == '@' ? Names : Given;
        auto Found = From.find(Name);
        if (Found == From.end())
          Unfilled = Sign + Name.str();
        else
          Out += Found->second;
        if (Sign == '$')
          Used.insert(Name);
      });
  if (!Unfilled.empty())
    return failed("the template's '" + Unfilled + "' has no value");
  for (const auto &Each : Given)
    if (!Used.contains(Each.first()))
      return failed("the template has no hole '$" + Each.first() + "'");
  return Out;
}

std::string stark::asOperand(llvm::StringRef Text) {
  bool Word =
      llvm::all_of(Text, [](char C) { return llvm::isAlnum(C) || C == '_'; });
  return Word ? Text.str() : "(" + Text.str() + ")";
}

std::string stark::zeroOf(llvm::StringRef Type) {
  return Type.contains(' ') ? "static_cast<" + Type.str() + ">(0)"
                            : Type.str() + "{}";
}
