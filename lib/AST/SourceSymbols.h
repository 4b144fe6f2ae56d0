//===- SourceSymbols.h - What a source offers to other files -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   AST -> the functions and variables that a source declares, as a linker and
/// callers see them.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_SOURCESYMBOLS_H
#define STARK_LIB_AST_SOURCESYMBOLS_H

#include "MainFile.h"
#include "stark/AST/Parse.h"
#include <set>

namespace stark {

struct Symbol {
  std::string Name, Type;
  /// Of a function: how a workload may name it.
  std::set<std::string> Called;
  Side Where = Side::Host;
  bool ExternC = false, External = false, Template = false, Inline = false;
  bool Defined = false, InHeader = false, Variable = false;
  bool Member = false; ///< of a class
  /// Of a function: its name for the linker, then the layout of each struct of
  /// this file that its parameters are made of.
  std::vector<std::string> Linked;
  std::vector<std::string> Defaults;   ///< of the parameters that have one
  std::vector<std::string> Parameters; ///< names; empty where it has none
  unsigned Line = 0;
};

/// Each declaration of the source's own file, in its order.
std::vector<Symbol> symbolsOf(const ParsedSource &Source);

} // namespace stark

#endif
