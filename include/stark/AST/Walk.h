//===- Walk.h - The nodes of a source's own file -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   ParsedSource -> each declaration, statement and type that its own file
/// writes. Clang's RecursiveASTVisitor takes a compiler many seconds wherever
/// it is instantiated; this one is instantiated once, and calls virtual hooks.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_WALK_H
#define STARK_AST_WALK_H

namespace clang {
class Decl;
class FunctionDecl;
class Stmt;
class TypeLoc;
} // namespace clang

namespace stark {

class ParsedSource;

/// Parents are seen before children, templates but not what is instantiated of
/// them. A hook that returns false ends the walk.
class Walker {
public:
  virtual ~Walker();

  /// Over the top-level declarations of \p Source's own file.
  bool walk(const ParsedSource &Source);
  bool walk(clang::Decl *D);

  /// Whether \p D and what it holds are walked at all.
  virtual bool enters(clang::Decl *D);
  virtual bool onDecl(clang::Decl *D);
  virtual bool onStmt(clang::Stmt *S);
  virtual bool onType(clang::TypeLoc L);

  /// Around all that a function or a lambda holds, itself included.
  virtual void beginFunction(clang::FunctionDecl *F);
  virtual void endFunction();
};

} // namespace stark

#endif
