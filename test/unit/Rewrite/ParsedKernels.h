//===- ParsedKernels.h - A source with what rewrites know of it -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text -> AST with the built-in headers, no toolkit -> sites -> facts
///
//===----------------------------------------------------------------------===//

#ifndef STARK_TEST_UNIT_REWRITE_PARSEDKERNELS_H
#define STARK_TEST_UNIT_REWRITE_PARSEDKERNELS_H

#include "Analysis/Facts.h"
#include <gtest/gtest.h>

namespace stark {

class ParsedKernels {
public:
  explicit ParsedKernels(llvm::StringRef Text) {
    ParseOptions Options;
    Options.Toolkit = "/nonexistent";
    auto Parsed = parseSource("/kernels.cu", Text, Options);
    if (!Parsed) {
      ADD_FAILURE() << llvm::toString(Parsed.takeError());
      return;
    }
    Source = std::move(*Parsed);
    All = findSites(*Source);
    Known.emplace(input());
  }
  RewriteInput input() const { return {Source.get(), &All, nullptr}; }
  const Facts &facts() const { return *Known; }
  const Kernel &kernel(llvm::StringRef Name) const {
    for (const Kernel &K : Known->kernels())
      if (K.name() == Name)
        return K;
    ADD_FAILURE() << "no kernel '" << Name.str() << "'";
    return Known->kernels().front();
  }
  const Kernel &only() const { return Known->kernels().front(); }
  /// The first for loop of the first kernel.
  const clang::ForStmt *loop() const { return loopsOf(only()).front(); }
  /// What the local variable \p Name of \p K is initialised with.
  const clang::Expr *initOf(const Kernel &K, llvm::StringRef Name) const {
    for (const clang::VarDecl *V : variablesDeclaredIn(K.body()))
      if (V->getName() == Name)
        return V->getInit();
    ADD_FAILURE() << "no variable '" << Name.str() << "'";
    return nullptr;
  }

private:
  std::unique_ptr<ParsedSource> Source;
  Sites All;
  std::optional<Facts> Known;
};

} // namespace stark

#endif
