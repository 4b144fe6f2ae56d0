//===- MeaningWalk.h - What declarations come to --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   entry -> all that it means: what its body, and the body of all that it
/// names, refers to, templates as they are instantiated
/// The walk goes over Clang's own nodes, implicit ones too (conversions,
/// default arguments, the calls of a range-for), and not over text.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_MEANINGWALK_H
#define STARK_LIB_AST_MEANINGWALK_H

#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseSet.h"
#include <string>
#include <vector>

namespace stark {

/// Clang's own function, which stands where it is first called.
bool isBuiltin(const clang::Decl *D);

class MeaningWalk {
public:
  explicit MeaningWalk(clang::ASTContext &Context) : Context(Context) {}
  virtual ~MeaningWalk() = default;

  void add(const clang::Decl *D);
  void addType(clang::QualType T);
  void addQualifier(clang::NestedNameSpecifier *N);
  /// What the expression itself names, and its type.
  void addExpression(const clang::Expr *E);
  /// Until nothing is left.
  void run();

protected:
  /// Before what \p D comes to is walked.
  virtual void begin(const clang::Decl *D) {}
  virtual void end() {}
  virtual void onNode(const clang::Stmt *S) {}
  /// The body of a function that is no template's instance.
  virtual bool walksBody(const clang::Decl *D) = 0;
  /// Destructors of classes that are met. Which of a template are instantiated
  /// depends on others that use it.
  virtual bool walksDestructors() const { return true; }

  clang::ASTContext &Context;

private:
  void addArguments(llvm::ArrayRef<clang::TemplateArgument> Arguments);
  void walk(const clang::Decl *D);
  void function(const clang::FunctionDecl *F);
  void record(const clang::CXXRecordDecl *R);
  void variable(const clang::VarDecl *V);
  void statement(const clang::Stmt *S);
  void type(const clang::Type *T);

  llvm::DenseSet<const clang::Decl *> Seen;
  llvm::DenseSet<const clang::Type *> SeenTypes;
  std::vector<const clang::Decl *> Open;
};

} // namespace stark

#endif
