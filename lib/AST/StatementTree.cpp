//===- StatementTree.cpp - The statements of a function, by tokens -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StatementTree.h"
#include "Brackets.h"

using namespace stark;

namespace {
class StatementReader {
public:
  StatementReader(const SourceTokens &T, Range Function)
      : T(T), End(Function.End), At(Function.Begin) {}

  StatementTree run() {
    while (At < End && !T.is(At, "{"))
      ++At;
    if (At < End)
      Tree.Root = parse();
    return std::move(Tree);
  }

private:
  bool is(size_t I, llvm::StringRef Text) const {
    return I < End && T.is(I, Text);
  }

  size_t parse() {
    size_t Begin = At;
    Statement S;
    ++Nesting;
    if (Nesting > 256) { // hostile text: Clang gives up here too
      At = End;
    } else if (is(At, "{")) {
      S.Kind = StatementKind::Block;
      ++At;
      while (At < End && !is(At, "}"))
        S.Parts.push_back(parse());
      At = At < End ? At + 1 : End;
    } else if (T.All[At].InDirective) {
      while (At < End && T.All[At].Kind != SourceToken::EndOfDirective)
        ++At;
      At = At < End ? At + 1 : End;
      S.Kind = StatementKind::Jump;
    } else if (is(At, "if") || is(At, "for") || is(At, "while") ||
               is(At, "switch")) {
      bool If = is(At, "if");
      S.Kind = StatementKind::Control;
      ++At;
      if (is(At, "constexpr"))
        ++At;
      if (is(At, "("))
        At = behindBracket(T, At, End);
      if (At < End && !is(At, "}"))
        S.Parts.push_back(parse());
      if (If && is(At, "else")) {
        ++At;
        if (At < End && !is(At, "}"))
          S.Parts.push_back(parse());
      }
    } else if (is(At, "do")) {
      S.Kind = StatementKind::Control;
      ++At;
      if (At < End)
        S.Parts.push_back(parse());
      simple();
    } else if (is(At, "break") || is(At, "continue") ||
               (is(At, "return") && is(At + 1, ";")) || is(At, ";") ||
               is(At, "case") || is(At, "default")) {
      S.Kind = StatementKind::Jump;
      bool Label = is(At, "case") || is(At, "default");
      while (At < End && !is(At, Label ? ":" : ";"))
        ++At;
      At = At < End ? At + 1 : End;
    } else {
      simple();
    }
    if (At == Begin)
      ++At; // a stray }
    --Nesting;
    S.Tokens = {Begin, At};
    Tree.All.push_back(std::move(S));
    return Tree.All.size() - 1;
  }

  /// To behind the semicolon; braces belong to an initialiser or a lambda.
  void simple() {
    while (At < End && !is(At, ";") && !is(At, "}")) {
      if (is(At, "(") || is(At, "{") || is(At, "["))
        At = behindBracket(T, At, End);
      else
        ++At;
    }
    if (is(At, ";"))
      ++At;
  }

  const SourceTokens &T;
  size_t End, At;
  unsigned Nesting = 0;
  StatementTree Tree;
};
} // namespace

StatementTree stark::readStatements(const SourceTokens &Tokens,
                                    Range Function) {
  return StatementReader(Tokens, Function).run();
}
