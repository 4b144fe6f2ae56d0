//===- ContractReader.h - What readers of the AST share -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_CONTRACTREADER_H
#define STARK_LIB_AST_CONTRACTREADER_H

#include "ContractFindings.h"
#include "stark/AST/Walk.h"
#include "clang/AST/ASTContext.h"

namespace stark {

/// Walks a source's own declarations, knows in which function it is, and
/// collects what it finds.
class ContractReader : public Walker {
public:
  void beginFunction(clang::FunctionDecl *F) override {
    Functions.push_back(F);
  }
  void endFunction() override { Functions.pop_back(); }

protected:
  explicit ContractReader(const ContractText &Text);

  /// What stands for \p F and all that is instantiated of it.
  static const clang::FunctionDecl *patternOf(const clang::FunctionDecl *F);
  bool isOwn(clang::SourceLocation L) const;
  bool onDevice() const;
  bool isNull(const clang::Expr *E) const;
  /// memset(&config, 0, sizeof(config)): of zeros comes no stream but the
  /// default one, and no attribute that does anything. What it casts is
  /// Cleared.
  void clears(const clang::CallExpr *Call);
  Finding finding(clang::SourceLocation L, ViolationKind Kind,
                  llvm::StringRef Name, llvm::StringRef Key,
                  std::optional<Harm> Why = std::nullopt) const;
  void add(clang::SourceLocation L, ViolationKind Kind, llvm::StringRef Name,
           llvm::StringRef Key, std::optional<Harm> Why = std::nullopt) {
    Findings.push_back(finding(L, Kind, Name, Key, Why));
  }

  const ContractText &Text;
  const ParsedSource &Source;
  const clang::SourceManager &SM;
  clang::ASTContext &Context;
  std::vector<clang::FunctionDecl *> Functions;
  std::vector<Finding> Findings;
  std::set<const clang::Expr *> Cleared;
};

} // namespace stark

#endif
