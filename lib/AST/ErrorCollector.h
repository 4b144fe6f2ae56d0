//===- ErrorCollector.h - What Clang could not make sense of ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Clang's diagnostics -> errors, less those that nvcc would not have
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_ERRORCOLLECTOR_H
#define STARK_LIB_AST_ERRORCOLLECTOR_H

#include "TemplateWords.h"
#include "stark/AST/Parse.h"
#include "clang/Basic/Diagnostic.h"

namespace stark {

/// Keeps errors; where they lie decides which sites can be edited.
class ErrorCollector : public clang::DiagnosticConsumer {
public:
  ErrorCollector(std::vector<SourceError> &Errors, LackedWords &Lacked)
      : Errors(Errors), Lacked(Lacked) {}

  void BeginSourceFile(const clang::LangOptions &Language,
                       const clang::Preprocessor *PP) override;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level Level,
                        const clang::Diagnostic &Info) override;

private:
  std::vector<SourceError> &Errors;
  LackedWords &Lacked;   ///< of the headers
  bool Launches = false; ///< device code may hold them
};

} // namespace stark

#endif
