//===- FactsFinder.h - Finds kernels and launches -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   AST -> kernels, launches -> which launch which, and what is not seen
/// Fills in Facts, once.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_FACTSFINDER_H
#define STARK_LIB_REWRITE_ANALYSIS_FACTSFINDER_H

#include "Facts.h"

namespace stark {

class FactsFinder {
public:
  explicit FactsFinder(Facts &F) : F(F) {}
  void run();

private:
  bool inMainFile(clang::SourceLocation L) const;
  void addKernel(const clang::FunctionDecl *D);
  void addHost(const clang::FunctionDecl *D);
  void addLaunch(const clang::CUDAKernelCallExpr *Call,
                 const clang::FunctionDecl *Host);
  WhyNot problemOf(const Kernel &K) const;
  WhyNot launchedElsewhere(const clang::FunctionDecl *D) const;
  void measure(Launch &L) const;

  Facts &F;
};

} // namespace stark

#endif
