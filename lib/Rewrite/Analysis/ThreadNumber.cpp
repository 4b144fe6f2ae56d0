//===- ThreadNumber.cpp - What a thread calls itself ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadNumber.h"

using namespace stark;
using namespace clang;

static const Expr *behind(const Expr *E, const Kernel &K) {
  return resolve(E, K.body(), *K.Parents);
}

bool stark::isThreadNumber(const Expr *E, const Kernel &K) {
  return E && isBuiltin(behind(E, K), "threadIdx", 'x');
}

bool stark::isBlockWidth(const Expr *E, const Facts &F, const Kernel &K) {
  if (isBuiltin(behind(E, K), "blockDim", 'x'))
    return true;
  std::optional<uint64_t> N = F.constantOf(E, K);
  OrReason<uint64_t> Size = F.blockSize(K);
  return N && Size && *N == *Size;
}

/// \p Name.x * (width of a block).
static bool isTimesBlockWidth(const Expr *E, llvm::StringRef Name,
                              const Facts &F, const Kernel &K) {
  return eitherWay(
      factorsOf(E), [&](const Expr *N) { return isBuiltin(N, Name, 'x'); },
      [&](const Expr *N) { return isBlockWidth(N, F, K); });
}

bool stark::isGlobalThreadNumber(const Expr *E, const Facts &F,
                                 const Kernel &K) {
  return eitherWay(
      termsOf(behind(E, K)),
      [&](const Expr *N) { return isThreadNumber(N, K); },
      [&](const Expr *N) { return isTimesBlockWidth(N, "blockIdx", F, K); });
}

bool stark::isGridWidth(const Expr *E, const Facts &F, const Kernel &K) {
  return isTimesBlockWidth(behind(E, K), "gridDim", F, K);
}
