//===- ContractFindings.h - Forbidden things in one source ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source -> findings; the candidate's, less those that the source has too,
/// are violations. Two readers, since neither sees all: the tokens show what
/// the preprocessor skips and what no name resolves to, the AST shows what
/// macros paste together and which declaration a word means.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_CONTRACTFINDINGS_H
#define STARK_LIB_AST_CONTRACTFINDINGS_H

#include "Pieces.h"
#include "stark/AST/Contract.h"
#include <set>
#include <tuple>

namespace clang {
class NamedDecl;
} // namespace clang

namespace stark {

/// What a finding is about: two readers may word differently what they found of
/// the same name.
enum class Subject {
  Name,
  Call,
  Paste,
  Pragma,
  Attribute,
  String,
  Directive,
  Include,
  Undef,
  Define,
  Condition,
  Skipped,
  FunctionCast,
  StreamCast,
  LaunchCast,
  HandleCast,
  Input,
  Assembly,
  Undefined,
  Std,
  Variable,
  Static,
  Symbol, ///< found by comparing, not by reading one source
};
Subject subjectOf(ViolationKind Kind);

struct Finding {
  Violation What;
  /// The same in source and candidate when it is about the same thing: its
  /// name, or text that stands for it.
  std::string Key;
  /// By which findings of two sources are compared.
  auto identity() const {
    return std::tuple(What.Guessed, subjectOf(What.Kind), Key);
  }
};

/// A source with what both readers need of it.
struct ContractText {
  const ParsedSource &Source;
  Spellings Names;
  SourceTokens Tokens;
  std::vector<Piece> Pieces;
  std::set<std::string> Macros; ///< that it defines itself

  explicit ContractText(const ParsedSource &Source);
  unsigned line(size_t Token) const {
    return Tokens.line(Tokens.All[Token].Bytes.Begin);
  }
  /// The piece is a function that runs on the device only.
  bool deviceOnly(const Piece &P) const;
};

std::vector<Finding> tokenFindings(const ContractText &Text);
std::vector<Finding> directiveFindings(const ContractText &Text);
std::vector<Finding> astFindings(const ContractText &Text);
std::vector<Finding> outputFindings(const ContractText &Text);
std::vector<Finding> launchFindings(const ContractText &Text);
std::vector<Finding> streamFindings(const ContractText &Text);
std::vector<Finding> inputFindings(const ContractText &Text,
                                   llvm::StringRef Entry, EntryUsed As,
                                   llvm::ArrayRef<EntryInput> Inputs);
std::vector<Finding> handleFindings(const ContractText &Text);

/// "std::thread": inline namespaces such as std::_V2 left out.
std::string qualifiedName(const clang::NamedDecl *D);

/// Bytes of the bodies of functions that run on the device only.
std::vector<Range> deviceBodies(const ParsedSource &Source);

/// What the AST would show, guessed from tokens, for pieces of \p Text that
/// Clang may not have understood: calls, static state, assembly.
std::vector<Finding> unparsedFindings(const ContractText &Text);

/// Signatures and exported symbols that differ. \p Unsure: Clang did not
/// understand all of the candidate, so what seems missing may be there.
std::vector<Violation> symbolViolations(const ContractText &Source,
                                        const ContractText &Candidate,
                                        llvm::StringRef Entry, EntryUsed As,
                                        bool Unsure);

} // namespace stark

#endif
