//===- Brackets.h - Which brackets belong together -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   tokens -> how deep in (), [] and {} each one stands, and where a bracket
/// closes. From tokens alone, so that it holds for text that Clang cannot
/// parse.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_BRACKETS_H
#define STARK_LIB_AST_BRACKETS_H

#include "SourceTokens.h"

namespace stark {

/// 1 for what opens a bracket, -1 for what closes one, else 0.
int bracketStep(llvm::StringRef Token);

/// Goes over tokens one by one and follows brackets; on #else it goes back to
/// the depth at its #if.
class DepthWalk {
public:
  explicit DepthWalk(const SourceTokens &Tokens) : T(Tokens) {}
  int Depth = 0; ///< after the tokens taken so far
  void take(size_t Token);

private:
  void directive(size_t Name);

  const SourceTokens &T;
  std::vector<int> Ifs;
};

/// Bracket depth before each token, one more than there are tokens.
std::vector<int> bracketDepths(const SourceTokens &Tokens);

/// The index behind the bracket that closes the one at \p Open, or \p End when
/// that comes first.
size_t behindBracket(const SourceTokens &Tokens, size_t Open, size_t End);

/// From a '<' to behind the '>' of a template's list, or \p Open when it is
/// none.
size_t behindAngles(const SourceTokens &Tokens, size_t Open);

/// Behind the `template <...>` headers at \p First.
size_t behindTemplates(const SourceTokens &Tokens, size_t First);

/// The first token of `name<...>`, whose last token is \p Last.
size_t nameBeforeAngles(const SourceTokens &Tokens, size_t Last);

/// __launch_bounds__, alignas and their kin, which take arguments that are no
/// parameter list.
bool isAttributeWord(llvm::StringRef Word);

/// What a directive's word does to the nesting of conditionals.
enum class Conditional { None, If, Else, Endif };
Conditional conditionalOf(llvm::StringRef Word);
/// 1 for what begins a conditional, -1 for what ends one, else 0.
int ifStep(Conditional C);

} // namespace stark

#endif
