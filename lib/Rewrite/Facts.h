//===- Facts.h - Kernels, launches and arguments --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The kernels of a source that a rewrite may look into, with their launches,
/// and what the workload says of their arguments.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_FACTS_H
#define STARK_LIB_REWRITE_FACTS_H

#include "Syntax.h"
#include "stark/AST/Parse.h"
#include "stark/Rewrite/Rewrite.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/ExprCXX.h"
#include <array>
#include <map>

namespace stark {

struct Launch {
  const clang::CUDAKernelCallExpr *Call = nullptr;
  const clang::FunctionDecl *Host = nullptr;
  const clang::Expr *Grid = nullptr, *Block = nullptr;
  const clang::Expr *Shared = nullptr, *Stream = nullptr; ///< null: default
  /// x, y and z, when they are constants.
  std::optional<std::array<uint64_t, 3>> BlockSize;
  const Site *At = nullptr;
};

struct Kernel {
  const clang::FunctionDecl *F = nullptr;
  const Site *At = nullptr;
  Range Bytes;
  std::vector<const Launch *> Launches; ///< all of this file
  std::unique_ptr<clang::ParentMap> Parents;
  std::string Problem; ///< why no rewrite may look inside; empty: it may
  /// Why there may be launches that are not in Launches; empty: there are none
  /// but by a file that declares the kernel itself.
  std::string LaunchedElsewhere;
  const clang::Stmt *body() const { return F->getBody(); }
  std::string name() const { return At->Id; }
};

struct HostFunction {
  const clang::FunctionDecl *F = nullptr;
  std::unique_ptr<clang::ParentMap> Parents;
};

class Facts {
public:
  explicit Facts(const RewriteInput &In);
  ~Facts();
  const RewriteInput &In;
  const std::vector<Kernel> &kernels() const { return AllKernels; }
  const std::vector<std::unique_ptr<Launch>> &launches() const {
    return AllLaunches;
  }
  const clang::ASTContext &context() const;
  llvm::StringRef text() const { return In.Source->text(); }
  /// The same with blanks for comments.
  llvm::StringRef code() const { return Code; }

  /// Bytes of what was written in the file itself; unset inside macros.
  std::optional<Range> range(const clang::Stmt *S) const;
  std::optional<Range> range(clang::SourceRange R) const;
  /// With its semicolon, when it ends in one.
  std::optional<Range> statementRange(const clang::Stmt *S) const;
  std::string text(const clang::Stmt *S) const; ///< empty inside macros
  std::string text(Range R) const;
  const Site *siteAt(SiteKind Kind, Range Bytes) const;
  const Site *siteAt(SiteKind Kind, const clang::Stmt *S) const;
  unsigned lineOf(const clang::Stmt *S) const;
  /// Blanks at the beginning of the line of \p Offset.
  std::string indentAt(size_t Offset) const;
  /// A preprocessor directive other than #pragma unroll in \p R: what the
  /// parse does not show may lie there.
  bool hasDirective(Range R) const;

  /// \p Name, or with a number when the file has it already.
  std::string freshName(llvm::StringRef Name) const;
  bool hasWord(llvm::StringRef Word) const;
  /// Where a declaration for \p K's use can be put.
  size_t beforeKernel(const Kernel &K) const;
  /// The edit that puts \p Declaration there, none when the file has it. Error:
  /// the file has something else of the name \p Name.
  llvm::Expected<std::vector<Edit>> declare(const Kernel &K,
                                            llvm::StringRef Name,
                                            llvm::StringRef Declaration) const;

  /// The block's x, when all launches are in this file, have the same constant
  /// size and one dimension. Otherwise \p Why says why not.
  std::optional<uint64_t> blockSize(const Kernel &K, std::string &Why) const;
  std::array<const clang::Expr *, 3> dimensions(const clang::Expr *Dim3,
                                                const Launch &L) const;
  std::optional<uint64_t> constantOf(const clang::Expr *E,
                                     const Launch &L) const;
  std::optional<uint64_t> constantOf(const clang::Expr *E,
                                     const Kernel &K) const;

  /// Empty when the workload says that parameters \p P and \p Q of \p K are
  /// buffers that lie apart, else why that is not known.
  std::string whyNotApart(const Kernel &K, const clang::ParmVarDecl *P,
                          const clang::ParmVarDecl *Q) const;
  /// The workload's buffer that every launch gives \p P; null when unknown.
  const Argument *bufferOf(const Kernel &K, const clang::ParmVarDecl *P) const;

  const HostFunction *hostOf(const clang::FunctionDecl *F) const;

private:
  friend struct FactsBuilder;
  std::string Code;
  std::vector<Kernel> AllKernels;
  std::vector<std::unique_ptr<Launch>> AllLaunches;
  std::map<const clang::FunctionDecl *, HostFunction> Hosts;
};

} // namespace stark

#endif
