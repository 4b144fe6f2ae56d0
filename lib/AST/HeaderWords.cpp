//===- HeaderWords.cpp - What headers could see of flags ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HeaderWords.h"
#include "clang/Lex/PreprocessingRecord.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"

using namespace stark;
using llvm::StringRef;

void HeaderWords::note(clang::Preprocessor &Read) {
  for (const auto &Each : Read.getIdentifierTable())
    if (!Each.getKey().empty())
      Identifiers.insert(Each.getKey());
  if (clang::PreprocessingRecord *Record = Read.getPreprocessingRecord())
    for (clang::PreprocessedEntity *E : *Record)
      if (auto *I = llvm::dyn_cast_or_null<clang::InclusionDirective>(E))
        Names.insert(I->getFileName());
}

/// A line each, in order, so that the same headers give the same text.
static void printSorted(const llvm::StringSet<> &Words, std::string &Text) {
  llvm::SmallVector<StringRef> Sorted;
  for (const auto &Each : Words)
    Sorted.push_back(Each.getKey());
  llvm::sort(Sorted);
  for (StringRef Word : Sorted)
    Text += Word.str() + "\n";
}

std::string HeaderWords::print() const {
  std::string Text;
  printSorted(Identifiers, Text);
  Text += "\n";
  printSorted(Names, Text);
  return Text;
}

HeaderWords HeaderWords::parse(StringRef Text) {
  HeaderWords W;
  llvm::StringSet<> *Into = &W.Identifiers;
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    Text = Rest;
    if (Line.empty())
      Into = &W.Names;
    else
      Into->insert(Line);
  }
  return W;
}

bool HeaderWords::haveMacro(StringRef Definition) const {
  return Identifiers.contains(
      Definition.take_until([](char C) { return C == '=' || C == '('; }));
}

bool HeaderWords::mayLieIn(StringRef Folder) const {
  for (const auto &Name : Names)
    if (llvm::sys::fs::exists(Folder + "/" + Name.getKey()))
      return true;
  return false;
}
