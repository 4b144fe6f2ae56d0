//===- LaunchPair.h - Two launches that follow each other -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Two kernels of one element a thread, launched one right after the other,
/// and whether thread i of both may be one thread.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_LAUNCHPAIR_H
#define STARK_LIB_REWRITE_ANALYSIS_LAUNCHPAIR_H

#include "ElementKernel.h"

namespace stark {

/// A launch with what is known of its kernel.
struct LaunchSide {
  const Launch *L = nullptr;
  const Kernel *K = nullptr;
  ElementKernel Shape;

  /// What the launch gives for \p P.
  const clang::Expr *argumentOf(const clang::ParmVarDecl *P) const {
    return L->Call->getArg(P->getFunctionScopeIndex());
  }
};
using LaunchPair = std::array<LaunchSide, 2>;

/// \p E, an argument of the launch \p L, is 0 or not there.
bool isNothing(const Facts &F, const clang::Expr *E, const Launch &L);

/// Why both may not be one launch.
WhyNot whyNotOneLaunch(const Facts &F, const LaunchPair &Pair);

/// Why a thread may not do the work of both: what the second touches, thread i
/// of the first need not have written.
WhyNot whyThreadsMeet(const Facts &F, const LaunchPair &Pair);

} // namespace stark

#endif
