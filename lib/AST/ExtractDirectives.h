//===- ExtractDirectives.h - What is kept, token by token -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   kept units -> kept tokens: of namespaces those that hold something, of
/// macros those that a kept text names, of conditionals those whose answer is
/// another compiler's or another pass's to give
/// The branch that is taken stands alone where only macros of the project and
/// of the flags are asked. Include guards go. What a conditional that stays
/// skips stays with it, and may name what is reached.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_EXTRACTDIRECTIVES_H
#define STARK_LIB_AST_EXTRACTDIRECTIVES_H

#include "ExtractReach.h"

namespace stark {

class KeptTokens {
public:
  KeptTokens(const IncludeTree &Tree, const UnitsOfFiles &Units,
             ExtractLevel Level);

  /// Goes on until nothing more is kept.
  void complete(Reach &From);
  bool has(int File, size_t Token) const { return Keep[File][Token]; }

private:
  bool any(int File) const;
  void layOut();
  void layOut(int File);
  void keepAll(int File, Range Tokens);
  void keepDirectives(int File);
  bool keepsDirective(int File, const Directive &D) const;
  void keepStructure(int File);
  void keepConditionals(int File);
  bool isGuard(int File, const Conditional &C) const;
  bool isOurs(int File, const Conditional &C) const;
  bool isOurs(llvm::StringRef Word, std::set<llvm::StringRef> &Asked) const;
  bool isUndefined(llvm::StringRef Word) const;
  bool isNever(int File, const Directive &D) const;
  bool holdsKept(int File, const Conditional &C) const;
  void keepConditional(int File, const Conditional &C);
  bool definesWanted(int File, const Conditional &C) const;
  bool isSkippedBranch(int File, const Conditional &C, size_t Branch) const;
  Range branch(int File, const Conditional &C, size_t Branch) const;
  void readMacros();
  bool nameMacros();

  const IncludeTree &Tree;
  const UnitsOfFiles &Units;
  const ExtractLevel Level;
  std::vector<std::vector<bool>> Keep;
  const NeededIncludes *Includes = nullptr; ///< null: all are
  std::vector<int> InUnit; ///< of each file: the unit that includes it, or -1
  std::set<llvm::StringRef> Words;   ///< of what is kept
  std::set<llvm::StringRef> Skipped; ///< of what only another compiler sees
  std::set<llvm::StringRef> Named;   ///< macros
  /// Of each macro of the project the words that stand for it.
  std::map<llvm::StringRef, std::set<llvm::StringRef>> Macros;
};

} // namespace stark

#endif
