//===- Expression.h - Integer expressions over size names ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   "rows", "(n+255)/256", "min(cols, 1024)": C's integer operators and
/// precedence over 64-bit signed integers; min, max and ceildiv are known.
/// Overflow, division by zero and unknown names are errors.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_TASK_EXPRESSION_H
#define STARK_TASK_EXPRESSION_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stark {

using Bindings = std::map<std::string, int64_t>;

/// Errors name the expression, the column and the names that exist.
llvm::Expected<int64_t> evaluateExpression(llvm::StringRef Text,
                                           const Bindings &Names);

/// The same over doubles, for real-valued scalar arguments ("1.0/cols").
llvm::Expected<double> evaluateReal(llvm::StringRef Text,
                                    const Bindings &Names);

/// evaluateReal(), for figures that are left out where they cannot be told:
/// unset of an empty expression, of an error and of what is not finite.
std::optional<double> knownReal(llvm::StringRef Text, const Bindings &Names);

/// The names that occur in \p Text; an error when it does not parse.
llvm::Expected<std::vector<std::string>> expressionNames(llvm::StringRef Text);

} // namespace stark

#endif
