//===- Flow.h - The order of statements -----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The statements of a kernel in the order in which they can run.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_FLOW_H
#define STARK_LIB_REWRITE_ANALYSIS_FLOW_H

#include "Facts.h"
#include "clang/Analysis/CFG.h"

namespace stark {

class Flow {
public:
  explicit Flow(const Kernel &K);
  bool known() const { return Graph != nullptr; }
  /// The statements that can run before or after one of \p S, with none in
  /// between for which \p Stop holds; those of \p S are left out.
  std::vector<const clang::Stmt *>
  around(const clang::Stmt *S, bool Forward,
         llvm::function_ref<bool(const clang::Stmt *)> Stop) const;

private:
  std::unique_ptr<clang::CFG> Graph;
};

} // namespace stark

#endif
