//===- DispatchCheck.cpp - What the names of a winner mean  --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DispatchUnits.h"
#include "ExtractCheck.h"
#include "ExtractReach.h"
#include "MainFile.h"
#include "stark/AST/Dispatch.h"
#include "stark/AST/DispatchNames.h"
#include "stark/Support/Error.h"
#include "clang/AST/ASTContext.h"
#include "clang/Frontend/ASTUnit.h"

using namespace stark;
using namespace clang;

llvm::Error stark::checkDispatch(const ParsedSource &Made,
                                 const ParsedSource &Winner,
                                 const DispatchCut &Cut, size_t WinnerAt) {
  std::vector<SourceError> Errors = newErrors(Winner, Made);
  if (!Errors.empty())
    return failed("the winner does not compile beside its source: " +
                  Errors.front().Message);
  Spellings Names;
  UnitList List(Made, Names);
  if (!List.WhyNot.empty())
    return failed(List.WhyNot);
  const SourceManager &SM = Made.unit().getSourceManager();
  std::set<std::string> Shared(Cut.Shared.begin(), Cut.Shared.end());
  auto IsShared = [&](const Unit &U) {
    return llvm::any_of(U.Names,
                        [&](const std::string &N) { return Shared.count(N); });
  };
  for (const Item &I : List.Items) {
    if (I.Bytes.Begin < WinnerAt)
      continue;
    for (const Decl *Used : I.Uses) {
      SourceLocation At = SM.getExpansionLoc(Used->getLocation());
      auto *Named = dyn_cast<NamedDecl>(Used);
      if (!Named || isa<NamespaceDecl>(Used) || At.isInvalid() ||
          !SM.isInMainFile(At) || SM.getFileOffset(At) >= WinnerAt)
        continue;
      const Unit *U = List.at(SM.getFileOffset(At));
      if (!U || IsShared(*U) ||
          Named->getNameAsString().find("_stark_") != std::string::npos)
        continue;
      return failed("'" + I.Name + "' of the winner would use the source's '" +
                    Named->getNameAsString() + "'");
    }
  }
  return llvm::Error::success();
}

llvm::Error stark::checkMeaning(const ParsedSource &Made,
                                const ParsedSource &Winner,
                                const ParseOptions &Options,
                                llvm::StringRef Entry, llvm::StringRef Suffix) {
  auto Read = [&](const ParsedSource &Source, const std::string &Name) {
    IncludeTree Tree({&Source}, Options);
    UnitsOfFiles Units(Tree);
    MeaningOptions How;
    How.Places = false;
    How.Without = winnersName("", Suffix);
    How.IsOurs = [&](const Decl *D) {
      return Tree.place(0, D->getLocation()).first >= 0;
    };
    return meaningsOf(Source, entriesNamed(Units, 0, Name), How);
  };
  Meanings Alone = Read(Winner, Entry.str());
  Meanings Beside = Read(Made, winnersName(Entry, Suffix));
  std::string Other = firstDifference(Alone, Beside);
  if (Alone.empty() || !Other.empty())
    return failed(Other + " of the winner would mean something else beside the "
                          "headers of its source");
  return llvm::Error::success();
}
