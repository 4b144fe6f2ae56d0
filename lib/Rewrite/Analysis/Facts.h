//===- Facts.h - Kernels, launches and arguments --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source + sites + workload -> the kernels that a rewrite may look into,
/// with their launches, and what the workload says of their arguments.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_FACTS_H
#define STARK_LIB_REWRITE_ANALYSIS_FACTS_H

#include "Reasons.h"
#include "SourceText.h"
#include "Variables.h"
#include "stark/Rewrite/Rewrite.h"
#include "clang/AST/ExprCXX.h"
#include <array>
#include <map>

namespace stark {

/// Why something is not so; unset when it is.
using WhyNot = std::optional<Reason>;

struct Launch {
  const clang::CUDAKernelCallExpr *Call = nullptr;
  const clang::FunctionDecl *Host = nullptr;
  const clang::Expr *Grid = nullptr, *Block = nullptr;
  const clang::Expr *Shared = nullptr, *Stream = nullptr; ///< null: default
  /// x, y and z, when they are constants.
  std::optional<std::array<uint64_t, 3>> BlockSize;
  const Site *At = nullptr;
  const Site *HostAt = nullptr; ///< the function that it stands in
};

struct Kernel {
  const clang::FunctionDecl *F = nullptr;
  const Site *At = nullptr;
  Range Bytes;
  std::vector<const Launch *> Launches; ///< all of this file
  std::unique_ptr<clang::ParentMap> Parents;
  WhyNot Problem; ///< why no rewrite may look inside
  /// Why there may be launches that are not in Launches. Unset when there are
  /// none but by a file that declares the kernel itself.
  WhyNot LaunchedElsewhere;
  bool LaunchedByWorkload = false; ///< and by nobody else but Launches
  bool IsTemplate = false;         ///< F is one of its instances

  const clang::Stmt *body() const { return F->getBody(); }
  const std::string &name() const { return At->Id; }
  const clang::Stmt *parent(const clang::Stmt *S) const {
    return Parents->getParent(const_cast<clang::Stmt *>(S));
  }
  bool keeps(const clang::VarDecl *V) const {
    return isNeverWritten(V, body(), *Parents);
  }
};

struct HostFunction {
  const clang::FunctionDecl *F = nullptr;
  std::unique_ptr<clang::ParentMap> Parents;
  bool keeps(const clang::VarDecl *V) const {
    return isNeverWritten(V, F->getBody(), *Parents);
  }
};

/// Owns what it found; what \p In points to must outlive it.
class Facts : public SourceText {
public:
  /// A kernel that is a template is looked at as its instance \p Instance in
  /// the file, counted anew where there are fewer.
  explicit Facts(const RewriteInput &In, unsigned Instance = 0);
  const RewriteInput In;
  const unsigned Instance;
  /// The most instances that a kernel has.
  unsigned instances() const { return MostInstances; }

  const std::vector<Kernel> &kernels() const { return AllKernels; }
  /// Those of them that a rewrite may look into.
  std::vector<const Kernel *> openKernels() const;
  const std::vector<std::unique_ptr<Launch>> &launches() const {
    return AllLaunches;
  }
  const HostFunction *hostOf(const clang::FunctionDecl *F) const;
  const Site *siteAt(SiteKind Kind, Range Bytes) const;
  const Site *siteAt(SiteKind Kind, const clang::Stmt *S) const;

  /// The change that puts \p Declaration before the kernels of \p K's
  /// namespace, none when the file has it, or why not: the file has something
  /// else of the name \p Name.
  OrReason<Changes> declare(const Kernel &K, llvm::StringRef Name,
                            llvm::StringRef Declaration) const;

  /// The block's x, y and z, when all launches are in this file or the
  /// workload's and have the same constant size. Where the workload launches
  /// the kernel, launches of this file that are no constant do not count.
  OrReason<std::array<uint64_t, 3>> block(const Kernel &K) const;
  /// Its x, when it has one dimension.
  OrReason<uint64_t> blockSize(const Kernel &K) const;
  std::array<const clang::Expr *, 3> dimensions(const clang::Expr *Dim3,
                                                const Launch &L) const;
  std::optional<uint64_t> constantOf(const clang::Expr *E,
                                     const Launch &L) const;
  std::optional<uint64_t> constantOf(const clang::Expr *E,
                                     const Kernel &K) const;

  /// Unset when the workload says that parameters \p P and \p Q of \p K are
  /// buffers that lie apart, else why that is not known.
  WhyNot whyNotApart(const Kernel &K, const clang::ParmVarDecl *P,
                     const clang::ParmVarDecl *Q) const;
  /// What \p E, a constant or a parameter of \p K that the workload gives each
  /// launch, is at least at the sizes that are timed; unset when not known.
  std::optional<uint64_t> leastOf(const clang::Expr *E, const Kernel &K) const;
  /// The workload's buffer that every launch gives \p P; null when unknown.
  const Argument *bufferOf(const Kernel &K, const clang::ParmVarDecl *P) const;

private:
  friend class FactsFinder;
  const Argument *argumentOf(const Kernel &K, const clang::ParmVarDecl *P,
                             bool Buffer) const;
  size_t beforeKernel(const Kernel &K) const;
  std::vector<Kernel> AllKernels;
  std::vector<std::unique_ptr<Launch>> AllLaunches;
  std::map<const clang::FunctionDecl *, HostFunction> Hosts;
  unsigned MostInstances = 1;
};

/// The template that \p D is an instance of, else \p D; where it is declared
/// first.
const clang::FunctionDecl *patternOf(const clang::FunctionDecl *D);
/// \p D, or its template, is what the workload of \p F calls.
bool isEntry(const Facts &F, const clang::FunctionDecl *D);

/// Every for loop of \p K, in source order.
std::vector<const clang::ForStmt *> loopsOf(const Kernel &K);

/// What many reasons name.
inline std::string nameOf(const clang::NamedDecl *D) {
  return D->getNameAsString();
}

} // namespace stark

#endif
